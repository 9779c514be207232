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

#include "llvm/Analysis/GlobalsModRef.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;
using namespace loopwright;

namespace {

// Rust fills in what LLVM reads.
static_assert(sizeof(PluginInfo) == sizeof(PassPluginLibraryInfo) &&
              offsetof(PluginInfo, api_version) == offsetof(PassPluginLibraryInfo, APIVersion) &&
              offsetof(PluginInfo, name) == offsetof(PassPluginLibraryInfo, PluginName) &&
              offsetof(PluginInfo, version) == offsetof(PassPluginLibraryInfo, PluginVersion) &&
              offsetof(PluginInfo, register_callbacks) == offsetof(PassPluginLibraryInfo, RegisterPassBuilderCallbacks));

// Given by src/plugin.rs before LLVM asks for anything.
HookWanted Wanted;
HookRun Run;

// `opt -load-pass-plugin=… -loopwright=LIST`. clang reads -mllvm before it loads pass plugins, so there it takes
// `-Xclang -load -Xclang libloopwright.so` as well; the environment variable works everywhere.
cl::opt<std::string> CommandLineOptions("loopwright", cl::desc("Options of the loop optimizer loopwright"),
                                        cl::value_desc("comma-separated list"));

// Managers of our own beside those of the pipeline, with the same target and the same library. Analyses answer by what they were
// asked before: scalar evolution keeps what it has found out and finds out more in another order, and the passes behind us would
// go on with that. Here the pipeline's results are not even looked at, so that code that we leave alone is compiled as if we
// were not there. Only results about the module, which nobody computes anew here, are the pipeline's.
struct ManagersBesidePipeline final : Managers {
  FunctionAnalysisManager &OfPipeline;
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;

  ManagersBesidePipeline(Module &M, ModuleAnalysisManager &MAM, TargetMachine *Machine)
      : OfPipeline(MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager()) {
    auto WithBody = find_if(M, [](Function &F) { return !F.isDeclaration(); });
    if (WithBody != M.end()) {
      const TargetLibraryInfo &Library = OfPipeline.getResult<TargetLibraryAnalysis>(*WithBody);
      Functions.registerPass([&] { return TargetLibraryAnalysis(*(Library.*open(TableOfLibraryInfo()))); });
    }
    PassBuilder Builder(Machine);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Functions.registerPass([&] { return ModuleAnalysisManagerFunctionProxy(MAM); });
    Functions.registerPass([&] { return LoopAnalysisManagerFunctionProxy(Loops); });
    Loops.registerPass([&] { return FunctionAnalysisManagerLoopProxy(Functions); });
    FAM = &Functions;
  }

  void changed(Function &F) override { OfPipeline.clear(F, F.getName()); }
};

struct LoopwrightPass : PassInfoMixin<LoopwrightPass> {
  TargetMachine *Machine;
  Occasion When;
  std::string Parameters;

  LoopwrightPass(TargetMachine *Machine, Occasion When, std::string Parameters = "")
      : Machine(Machine), When(When), Parameters(std::move(Parameters)) {}

  static StringRef name() { return "LoopwrightPass"; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    size_t FunctionsBefore = M.size();
    bool Changed;
    {
      ManagersBesidePipeline AMs(M, MAM, Machine);
      Changed = Run(wrap(&M), &AMs, When, CommandLineOptions.c_str(), Parameters.c_str());
    }
    if (!Changed)
      return PreservedAnalyses::all();
    // What is known of the functions that we changed was dropped when they changed; the others keep what they have.
    PreservedAnalyses Kept;
    Kept.preserve<FunctionAnalysisManagerModuleProxy>();
    Kept.preserveSet<AllAnalysesOn<Function>>();
    // Globals whose address nobody took may now be handed to new functions. The pipeline asks for this analysis once, before us.
    if (M.size() != FunctionsBefore && MAM.getCachedResult<GlobalsAA>(M)) {
      PreservedAnalyses AllBut = Kept;
      AllBut.abandon<GlobalsAA>();
      MAM.invalidate(M, AllBut);
      MAM.getResult<GlobalsAA>(M);
    }
    return Kept;
  }
};

void addIfWanted(ModulePassManager &Passes, TargetMachine *Machine, OptimizationLevel Level, Occasion When) {
  if (Level != OptimizationLevel::O0 && Wanted(When, CommandLineOptions.c_str(), ""))
    Passes.addPass(LoopwrightPass(Machine, When));
}

bool parse(StringRef Name, ModulePassManager &Passes, TargetMachine *Machine) {
  if (!PassBuilder::checkParametrizedPassName(Name, "loopwright"))
    return false;
  Name.consume_front("loopwright");
  Name.consume_front("<");
  Name.consume_back(">");
  if (Wanted(Occasion::Named, CommandLineOptions.c_str(), Name.str().c_str()))
    Passes.addPass(LoopwrightPass(Machine, Occasion::Named, Name.str()));
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
  TargetMachine *Machine = PB.*open(MachineOfBuilder());
  PB.registerPipelineParsingCallback(
      [=](StringRef Name, ModulePassManager &Passes, ArrayRef<PassBuilder::PipelineElement>) {
        return parse(Name, Passes, Machine);
      });
  PB.registerPipelineStartEPCallback(
      [=](ModulePassManager &Passes, OptimizationLevel Level) { addIfWanted(Passes, Machine, Level, Occasion::Early); });
  PB.registerOptimizerEarlyEPCallback(
      [=](ModulePassManager &Passes, OptimizationLevel Level) { addIfWanted(Passes, Machine, Level, Occasion::Late); });
}

} // extern "C"
