//! Compiles the C++ shim against the LLVM 19 that `llvm-config-19` (or `$LLVM_CONFIG`) describes, and links libLLVM dynamically:
//! the plugin must share the one copy of LLVM that clang, opt and flang have loaded.

use std::path::Path;
use std::process::{Command, exit};

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-changed=shim");
    let llvm = LlvmConfig::find();
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .flag("-fvisibility-inlines-hidden");
    // LLVM's headers are not ours to tidy up.
    build.flag("-isystem").flag(llvm.ask("--includedir")).flag_if_supported("-Wno-unused-parameter");
    for flag in llvm.ask("--cxxflags").split_whitespace() {
        if flag.starts_with("-D") || flag == "-fno-rtti" {
            build.flag(flag);
        }
    }
    let mut sources: Vec<_> = std::fs::read_dir("shim")
        .expect("the shim's sources stand in crates/llvm/shim")
        .map(|entry| entry.expect("readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
        .collect();
    sources.sort();
    // Most of the time goes into LLVM's headers: as one unit they are read once. -O1 in every profile: the work is done in libLLVM.
    let here = std::env::current_dir().expect("cargo starts build scripts in the package's folder");
    let includes: String = sources.iter().map(|s| format!("#include \"{}\"\n", here.join(s).display())).collect();
    let unit = Path::new(&std::env::var("OUT_DIR").expect("set by cargo")).join("shim.cpp");
    std::fs::write(&unit, includes).expect("OUT_DIR is writable");
    build.opt_level(1).file(unit).compile("loopwright_shim");
    println!("cargo:rustc-link-search=native={}", llvm.ask("--libdir"));
    println!("cargo:rustc-link-lib=dylib=LLVM-19");
}

struct LlvmConfig(String);

impl LlvmConfig {
    fn find() -> Self {
        let candidates = match std::env::var("LLVM_CONFIG") {
            Ok(name) => vec![name],
            Err(_) => vec!["llvm-config-19".to_string(), "llvm-config".to_string()],
        };
        for name in candidates {
            let config = LlvmConfig(name);
            if let Some(version) = config.try_ask("--version")
                && version.starts_with("19.")
            {
                let headers = config.try_ask("--includedir").unwrap_or_default();
                let library = config.try_ask("--libdir").unwrap_or_default();
                if Path::new(&headers).join("llvm/Passes/PassPlugin.h").exists()
                    && Path::new(&library).join("libLLVM-19.so").exists()
                {
                    return config;
                }
            }
        }
        missing()
    }

    fn ask(&self, question: &str) -> String {
        self.try_ask(question).unwrap_or_else(|| missing())
    }

    fn try_ask(&self, question: &str) -> Option<String> {
        let output = Command::new(&self.0).arg(question).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    }
}

fn missing() -> ! {
    eprintln!("loopwright needs LLVM 19 (clang-19, llvm-19-dev): run `make setup`");
    println!("cargo:warning=loopwright needs LLVM 19 (clang-19, llvm-19-dev): run `make setup`");
    exit(1)
}
