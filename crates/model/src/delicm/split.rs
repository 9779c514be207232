//! A statement that finds in a scalar sometimes what one statement wrote, sometimes what another did, becomes several: each with the
//! instances for which it is one of them.
//!
//! ```text
//! p = 0; for j { y[j] = x[j] + p; p = y[j]; }     becomes     y[0] = x[0] + 0; for j > 0 { y[j] = x[j] + y[j - 1]; }
//! ```

use super::code::Role;
use super::work::Work;
use crate::scop::{ArrayId, StatementId};
use isl::{IslError, Set};
use std::collections::BTreeSet;

/// A statement is not cut into more parts at once.
const MAX_PARTS: usize = 3;
/// Nor does that give a region more statements than this: the scheduler's work grows faster than their number.
const MAX_STATEMENTS: usize = 24;

impl Work<'_> {
    /// Cuts one statement, if all its parts can then do without the scalar. Says whether one was cut.
    pub(super) fn split(&mut self) -> Result<bool, IslError> {
        for user in self.drafts.keys().copied().collect::<Vec<_>>() {
            let draft = &self.drafts[&user];
            if !draft.alive || draft.boxed || !draft.in_loop {
                continue;
            }
            let read = |(_, i): (usize, &super::work::WorkingAccess)| match i.access.role {
                Role::ReadScalar(value) if i.element.is_none() => Some((value, i.access.array)),
                _ => None,
            };
            for (value, scalar) in draft.alive().filter_map(read).collect::<Vec<_>>() {
                if !self.uncuttable.insert((user, scalar)) {
                    continue;
                }
                let whole = self.drafts[&user].domain.identity()?;
                let mut parts = Vec::new();
                for (written, writer, from) in self.writers(user, scalar, &whole)? {
                    let part = from.domain()?.coalesce()?;
                    if part.n_basic_set()? != 1 || !self.is_fetchable(user, (written, writer), &from)? {
                        parts.clear();
                        break;
                    }
                    parts.push(part);
                }
                let room = MAX_STATEMENTS.saturating_sub(self.drafts.values().filter(|d| d.alive).count());
                if !(2..=MAX_PARTS).contains(&parts.len()) || parts.len() > room + 1 {
                    continue;
                }
                let (before, counts, flows) = (self.drafts.clone(), self.counts, self.known_flows());
                self.cut(user, &parts)?;
                let mut helped = true;
                for part in self.parts_of(user) {
                    helped &= self.scalar_read(part, value).is_none() || self.forward_value(part, value)?;
                }
                if helped {
                    // Others may find something else in what it writes and reads now.
                    let items = self.parts_of(user).into_iter().flat_map(|part| &self.drafts[&part].items);
                    let touched: BTreeSet<ArrayId> = items.map(|item| item.access.array).collect();
                    self.uncuttable.retain(|(_, scalar)| !touched.contains(scalar));
                    return Ok(true);
                }
                // A value that is computed from its predecessor could be cut iteration by iteration.
                (self.drafts, self.counts) = (before, counts);
                self.know_flows(flows);
            }
        }
        Ok(false)
    }

    fn cut(&mut self, statement: StatementId, parts: &[Set]) -> Result<(), IslError> {
        let whole = self.drafts[&statement].clone();
        let mut next = self.drafts.keys().map(|id| id.0).max().unwrap_or(0);
        for (index, part) in parts.iter().enumerate() {
            let mut id = statement;
            if index > 0 {
                next += 1;
                id = StatementId(next);
                self.timeline.copy(statement, id)?;
                self.drafts.insert(id, whole.renamed(id)?);
            }
            self.restrict(id, &part.set_tuple_name(&id.to_string())?)?;
        }
        Ok(())
    }

    fn parts_of(&self, statement: StatementId) -> Vec<StatementId> {
        let from = self.drafts[&statement].from;
        self.drafts.iter().filter(|(_, d)| d.from == from).map(|(&id, _)| id).collect()
    }
}
