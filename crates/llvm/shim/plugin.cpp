// The pass, and where it stands in the pipelines of clang, flang and opt.
//
// Early: the start of the default pipelines. The code is what the front end wrote; the hook brings it into form on a copy, function
// by function, and only for functions with loops. Late: just before the vectorizer, after inlining and simplification.
//
// Link-time optimization: the start of the pipeline is part of the compile step (the pre-link pipelines of -flto and -flto=thin), so
// early we see each module before it is merged with others, exactly as without LTO. Late, -flto=thin runs the callback in the compile
// step too, but before its post-link half inlines across modules; -flto runs it in the compile step as well. The linker itself knows
// nothing of the plugin unless it is told to load it (lld: --load-pass-plugin), in which case the late position runs once more there.
#include "shim.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace loopwright;

namespace {

enum Occasion { Early, Late, Named };

// Given by src/plugin.rs before LLVM asks for anything.
using HookWanted = bool (*)(int Occasion, const char *CommandLine, const char *Parameters);
using HookRun = bool (*)(LLVMModuleRef M, Managers *AMs, int Occasion, const char *CommandLine, const char *Parameters);
HookWanted Wanted;
HookRun Run;

// `opt -load-pass-plugin=… -loopwright=LIST`. clang reads -mllvm before it loads pass plugins, so there it takes
// `-Xclang -load -Xclang libloopwright.so` as well; the environment variable works everywhere.
cl::opt<std::string> CommandLineOptions("loopwright", cl::desc("Options of the loop optimizer loopwright"),
                                        cl::value_desc("comma-separated list"));

struct LoopwrightPass : PassInfoMixin<LoopwrightPass> {
  Occasion When;
  std::string Parameters;

  LoopwrightPass(Occasion When, std::string Parameters = "") : When(When), Parameters(std::move(Parameters)) {}

  static StringRef name() { return "LoopwrightPass"; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    Managers AMs;
    AMs.FAM = &MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    bool Changed = Run(wrap(&M), &AMs, When, CommandLineOptions.c_str(), Parameters.c_str());
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

void addIfWanted(ModulePassManager &Passes, OptimizationLevel Level, Occasion When) {
  if (Level != OptimizationLevel::O0 && Wanted(When, CommandLineOptions.c_str(), ""))
    Passes.addPass(LoopwrightPass(When));
}

bool parse(StringRef Name, ModulePassManager &Passes, ArrayRef<PassBuilder::PipelineElement>) {
  if (!PassBuilder::checkParametrizedPassName(Name, "loopwright"))
    return false;
  Name.consume_front("loopwright");
  Name.consume_front("<");
  Name.consume_back(">");
  if (Wanted(Named, CommandLineOptions.c_str(), Name.str().c_str()))
    Passes.addPass(LoopwrightPass(Named, Name.str()));
  return true;
}

} // namespace

extern "C" {

uint32_t lw_plugin_api_version() { return LLVM_PLUGIN_API_VERSION; }

void lw_plugin_set_hooks(HookWanted W, HookRun R) {
  Wanted = W;
  Run = R;
}

void lw_plugin_register(void *Builder) {
  auto &PB = *static_cast<PassBuilder *>(Builder);
  PB.registerPipelineParsingCallback(parse);
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &Passes, OptimizationLevel Level) { addIfWanted(Passes, Level, Early); });
  PB.registerOptimizerEarlyEPCallback(
      [](ModulePassManager &Passes, OptimizationLevel Level) { addIfWanted(Passes, Level, Late); });
}

} // extern "C"
