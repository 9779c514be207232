//! The option list of the plugin: `parallel,position=late`, in `LOOPWRIGHT` or after `--loopwright=`.

use crate::error::Error;
use std::fmt;

/// Options in the order given, each at most once; a later value replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionList(Vec<(String, Option<String>)>);

const FLAGS: &[&str] = &["off", "parallel", "expand", "stats", "outline", "verify", "analyze", "force", "trace"];
const KEYS: &[&str] = &["position", "report", "function", "tile", "fusion", "assume", "delicm", "fault", "draw"];

impl OptionList {
    pub fn from_environment() -> Result<Self, Error> {
        let mut list = OptionList::default();
        if let Some(text) = std::env::var_os("LOOPWRIGHT") {
            let text = text.to_str().ok_or_else(|| Error::new("LOOPWRIGHT is not valid text"))?;
            list.extend(text).map_err(|e| Error::new(format!("in LOOPWRIGHT: {e}")))?;
        }
        Ok(list)
    }

    /// Adds the options of a comma-separated list.
    pub fn extend(&mut self, text: &str) -> Result<(), Error> {
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (key, value) = match item.split_once('=') {
                Some((key, value)) => (key, Some(value)),
                None => (item, None),
            };
            let known = if value.is_some() { KEYS } else { FLAGS };
            if !known.contains(&key) {
                return Err(unknown(item, key, value.is_some()));
            }
            check_value(key, value)?;
            self.put(key, value);
        }
        Ok(())
    }

    pub fn set(&mut self, key: &str, value: &str) {
        self.put(key, Some(value));
    }

    pub fn set_flag(&mut self, key: &str) {
        self.put(key, None);
    }

    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| k == key)
    }

    fn put(&mut self, key: &str, value: Option<&str>) {
        let value = value.map(str::to_string);
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key.to_string(), value)),
        }
    }
}

fn check_value(key: &str, value: Option<&str>) -> Result<(), Error> {
    let Some(value) = value else { return Ok(()) };
    let allowed: Option<&[&str]> = match key {
        "position" => Some(&["early", "late"]),
        "fusion" => Some(&["min", "max"]),
        "delicm" => Some(&["on", "off"]),
        _ => None,
    };
    if let Some(allowed) = allowed
        && !allowed.contains(&value)
    {
        return Err(Error::new(format!("option `{key}={value}`: the value is one of: {}", allowed.join(", "))));
    }
    if key == "tile" && value.parse::<u32>().map_or(true, |n| n == 0) {
        return Err(Error::new(format!("option `{key}={value}`: the value is a positive number")));
    }
    const ASSUMABLE: [&str; 6] = ["rt", "ee", "bl", "ib", "aa", "eb"];
    let is_kind = |kind: &str| ASSUMABLE.iter().any(|k| k.eq_ignore_ascii_case(kind));
    if key == "assume" && !["none", "all"].contains(&value) && !value.split('+').all(is_kind) {
        let kinds = ASSUMABLE.join(", ");
        return Err(Error::new(format!(
            "option `{key}={value}`: the value is none, all, or some of {kinds} with `+` between them"
        )));
    }
    if value.is_empty() {
        return Err(Error::new(format!("option `{key}=` has no value")));
    }
    Ok(())
}

fn unknown(item: &str, key: &str, has_value: bool) -> Error {
    if has_value && FLAGS.contains(&key) {
        return Error::new(format!("option `{item}`: `{key}` takes no value"));
    }
    if !has_value && KEYS.contains(&key) {
        return Error::new(format!("option `{item}` needs a value: `{key}=…`"));
    }
    let known: Vec<&str> = FLAGS.iter().chain(KEYS).copied().filter(|k| !["fault", "draw"].contains(k)).collect();
    Error::new(format!("unknown option `{item}`; known are: {}", known.join(", ")))
}

impl fmt::Display for OptionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (key, value)) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            match value {
                Some(value) => write!(f, "{comma}{key}={value}")?,
                None => write!(f, "{comma}{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(lists: &[&str], expected: Expect) {
        let mut options = OptionList::default();
        let outcome = lists.iter().try_for_each(|text| options.extend(text));
        expected.assert_eq(&outcome.map_or_else(|e| format!("error: {e}"), |()| options.to_string()));
    }

    #[test]
    fn later_values_replace_earlier_ones_in_place() {
        check(&["position=early,parallel", "position=late"], expect!["position=late,parallel"]);
    }

    #[test]
    fn empty_items_are_nothing() {
        check(&[",, stats ,"], expect!["stats"]);
    }

    #[test]
    fn mistakes_are_named() {
        check(
            &["paralel"],
            expect![
                "error: unknown option `paralel`; known are: off, parallel, expand, stats, outline, verify, analyze, force, trace, position, report, function, tile, fusion, assume, delicm"
            ],
        );
        check(&["position=middle"], expect!["error: option `position=middle`: the value is one of: early, late"]);
        check(&["tile=0"], expect!["error: option `tile=0`: the value is a positive number"]);
        check(
            &["assume=rt+xy"],
            expect![
                "error: option `assume=rt+xy`: the value is none, all, or some of rt, ee, bl, ib, aa, eb with `+` between them"
            ],
        );
        check(&["assume=RT+ee"], expect!["assume=RT+ee"]);
        check(&["stats=1"], expect!["error: option `stats=1`: `stats` takes no value"]);
        check(&["report"], expect!["error: option `report` needs a value: `report=…`"]);
    }
}
