//! What programs cost, in instructions that valgrind counts: the same in every run, however busy the machine is.

use crate::tools;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles with `loopwright` and these options (`off`: as the plain compiler does). Without debug info: valgrind does not read all of it.
pub fn compile(source: &Path, options: &str, folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join(options.replace(['=', ','], "-"));
    let mut command = Command::new(tools::loopwright()?);
    command.arg(tools::driver(source)).arg(format!("--loopwright={options}")).arg("-O3").arg(source);
    tools::succeed(command.arg("-o").arg(&program).arg("-lm").env_remove("LOOPWRIGHT"))?;
    Ok(program)
}

/// Runs the program; the instructions executed in each of its functions, without what these call.
pub fn instructions(program: &Path, arguments: &[&str]) -> Result<BTreeMap<String, u64>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let profile = folder.path().join("profile");
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind"]).arg(format!("--callgrind-out-file={}", profile.display()));
    tools::succeed(command.arg(program).args(arguments))?;
    let text = std::fs::read(&profile).map_err(|e| e.to_string())?;
    Ok(parse(&String::from_utf8_lossy(&text)))
}

/// Lines `fn=(7) name`, later `fn=(7)` alone, and below them lines `place cost`. The line behind `calls=` is about the callee.
fn parse(profile: &str) -> BTreeMap<String, u64> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut costs = BTreeMap::new();
    let mut current = "";
    let mut is_callee = false;
    for line in profile.lines() {
        if let Some((key, value)) = line.split_once('=') {
            if key == "fn" || key == "cfn" {
                let (number, name) = value.split_once(' ').unwrap_or((value, ""));
                let name = *names.entry(number).or_insert(name);
                if key == "fn" {
                    current = name;
                }
            }
            is_callee = key == "calls";
        } else if line.starts_with(['+', '-', '*']) || line.starts_with(|c: char| c.is_ascii_digit()) {
            let cost = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0u64);
            if !is_callee {
                *costs.entry(current.to_string()).or_default() += cost;
            }
            is_callee = false;
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_callees_are_their_own() {
        let profile = "events: Ir\nfl=(1) a.c\nfn=(1) main\n3 4\ncfn=(2) kernel\ncalls=1 9\n5 1000\n+1 6\n\nfn=(2)\n9 900\n* 100\n";
        let costs = parse(profile);
        assert_eq!(costs, BTreeMap::from([("main".to_string(), 10), ("kernel".to_string(), 1000)]));
    }
}
