//! Compiles the C++ shim against the LLVM 19 that `llvm-config-19` (or `$LLVM_CONFIG`) describes, and links libLLVM dynamically:
//! the plugin must share the one copy of LLVM that clang, opt and flang have loaded.
//!
//! The shim includes `ffi.h`, made here from the declarations in Rust: what the two sides say of a function, a struct or a number that
//! stands for a word is the same, or the shim does not compile.

use std::path::Path;
use std::process::{Command, exit};

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    for input in ["shim", "src/ffi.rs", "src/codes.rs"] {
        println!("cargo:rerun-if-changed={input}");
    }
    let out = std::env::var("OUT_DIR").expect("set by cargo");
    let rust =
        ["src/codes.rs", "src/ffi.rs"].map(|file| std::fs::read_to_string(file).expect("a source of this package"));
    std::fs::write(Path::new(&out).join("ffi.h"), header(&rust.join("\n"))).expect("OUT_DIR is writable");
    let llvm = LlvmConfig::find();
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .flag("-fvisibility-inlines-hidden")
        .include(&out)
        // A function that Rust does not declare; gcc and clang call it by different names.
        .flag_if_supported("-Werror=missing-declarations")
        .flag_if_supported("-Werror=missing-prototypes");
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
    let unit = Path::new(&out).join("shim.cpp");
    std::fs::write(&unit, includes).expect("OUT_DIR is writable");
    build.opt_level(1).file(unit).compile("loopwright_shim");
    println!("cargo:rustc-link-search=native={}", llvm.ask("--libdir"));
    println!("cargo:rustc-link-lib=dylib=LLVM-19");
}

/// The declarations of `rust` in C++.
fn header(rust: &str) -> String {
    let code = rust.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    // What begins with a word and ends with a sign; not the patterns of macros.
    let items = |begin: &str, end: char| -> Vec<String> {
        let found = code.split(begin).skip(1).filter_map(|rest| rest.split(end).next());
        found.filter(|item| !item.starts_with('$')).map(str::to_string).collect()
    };
    let mut types = String::new();
    for name in items("opaque! {", '}').iter().flat_map(|names| names.split_whitespace()) {
        types += &format!("struct {name};\n");
    }
    for item in items("pub enum ", '}') {
        let (name, words) = item.split_once('{').expect("an enum has a body");
        types += &format!("enum class {name}: int64_t {{ {words} }};\n");
    }
    for item in items("pub type ", ';') {
        let (name, function) = item.split_once(" = ").expect("a type is given");
        let (arguments, result) = signature(function);
        types += &format!("using {name} = {result} (*)({arguments});\n");
    }
    for item in items("#[repr(C)] pub struct ", '}') {
        let (name, fields) = item.split_once('{').expect("a struct has a body");
        let field = |field: &str| {
            let (name, ty) = field.split_once(':')?;
            Some(format!("{} {}; ", in_cpp(ty), name.trim().trim_start_matches("pub ")))
        };
        let fields: String = fields.split(',').filter_map(field).collect();
        types += &format!("struct {name} {{ {fields}}};\n");
    }
    let mut functions = String::new();
    for item in items("pub fn ", ';') {
        let (arguments, result) = signature(&item);
        functions += &format!("{result} {}({arguments});\n", item.split('(').next().unwrap_or_default());
    }
    format!(
        "#include \"llvm-c/Types.h\"\n#include <cstddef>\n#include <cstdint>\nnamespace loopwright {{\n{types}}}\n\
         using namespace loopwright;\nextern \"C\" {{\n{functions}}}\n"
    )
}

/// The arguments and the result of `…(name: type, …) -> type`.
fn signature(function: &str) -> (String, String) {
    let (_, rest) = function.split_once('(').expect("arguments");
    let (arguments, result) = rest.split_once(')').expect("an end of the arguments");
    let arguments: Vec<String> =
        arguments.split(',').filter_map(|argument| Some(in_cpp(argument.split_once(':')?.1))).collect();
    (arguments.join(", "), result.trim().strip_prefix("->").map_or("void".to_string(), in_cpp))
}

fn in_cpp(ty: &str) -> String {
    let ty = ty.trim();
    if let Some(to) = ty.strip_prefix("*const ") {
        return in_cpp(to) + " const *";
    }
    if let Some(to) = ty.strip_prefix("*mut ") {
        return in_cpp(to) + " *";
    }
    match ty {
        "u32" => "uint32_t".to_string(),
        "u64" => "uint64_t".to_string(),
        "i64" => "int64_t".to_string(),
        "usize" => "size_t".to_string(),
        "c_char" => "char".to_string(),
        "c_void" => "void".to_string(),
        "Value" | "Type" | "Metadata" | "Module" => format!("LLVM{ty}Ref"),
        "Block" => "LLVMBasicBlockRef".to_string(),
        // The same in both languages, or declared beside it.
        _ => ty.to_string(),
    }
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
