//! Fixtures: small programs with what must come of them written below them.
//!
//! A fixture lies in `fixtures/<stage>/` and is named after its verdict (`mapped_…`, `refused_…`). Comments steer the test:
//!
//! ```c
//! // One sentence: the idea of this fixture.
//! // test: refuse --function kernel
//! …code…
//! // expect:
//! // kernel 12 Call: the call to `f` may do anything
//! ```
//!
//! `test:` names the stage, then flags for `loopwright analyze` (for `run` and `diagnose`: for the compiler). Everything below
//! `expect:` is the expected text. `BLESS=1` rewrites it. See [`stage::Stage`] for what each stage shows, [`execute`] for `run`.

pub mod cost;
pub mod execute;
pub mod fixture;
pub mod stage;
pub mod tools;

use fixture::Fixture;
use std::path::{Path, PathBuf};

/// Checks one fixture, or writes its expectation if `bless`. The error is what a person needs to see.
pub fn check(path: &Path, bless: bool) -> Result<(), String> {
    let fixture = Fixture::read(path)?;
    let actual = stage::observe(&fixture)?;
    match &fixture.expected {
        Some(expected) if *expected == actual => Ok(()),
        _ if bless => fixture.bless(&actual),
        None => Err(format!("no expectation yet; it would be:\n{actual}write it with: {}", bless_command(path))),
        Some(expected) => {
            let diff = similar::TextDiff::from_lines(expected.as_str(), actual.as_str());
            let diff = diff.unified_diff().context_radius(3).header("expected", "actual").to_string();
            Err(format!("{diff}if the new text is right: {}", bless_command(path)))
        }
    }
}

fn bless_command(path: &Path) -> String {
    let name = path.strip_prefix(fixtures_folder()).unwrap_or(path).display();
    format!("BLESS=1 make fixtures ONLY={name}")
}

pub fn fixtures_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// All files below `folder` with one of these suffixes, in a fixed order.
pub fn files_below(folder: &Path, suffixes: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            found.extend(files_below(&path, suffixes));
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| suffixes.contains(&e)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub const SUFFIXES: &[&str] = &["c", "cpp", "f90", "ll"];
