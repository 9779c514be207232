// The writer's instruments: cloning instructions and blocks, and cutting the edges around a region.
#include "shim.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace loopwright;

namespace {

using Table = DenseMap<Value *, Value *>;

Value *mapped(const Table &Map, Value *V) {
  auto Found = Map.find(V);
  return Found == Map.end() ? V : Found->second;
}

void remap(Instruction &I, const Table &Map) {
  for (Use &Operand : I.operands())
    if (Value *New = mapped(Map, Operand.get()); New != Operand.get())
      Operand.set(New);
  if (auto *Phi = dyn_cast<PHINode>(&I))
    for (unsigned N = 0; N < Phi->getNumIncomingValues(); ++N)
      Phi->setIncomingBlock(N, cast<BasicBlock>(mapped(Map, Phi->getIncomingBlock(N))));
}

// Promises about the place where the instruction stood. In a new order they speak of other iterations than they were made for.
void dropPromisesOfPlace(Instruction &I) {
  for (unsigned Kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias, LLVMContext::MD_access_group,
                        LLVMContext::MD_mem_parallel_loop_access, LLVMContext::MD_DIAssignID})
    I.setMetadata(Kind, nullptr);
}

// For code that runs under a weaker condition than the original did.
void weaken(Instruction &I) {
  I.dropPoisonGeneratingAnnotations();
  I.dropUBImplyingAttrsAndMetadata();
}

// Two loops must not share one identity.
void renewLoopIdentity(Instruction &I) {
  MDNode *Old = I.getMetadata(LLVMContext::MD_loop);
  if (!Old)
    return;
  SmallVector<Metadata *, 4> Operands(Old->op_begin(), Old->op_end());
  auto IsAccessGroups = [](Metadata *Property) {
    auto *Node = dyn_cast_or_null<MDNode>(Property);
    auto *Name = Node && Node->getNumOperands() ? dyn_cast_or_null<MDString>(Node->getOperand(0)) : nullptr;
    return Name && Name->getString() == "llvm.loop.parallel_accesses";
  };
  erase_if(Operands, IsAccessGroups);
  Operands[0] = nullptr;
  MDNode *New = MDNode::getDistinct(I.getContext(), Operands);
  New->replaceOperandWith(0, New);
  I.setMetadata(LLVMContext::MD_loop, New);
}

bool isNotForCopies(const Instruction &I) {
  return isa<NoAliasScopeDeclInst, LifetimeIntrinsic, DbgInfoIntrinsic>(I) || isa<PseudoProbeInst>(I);
}

template <typename Inside> SmallVector<BasicBlock *, 8> distinctPredecessors(BasicBlock *B, Inside Wanted) {
  SmallVector<BasicBlock *, 8> Found;
  for (BasicBlock *Predecessor : predecessors(B))
    if (Wanted(Predecessor) && !is_contained(Found, Predecessor))
      Found.push_back(Predecessor);
  return Found;
}

bool canRetarget(ArrayRef<BasicBlock *> From) {
  return all_of(From, [](BasicBlock *B) { return !isa<IndirectBrInst, CallBrInst>(B->getTerminator()); });
}

SmallPtrSet<BasicBlock *, 16> setOf(const LLVMBasicBlockRef *Blocks, size_t Count) {
  SmallPtrSet<BasicBlock *, 16> Set;
  for (size_t N = 0; N < Count; ++N)
    Set.insert(unwrap(Blocks[N]));
  return Set;
}

} // namespace

extern "C" {

Table *lw_map_new() { return new Table; }
Table *lw_map_clone(const Table *Map) { return new Table(*Map); }
void lw_map_free(Table *Map) { delete Map; }
void lw_map_insert(Table *Map, LLVMValueRef From, LLVMValueRef To) { (*Map)[unwrap(From)] = unwrap(To); }
LLVMValueRef lw_map_get(const Table *Map, LLVMValueRef From) { return wrap(Map->lookup(unwrap(From))); }

// Before an instruction, or at the end of a block if that is null.
LLVMValueRef lw_clone_instruction(LLVMValueRef Of, const Table *Map, LLVMBasicBlockRef End, LLVMValueRef Before,
                                  bool Weaken) {
  auto *Original = unwrap<Instruction>(Of);
  Instruction *Copy = Original->clone();
  if (Before)
    Copy->insertBefore(unwrap<Instruction>(Before)->getIterator());
  else
    Copy->insertInto(unwrap(End), unwrap(End)->end());
  if (Original->hasName())
    Copy->setName(Original->getName());
  remap(*Copy, *Map);
  dropPromisesOfPlace(*Copy);
  renewLoopIdentity(*Copy);
  if (Weaken)
    weaken(*Copy);
  return wrap(Copy);
}

void lw_remap(LLVMValueRef I, const Table *Map) { remap(*unwrap<Instruction>(I), *Map); }
void lw_weaken(LLVMValueRef I) { weaken(*unwrap<Instruction>(I)); }

// Copies go to the end of `Into`. Blocks and values of the copies are added to the map; edges and operands that the map does not
// know stay as they are, so that incoming edges of φs from outside are left to the caller. Debug records are not copied: in a new
// order they would show values of other iterations.
void lw_clone_blocks(const LLVMBasicBlockRef *Blocks, size_t Count, Table *Map, LLVMValueRef Into, bool Weaken,
                     LLVMBasicBlockRef *Copies) {
  Function *F = unwrap<Function>(Into);
  for (size_t N = 0; N < Count; ++N) {
    BasicBlock *Original = unwrap(Blocks[N]);
    BasicBlock *Copy = BasicBlock::Create(F->getContext(), Original->getName(), F);
    (*Map)[Original] = Copy;
    Copies[N] = wrap(Copy);
    for (Instruction &I : *Original) {
      if (isNotForCopies(I))
        continue;
      Instruction *Clone = I.clone();
      Clone->insertInto(Copy, Copy->end());
      if (I.hasName())
        Clone->setName(I.getName());
      (*Map)[&I] = Clone;
    }
  }
  for (size_t N = 0; N < Count; ++N)
    for (Instruction &I : *unwrap(Copies[N])) {
      remap(I, *Map);
      dropPromisesOfPlace(I);
      renewLoopIdentity(I);
      if (Weaken)
        weaken(I);
    }
}

// A new block through which all edges from outside enter the region at `Entry`. Null where an edge cannot be redirected.
LLVMBasicBlockRef lw_enter_through_one_block(LLVMBasicBlockRef Entry, const LLVMBasicBlockRef *Region, size_t Count) {
  BasicBlock *B = unwrap(Entry);
  auto Inside = setOf(Region, Count);
  auto Outside = distinctPredecessors(B, [&](BasicBlock *P) { return !Inside.count(P); });
  if (B->isEHPad() || !canRetarget(Outside))
    return nullptr;
  if (!B->isEntryBlock()) {
    // No edge leads here: nothing to enter.
    if (Outside.empty())
      return nullptr;
    return wrap(SplitBlockPredecessors(B, Outside, ".lw.enter"));
  }
  // The function's own entry: what is allocated there stays in the first block.
  BasicBlock *New = BasicBlock::Create(B->getContext(), "lw.enter", B->getParent(), B);
  BranchInst *Jump = BranchInst::Create(B, New);
  for (Instruction &I : make_early_inc_range(*B))
    if (auto *Alloca = dyn_cast<AllocaInst>(&I); Alloca && isa<ConstantInt>(Alloca->getArraySize()))
      Alloca->moveBefore(*New, Jump->getIterator());
  return wrap(New);
}

// A new block through which all edges of the region to `Exit` go; φs of `Exit` are split accordingly.
LLVMBasicBlockRef lw_leave_through_one_block(LLVMBasicBlockRef Exit, const LLVMBasicBlockRef *Region, size_t Count) {
  BasicBlock *B = unwrap(Exit);
  auto Inside = setOf(Region, Count);
  auto Leaving = distinctPredecessors(B, [&](BasicBlock *P) { return Inside.count(P) != 0; });
  if (B->isEHPad() || Leaving.empty() || !canRetarget(Leaving))
    return nullptr;
  return wrap(SplitBlockPredecessors(B, Leaving, ".lw.leave"));
}

// Objects whose lifetime begins or ends inside the region live in the whole function from now on: on the new path nothing would
// mark where they begin, and stack slots are shared by those marks.
void lw_drop_lifetimes(const LLVMBasicBlockRef *Region, size_t Count) {
  SmallPtrSet<Value *, 8> Objects;
  for (size_t N = 0; N < Count; ++N)
    for (Instruction &I : *unwrap(Region[N]))
      if (auto *Marker = dyn_cast<LifetimeIntrinsic>(&I))
        Objects.insert(Marker->getArgOperand(1)->stripPointerCasts());
  if (Objects.empty())
    return;
  for (BasicBlock &B : *unwrap(Region[0])->getParent())
    for (Instruction &I : make_early_inc_range(B))
      if (auto *Marker = dyn_cast<LifetimeIntrinsic>(&I))
        if (Objects.count(Marker->getArgOperand(1)->stripPointerCasts()))
          Marker->eraseFromParent();
}

} // extern "C"
