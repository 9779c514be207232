// Numbering of values, blocks and loops, and the questions that are answered on demand.
#include "shim.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/Loads.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>

using namespace llvm;

namespace loopwright {

// The libraries of Linux say it by a function; one that this module defines is none of theirs.
bool hasErrnoLocation(const Module &M) {
  // A module that names no system is compiled for this one.
  Triple Target(M.getTargetTriple().empty() ? sys::getDefaultTargetTriple() : M.getTargetTriple());
  const GlobalValue *Known = M.getNamedValue("__errno_location");
  return Target.isOSLinux() && !Target.isAndroid() && (!Known || (isa<Function>(Known) && Known->isDeclaration()));
}

Analyses::Analyses(Function &F, FunctionAnalysisManager &FAM)
    : F(F), DT(FAM.getResult<DominatorTreeAnalysis>(F)), PDT(FAM.getResult<PostDominatorTreeAnalysis>(F)),
      LI(FAM.getResult<LoopAnalysis>(F)), SE(FAM.getResult<ScalarEvolutionAnalysis>(F)), AA(FAM.getResult<AAManager>(F)),
      AC(FAM.getResult<AssumptionAnalysis>(F)), TLI(FAM.getResult<TargetLibraryAnalysis>(F)),
      TTI(FAM.getResult<TargetIRAnalysis>(F)) {
  numberBlocks();
  numberLoops();
  numberValues();
  findTrustedScopes();
}

void Analyses::numberBlocks() {
  ReversePostOrderTraversal<Function *> Order(&F);
  for (BasicBlock *B : Order) {
    BlockIds[B] = Blocks.size();
    Blocks.push_back(B);
  }
}

void Analyses::numberLoops() {
  auto InProgramOrder = [&](Loop *A, Loop *B) { return BlockIds[A->getHeader()] < BlockIds[B->getHeader()]; };
  SmallVector<Loop *, 16> Stack;
  auto Push = [&](ArrayRef<Loop *> Siblings) {
    SmallVector<Loop *, 8> Sorted(Siblings);
    llvm::sort(Sorted, InProgramOrder);
    Stack.append(Sorted.rbegin(), Sorted.rend());
  };
  Push(LI.getTopLevelLoops());
  while (!Stack.empty()) {
    Loop *L = Stack.pop_back_val();
    LoopIds[L] = Loops.size();
    Loops.push_back(L);
    Push(L->getSubLoops());
  }
}

void Analyses::numberValues() {
  auto Number = [&](Value *V) {
    if (ValueIds.try_emplace(V, Values.size()).second)
      Values.push_back(V);
  };
  for (Argument &Arg : F.args())
    Number(&Arg);
  for (BasicBlock *B : Blocks)
    for (Instruction &I : *B)
      Number(&I);
  for (BasicBlock *B : Blocks)
    for (Instruction &I : *B)
      for (Value *Operand : I.operands())
        if (!isa<BasicBlock>(Operand))
          numberConstant(Operand);
}

// Constant expressions bring what they are made of: a scalar evolution looks through them and ends at the global.
void Analyses::numberConstant(Value *Root) {
  SmallVector<Value *, 8> Stack{Root};
  while (!Stack.empty()) {
    Value *V = Stack.pop_back_val();
    if (!ValueIds.try_emplace(V, Values.size()).second)
      continue;
    Values.push_back(V);
    if (auto *Expression = dyn_cast<ConstantExpr>(V))
      for (Value *Operand : reverse(Expression->operands()))
        Stack.push_back(Operand);
  }
}

// An alias scope promises something about one execution of its declaration. Where the declaration stands in a cycle, two
// iterations are two executions, and nothing is promised between them. A scope that is not declared here at all may come from a
// loop that was versioned inside another loop, which is the same trap: it is not trusted either.
void Analyses::findTrustedScopes() {
  SmallVector<const NoAliasScopeDeclInst *, 8> Declarations;
  for (BasicBlock *B : Blocks)
    for (Instruction &I : *B)
      if (auto *Declaration = dyn_cast<NoAliasScopeDeclInst>(&I))
        Declarations.push_back(Declaration);
  if (Declarations.empty())
    return;
  ReversePostOrderTraversal<const Function *> Order(&F);
  if (containsIrreducibleCFG<const BasicBlock *>(Order, LI))
    return;
  // Declared twice (a body that was duplicated without renaming its scopes) is declared once too often.
  SmallPtrSet<const MDNode *, 8> Distrusted;
  for (auto *Declaration : Declarations)
    for (const MDOperand &Scope : Declaration->getScopeList()->operands())
      if (auto *Node = dyn_cast<MDNode>(Scope))
        if (LI.getLoopFor(Declaration->getParent()) || !TrustedScopes.insert(Node).second)
          Distrusted.insert(Node);
  for (const MDNode *Node : Distrusted)
    TrustedScopes.erase(Node);
}

namespace {

MDNode *onlyTrusted(const Analyses &A, MDNode *Scopes) {
  if (!Scopes)
    return nullptr;
  for (const MDOperand &Scope : Scopes->operands())
    if (!A.TrustedScopes.count(dyn_cast<MDNode>(Scope)))
      return nullptr;
  return Scopes;
}

StringRef nameOf(const MDNode *Node) {
  auto *Name = Node && Node->getNumOperands() ? dyn_cast<MDString>(Node->getOperand(0)) : nullptr;
  return Name ? Name->getString() : StringRef();
}

// Of a type among those that accesses are tagged with.
const MDNode *parentOf(const MDNode *Node) {
  return Node && Node->getNumOperands() > 1 ? dyn_cast<MDNode>(Node->getOperand(1)) : nullptr;
}

// Fortran's compiler says with tags of types which arguments of a procedure are apart. That is a promise about one execution of the
// procedure, like that of an alias scope: it holds in the procedure itself, not where it was inlined into a loop.
bool speaksOfArguments(const Analyses &A, const MDNode *Tag) {
  const MDNode *Root = Tag && Tag->getNumOperands() >= 3 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
  for (unsigned Depth = 0; Depth < 16 && parentOf(Root); ++Depth)
    Root = parentOf(Root);
  StringRef Procedure = nameOf(Root);
  if (!Procedure.consume_front("Flang function root "))
    return false;
  return Procedure == A.F.getName() ||
         (Procedure.consume_front("_QP") && A.F.getName().size() == Procedure.size() + 1 &&
          A.F.getName().starts_with(Procedure) && A.F.getName().ends_with("_"));
}

// Memory without a declared type may hold floats now and ints later: types separate a load from a store in front of it, and nothing
// else. So they say nothing here, where it is asked what may change places. Dropping a tag only weakens what is known.
AAMDNodes trustedTags(const Analyses &A, const Instruction &I, bool ByTypes) {
  AAMDNodes Tags = I.getAAMetadata();
  if (!ByTypes && !speaksOfArguments(A, Tags.TBAA))
    Tags.TBAA = nullptr;
  Tags.TBAAStruct = nullptr;
  Tags.Scope = onlyTrusted(A, Tags.Scope);
  Tags.NoAlias = onlyTrusted(A, Tags.NoAlias);
  return Tags;
}

SmallVector<AAMDNodes, 4> distinctTags(const Analyses &A, const uint32_t *Accesses, size_t Count, bool ByTypes) {
  SmallVector<AAMDNodes, 4> Distinct;
  for (size_t I = 0; I < Count; ++I)
    if (auto *Access = dyn_cast<Instruction>(A.Values[Accesses[I]])) {
      // Copies of memory read and write under one tag each side may use; their struct tags say nothing simple.
      AAMDNodes Tags = isa<LoadInst, StoreInst>(Access) ? trustedTags(A, *Access, ByTypes) : AAMDNodes();
      if (!is_contained(Distinct, Tags))
        Distinct.push_back(Tags);
    }
  if (Distinct.empty())
    Distinct.push_back(AAMDNodes());
  return Distinct;
}

// Is it an access to a type of C or C++ other than int and those that may be anything? errno is declared as an int, so that whoever
// reads or writes it as something else is wrong, at all times.
bool isNeverInt(const Instruction &I) {
  const MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa);
  if (!Tag || Tag->getNumOperands() < 3)
    return false;
  auto *Type = dyn_cast<MDNode>(Tag->getOperand(1));
  const MDNode *Character = parentOf(Type);
  StringRef Language = nameOf(parentOf(Character));
  static constexpr StringLiteral Others[] = {"float", "double", "long double", "short", "long", "long long",
                                             "_Bool", "bool",   "any pointer"};
  return is_contained(Others, nameOf(Type)) && nameOf(Character) == "omnipotent char" &&
         (Language == "Simple C/C++ TBAA" || Language == "Simple C++ TBAA");
}

// The last instruction of the block that defines the value: whatever uses the value in another block runs behind it, so that what
// an assumption in this block says holds there.
const Instruction *behindDefinition(const Analyses &A, const Value *V) {
  if (auto *I = dyn_cast<Instruction>(V))
    return I->getParent()->getTerminator();
  return A.F.getEntryBlock().getTerminator();
}

ConstantRange rangeOf(Analyses &A, Value *V, bool Signed) {
  ConstantRange Range = Signed ? A.SE.getSignedRange(A.SE.getSCEV(V)) : A.SE.getUnsignedRange(A.SE.getSCEV(V));
  ConstantRange Assumed = computeConstantRange(V, Signed, /*UseInstrInfo=*/true, &A.AC, behindDefinition(A, V), &A.DT);
  return Range.intersectWith(Assumed, Signed ? ConstantRange::Signed : ConstantRange::Unsigned);
}

void putWide(const APInt &Value, bool Signed, uint64_t *Out) {
  APInt Wide = Signed ? Value.sextOrTrunc(128) : Value.zextOrTrunc(128);
  Out[0] = Wide.extractBitsAsZExtValue(64, 0);
  Out[1] = Wide.extractBitsAsZExtValue(64, 64);
}

} // namespace
} // namespace loopwright

using namespace loopwright;

extern "C" {

Analyses *lw_analyses_new(Managers *M, LLVMValueRef F) {
  return new Analyses(*unwrap<Function>(F), *M->FAM);
}
void lw_analyses_free(Analyses *A) { delete A; }

size_t lw_value_count(const Analyses *A) { return A->Values.size(); }
size_t lw_block_count(const Analyses *A) { return A->Blocks.size(); }
LLVMValueRef lw_value_ref(const Analyses *A, uint32_t Id) { return wrap(A->Values[Id]); }
LLVMBasicBlockRef lw_block_ref(const Analyses *A, uint32_t Id) { return wrap(A->Blocks[Id]); }

Tape *lw_facts(Analyses *A) {
  auto *T = new Tape;
  writeFacts(*A, *T);
  return T;
}

Tape *lw_scev(Analyses *A, uint32_t V, int64_t Loop) {
  auto *T = new Tape;
  Value *Of = A->Values[V];
  if (!A->SE.isSCEVable(Of->getType())) {
    writeScev(*A, nullptr, *T);
    return T;
  }
  writeScev(*A, A->SE.getSCEVAtScope(A->SE.getSCEV(Of), Loop < 0 ? nullptr : A->Loops[Loop]), *T);
  return T;
}

const int64_t *lw_tape_words(const Tape *T, size_t *Count) {
  *Count = T->Words.size();
  return T->Words.data();
}
const char *lw_tape_pool(const Tape *T, size_t *Count) {
  *Count = T->Pool.size();
  return T->Pool.data();
}
void lw_tape_free(Tape *T) { delete T; }

// Out: lowest (low word, high word), highest. False for anything but integers of at most 128 bits.
bool lw_range(Analyses *A, uint32_t V, bool Signed, uint64_t *Out) {
  Value *Of = A->Values[V];
  if (!Of->getType()->isIntegerTy() || Of->getType()->getIntegerBitWidth() > 128)
    return false;
  ConstantRange Range = rangeOf(*A, Of, Signed);
  // An empty range means that the value is never computed; say nothing of it.
  if (Range.isEmptySet())
    Range = ConstantRange::getFull(Of->getType()->getIntegerBitWidth());
  putWide(Signed ? Range.getSignedMin() : Range.getUnsignedMin(), Signed, Out);
  putWide(Signed ? Range.getSignedMax() : Range.getUnsignedMax(), Signed, Out + 2);
  return true;
}

// `ByTypes`: for those who want to see that it is wrong.
bool lw_may_alias(Analyses *A, uint32_t First, const uint32_t *FirstAccesses, size_t FirstCount, uint32_t Second,
                  const uint32_t *SecondAccesses, size_t SecondCount, bool ByTypes) {
  Value *FirstBase = A->Values[First], *SecondBase = A->Values[Second];
  if (!FirstBase->getType()->isPointerTy() || !SecondBase->getType()->isPointerTy())
    return true;
  BatchAAResults AA(A->AA);
  AA.enableCrossIterationMode();
  auto SecondTags = distinctTags(*A, SecondAccesses, SecondCount, ByTypes);
  for (const AAMDNodes &Tags : distinctTags(*A, FirstAccesses, FirstCount, ByTypes))
    for (const AAMDNodes &Others : SecondTags)
      if (AA.alias(MemoryLocation::getBeforeOrAfter(FirstBase, Tags),
                   MemoryLocation::getBeforeOrAfter(SecondBase, Others)) != AliasResult::NoAlias)
        return true;
  return false;
}

// What later passes make of the types of two accesses. 0: they are the same, 1: they tell nothing, 2: the accesses are apart.
int32_t lw_types(Analyses *A, uint32_t First, uint32_t Second) {
  auto *I = dyn_cast<Instruction>(A->Values[First]), *J = dyn_cast<Instruction>(A->Values[Second]);
  if (!I || !J || !isa<LoadInst, StoreInst>(I) || !isa<LoadInst, StoreInst>(J))
    return 1;
  if (I->getMetadata(LLVMContext::MD_tbaa) == J->getMetadata(LLVMContext::MD_tbaa))
    return 0;
  TypeBasedAAResult Types;
  SimpleAAQueryInfo Query(A->AA);
  return Types.alias(MemoryLocation::get(I), MemoryLocation::get(J), Query, nullptr) == AliasResult::NoAlias ? 2 : 1;
}

// The C library defines errno: it is no object that this function or this module creates.
bool lw_may_be_errno(Analyses *A, uint32_t Base, const uint32_t *Accesses, size_t Count) {
  const Value *Object = getUnderlyingObject(A->Values[Base]);
  auto *Global = dyn_cast<GlobalVariable>(Object);
  if (Global ? !Global->isDeclaration() : isIdentifiedObject(Object))
    return false;
  for (size_t I = 0; I < Count; ++I) {
    auto *Access = dyn_cast<Instruction>(A->Values[Accesses[I]]);
    if (!Access || !isa<LoadInst, StoreInst>(Access) || !isNeverInt(*Access))
      return true;
  }
  return Count == 0;
}

bool lw_has_errno_location(const Analyses *A) { return hasErrnoLocation(*A->F.getParent()); }

bool lw_is_readable_at(Analyses *A, uint32_t Load, uint32_t Block) {
  auto *L = dyn_cast<LoadInst>(A->Values[Load]);
  if (!L)
    return false;
  // The address may be computed inside the region: only what is known of it whatever the place counts, so that a pointer that is an
  // instruction must rest on constant offsets from something that is known there.
  const Value *Base = L->getPointerOperand()->stripInBoundsConstantOffsets();
  const BasicBlock *At = A->Blocks[Block];
  if (auto *I = dyn_cast<Instruction>(Base))
    if (!A->DT.dominates(I, At->getTerminator()) || I->getParent() == At)
      return false;
  return isDereferenceableAndAlignedPointer(L->getPointerOperand(), L->getType(), L->getAlign(),
                                            A->F.getDataLayout(), At->getTerminator(), &A->AC, &A->DT);
}

bool lw_is_guaranteed_not_poison(Analyses *A, uint32_t V) {
  Value *Of = A->Values[V];
  return isGuaranteedNotToBeUndefOrPoison(Of, &A->AC, behindDefinition(*A, Of), &A->DT);
}

} // extern "C"
