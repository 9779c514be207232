// The passes of LLVM that run before and after us on one function.
#include "shim.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/TailRecursionElimination.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;
using namespace loopwright;

static void run(FunctionPassManager &Passes, Managers &AMs, Function &F) {
  AMs.forget(F);
  Passes.run(F, *AMs.FAM);
  AMs.forget(F);
}

extern "C" {

// From what a front end wrote to loops in the form that the reader wants. No code is hoisted: moving loads and stores out of the
// loops would hide the statements they belong to.
void lw_canonicalize(Managers *AMs, LLVMValueRef F) {
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(InstCombinePass());
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(TailCallElimPass());
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(ReassociatePass());
  Passes.addPass(LoopSimplifyPass());
  Passes.addPass(LCSSAPass());
  Passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass(/*EnableHeaderDuplication=*/true)));
  Passes.addPass(InstCombinePass());
  Passes.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  run(Passes, *AMs, *unwrap<Function>(F));
}

// Nothing in the pipeline behind us would tidy up what the writer leaves.
void lw_clean_up(Managers *AMs, LLVMValueRef F) {
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(InstCombinePass());
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  Passes.addPass(LoopSimplifyPass());
  run(Passes, *AMs, *unwrap<Function>(F));
}

uint32_t lw_loop_depth(Managers *AMs, LLVMValueRef F) {
  unsigned Deepest = 0;
  for (const Loop *L : AMs->FAM->getResult<LoopAnalysis>(*unwrap<Function>(F)).getLoopsInPreorder())
    Deepest = std::max(Deepest, L->getLoopDepth());
  return Deepest;
}

uint64_t lw_instruction_count(LLVMValueRef F) {
  uint64_t Count = 0;
  for (const BasicBlock &B : *unwrap<Function>(F))
    Count += B.sizeWithoutDebug();
  return Count;
}

// How often the function was entered when it was profiled; 0 too where it is said to be cold.
int64_t lw_entry_count(LLVMValueRef Of) {
  const Function &F = *unwrap<Function>(Of);
  if (F.hasFnAttribute(Attribute::Cold))
    return 0;
  auto Count = F.getEntryCount();
  return Count ? static_cast<int64_t>(std::min<uint64_t>(Count->getCount(), INT64_MAX)) : -1;
}

bool lw_must_not_be_touched(LLVMValueRef Of) {
  const Function &F = *unwrap<Function>(Of);
  return F.hasOptNone() || F.hasFnAttribute(Attribute::Naked) || F.hasFnAttribute(Attribute::StrictFP) ||
         F.isPresplitCoroutine() || F.hasFnAttribute(Attribute::ReturnsTwice) || F.callsFunctionThatReturnsTwice() ||
         F.hasFnAttribute(Attribute::SanitizeThread) || F.hasFnAttribute(Attribute::SanitizeMemory) ||
         F.hasFnAttribute("loopwright");
}

} // extern "C"
