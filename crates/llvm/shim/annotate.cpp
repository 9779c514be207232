// What is said beside the code: remarks, and the places that they are about.
#include "shim.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"

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

// A location outlives the instruction it was taken from; null if unknown.
LLVMMetadataRef lw_loop_location(const Analyses *A, uint32_t L) {
  return wrap(static_cast<Metadata *>(A->Loops[L]->getStartLoc().get()));
}

bool lw_remarks_wanted(LLVMValueRef F) {
  LLVMContext &Context = unwrap<Function>(F)->getContext();
  return Context.getLLVMRemarkStreamer() || Context.getDiagHandlerPtr()->isAnyRemarkEnabled(PassName);
}

void lw_remark(LLVMValueRef In, RemarkKind Kind, const char *Name, LLVMMetadataRef Location, const char *Text) {
  Function &F = *unwrap<Function>(In);
  OptimizationRemarkEmitter Emitter(&F);
  DiagnosticLocation At;
  if (auto *Known = dyn_cast_or_null<DILocation>(unwrap(Location)))
    At = DiagnosticLocation(DebugLoc(Known));
  else if (F.getSubprogram())
    At = DiagnosticLocation(F.getSubprogram());
  const BasicBlock *Code = &F.getEntryBlock();
  switch (Kind) {
  case RemarkKind::Done: return emit<OptimizationRemark>(Emitter, Name, At, Code, Text);
  case RemarkKind::Missed: return emit<OptimizationRemarkMissed>(Emitter, Name, At, Code, Text);
  case RemarkKind::Analysis: return emit<OptimizationRemarkAnalysis>(Emitter, Name, At, Code, Text);
  }
}

} // extern "C"
