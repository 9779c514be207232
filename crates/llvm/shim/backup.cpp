// A function's body set aside, to be put back if what we make of it is not good enough.
//
// The body that is kept lives in a helper function of the same type that nobody calls. Metadata (debug locations, loop and alias
// nodes) is shared, not copied: the body put back prints exactly like the one that was taken. What passes that worked on the
// function did to the rest of the module is undone too: what they declared, the attributes and alignments that they raised, and
// the numbers that they used up for names.
#include "shim.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace loopwright;

namespace loopwright {

// The module but for bodies and initializers: what passes that work on one function may change nevertheless.
struct Surroundings {
  DenseMap<Function *, AttributeList> Functions;
  DenseMap<GlobalVariable *, MaybeAlign> Variables;
  uint32_t LastNumber;

  explicit Surroundings(Module &M) : LastNumber(M.getValueSymbolTable().*open(LastNumberOfNames())) {
    for (Function &F : M)
      Functions.try_emplace(&F, F.getAttributes());
    for (GlobalVariable &G : M.globals())
      Variables.try_emplace(&G, G.getAlign());
  }

  // Everything newer and unused goes, everything older is what it was.
  void restore(Module &M) const {
    deleteNewcomers(M);
    for (auto &[F, Attributes] : Functions)
      if (F->getAttributes() != Attributes)
        F->setAttributes(Attributes);
    for (auto &[G, Align] : Variables)
      if (G->getAlign() != Align)
        G->setAlignment(Align);
    M.getValueSymbolTable().*open(LastNumberOfNames()) = LastNumber;
  }

private:
  void deleteNewcomers(Module &M) const {
    bool Changed = true;
    while (Changed) {
      Changed = false;
      for (Function &F : make_early_inc_range(M))
        if (!Functions.count(&F) && F.use_empty()) {
          F.eraseFromParent();
          Changed = true;
        }
      for (GlobalVariable &G : make_early_inc_range(M.globals()))
        if (!Variables.count(&G) && G.use_empty()) {
          G.eraseFromParent();
          Changed = true;
        }
    }
  }
};

struct Backup {
  Managers &AMs;
  Function &F;
  Function *Aside;
  Surroundings Before;
  uint32_t LastNumber;
};

} // namespace loopwright

namespace {

const RemapFlags SameModule = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;

// Of the names in the function. There is no table where the compiler keeps no names of values.
uint32_t lastNumber(Function &F) {
  const ValueSymbolTable *Names = F.getValueSymbolTable();
  return Names ? Names->*open(LastNumberOfNames()) : 0;
}
void setLastNumber(Function &F, uint32_t Number) {
  if (ValueSymbolTable *Names = F.getValueSymbolTable())
    Names->*open(LastNumberOfNames()) = Number;
}

void mapArguments(ValueToValueMapTy &Map, Function &From, Function &To) {
  for (auto [Old, New] : zip_equal(From.args(), To.args()))
    Map[&Old] = &New;
}

void remap(Function &F, ValueToValueMapTy &Map) {
  for (BasicBlock &B : F)
    for (Instruction &I : B) {
      RemapDbgRecordRange(F.getParent(), I.getDbgRecordRange(), Map, SameModule);
      RemapInstruction(&I, Map, SameModule);
    }
}

void copyBody(Function &From, Function &To) {
  ValueToValueMapTy Map;
  mapArguments(Map, From, To);
  for (BasicBlock &B : From)
    Map[&B] = CloneBasicBlock(&B, Map, "", &To);
  remap(To, Map);
  // Stores and the records of the variables they assign find each other by these ids, through a table of the whole context: with
  // shared ids, a pass that deletes a store of the copy would delete the records of the original.
  DenseMap<DIAssignID *, DIAssignID *> AssignIds;
  for (BasicBlock &B : To)
    for (Instruction &I : B)
      at::remapAssignID(AssignIds, I);
}

void moveBody(Function &From, Function &To) {
  To.splice(To.end(), &From);
  // The users of an argument are a list that every replacement turns around. There and back again it is the list it was, so a
  // body that was set aside and put back is treated by later passes as if it had never been touched.
  for (auto [Old, New] : zip_equal(From.args(), To.args()))
    Old.replaceNonMetadataUsesWith(&New);
  ValueToValueMapTy Map;
  mapArguments(Map, From, To);
  remap(To, Map);
}

void deleteBody(Function &F) {
  for (BasicBlock &B : F)
    B.dropAllReferences();
  while (!F.empty())
    F.begin()->eraseFromParent();
}

} // namespace

extern "C" {

// Null if the function's blocks have their address taken: a constant elsewhere names them, and a copy is not them.
// KeepOriginal: the original body waits aside and the function gets a copy to work on; otherwise the copy waits.
Backup *lw_backup_take(Managers *AMs, LLVMValueRef Of, bool KeepOriginal) {
  Function &F = *unwrap<Function>(Of);
  if (any_of(F, [](BasicBlock &B) { return B.hasAddressTaken(); }))
    return nullptr;
  auto *Kept = new Backup{*AMs, F, nullptr, Surroundings(*F.getParent()), lastNumber(F)};
  Kept->Aside = Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage, F.getAddressSpace(), "", F.getParent());
  Kept->Aside->setIsNewDbgInfoFormat(F.IsNewDbgInfoFormat);
  if (KeepOriginal) {
    AMs->forget(F);
    AMs->changed(F);
    moveBody(F, *Kept->Aside);
    copyBody(*Kept->Aside, F);
  } else {
    copyBody(F, *Kept->Aside);
  }
  return Kept;
}

void lw_backup_restore(Backup *Kept) {
  Function &F = Kept->F;
  Kept->AMs.forget(F);
  Kept->AMs.changed(F);
  deleteBody(F);
  moveBody(*Kept->Aside, F);
  setLastNumber(F, Kept->LastNumber);
  Kept->Aside->eraseFromParent();
  Kept->Before.restore(*F.getParent());
  delete Kept;
}

void lw_backup_discard(Backup *Kept) {
  Kept->AMs.changed(Kept->F);
  Kept->Aside->eraseFromParent();
  delete Kept;
}

} // extern "C"
