//! Nothing done, nothing changed: where no loop was transformed the object file is, byte for byte, the plain compiler's; in a module
//! with transformed loops, the functions around them are compiled as without us.
//!
//! Every fixture and every kernel, at both positions: with `analyze`, which never changes anything and says what would be, and as users
//! have it.

use libtest_mimic::{Arguments, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tests::fixture::{Fixture, comment_marker, directives};
use tests::tools;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("fixtures"), root.join("../kernels")];
    let sources = folders.iter().flat_map(|folder| tests::files_below(folder, &["c", "cpp", "f90"]));
    let trials = sources
        .map(|path| {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            Trial::test(name, move || Source::new(&path)?.is_left_alone().map_err(Into::into))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

struct Source {
    path: PathBuf,
    flags: Vec<String>,
    folder: tempfile::TempDir,
}

impl Source {
    fn new(path: &Path) -> Result<Source, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        Ok(Source { path: path.to_path_buf(), flags: flags_for_compiler(path)?, folder })
    }

    fn is_left_alone(&self) -> Result<(), String> {
        let object = ["-c"];
        let plain = self.compile(&object, None)?;
        for position in ["late", "early"] {
            let reports = self.folder.path().join(position);
            let analyzed = format!("position={position},analyze,report={}", reports.display());
            if self.compile(&object, Some(&analyzed))? != plain {
                return Err(format!("{position}, analyze: the object file differs from the plain compiler's"));
            }
            let transformed = transformed(&reports)?;
            if transformed.is_empty() {
                if self.compile(&object, Some(&format!("position={position}")))? != plain {
                    return Err(format!(
                        "{position}: nothing was transformed, but the object file differs from the plain compiler's"
                    ));
                }
            } else if position == "late" {
                // Early, what became of a function decides where it is inlined.
                self.others_are_left_alone(&transformed)?;
            }
        }
        Ok(())
    }

    /// The machine code of a function depends on its IR alone.
    fn others_are_left_alone(&self, transformed: &BTreeSet<String>) -> Result<(), String> {
        let text = ["-S", "-emit-llvm"];
        let plain = self.compile(&text, None)?;
        let optimized = self.compile(&text, Some("position=late"))?;
        let (plain, optimized) = (String::from_utf8_lossy(&plain), String::from_utf8_lossy(&optimized));
        let after = functions(&optimized);
        for (name, code) in functions(&plain) {
            if !transformed.contains(&name) && after.get(&name) != Some(&code) {
                return Err(format!(
                    "late: `{name}` was not transformed, but differs from what the plain compiler makes"
                ));
            }
        }
        Ok(())
    }

    /// By the plain compiler if there are no options.
    fn compile(&self, how: &[&str], options: Option<&str>) -> Result<Vec<u8>, String> {
        let result = self.folder.path().join("result");
        let compiler = tools::compiler(&self.path);
        let mut command = Command::new(compiler);
        command.arg("-O3").args(how).args(&self.flags).arg(&self.path).arg("-o").arg(&result);
        command.args((compiler != "flang-new-19").then_some("-w")).env_remove("LOOPWRIGHT");
        if let Some(options) = options {
            let plugin = tools::loopwright()?.with_file_name("libloopwright.so");
            command.arg(format!("-fpass-plugin={}", plugin.display())).env("LOOPWRIGHT", options);
        }
        tools::succeed(&mut command)?;
        std::fs::read(&result).map_err(|e| e.to_string())
    }
}

/// A kernel asks for flags with a comment `flags: …`; a fixture of a stage that compiles has them in its `test:` line, and the others
/// need none to compile.
fn flags_for_compiler(path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let asked = directives(&text, comment_marker(path)).into_iter().filter(|(key, _)| key == "flags");
    let mut flags: Vec<String> = asked.flat_map(|(_, value)| words(&value)).collect();
    if path.starts_with(tests::fixtures_folder()) {
        let fixture = Fixture::read(path)?;
        if matches!(fixture.stage, tests::stage::Stage::Run | tests::stage::Stage::Diagnose) {
            flags.extend(fixture.flags.into_iter().filter(|flag| !flag.starts_with("--loopwright=")));
        }
    }
    flags.extend(path.extension().is_some_and(|e| e == "f90").then(|| "-cpp".to_string()));
    Ok(flags)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// The functions in which the reports say that something is done.
fn transformed(reports: &Path) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for path in tests::files_below(reports, &["json"]) {
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let report = report::Report::from_json(&text).map_err(|e| e.to_string())?;
        for function in report.functions {
            if function.scops.iter().any(|scop| scop.transformation.by != report::By::None) {
                names.insert(function.name);
            }
        }
    }
    Ok(names)
}

/// The functions of a module by name, without the numbers under which the module keeps metadata and attributes.
fn functions(module: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        let Some((_, named)) = line.strip_prefix("define ").and_then(|rest| rest.split_once('@')) else { continue };
        let name = named.split('(').next().unwrap_or_default().trim_matches('"').to_string();
        let body = std::iter::once(line).chain(lines.by_ref().take_while(|line| *line != "}"));
        found.insert(name, body.map(without_numbers).collect());
    }
    found
}

fn without_numbers(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut in_number = false;
    for character in line.chars() {
        in_number = character.is_ascii_digit() && (in_number || kept.ends_with(['!', '#']));
        if !in_number {
            kept.push(character);
        }
    }
    kept.push('\n');
    kept
}
