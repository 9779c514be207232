//! A fixture file: directives in comments, code, and an expectation at the end.

use crate::stage::Stage;
use std::path::{Path, PathBuf};

/// A comment `key: value`.
pub type Directive = (String, String);

pub struct Fixture {
    pub path: PathBuf,
    pub stage: Stage,
    /// What follows the stage in the `test:` line.
    pub flags: Vec<String>,
    /// All other `key: value` comments above the expectation, in order.
    pub directives: Vec<Directive>,
    /// The text below `expect:`; `None` when there is no such line.
    pub expected: Option<String>,
}

impl Fixture {
    pub fn read(path: &Path) -> Result<Fixture, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Fixture::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Fixture, String> {
        let marker = comment_marker(path);
        let (code, expected) = split_at_expectation(text, marker);
        let mut directives = directives(code, marker);
        let tests: Vec<String> = directives.extract_if(.., |(key, _)| key == "test").map(|(_, value)| value).collect();
        let [test] = tests.as_slice() else {
            return Err(format!("there must be one line `{marker} test: <stage>`"));
        };
        let mut words = test.split_whitespace().map(str::to_string);
        let stage = Stage::parse(&words.next().unwrap_or_default())?;
        Ok(Fixture { path: path.to_path_buf(), stage, flags: words.collect(), directives, expected })
    }

    /// All values of one directive.
    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.directives.iter().filter(move |(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// Replaces the expectation in the file.
    pub fn bless(&self, actual: &str) -> Result<(), String> {
        let text = std::fs::read_to_string(&self.path).map_err(|e| e.to_string())?;
        std::fs::write(&self.path, with_expectation(&text, comment_marker(&self.path), actual))
            .map_err(|e| e.to_string())
    }
}

/// All comments of the form `key: value`, in order. A sentence with a colon is one too: nobody asks for its key.
pub fn directives(text: &str, marker: &str) -> Vec<Directive> {
    let comments = text.lines().filter_map(|line| line.trim().strip_prefix(marker));
    let pairs = comments.filter_map(|comment| comment.split_once(':'));
    pairs.map(|(key, value)| (key.trim().to_string(), value.trim().to_string())).collect()
}

pub fn comment_marker(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("ll") => ";",
        Some("f90" | "f95") => "!",
        _ => "//",
    }
}

/// The lines above `expect:`, and the comment text below it.
fn split_at_expectation<'a>(text: &'a str, marker: &str) -> (&'a str, Option<String>) {
    let head = format!("{marker} expect:");
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == head {
            let below = &text[start + line.len()..];
            let expected = below
                .lines()
                .filter_map(|line| line.strip_prefix(marker))
                .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
                .collect();
            return (&text[..start], Some(expected));
        }
        start += line.len();
    }
    (text, None)
}

fn with_expectation(text: &str, marker: &str, actual: &str) -> String {
    let (code, _) = split_at_expectation(text, marker);
    let mut out = format!("{}\n{marker} expect:\n", code.trim_end_matches('\n').to_string() + "\n");
    for line in actual.lines() {
        out.push_str(format!("{marker} {line}").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// An idea: with a colon.\n// test: refuse --function f\n// args: 1 2\nint f;\n";

    fn parse(text: &str) -> Fixture {
        Fixture::parse(Path::new("x.c"), text).unwrap()
    }

    #[test]
    fn directives_are_found_in_comments() {
        let fixture = parse(TEXT);
        assert_eq!(fixture.stage, Stage::Refuse);
        assert_eq!(fixture.flags, ["--function", "f"]);
        assert_eq!(fixture.values("args").collect::<Vec<_>>(), ["1 2"]);
        assert_eq!(fixture.expected, None);
    }

    #[test]
    fn a_blessed_expectation_is_read_again() {
        let blessed = with_expectation(TEXT, "//", "one\n\n  two\n");
        assert_eq!(parse(&blessed).expected.as_deref(), Some("one\n\n  two\n"));
        assert_eq!(with_expectation(&blessed, "//", "one\n\n  two\n"), blessed);
    }

    #[test]
    fn a_fixture_without_a_stage_is_an_error() {
        assert!(Fixture::parse(Path::new("x.ll"), "// test: read\n").is_err());
        assert!(Fixture::parse(Path::new("x.ll"), "; test: nonsense\n").is_err());
    }
}
