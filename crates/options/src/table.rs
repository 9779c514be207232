//! The table of options.

use crate::{Fusion, Options, Position};

pub struct KnownOption {
    pub name: &'static str,
    pub form: Form,
    /// The value that is taken where nothing is said, if there is one.
    pub default: Option<&'static str>,
    /// What it does, for the user.
    pub help: &'static str,
    /// For who works on loopwright itself: in a list of their own.
    pub for_tests: bool,
}

pub type Effect = fn(&mut Options);

/// What may stand behind the name, and what it does.
pub enum Form {
    Flag(Effect),
    /// Anything; called so in the help.
    Text(&'static str, fn(&mut Options, &str)),
    /// A number that is not less than this. `false`: it is too large.
    Number(u64, fn(&mut Options, u64) -> bool),
    OneOf(&'static [(&'static str, Effect)]),
    /// Kinds of assumptions.
    Kinds,
}

const fn known(name: &'static str, form: Form, help: &'static str) -> KnownOption {
    KnownOption { name, form, default: None, help, for_tests: false }
}

pub const TABLE: &[KnownOption] = &[
    known(
        "parallel",
        Form::Flag(|o| o.parallel = true),
        "outer loops on several threads; `loopwright cc` links LLVM's OpenMP runtime (the bare plugin: add `-lomp`)",
    ),
    known(
        "expand",
        Form::Flag(|o| o.expand = true),
        "a value that crosses loops and fits into no array may get memory: at most 64 MiB, while the new loops run",
    ),
    known(
        "position",
        Form::OneOf(&[("early", |o| o.position = Position::Early), ("late", |o| o.position = Position::Late)]),
        "where in the compiler's pipeline: at its start, or just before the vectorizer",
    )
    .by_default("late"),
    known(
        "assume",
        Form::Kinds,
        "what may be assumed without proof and checked at run time: `none`, `all`, or kinds, as in `ee+ib`",
    )
    .by_default("all"),
    known("function", Form::Text("NAME", |o, name| o.function = Some(name.into())), "only this function"),
    known(
        "tile",
        Form::Number(1, |o, edge| {
            o.tile = edge.try_into().ok();
            o.tile.is_some()
        }),
        "edge of the tiles",
    ),
    known(
        "fusion",
        Form::OneOf(&[("min", |o| o.fusion = Some(Fusion::Min)), ("max", |o| o.fusion = Some(Fusion::Max))]),
        "how eagerly loops are fused",
    ),
    known(
        "delicm",
        Form::OneOf(&[("on", |o| o.keep_scalars = false), ("off", |o| o.keep_scalars = true)]),
        "values that LLVM keeps in registers go back to arrays, or stay",
    )
    .by_default("on"),
    known(
        "report",
        Form::Text("DIR", |o, folder| o.report = Some(folder.into())),
        "one report per module in this folder, as `analyze --json` prints it",
    ),
    known(
        "stats",
        Form::Flag(|o| o.stats = true),
        "the program counts which side of every check ran and prints it on exit",
    ),
    known(
        "outline",
        Form::Flag(|o| o.outline = true),
        "checks are functions `….lw.check.…` of their own, so that a profiler can tell what they cost",
    ),
    known(
        "verify",
        Form::Flag(|o| o.verify = true),
        "an independent checker replays every new order at a few small sizes before it is used",
    ),
    known("analyze", Form::Flag(|o| o.analyze = true), "report only, change nothing"),
    known(
        "trace",
        Form::Flag(|o| o.trace = true),
        "say on standard error what each stage of the analysis costs, in the end as a table",
    ),
    known("off", Form::Flag(|o| o.off = true), "do nothing"),
    known(
        "canonicalize",
        Form::Flag(|o| o.canonicalize = true),
        "bring each function into form first, as always at the early position; what nothing comes of is put back",
    )
    .for_tests(),
    known("force", Form::Flag(|o| o.force = true), "transform whatever can be, profitable or not").for_tests(),
    known(
        "draw",
        Form::Number(0, |o, number| {
            o.draw = Some(number);
            true
        }),
        "with `force`: not the order estimated to be the fastest, but any legal one, drawn with this number",
    )
    .for_tests(),
    known(
        "fault",
        Form::Text("STAGE", |o, stage| o.fault = Some(stage.into())),
        "fail in this stage, to see that nothing comes of it",
    )
    .for_tests(),
];

impl KnownOption {
    const fn by_default(self, value: &'static str) -> KnownOption {
        KnownOption { default: Some(value), ..self }
    }

    const fn for_tests(self) -> KnownOption {
        KnownOption { for_tests: true, ..self }
    }

    /// `tile=N`, `position=early|late`.
    fn usage(&self) -> String {
        let values = match &self.form {
            Form::Flag(_) => return self.name.into(),
            Form::Text(value, _) => (*value).into(),
            Form::Number(..) => "N".into(),
            Form::OneOf(values) => values.iter().map(|(value, _)| *value).collect::<Vec<_>>().join("|"),
            Form::Kinds => "KINDS".into(),
        };
        format!("{}={values}", self.name)
    }
}

/// How each option is written, and what it means.
fn described(for_tests: bool) -> impl Iterator<Item = (String, String)> {
    TABLE.iter().filter(move |known| known.for_tests == for_tests).map(|known| {
        let default = known.default.map(|value| format!(" (default: {value})")).unwrap_or_default();
        (known.usage(), format!("{}{default}", known.help))
    })
}

/// A line for each option.
pub fn help() -> String {
    let list = |for_tests| -> String {
        described(for_tests).map(|(usage, meaning)| format!("  {usage:<20} {meaning}\n")).collect()
    };
    format!("{}\nTo test the optimizer itself:\n{}", list(false), list(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_in_the_readme_is_this_one() {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
        // A `|` ends a cell, even in code.
        let row = |(usage, meaning): (String, String)| format!("| `{}` | {meaning} |\n", usage.replace('|', "\\|"));
        let mut lists = readme.split("| option | meaning |\n|---|---|\n").skip(1);
        for for_tests in [false, true] {
            let rows: String = described(for_tests).map(row).collect();
            let list = lists.next().unwrap().split("\n\n").next().unwrap();
            assert_eq!(format!("{list}\n"), rows, "README.md should say:\n{rows}");
        }
    }

    #[test]
    fn a_default_changes_nothing() {
        for known in TABLE {
            let Some(value) = known.default else { continue };
            assert_eq!(Options::parse(&format!("{}={value}", known.name)).unwrap(), Options::default());
        }
    }
}
