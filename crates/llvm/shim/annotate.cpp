// What is said beside the code: where alias scopes begin, and remarks.
#include "shim.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace loopwright;

namespace {

constexpr const char PassName[] = "loopwright";

template <typename Remark>
void emit(OptimizationRemarkEmitter &Emitter, StringRef Name, const DiagnosticLocation &At, const BasicBlock *Code,
          StringRef Text) {
  Remark R(PassName, Name, At, Code);
  R << Text;
  Emitter.emit(R);
}

} // namespace

extern "C" {

// Where the promise of the scopes begins: copies of the code get scopes of their own by it.
void lw_declare_alias_scopes(LLVMValueRef Before, const LLVMMetadataRef *Scopes, size_t Count) {
  IRBuilder<> Builder(unwrap<Instruction>(Before));
  for (size_t N = 0; N < Count; ++N)
    Builder.CreateNoAliasScopeDeclaration(MDNode::get(Builder.getContext(), {unwrap(Scopes[N])}));
}

// A location outlives the instruction it was taken from; null if unknown. Kind: 0 a value, 1 a loop.
LLVMMetadataRef lw_location(Analyses *A, int Kind, uint32_t Id) {
  if (Kind == 1)
    return wrap(static_cast<Metadata *>(A->Loops[Id]->getStartLoc().get()));
  auto *I = dyn_cast<Instruction>(A->Values[Id]);
  return wrap(static_cast<Metadata *>(I ? I->getDebugLoc().get() : nullptr));
}

bool lw_remarks_wanted(LLVMValueRef F) {
  LLVMContext &Context = unwrap<Function>(F)->getContext();
  return Context.getLLVMRemarkStreamer() || Context.getDiagHandlerPtr()->isAnyRemarkEnabled(PassName);
}

// Kind: 0 done, 1 missed, 2 analysis.
void lw_remark(LLVMValueRef In, int Kind, const char *Name, LLVMMetadataRef Location, const char *Text) {
  Function &F = *unwrap<Function>(In);
  OptimizationRemarkEmitter Emitter(&F);
  DiagnosticLocation At;
  if (auto *Known = dyn_cast_or_null<DILocation>(unwrap(Location)))
    At = DiagnosticLocation(DebugLoc(Known));
  else if (F.getSubprogram())
    At = DiagnosticLocation(F.getSubprogram());
  const BasicBlock *Code = &F.getEntryBlock();
  if (Kind == 0)
    emit<OptimizationRemark>(Emitter, Name, At, Code, Text);
  else if (Kind == 1)
    emit<OptimizationRemarkMissed>(Emitter, Name, At, Code, Text);
  else
    emit<OptimizationRemarkAnalysis>(Emitter, Name, At, Code, Text);
}

} // extern "C"
