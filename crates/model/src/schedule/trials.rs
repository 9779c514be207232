//! Which steps on a tree are legal, of those that isl does not vouch for.

use super::attempts::GROUPS;
use crate::transform::{KeptOrder, Step, Steps};
use isl::IslError;
use std::collections::BTreeMap;

/// So many orders are asked about that may be illegal.
const MAX_TRIALS: usize = 4;

/// Questions about one tree, whether steps on it are legal: few are asked, and not again what is known.
pub(super) struct Trials {
    left: usize,
    /// What was found to be illegal side by side. As much of the same loops, or more, is taken to be, whatever else is done: that may be
    /// wrong, and then an order is missed.
    refused: Vec<Groups>,
    /// The tree of those that were found to be legal last.
    pub kept: Option<KeptOrder>,
}

/// How many iterations of which loops run side by side: by the number of a band, and the member's place in it before it is permuted.
type Groups = BTreeMap<(u32, usize), i64>;

impl Trials {
    pub fn new() -> Trials {
        Trials { left: MAX_TRIALS, refused: Vec::new(), kept: None }
    }

    pub fn are_legal(
        &mut self,
        steps: &Steps,
        ask: impl Fn(&Steps) -> Result<Option<KeptOrder>, IslError>,
    ) -> Result<bool, IslError> {
        let groups = groups_in(steps);
        let covers = |less: &Groups| less.iter().all(|(at, by)| groups.get(at).is_some_and(|own| own >= by));
        if self.left == 0 || self.refused.iter().any(covers) {
            return Ok(false);
        }
        self.left -= 1;
        // It is mostly not their number that is wrong, nor the tiles that they are in, and this is quicker to find out.
        let plainest = plainest(steps);
        if plainest != *steps && !groups.is_empty() && ask(&plainest)?.is_none() {
            self.refused.push(groups_in(&plainest));
            return Ok(false);
        }
        let kept = ask(steps)?;
        if kept.is_none() && !groups.is_empty() {
            self.refused.push(groups);
        }
        let are_legal = kept.is_some();
        self.kept = kept.or(self.kept.take());
        Ok(are_legal)
    }
}

/// The fewest iterations of the same loops side by side, and no tiles.
fn plainest(steps: &Steps) -> Steps {
    let of_step = |step: &Step| match step {
        Step::Tile { .. } => None,
        Step::Jam { band, member, .. } => {
            let is_tiled = |step: &Step| matches!(step, Step::Tile { band: tiled, .. } if tiled.points() == *band);
            let whole = steps.iter().filter(|step| is_tiled(step)).map(Step::band).next();
            Some(Step::Jam { band: whole.unwrap_or(*band), member: *member, by: GROUPS[0] })
        }
        other => Some(other.clone()),
    };
    steps.iter().filter_map(of_step).collect()
}

fn groups_in(steps: &Steps) -> Groups {
    let order_of = |number: u32| {
        steps.iter().find_map(|step| match step {
            Step::Permute { band, order } if band.number == number => Some(order),
            _ => None,
        })
    };
    let of_step = |step: &Step| match step {
        Step::Jam { band, member, by } => {
            Some(((band.number, order_of(band.number).map_or(*member, |order| order[*member])), *by))
        }
        _ => None,
    };
    steps.iter().filter_map(of_step).collect()
}
