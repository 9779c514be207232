//! What the user can say: `parallel,position=late`, in the environment variable `LOOPWRIGHT`, after `--loopwright=`, or in
//! `-passes=loopwright<…>` (where `;` separates, because LLVM keeps the comma for itself). Behind a `\`, a separator is part of a value.
//!
//! [`TABLE`] is the only list of options: the plugin, the command, its help and the list in README.md are made from it. This crate
//! knows neither isl nor LLVM, so that the command links neither.

mod assume;
mod table;

pub use assume::{Allowed, AssumptionKind};
pub use table::{Form, KnownOption, TABLE, help};

use std::fmt;
use std::path::PathBuf;

/// What each field means stands in [`TABLE`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub off: bool,
    pub position: Position,
    pub assume: Allowed,
    pub parallel: bool,
    pub expand: bool,
    /// Leave scalars that cross statements where they are.
    pub keep_scalars: bool,
    pub report: Option<PathBuf>,
    pub stats: bool,
    pub outline: bool,
    pub verify: bool,
    pub fault: Option<String>,
    pub analyze: bool,
    pub function: Option<String>,
    pub tile: Option<u32>,
    pub fusion: Option<Fusion>,
    pub force: bool,
    pub draw: Option<u64>,
    pub trace: bool,
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
        for item in items(text).iter().map(|item| item.trim()).filter(|item| !item.is_empty()) {
            options.read(item)?;
        }
        Ok(options)
    }

    fn read(&mut self, item: &str) -> Result<(), String> {
        let (name, value) = match item.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (item, None),
        };
        let Some(known) = TABLE.iter().find(|known| known.name == name) else {
            let names: Vec<&str> = TABLE.iter().map(|k| k.name).collect();
            return Err(format!("unknown option `{item}`; known are: {}", names.join(", ")));
        };
        let wrong = |takes: String| Err(format!("option `{item}`: the value is {takes}"));
        match (&known.form, value) {
            (Form::Flag(set), None) => set(self),
            (Form::Flag(_), Some(_)) => return Err(format!("option `{item}`: `{name}` takes no value")),
            (_, None | Some("")) => return Err(format!("option `{item}` needs a value: `{name}=…`")),
            (Form::Text(_, set), Some(value)) => set(self, value),
            (Form::Number(least, set), Some(value)) => match value.parse() {
                Ok(number) if number >= *least && set(self, number) => {}
                _ if *least > 0 => return wrong("a positive number".into()),
                _ => return wrong("a number".into()),
            },
            (Form::OneOf(values), Some(value)) => match values.iter().find(|(name, _)| *name == value) {
                Some((_, set)) => set(self),
                None => {
                    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
                    return wrong(format!("one of: {}", names.join(", ")));
                }
            },
            (Form::Kinds, Some(value)) => match Allowed::parse(value) {
                Some(allowed) => self.assume = allowed,
                None => {
                    let kinds = AssumptionKind::ALL.map(|k| k.name().to_ascii_lowercase()).join(", ");
                    return wrong(format!("none, all, or some of {kinds} with `+` between them"));
                }
            },
        }
        Ok(())
    }
}

/// The items of a list, as they are meant.
fn items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = items.last_mut().expect("there is one");
        match c {
            '\\' => last.push(chars.next_if(|next| SPECIAL.contains(next)).unwrap_or(c)),
            ',' | ';' => items.push(String::new()),
            _ => last.push(c),
        }
    }
    items
}

const SPECIAL: [char; 3] = [',', ';', '\\'];

/// Any text as a value in a list.
pub fn quoted(value: &str) -> String {
    value.chars().flat_map(|c| SPECIAL.contains(&c).then_some('\\').into_iter().chain([c])).collect()
}

/// A list that can be handed on as text, and what it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    text: String,
    options: Options,
}

impl List {
    /// Adds options; they win over those before them.
    pub fn extend(&mut self, text: &str) -> Result<(), String> {
        let comma = if self.text.is_empty() || text.is_empty() { "" } else { "," };
        let all = format!("{}{comma}{text}", self.text);
        *self = List { options: Options::parse(&all)?, text: all };
        Ok(())
    }

    pub fn options(&self) -> &Options {
        &self.options
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
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
    fn pass_parameters_are_separated_by_semicolons() {
        assert_eq!(Options::parse("stats;fusion=max").unwrap(), Options::parse("stats,fusion=max").unwrap());
    }

    #[test]
    fn a_value_may_be_any_text() {
        for folder in ["a,b", "a;b", "a\\b", "a\\", "\\,\\;", "a b", "a=b"] {
            let options = Options::parse(&format!("stats,report={},parallel", quoted(folder))).unwrap();
            let expected = Options { stats: true, report: Some(folder.into()), parallel: true, ..Options::default() };
            assert_eq!(options, expected);
        }
        assert_eq!(Options::parse(r"report=a\b").unwrap().report, Some(r"a\b".into()), "nothing special is behind it");
    }

    #[test]
    fn a_list_grows_and_says_what_it_says() {
        let mut list = List::default();
        list.extend("position=early,parallel").unwrap();
        list.extend("").unwrap();
        list.extend("position=late").unwrap();
        list.extend("tile=0").unwrap_err();
        assert_eq!(list.to_string(), "position=early,parallel,position=late");
        assert_eq!(*list.options(), Options { parallel: true, ..Options::default() });
    }

    #[test]
    fn mistakes_are_named() {
        refused(
            "paralel",
            expect![
                "unknown option `paralel`; known are: parallel, expand, position, assume, function, tile, fusion, delicm, report, stats, outline, verify, analyze, trace, off, canonicalize, force, draw, fault"
            ],
        );
        refused("stats=1", expect!["option `stats=1`: `stats` takes no value"]);
        refused("tile=0", expect!["option `tile=0`: the value is a positive number"]);
        refused("tile=4294967296", expect!["option `tile=4294967296`: the value is a positive number"]);
        refused("draw=x", expect!["option `draw=x`: the value is a number"]);
        refused(
            "assume=rt+xy",
            expect![
                "option `assume=rt+xy`: the value is none, all, or some of rt, ee, bl, ib, aa, eb, rp with `+` between them"
            ],
        );
        refused("report", expect!["option `report` needs a value: `report=…`"]);
        refused("report=", expect!["option `report=` needs a value: `report=…`"]);
        refused("position=middle", expect!["option `position=middle`: the value is one of: early, late"]);
    }
}
