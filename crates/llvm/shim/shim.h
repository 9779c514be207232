// The shim's own vocabulary, shared by its source files. Rust sees only the extern "C" functions: ffi.h declares them, and all words,
// structs and hooks that both sides know, as src/ffi.rs and src/codes.rs say (build.rs).
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ValueSymbolTable.h"
#include "llvm/Passes/PassBuilder.h"
#include "ffi.h"
#include <memory>
#include <string>
#include <vector>

namespace loopwright {

// What Rust reads back: numbers in order, and strings as (offset, length) into one pool.
struct Tape {
  std::vector<int64_t> Words;
  std::string Pool;

  void word(int64_t W) { Words.push_back(W); }
  template <typename Code> std::enable_if_t<std::is_enum_v<Code>> word(Code C) { word(int64_t(C)); }
  void text(llvm::StringRef S) {
    word(Pool.size());
    word(S.size());
    Pool.append(S.data(), S.size());
  }
};

// Private members of LLVM's classes for which it has no questions. An explicit instantiation may name such a member and hand it out:
// Object.*open(Key()).
template <typename Key, auto Member> struct Door {
  friend constexpr auto open(Key) { return Member; }
};
// The machine that the compiler chose.
struct MachineOfBuilder {
  friend constexpr auto open(MachineOfBuilder);
};
template struct Door<MachineOfBuilder, &llvm::PassBuilder::TM>;
// What the compiler knows of library functions.
struct TableOfLibraryInfo {
  friend constexpr auto open(TableOfLibraryInfo);
};
template struct Door<TableOfLibraryInfo, &llvm::TargetLibraryInfo::Impl>;
// The number that was last appended to a name to make it one of its own.
struct LastNumberOfNames {
  friend constexpr auto open(LastNumberOfNames);
};
template struct Door<LastNumberOfNames, &llvm::ValueSymbolTable::LastUnique>;

// The analysis managers that all work on one module goes through. They are always our own, also inside of a compiler's pipeline.
struct Managers {
  llvm::FunctionAnalysisManager *FAM = nullptr;

  // Everything is dropped, also what claims to survive every change: after a body was exchanged nothing does.
  void forget(llvm::Function &F) { FAM->clear(F, F.getName()); }
  // The function is not, or was for a while not, what it was: whoever else knows something of it must forget it.
  virtual void changed(llvm::Function &) {}
  virtual ~Managers() = default;
};

// Can code of this module ask where errno is?
bool hasErrnoLocation(const llvm::Module &M);

// LLVM's answers about one function while it is unchanged; ids are positions in Values, Blocks and Loops.
struct Analyses {
  llvm::Function &F;
  llvm::DominatorTree &DT;
  llvm::PostDominatorTree &PDT;
  llvm::LoopInfo &LI;
  llvm::ScalarEvolution &SE;
  llvm::AAResults &AA;
  llvm::AssumptionCache &AC;
  llvm::TargetLibraryInfo &TLI;
  llvm::TargetTransformInfo &TTI;

  std::vector<llvm::Value *> Values;
  std::vector<llvm::BasicBlock *> Blocks;
  std::vector<llvm::Loop *> Loops;
  llvm::DenseMap<const llvm::Value *, uint32_t> ValueIds;
  llvm::DenseMap<const llvm::BasicBlock *, uint32_t> BlockIds;
  llvm::DenseMap<const llvm::Loop *, uint32_t> LoopIds;
  // Alias scopes whose promise holds in the whole function: declared here, and the declaration runs at most once per call.
  llvm::SmallPtrSet<const llvm::MDNode *, 8> TrustedScopes;

  Analyses(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

  // Position of a value that the function mentions, -1 for any other.
  int64_t id(const llvm::Value *V) const {
    auto Found = ValueIds.find(V);
    return Found == ValueIds.end() ? -1 : int64_t(Found->second);
  }
  int64_t id(const llvm::BasicBlock *B) const {
    auto Found = BlockIds.find(B);
    return Found == BlockIds.end() ? -1 : int64_t(Found->second);
  }

private:
  void numberBlocks();
  void numberLoops();
  void numberValues();
  void numberConstant(llvm::Value *V);
  void findTrustedScopes();
};

void writeFacts(Analyses &A, Tape &T);
void writeScev(Analyses &A, const llvm::SCEV *S, Tape &T);

// What its author calls the function: without mangling and parameters.
std::string sourceName(const llvm::Function &F);

inline char *copyText(const std::string &S) {
  char *Copy = static_cast<char *>(malloc(S.size() + 1));
  memcpy(Copy, S.c_str(), S.size() + 1);
  return Copy;
}

} // namespace loopwright
