//! Who accessed an element last: the only door to isl's dataflow analysis, which has to be told the time in a way of its own.
//!
//! isl finds out which of two statements comes first in the text from the first dimension of time that is a number for both, and
//! means the positions in sequences. But a loop counter that is a number, as under `if (k == 3)`, passes for a position too; where
//! other statements have no number there, "first in the text" can become circular, and isl takes for the last writer who is not.
//! A symbol that is added to all counters changes no order, and hides the numbers. It goes in with every question and does not
//! come out with any answer.

use isl::{DimType, Id, IslError, Map, UnionAccessInfo, UnionFlow, UnionMap};

const SYMBOL: &str = "clock";

/// The accesses `{ instance -> element }` for which a source is looked for, and those that may be one. What is not given is empty.
pub(crate) struct Question<'a> {
    pub sinks: &'a UnionMap,
    /// They define an element for certain, and hide what came before.
    pub certain: Option<&'a UnionMap>,
    /// They may define an element.
    pub possible: Option<&'a UnionMap>,
}

impl<'a> Question<'a> {
    /// What defines, for certain, what the sinks find?
    pub(crate) fn certain(sinks: &'a UnionMap, certain: &'a UnionMap) -> Question<'a> {
        Question { sinks, certain: Some(certain), possible: None }
    }

    /// Requires: `times` is `{ instance -> [t…] }`, all of one length, for all instances of the question.
    pub(crate) fn ask(&self, times: &UnionMap) -> Result<Answer, IslError> {
        self.ask_at(times, Direction::Forward)
    }

    /// The same with the time running backwards: who accesses an element next?
    pub(crate) fn ask_backwards(&self, times: &UnionMap) -> Result<Answer, IslError> {
        self.ask_at(times, Direction::Backward)
    }

    fn ask_at(&self, times: &UnionMap, direction: Direction) -> Result<Answer, IslError> {
        let times = match self.sinks.n_map()? {
            0 => times.clone(),
            _ => with_clock(times, direction)?,
        };
        let mut asked = UnionAccessInfo::from_sink(self.sinks)?.set_schedule_map(&times)?;
        if let Some(certain) = self.certain {
            asked = asked.set_must_source(certain)?;
        }
        if let Some(possible) = self.possible {
            asked = asked.set_may_source(possible)?;
        }
        Ok(Answer(asked.compute_flow()?))
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

pub(crate) struct Answer(UnionFlow);

impl Answer {
    /// `{ source -> sink }` where the source is the last access before the sink for certain.
    pub(crate) fn certain(&self) -> Result<UnionMap, IslError> {
        without_clock(&self.0.get_must_dependence()?)
    }
    /// `{ source -> sink }` of all sources that may be the last one.
    pub(crate) fn possible(&self) -> Result<UnionMap, IslError> {
        without_clock(&self.0.get_may_dependence()?)
    }
    /// `{ source -> [sink -> element] }` of all sources that may be the last one.
    pub(crate) fn possible_with_elements(&self) -> Result<UnionMap, IslError> {
        without_clock(&self.0.get_full_may_dependence()?)
    }
    /// The accesses `{ sink -> element }` for which there may be no source.
    pub(crate) fn maybe_without_source(&self) -> Result<UnionMap, IslError> {
        without_clock(&self.0.get_may_no_source()?)
    }
}

/// The same order, without numbers in dimensions in which some statement counts, and without dimensions in which all have the same number.
fn with_clock(times: &UnionMap, direction: Direction) -> Result<UnionMap, IslError> {
    let maps = times.maps()?;
    let Some(first) = maps.first() else { return Ok(times.clone()) };
    let sign = match direction {
        Direction::Forward => "",
        Direction::Backward => "-",
    };
    let length = first.dim(DimType::Out)?;
    let mut to = Vec::new();
    for d in 0..length {
        let mut numbers = Vec::new();
        for map in &maps {
            numbers.push(map.plain_get_val_if_fixed(DimType::Out, d)?.to_i64());
        }
        let is_counted = numbers.contains(&None) && !planted::is(planted::Fault::TimeWithoutClock);
        let is_the_same = numbers[0].is_some() && numbers.iter().all(|number| *number == numbers[0]);
        match is_counted {
            _ if is_the_same => {}
            true => to.push(format!("{sign}t{d} + {SYMBOL}")),
            false => to.push(format!("{sign}t{d}")),
        }
    }
    let from: Vec<String> = (0..length).map(|d| format!("t{d}")).collect();
    let text = format!("[{SYMBOL}] -> {{ [{}] -> [{}] }}", from.join(", "), to.join(", "));
    let shift = UnionMap::from_map(&Map::read_from_str(times.ctx(), &text)?)?;
    times.apply_range(&shift)
}

fn without_clock(pairs: &UnionMap) -> Result<UnionMap, IslError> {
    pairs.project_out_param_id(&Id::alloc(pairs.ctx(), SYMBOL, 0)?)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { sources(&path, out) } else { out.push(path) }
        }
    }

    #[test]
    fn nobody_else_asks_isl() {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        let asks = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(concat!("Union", "AccessInfo"));
        let asking: Vec<PathBuf> = files.into_iter().filter(asks).collect();
        assert!(matches!(&asking[..], [only] if only.ends_with("dataflow.rs")), "{asking:?}");
    }
}
