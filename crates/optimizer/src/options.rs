//! What the user can say: `parallel,position=late`, in the environment variable `LOOPWRIGHT`, after `-loopwright=`, or in
//! `-passes=loopwright<…>` (where `;` separates, because LLVM keeps the comma for itself).

use model::assume::{Allowed, AssumptionKind};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Do nothing at all.
    pub off: bool,
    pub position: Position,
    /// What may be assumed without proof, and checked at run time.
    pub assume: Allowed,
    /// Distribute outer loops over threads.
    pub parallel: bool,
    /// Scalars for which no array element is free may get memory that the new loops allocate.
    pub expand: bool,
    /// Leave scalars that cross statements where they are.
    pub keep_scalars: bool,
    /// The folder that gets one report per module.
    pub report: Option<PathBuf>,
    /// The program counts which side of each check ran.
    pub stats: bool,
    /// The check becomes a function `….lw.check.…` of its own, so that a profiler can tell what it costs.
    pub outline: bool,
    /// Check every result with the independent checker.
    pub verify: bool,
    /// Fail on purpose in this stage, to test that nothing comes of it.
    pub fault: Option<String>,
    /// Report only, change nothing.
    pub analyze: bool,
    /// Only this function.
    pub function: Option<String>,
    /// Edge of the tiles.
    pub tile: Option<u32>,
    pub fusion: Option<Fusion>,
    /// Transform whatever can be, profitable or not: to test the transformations.
    pub force: bool,
    /// With `force`: not the order estimated to be the fastest, but any legal one, drawn with this number.
    pub draw: Option<u64>,
    /// Say on stderr what is being done.
    pub trace: bool,
    /// Bring each function into form first, on a copy that is thrown away if nothing comes of it. Always so at the early position.
    pub canonicalize: bool,
}

/// Where in a compiler's pipeline we work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// At its start, on what the front end wrote.
    Early,
    /// Just before the vectorizer.
    #[default]
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    Min,
    Max,
}

impl Options {
    /// Reads a list of options. A later one replaces an earlier one; empty items are nothing.
    pub fn parse(text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        for item in text.split([',', ';']).map(str::trim).filter(|item| !item.is_empty()) {
            options.read(item)?;
        }
        Ok(options)
    }

    fn read(&mut self, item: &str) -> Result<(), String> {
        let (key, value) = match item.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (item, None),
        };
        let flag = |target: &mut bool| match value {
            None => {
                *target = true;
                Ok(())
            }
            Some(_) => Err(format!("option `{item}`: `{key}` takes no value")),
        };
        let needed = || match value {
            Some(value) if !value.is_empty() => Ok(value),
            _ => Err(format!("option `{item}` needs a value: `{key}=…`")),
        };
        match key {
            "off" => flag(&mut self.off)?,
            "parallel" => flag(&mut self.parallel)?,
            "expand" => flag(&mut self.expand)?,
            "stats" => flag(&mut self.stats)?,
            "outline" => flag(&mut self.outline)?,
            "verify" => flag(&mut self.verify)?,
            "analyze" => flag(&mut self.analyze)?,
            "force" => flag(&mut self.force)?,
            "trace" => flag(&mut self.trace)?,
            "canonicalize" => flag(&mut self.canonicalize)?,
            "report" => self.report = Some(PathBuf::from(needed()?)),
            "fault" => self.fault = Some(needed()?.to_string()),
            "function" => self.function = Some(needed()?.to_string()),
            "position" => {
                self.position = match needed()? {
                    "early" => Position::Early,
                    "late" => Position::Late,
                    _ => return Err(format!("option `{item}`: the value is one of: early, late")),
                }
            }
            "delicm" => {
                self.keep_scalars = match needed()? {
                    "on" => false,
                    "off" => true,
                    _ => return Err(format!("option `{item}`: the value is one of: on, off")),
                }
            }
            "assume" => self.assume = allowed(item, needed()?)?,
            "fusion" => {
                self.fusion = match needed()? {
                    "min" => Some(Fusion::Min),
                    "max" => Some(Fusion::Max),
                    _ => return Err(format!("option `{item}`: the value is one of: min, max")),
                }
            }
            "tile" => match needed()?.parse() {
                Ok(edge) if edge > 0 => self.tile = Some(edge),
                _ => return Err(format!("option `{item}`: the value is a positive number")),
            },
            "draw" => match needed()?.parse() {
                Ok(number) => self.draw = Some(number),
                Err(_) => return Err(format!("option `{item}`: the value is a number")),
            },
            _ => {
                return Err(format!(
                    "unknown option `{item}`; known are: off, position, parallel, expand, report, stats, outline, verify, analyze, \
                     function, tile, fusion, assume, delicm, force, trace"
                ));
            }
        }
        Ok(())
    }
}

/// `none`, `all`, or kinds with `+` between them.
fn allowed(item: &str, value: &str) -> Result<Allowed, String> {
    match value {
        "none" => return Ok(Allowed::NONE),
        "all" => return Ok(Allowed::ALL),
        _ => {}
    }
    let mut allowed = Allowed::NONE;
    for name in value.split('+') {
        let kind = AssumptionKind::ALL.into_iter().find(|k| k.name().eq_ignore_ascii_case(name));
        allowed = allowed.with(kind.ok_or_else(|| {
            let kinds = AssumptionKind::ALL.map(|k| k.name().to_ascii_lowercase()).join(", ");
            format!("option `{item}`: the value is none, all, or some of {kinds} with `+` between them")
        })?);
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn refused(text: &str, expected: Expect) {
        expected.assert_eq(&Options::parse(text).expect_err("not an option list"));
    }

    #[test]
    fn a_list_is_read_from_left_to_right() {
        let options = Options::parse("parallel, position=late,,tile=64,position=early,report=out/dir").unwrap();
        let expected = Options {
            parallel: true,
            tile: Some(64),
            report: Some("out/dir".into()),
            position: Position::Early,
            ..Options::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn assumptions_are_named_by_kind() {
        let allowed = |text: &str| Options::parse(text).unwrap().assume;
        assert_eq!(allowed(""), Allowed::ALL);
        assert_eq!(allowed("assume=none"), Allowed::NONE);
        assert_eq!(allowed("assume=ee+AA"), Allowed::NONE.with(AssumptionKind::EE).with(AssumptionKind::AA));
    }

    #[test]
    fn nothing_said_is_the_default() {
        assert_eq!(Options::parse("").unwrap(), Options::default());
    }

    #[test]
    fn pass_parameters_are_separated_by_semicolons() {
        assert_eq!(Options::parse("stats;fusion=max").unwrap(), Options::parse("stats,fusion=max").unwrap());
    }

    #[test]
    fn mistakes_are_named() {
        refused(
            "paralel",
            expect![
                "unknown option `paralel`; known are: off, position, parallel, expand, report, stats, outline, verify, analyze, function, tile, fusion, assume, delicm, force, trace"
            ],
        );
        refused("stats=1", expect!["option `stats=1`: `stats` takes no value"]);
        refused("tile=0", expect!["option `tile=0`: the value is a positive number"]);
        refused("draw=x", expect!["option `draw=x`: the value is a number"]);
        refused(
            "assume=rt+xy",
            expect![
                "option `assume=rt+xy`: the value is none, all, or some of rt, ee, bl, ib, aa, eb with `+` between them"
            ],
        );
        refused("report", expect!["option `report` needs a value: `report=…`"]);
        refused("position=middle", expect!["option `position=middle`: the value is one of: early, late"]);
    }
}
