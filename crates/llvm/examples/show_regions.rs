//! Prints the regions and refusals of every function of a file, for a look at the reader alone.

use llvm::{Analyses, OwnedModule};

fn main() {
    let path = std::env::args().nth(1).expect("usage: show_regions FILE.ll [FUNCTION]");
    let only = std::env::args().nth(2);
    let mut module = OwnedModule::read_file(path.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    for function in module.handle().functions() {
        if only.as_ref().is_some_and(|name| *name != function.name()) {
            continue;
        }
        let (facts, analyses) = Analyses::collect(&function);
        let ctx = isl::Ctx::new();
        let reading = llvm::read::read_function(&facts, &analyses, &ctx, &mut Default::default(), Default::default());
        println!("{}: {} regions", function.name(), reading.regions.len());
        for found in &reading.regions {
            let llvm::read::Found::Region(region) = found else { continue };
            let scop = &region.scop;
            println!("  lines {:?}, modelled {}, context {}", scop.lines, scop.is_modelled(), scop.context);
            for (id, array) in &scop.arrays {
                println!(
                    "  {id} {} {:?} [{}]",
                    array.name,
                    array.kind,
                    array.inner_sizes.iter().map(|s| s.to_string()).collect::<Vec<_>>().join("][")
                );
            }
            for (id, statement) in &scop.statements {
                println!("  {id} line {} {}", statement.line, statement.domain);
                for access in &statement.accesses {
                    println!("    {:?} {:?} {}", access.kind, access.update, access.relation);
                }
            }
            for assumption in scop.assumptions.iter() {
                println!("  assume {:?} {}: {}", assumption.kind, assumption.valid, assumption.because);
            }
            println!("  may alias {:?}", scop.may_alias);
        }
        for refusal in &reading.refusals {
            println!("  refused {:?} line {}: {}", refusal.kind, refusal.line, refusal.message());
        }
    }
}
