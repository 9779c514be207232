// What the writer says about its code beside the code: loop properties, alias scopes, remarks; and the frame of outlined functions.
#include "shim.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;
using namespace loopwright;

namespace {

MDNode *named(LLVMContext &Context, StringRef Name, Metadata *Argument = nullptr) {
  SmallVector<Metadata *, 2> Operands{MDString::get(Context, Name)};
  if (Argument)
    Operands.push_back(Argument);
  return MDNode::get(Context, Operands);
}

Metadata *truth(LLVMContext &Context, bool Value) {
  return ConstantAsMetadata::get(ConstantInt::getBool(Context, Value));
}

MDNode *node(LLVMMetadataRef M) { return cast<MDNode>(unwrap(M)); }

void appendScopes(Instruction &I, unsigned Kind, const LLVMMetadataRef *Scopes, size_t Count) {
  if (Count == 0)
    return;
  SmallVector<Metadata *, 8> List;
  for (size_t N = 0; N < Count; ++N)
    List.push_back(unwrap(Scopes[N]));
  I.setMetadata(Kind, MDNode::concatenate(I.getMetadata(Kind), MDNode::get(I.getContext(), List)));
}

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

// Properties of the loop that ends in the branch `Latch`, replacing those it had. Vectorize: -1 unsaid, 0 never, 1 please.
void lw_set_loop_properties(LLVMValueRef Latch, const LLVMMetadataRef *AccessGroups, size_t Count, int Vectorize,
                            bool DisableUnroll) {
  auto *Branch = unwrap<Instruction>(Latch);
  LLVMContext &Context = Branch->getContext();
  SmallVector<Metadata *, 4> Operands{nullptr, named(Context, "llvm.loop.mustprogress")};
  if (Count) {
    SmallVector<Metadata *, 4> Groups{MDString::get(Context, "llvm.loop.parallel_accesses")};
    for (size_t N = 0; N < Count; ++N)
      Groups.push_back(unwrap(AccessGroups[N]));
    Operands.push_back(MDNode::get(Context, Groups));
  }
  if (Vectorize >= 0)
    Operands.push_back(named(Context, "llvm.loop.vectorize.enable", truth(Context, Vectorize == 1)));
  if (DisableUnroll)
    Operands.push_back(named(Context, "llvm.loop.unroll.disable"));
  MDNode *Properties = MDNode::getDistinct(Context, Operands);
  Properties->replaceOperandWith(0, Properties);
  Branch->setMetadata(LLVMContext::MD_loop, Properties);
}

LLVMMetadataRef lw_new_access_group(LLVMModuleRef M) { return wrap(MDNode::getDistinct(unwrap(M)->getContext(), {})); }
void lw_set_access_groups(LLVMValueRef Access, const LLVMMetadataRef *Groups, size_t Count) {
  auto *I = unwrap<Instruction>(Access);
  SmallVector<Metadata *, 4> List;
  for (size_t N = 0; N < Count; ++N)
    List.push_back(unwrap(Groups[N]));
  // One group stands for itself, several for a list.
  I->setMetadata(LLVMContext::MD_access_group,
                 Count == 0 ? nullptr : Count == 1 ? cast<MDNode>(List[0]) : MDNode::get(I->getContext(), List));
}

LLVMMetadataRef lw_new_alias_domain(LLVMModuleRef M, const char *Name) {
  return wrap(MDBuilder(unwrap(M)->getContext()).createAnonymousAliasScopeDomain(Name));
}
LLVMMetadataRef lw_new_alias_scope(LLVMModuleRef M, LLVMMetadataRef Domain, const char *Name) {
  return wrap(MDBuilder(unwrap(M)->getContext()).createAnonymousAliasScope(node(Domain), Name));
}
// The access belongs to the scopes `In`, and touches nothing that belongs to the scopes `Apart`.
void lw_add_alias_scopes(LLVMValueRef Access, const LLVMMetadataRef *In, size_t InCount, const LLVMMetadataRef *Apart,
                         size_t ApartCount) {
  auto &I = *unwrap<Instruction>(Access);
  appendScopes(I, LLVMContext::MD_alias_scope, In, InCount);
  appendScopes(I, LLVMContext::MD_noalias, Apart, ApartCount);
}
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

// An empty internal function for code taken out of `Parent`: compiled for the same machine, never inlined back, and known as ours.
LLVMValueRef lw_new_outlined_function(LLVMValueRef Parent, const char *Name, LLVMTypeRef Type) {
  Function &From = *unwrap<Function>(Parent);
  Function *New = Function::Create(cast<FunctionType>(unwrap(Type)), GlobalValue::InternalLinkage, From.getAddressSpace(), Name,
                                   From.getParent());
  New->setIsNewDbgInfoFormat(From.IsNewDbgInfoFormat);
  // Attributes with a name of their own are about the target and the code generator; the others are about the parent's behaviour.
  for (Attribute A : From.getAttributes().getFnAttrs())
    if (A.isStringAttribute())
      New->addFnAttr(A);
  for (Attribute::AttrKind Kind : {Attribute::UWTable, Attribute::StackProtect, Attribute::StackProtectStrong,
                                   Attribute::StackProtectReq, Attribute::SafeStack, Attribute::ShadowCallStack,
                                   Attribute::NullPointerIsValid, Attribute::NoCfCheck})
    if (From.hasFnAttribute(Kind))
      New->addFnAttr(From.getFnAttribute(Kind));
  New->addFnAttr(Attribute::NoInline);
  New->addFnAttr(Attribute::NoUnwind);
  New->addFnAttr("loopwright");
  New->setDSOLocal(true);
  return wrap(New);
}

} // extern "C"
