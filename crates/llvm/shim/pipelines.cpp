// The passes of LLVM that run before and after us on one function.
#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
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

// Puts the stores of iterations side by side behind the loads that they have nothing to do with. Rows that run side by side are often a
// multiple of 4096 bytes apart; there processors take a load for one of what was just stored to the row before, and wait.
struct SinkStores : PassInfoMixin<SinkStores> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    const unsigned Mark = F.getContext().getMDKindID("loopwright.side_by_side");
    auto &AA = FAM.getResult<AAManager>(F);
    for (BasicBlock &B : F) {
      SmallVector<StoreInst *> LastFirst;
      for (Instruction &I : reverse(B))
        if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->hasMetadata(Mark))
          LastFirst.push_back(Store);
      BatchAAResults Aliases(AA);
      for (StoreInst *Store : LastFirst) {
        Store->setMetadata(Mark, nullptr);
        if (!Store->isSimple())
          continue;
        const MemoryLocation Stored = MemoryLocation::get(Store);
        Instruction *Last = Store;
        for (Instruction *Next = Store->getNextNode(); Next && !Next->isTerminator(); Next = Next->getNextNode()) {
          if (isModOrRefSet(Aliases.getModRefInfo(Next, Stored)) || !isGuaranteedToTransferExecutionToSuccessor(Next))
            break;
          Last = Next;
        }
        if (Last != Store)
          Store->moveAfter(Last);
      }
    }
    PreservedAnalyses Preserved;
    Preserved.preserveSet<CFGAnalyses>();
    return Preserved;
  }
};

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
  // Iterations side by side store to one element again and again.
  Passes.addPass(DSEPass());
  Passes.addPass(InstCombinePass());
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  Passes.addPass(SinkStores());
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
