// Everything src/facts.rs lists about one function, written on a tape in the order in which src/tape.rs reads it.
#include "shim.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"

using namespace llvm;

namespace loopwright {
namespace {

// The variable whose value this record says `V` is, itself and not something computed from it.
void noteName(DenseMap<const Value *, StringRef> &Names, const Value *V, const DILocalVariable *Variable,
              const DIExpression *Expression) {
  if (V && Variable && Expression && Expression->getNumElements() == 0 && !isa<Constant>(V))
    Names.try_emplace(V, Variable->getName());
}

DenseMap<const Value *, StringRef> sourceNames(const Analyses &A) {
  DenseMap<const Value *, StringRef> Names;
  for (BasicBlock *B : A.Blocks)
    for (Instruction &I : *B) {
      for (DbgVariableRecord &Record : filterDbgVars(I.getDbgRecordRange()))
        if (Record.getNumVariableLocationOps() == 1 && !Record.hasArgList())
          noteName(Names, Record.getVariableLocationOp(0), Record.getVariable(), Record.getExpression());
      if (auto *Intrinsic = dyn_cast<DbgVariableIntrinsic>(&I))
        if (Intrinsic->getNumVariableLocationOps() == 1 && !Intrinsic->hasArgList())
          noteName(Names, Intrinsic->getVariableLocationOp(0), Intrinsic->getVariable(), Intrinsic->getExpression());
    }
  return Names;
}

// `i.addr`, `i.0`, `i.017` and `i.us47` were called `i` by their author; what flang calls `gep` and LLVM `invariant.gep` or `.fr` has no name.
StringRef withoutSuffixes(StringRef Name) {
  auto Digits = [](StringRef Text) { return all_of(Text, [](char C) { return isDigit(C); }); };
  while (Name.contains('.')) {
    auto [Stem, Last] = Name.rsplit('.');
    StringRef Word = Last.rtrim("0123456789");
    bool ByCompiler = Word == "us" || Word == "fr" || Word == "lcssa" || Last == "addr" || (!Last.empty() && Digits(Last));
    if (!ByCompiler)
      break;
    Name = Stem;
  }
  StringRef Address = Name;
  Address.consume_front("invariant.");
  return Address.consume_front("gep") && Digits(Address) ? "" : Name;
}

struct Writer {
  Analyses &A;
  Tape &T;
  const DataLayout &DL;
  DenseMap<const Value *, StringRef> Names;
  // Those that lines are in, by number; the function's own is the first.
  SmallVector<const DIFile *, 4> Files;

  Writer(Analyses &A, Tape &T) : A(A), T(T), DL(A.F.getDataLayout()), Names(sourceNames(A)) {}

  void flag(bool B) { T.word(B); }
  void value(const Value *V) { T.word(A.id(V)); }
  void block(const BasicBlock *B) { T.word(B ? A.id(B) : -1); }
  template <typename Range> void blocks(const Range &Of) {
    SmallVector<int64_t, 8> Ids;
    for (const BasicBlock *B : Of)
      if (int64_t Id = A.id(B); Id >= 0 && !is_contained(Ids, Id))
        Ids.push_back(Id);
    T.word(Ids.size());
    for (int64_t Id : Ids)
      T.word(Id);
  }

  StringRef nameOf(const Value *V) {
    auto Found = Names.find(V);
    return Found != Names.end() ? Found->second : withoutSuffixes(V->getName());
  }

  // May the function get memory by itself? Not if malloc and free are the module's own or not known for what they are, nor if they
  // would leave something in an errno that cannot be put back, and not if the function promises to write no memory: a front end may
  // have been told so, here and for declarations elsewhere.
  bool mayAllocate() {
    Module &M = *A.F.getParent();
    for (LibFunc Needed : {LibFunc_malloc, LibFunc_free}) {
      const Function *Own = M.getFunction(A.TLI.getName(Needed));
      if (!isLibFuncEmittable(&M, &A.TLI, Needed) || (Own && !Own->isDeclaration()))
        return false;
    }
    return hasErrnoLocation(M) && !A.F.onlyReadsMemory() && DL.getIndexSizeInBits(0) == 64;
  }

  void head() {
    Function &F = A.F;
    T.text(F.getName());
    T.text(sourceName(F));
    const DISubprogram *Known = F.getSubprogram();
    line(Known ? Known->getFile() : nullptr, Known ? Known->getLine() : 0);
    flag(F.hasOptNone());
    flag(F.hasFnAttribute(Attribute::Naked));
    flag(F.hasFnAttribute(Attribute::StrictFP));
    flag(F.isPresplitCoroutine());
    flag(F.hasFnAttribute(Attribute::ReturnsTwice));
    flag(F.callsFunctionThatReturnsTwice());
    flag(any_of(F, [](const BasicBlock &B) { return B.hasAddressTaken(); }));
    flag(F.hasFnAttribute(Attribute::SanitizeThread));
    flag(F.hasFnAttribute(Attribute::SanitizeMemory));
    flag(F.hasOptSize());
    flag(mayAllocate());
    flag(F.hasFnAttribute("loopwright"));

    T.word(A.TTI.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue());
    T.word(A.TTI.getCacheSize(TargetTransformInfo::CacheLevel::L1D).value_or(0));
    T.word(A.TTI.getCacheSize(TargetTransformInfo::CacheLevel::L2D).value_or(0));
    T.word(A.TTI.getCacheLineSize());
    T.word(DL.getPointerSizeInBits());
    T.word(DL.getIndexSizeInBits(0));
  }

  void type(Type *Ty) {
    if (Ty->isIntegerTy()) {
      T.word(TypeTag::Int);
      T.word(Ty->getIntegerBitWidth());
    } else if (auto *Pointer = dyn_cast<PointerType>(Ty)) {
      T.word(TypeTag::Pointer);
      T.word(Pointer->getAddressSpace());
      flag(!DL.isNonIntegralPointerType(Pointer));
    } else if (isa<ScalableVectorType>(Ty)) {
      T.word(TypeTag::ScalableVector);
    } else if (Ty->isVoidTy() || Ty->isFloatingPointTy() || isa<FixedVectorType>(Ty) || Ty->isAggregateType()) {
      T.word(TypeTag::Plain);
    } else {
      T.word(TypeTag::Other);
    }
  }

  uint64_t storeSize(Type *Ty) {
    if (!Ty->isSized())
      return 0;
    TypeSize Size = DL.getTypeStoreSize(Ty);
    return Size.isScalable() ? 0 : Size.getFixedValue();
  }

  void values() {
    T.word(A.Values.size());
    DenseMap<Type *, std::string> TypeNames;
    for (Value *V : A.Values) {
      type(V->getType());
      T.word(storeSize(V->getType()));
      std::string &TypeName = TypeNames[V->getType()];
      if (TypeName.empty()) {
        raw_string_ostream(TypeName) << *V->getType();
      }
      T.text(TypeName);
      T.text(nameOf(V));
      kind(V);
    }
  }

  void kind(Value *V) {
    if (isa<Argument>(V)) {
      T.word(KindTag::Argument);
    } else if (auto *I = dyn_cast<Instruction>(V)) {
      T.word(KindTag::Instruction);
      instruction(*I);
    } else if (auto *Int = dyn_cast<ConstantInt>(V); Int && Int->getBitWidth() <= 64 && Int->getType()->isIntegerTy()) {
      T.word(KindTag::ConstantInt);
      T.word(Int->getSExtValue());
    } else if (auto *Global = dyn_cast<GlobalVariable>(V)) {
      // The address of a thread-local variable differs from thread to thread: not a plain base.
      T.word(Global->isThreadLocal() ? KindTag::Other : KindTag::Global);
    } else if (auto [Base, Offset] = constantAddress(V); Base) {
      T.word(KindTag::ConstantGep);
      T.word(A.id(Base));
      T.word(Offset);
    } else if (isa<Constant>(V) && !isa<BlockAddress>(V)) {
      T.word(KindTag::Constant);
    } else {
      T.word(KindTag::Other);
    }
  }

  // A constant expression that is an ordinary global plus a fixed number of bytes inside it.
  std::pair<const Value *, int64_t> constantAddress(Value *V) {
    auto *Expression = dyn_cast<ConstantExpr>(V);
    if (!Expression || !V->getType()->isPointerTy())
      return {nullptr, 0};
    APInt Offset(DL.getIndexTypeSizeInBits(V->getType()), 0);
    const Value *Base = V->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/false);
    auto *Global = dyn_cast<GlobalVariable>(Base);
    if (!Global || Global->isThreadLocal() || A.id(Base) < 0 || Offset.getSignificantBits() > 64)
      return {nullptr, 0};
    return {Base, Offset.getSExtValue()};
  }

  void instruction(Instruction &I) {
    block(I.getParent());
    line(I.getDebugLoc());
    operands(I);
    flags(I);
    // A second freeze may choose another value; an alloca is another object.
    flag(!isa<FreezeInst, AllocaInst, PHINode>(I) && !I.isTerminator() && isSafeToSpeculativelyExecute(&I) &&
         !I.mayReadFromMemory());
    flag(I.mayReadFromMemory());
    flag(I.mayWriteToMemory());
    flag(I.mayHaveSideEffects());
    op(I);
  }

  void operands(Instruction &I) {
    SmallVector<int64_t, 8> Ids;
    if (auto *Phi = dyn_cast<PHINode>(&I)) {
      for (unsigned N = 0; N < Phi->getNumIncomingValues(); ++N)
        if (A.id(Phi->getIncomingBlock(N)) >= 0)
          Ids.push_back(A.id(Phi->getIncomingValue(N)));
    } else {
      for (Value *Operand : I.operands())
        if (!isa<BasicBlock>(Operand))
          Ids.push_back(A.id(Operand));
    }
    T.word(Ids.size());
    for (int64_t Id : Ids)
      T.word(Id);
  }

  void flags(Instruction &I) {
    bool Nsw = false, Nuw = false, Exact = false, Disjoint = false, Nneg = false;
    if (auto *Overflowing = dyn_cast<OverflowingBinaryOperator>(&I)) {
      Nsw = Overflowing->hasNoSignedWrap();
      Nuw = Overflowing->hasNoUnsignedWrap();
    }
    if (auto *Trunc = dyn_cast<TruncInst>(&I)) {
      Nsw = Trunc->hasNoSignedWrap();
      Nuw = Trunc->hasNoUnsignedWrap();
    }
    if (auto *Possibly = dyn_cast<PossiblyExactOperator>(&I))
      Exact = Possibly->isExact();
    if (auto *Possibly = dyn_cast<PossiblyDisjointInst>(&I))
      Disjoint = Possibly->isDisjoint();
    if (auto *Possibly = dyn_cast<PossiblyNonNegInst>(&I))
      Nneg = Possibly->hasNonNeg();
    FastMathFlags Fast;
    if (isa<FPMathOperator>(I))
      Fast = I.getFastMathFlags();
    flag(Nsw);
    flag(Nuw);
    flag(Exact);
    flag(Disjoint);
    flag(Nneg);
    flag(Fast.allowReassoc());
    flag(Fast.noNaNs());
    flag(Fast.noSignedZeros());
  }

  void op(Instruction &I) {
    if (auto *Call = dyn_cast<CallInst>(&I))
      return call(*Call);
    switch (I.getOpcode()) {
    case Instruction::Add: return coded(OpTag::Int, IntOp::Add);
    case Instruction::Sub: return coded(OpTag::Int, IntOp::Sub);
    case Instruction::Mul: return coded(OpTag::Int, IntOp::Mul);
    case Instruction::UDiv: return coded(OpTag::Int, IntOp::UDiv);
    case Instruction::SDiv: return coded(OpTag::Int, IntOp::SDiv);
    case Instruction::URem: return coded(OpTag::Int, IntOp::URem);
    case Instruction::SRem: return coded(OpTag::Int, IntOp::SRem);
    case Instruction::Shl: return coded(OpTag::Int, IntOp::Shl);
    case Instruction::LShr: return coded(OpTag::Int, IntOp::LShr);
    case Instruction::AShr: return coded(OpTag::Int, IntOp::AShr);
    case Instruction::And: return coded(OpTag::Int, IntOp::And);
    case Instruction::Or: return coded(OpTag::Int, IntOp::Or);
    case Instruction::Xor: return coded(OpTag::Int, IntOp::Xor);
    case Instruction::FAdd: return coded(OpTag::Float, FloatOp::Add);
    case Instruction::FSub: return coded(OpTag::Float, FloatOp::Sub);
    case Instruction::FMul: return coded(OpTag::Float, FloatOp::Mul);
    case Instruction::FDiv: return coded(OpTag::Float, FloatOp::Div);
    case Instruction::FRem: return coded(OpTag::Float, FloatOp::Rem);
    case Instruction::FNeg: return T.word(OpTag::FNeg);
    case Instruction::Trunc: return coded(OpTag::Cast, CastOp::Trunc);
    case Instruction::ZExt: return coded(OpTag::Cast, CastOp::ZExt);
    case Instruction::SExt: return coded(OpTag::Cast, CastOp::SExt);
    case Instruction::PtrToInt: return coded(OpTag::Cast, CastOp::PtrToInt);
    case Instruction::IntToPtr: return coded(OpTag::Cast, CastOp::IntToPtr);
    case Instruction::BitCast: return coded(OpTag::Cast, CastOp::BitCast);
    case Instruction::FPToUI: return coded(OpTag::Cast, CastOp::FPToUI);
    case Instruction::FPToSI: return coded(OpTag::Cast, CastOp::FPToSI);
    case Instruction::UIToFP: return coded(OpTag::Cast, CastOp::UIToFP);
    case Instruction::SIToFP: return coded(OpTag::Cast, CastOp::SIToFP);
    case Instruction::FPTrunc: return coded(OpTag::Cast, CastOp::FPTrunc);
    case Instruction::FPExt: return coded(OpTag::Cast, CastOp::FPExt);
    case Instruction::AddrSpaceCast: return coded(OpTag::Cast, CastOp::AddrSpaceCast);
    case Instruction::FCmp: return T.word(OpTag::FCmp);
    case Instruction::Select: return T.word(OpTag::Select);
    case Instruction::Freeze: return T.word(OpTag::Freeze);
    case Instruction::Alloca: return T.word(OpTag::Alloca);
    case Instruction::Ret: return T.word(OpTag::Return);
    case Instruction::Unreachable: return T.word(OpTag::Unreachable);
    case Instruction::ICmp: return coded(OpTag::ICmp, predicate(cast<ICmpInst>(I).getPredicate()));
    case Instruction::PHI: return phi(cast<PHINode>(I));
    case Instruction::GetElementPtr: return gep(cast<GetElementPtrInst>(I));
    case Instruction::Load: return load(cast<LoadInst>(I));
    case Instruction::Store: return store(cast<StoreInst>(I));
    case Instruction::Br: return branch(cast<BranchInst>(I));
    case Instruction::Switch: return switchOver(cast<SwitchInst>(I));
    default: break;
    }
    other(I);
  }

  template <typename Code> void coded(OpTag Is, Code Which) {
    T.word(Is);
    T.word(Which);
  }
  void other(Instruction &I) {
    T.word(OpTag::Other);
    T.text(I.getOpcodeName());
  }

  Predicate predicate(CmpInst::Predicate P) {
    static_assert(CmpInst::ICMP_SLE - CmpInst::ICMP_EQ == int64_t(Predicate::Sle));
    return Predicate(P - CmpInst::ICMP_EQ);
  }

  void phi(PHINode &Phi) {
    T.word(OpTag::Phi);
    SmallVector<int64_t, 4> Ids;
    for (BasicBlock *B : Phi.blocks())
      if (int64_t Id = A.id(B); Id >= 0)
        Ids.push_back(Id);
    T.word(Ids.size());
    for (int64_t Id : Ids)
      T.word(Id);
  }

  void gep(GetElementPtrInst &Gep) {
    T.word(OpTag::Gep);
    value(Gep.getPointerOperand());
    flag(Gep.isInBounds());
    flag(Gep.hasNoUnsignedSignedWrap());
    flag(Gep.hasNoUnsignedWrap());
    unsigned Width = DL.getIndexTypeSizeInBits(Gep.getType());
    APInt Constant(Width, 0);
    MapVector<Value *, APInt> Terms;
    bool Known = Gep.getType()->isPointerTy() && Width <= 64 && collect(Gep, Width, Terms, Constant);
    flag(Known);
    if (!Known)
      return;
    T.word(Constant.getSExtValue());
    T.word(Terms.size());
    for (auto &[Index, Scale] : Terms) {
      value(Index);
      T.word(Scale.getSExtValue());
    }
  }
  bool collect(GetElementPtrInst &Gep, unsigned Width, MapVector<Value *, APInt> &Terms, APInt &Constant) {
    // collectOffset reads scalable sizes too; they are no number of bytes.
    for (auto Step = gep_type_begin(Gep), End = gep_type_end(Gep); Step != End; ++Step)
      if (!Step.getStructTypeOrNull() && Step.getSequentialElementStride(DL).isScalable())
        return false;
    return cast<GEPOperator>(Gep).collectOffset(DL, Width, Terms, Constant);
  }

  void load(LoadInst &Load) {
    T.word(OpTag::Load);
    value(Load.getPointerOperand());
    T.word(storeSize(Load.getType()));
    T.word(Load.getAlign().value());
    flag(Load.isSimple());
  }

  void store(StoreInst &Store) {
    T.word(OpTag::Store);
    value(Store.getPointerOperand());
    value(Store.getValueOperand());
    T.word(storeSize(Store.getValueOperand()->getType()));
    T.word(Store.getAlign().value());
    flag(Store.isSimple());
  }

  void branch(BranchInst &Branch) {
    T.word(OpTag::Branch);
    T.word(Branch.getNumSuccessors());
    // Not `successors()`: it walks the operands, where the false edge comes first.
    for (unsigned Index = 0; Index != Branch.getNumSuccessors(); ++Index)
      block(Branch.getSuccessor(Index));
  }

  void switchOver(SwitchInst &Switch) {
    if (Switch.getCondition()->getType()->getIntegerBitWidth() > 64)
      return other(Switch);
    T.word(OpTag::Switch);
    block(Switch.getDefaultDest());
    T.word(Switch.getNumCases());
    for (auto &Case : Switch.cases()) {
      T.word(Case.getCaseValue()->getSExtValue());
      block(Case.getCaseSuccessor());
    }
  }

  void call(CallInst &Call) {
    if (auto *Set = dyn_cast<MemSetInst>(&Call)) {
      T.word(OpTag::MemSet);
      value(Set->getRawDest());
      value(Set->getLength());
      return flag(!Set->isVolatile());
    }
    if (auto *Copy = dyn_cast<MemTransferInst>(&Call)) {
      T.word(OpTag::MemCopy);
      value(Copy->getRawDest());
      value(Copy->getRawSource());
      value(Copy->getLength());
      return flag(!Copy->isVolatile());
    }
    switch (Call.getIntrinsicID()) {
    case Intrinsic::smin: return coded(OpTag::MinMax, MinMaxOp::SMin);
    case Intrinsic::smax: return coded(OpTag::MinMax, MinMaxOp::SMax);
    case Intrinsic::umin: return coded(OpTag::MinMax, MinMaxOp::UMin);
    case Intrinsic::umax: return coded(OpTag::MinMax, MinMaxOp::UMax);
    case Intrinsic::minnum: return coded(OpTag::MinMax, MinMaxOp::FMin);
    case Intrinsic::maxnum: return coded(OpTag::MinMax, MinMaxOp::FMax);
    case Intrinsic::minimum: return coded(OpTag::MinMax, MinMaxOp::FMinimum);
    case Intrinsic::maximum: return coded(OpTag::MinMax, MinMaxOp::FMaximum);
    case Intrinsic::assume: return coded(OpTag::Ignorable, IgnorableKind::Assume);
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end: return coded(OpTag::Ignorable, IgnorableKind::Lifetime);
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::pseudoprobe:
    case Intrinsic::donothing: return coded(OpTag::Ignorable, IgnorableKind::Other);
    default: break;
    }
    if (isa<DbgInfoIntrinsic>(Call))
      return coded(OpTag::Ignorable, IgnorableKind::Other);
    T.word(OpTag::Call);
    const Function *Callee = Call.getCalledFunction();
    bool Known = isMath(Call), Math = Known && !Call.doesNotAccessMemory();
    T.text(Callee ? Callee->getName() : "");
    T.text(Callee ? sourceName(*Callee) : "");
    // Before attributes of library functions are inferred, the library's documentation is what we know.
    flag(Call.doesNotThrow() || Math);
    flag(Call.hasFnAttr(Attribute::WillReturn) || Math);
    flag(Call.hasFnAttr(Attribute::NoSync) || Math || (Call.doesNotAccessMemory() && !Call.isConvergent()));
    // A call that must not be there twice: behind a check both versions have it.
    flag(Call.isConvergent() || Call.cannotDuplicate());
    flag(Call.isMustTailCall());
    flag(Call.doesNotAccessMemory());
    flag(Math);
    T.word(mathError(Call));
    flag(Known || isSameInEveryThread(Call));
    flag(Call.getIntrinsicID() != Intrinsic::not_intrinsic);
    flag(Call.hasOperandBundles());
  }

  // Functions of <math.h> that compute from their arguments alone, set errno at most, and write through no pointer.
  bool isMath(const CallInst &Call) {
    const Function *Callee = Call.getCalledFunction();
    LibFunc Which;
    if (!Callee || !Callee->isDeclaration() || Callee->isIntrinsic() || Call.isStrictFP() || Call.isNoBuiltin() ||
        !A.TLI.getLibFunc(*Callee, Which) || !A.TLI.has(Which))
      return false;
#define EACH_WIDTH(Name) case LibFunc_##Name: case LibFunc_##Name##f: case LibFunc_##Name##l
    switch (Which) {
    EACH_WIDTH(acos): EACH_WIDTH(acosh): EACH_WIDTH(asin): EACH_WIDTH(asinh): EACH_WIDTH(atan): EACH_WIDTH(atan2):
    EACH_WIDTH(atanh): EACH_WIDTH(cbrt): EACH_WIDTH(ceil): EACH_WIDTH(copysign): EACH_WIDTH(cos): EACH_WIDTH(cosh):
    EACH_WIDTH(exp): EACH_WIDTH(exp10): EACH_WIDTH(exp2): EACH_WIDTH(expm1): EACH_WIDTH(fabs): EACH_WIDTH(floor):
    EACH_WIDTH(fmax): EACH_WIDTH(fmin): EACH_WIDTH(fmod): EACH_WIDTH(ldexp): EACH_WIDTH(log): EACH_WIDTH(log10):
    EACH_WIDTH(log1p): EACH_WIDTH(log2): EACH_WIDTH(logb): EACH_WIDTH(nearbyint): EACH_WIDTH(pow): EACH_WIDTH(remainder):
    EACH_WIDTH(rint): EACH_WIDTH(round): EACH_WIDTH(roundeven): EACH_WIDTH(sin): EACH_WIDTH(sinh): EACH_WIDTH(sqrt):
    EACH_WIDTH(tan): EACH_WIDTH(tanh): EACH_WIDTH(trunc):
      return true;
    default:
      return false;
    }
#undef EACH_WIDTH
  }

  // What the library leaves in errno where the call fails. EDOM alone is left by functions whose values are neither too large nor too
  // small for their type, whatever the argument.
  MathError mathError(const CallInst &Call) {
    const Function *Callee = Call.getCalledFunction();
    LibFunc Which;
    if (!Callee || !A.TLI.getLibFunc(*Callee, Which))
      return MathError::Either;
#define EACH_WIDTH(Name) case LibFunc_##Name: case LibFunc_##Name##f: case LibFunc_##Name##l
    switch (Which) {
    EACH_WIDTH(acos): EACH_WIDTH(acosh): EACH_WIDTH(cos): EACH_WIDTH(sqrt):
      return MathError::Domain;
    EACH_WIDTH(cosh): EACH_WIDTH(exp): EACH_WIDTH(exp10): EACH_WIDTH(exp2): EACH_WIDTH(expm1): EACH_WIDTH(ldexp): EACH_WIDTH(sinh):
      return MathError::Range;
    default:
      return MathError::Either;
    }
#undef EACH_WIDTH
  }

  // Intrinsics that may be computed anywhere are functions of their arguments, but for those that ask which thread it is.
  bool isSameInEveryThread(const CallInst &Call) {
    const Function *Callee = Call.getCalledFunction();
    if (!Callee || !Callee->isIntrinsic() || !Callee->hasFnAttribute(Attribute::Speculatable))
      return false;
    Intrinsic::ID Which = Call.getIntrinsicID();
    return Which != Intrinsic::threadlocal_address && Which != Intrinsic::thread_pointer;
  }

  void allBlocks() {
    T.word(A.Blocks.size());
    for (BasicBlock *B : A.Blocks) {
      T.text(B->getName());
      T.word(B->size());
      for (Instruction &I : *B)
        value(&I);
      blocks(successors(B));
      blocks(predecessors(B));
      auto *Node = A.DT.getNode(B);
      block(Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr);
      auto *PostNode = A.PDT.getNode(B);
      block(PostNode && PostNode->getIDom() ? PostNode->getIDom()->getBlock() : nullptr);
      Loop *L = A.LI.getLoopFor(B);
      T.word(L ? int64_t(A.LoopIds[L]) : -1);
    }
  }

  void allLoops() {
    T.word(A.Loops.size());
    for (Loop *L : A.Loops)
      loop(*L);
  }

  void loop(Loop &L) {
    T.word(L.getParentLoop() ? int64_t(A.LoopIds[L.getParentLoop()]) : -1);
    SmallVector<int64_t, 4> Children;
    for (Loop *Child : L.getSubLoops())
      Children.push_back(A.LoopIds[Child]);
    llvm::sort(Children);
    T.word(Children.size());
    for (int64_t Child : Children)
      T.word(Child);
    T.word(L.getLoopDepth());
    block(L.getHeader());
    block(L.getLoopLatch());
    SmallVector<BasicBlock *, 16> Body(L.blocks()), Exiting, Exits;
    auto ByNumber = [&](BasicBlock *X, BasicBlock *Y) { return A.id(X) < A.id(Y); };
    llvm::sort(Body, ByNumber);
    blocks(Body);
    L.getExitingBlocks(Exiting);
    llvm::sort(Exiting, ByNumber);
    blocks(Exiting);
    L.getExitBlocks(Exits);
    llvm::sort(Exits, ByNumber);
    blocks(Exits);
    auto Range = L.getLocRange();
    const DILocation *Start = outside(Range.getStart()), *End = outside(Range.getEnd());
    line(Start);
    if (Start && End && End != Start && End->getFile() == Start->getFile())
      line(End);
    else
      line(Start ? Start->getFile() : nullptr, lastLine(Body, Start));
    T.text(counterName(L));
    flag(isHinted(L));
    flag(isMustProgress(&L));
    writeScev(A, A.SE.getBackedgeTakenCount(&L), T);
    T.word(Exiting.size());
    for (BasicBlock *B : Exiting)
      writeScev(A, A.SE.getExitCount(&L, B), T);
  }

  // In the file of the function, if some of it is: what was inlined from a header is where it was called. What a header has instead of
  // the file, as where a body is included, stays there.
  const DILocation *outside(const DILocation *At) {
    const DISubprogram *Function = A.F.getSubprogram();
    while (At && Function && At->getFile() != Function->getFile() && At->getInlinedAt())
      At = At->getInlinedAt();
    return At;
  }

  void line(const DILocation *At) {
    At = outside(At);
    line(At ? At->getFile() : nullptr, At ? At->getLine() : 0);
  }

  void line(const DIFile *File, unsigned Number) {
    auto Known = find(Files, File);
    T.word(Known - Files.begin());
    if (Known == Files.end())
      Files.push_back(File);
    T.word(Number);
  }

  // Of what was written in this function and in the file where the loop starts; inlined code has its lines elsewhere.
  unsigned lastLine(ArrayRef<BasicBlock *> Body, const DILocation *Start) {
    unsigned Last = 0;
    for (BasicBlock *B : Body)
      for (Instruction &I : *B)
        if (const DebugLoc &At = I.getDebugLoc(); At && !At.getInlinedAt() && Start && At->getFile() == Start->getFile())
          Last = std::max(Last, At.getLine());
    return Last;
  }

  void files() {
    const DICompileUnit *Unit = A.F.getSubprogram() ? A.F.getSubprogram()->getUnit() : nullptr;
    auto IsCompiled = [&](const DIFile *File) {
      return !File || !Unit || (File->getFilename() == Unit->getFilename() && File->getDirectory() == Unit->getDirectory());
    };
    T.word(Files.size());
    for (const DIFile *File : Files) {
      StringRef Name = IsCompiled(File) ? "" : File->getFilename();
      Name.consume_front("./");
      T.text(Name);
    }
  }

  StringRef counterName(Loop &L) {
    StringRef Fallback;
    for (PHINode &Phi : L.getHeader()->phis()) {
      if (!Phi.getType()->isIntegerTy() || !A.SE.isSCEVable(Phi.getType()))
        continue;
      auto *Recurrence = dyn_cast<SCEVAddRecExpr>(A.SE.getSCEV(&Phi));
      if (!Recurrence || Recurrence->getLoop() != &L || !Recurrence->isAffine())
        continue;
      if (auto Found = Names.find(&Phi); Found != Names.end())
        return Found->second;
      // A widened counter leaves its name with the narrow copy.
      for (User *U : Phi.users())
        if (auto *Narrow = dyn_cast<CastInst>(U); Narrow && Names.count(Narrow))
          return Names[Narrow];
      if (Fallback.empty() && !Phi.getName().starts_with("indvars.iv"))
        Fallback = withoutSuffixes(Phi.getName());
    }
    return Fallback;
  }

  bool isHinted(Loop &L) {
    MDNode *Properties = L.getLoopID();
    if (!Properties)
      return false;
    for (const MDOperand &Property : drop_begin(Properties->operands()))
      if (auto *Node = dyn_cast_or_null<MDNode>(Property); Node && Node->getNumOperands())
        if (auto *Name = dyn_cast_or_null<MDString>(Node->getOperand(0)))
          // We unroll nothing, and clang -O1 says "do not unroll" of every loop. That a loop was unswitched is LLVM's note to itself.
          if (Name->getString().starts_with("llvm.loop.") && Name->getString() != "llvm.loop.mustprogress" &&
              Name->getString() != "llvm.loop.unroll.disable" && !Name->getString().starts_with("llvm.loop.unswitch."))
            return true;
    return false;
  }
};

} // namespace

void writeFacts(Analyses &A, Tape &T) {
  Writer W(A, T);
  W.head();
  W.values();
  W.allBlocks();
  W.allLoops();
  W.files();
}

} // namespace loopwright
