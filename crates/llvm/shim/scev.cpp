// Scalar evolutions as trees. LLVM shares subexpressions; written as a tree some of them would have no end, hence the bound.
#include "shim.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace loopwright {
namespace {

constexpr unsigned MaxNodes = 2000;
constexpr unsigned MaxPrintedSize = 100;

enum class Tag : int64_t { Constant, Unknown, Add, Mul, UDiv, MinMax, AddRec, SExt, ZExt, Trunc, PtrToInt, Other };

struct ScevWriter {
  Analyses &A;
  Tape &T;
  unsigned Nodes = 0;

  void other(StringRef Text) {
    T.word(int64_t(Tag::Other));
    T.text(Text);
  }
  void unsupported(const SCEV *S, StringRef What) {
    if (S->getExpressionSize() > MaxPrintedSize)
      return other(What);
    std::string Text;
    raw_string_ostream(Text) << *S;
    other(Text);
  }
  void head(Tag Is, const SCEV *S) {
    T.word(int64_t(Is));
    T.word(A.SE.getTypeSizeInBits(S->getType()));
  }
  void operands(const SCEV *S) {
    T.word(S->operands().size());
    for (const SCEV *Operand : S->operands())
      write(Operand);
  }
  // Exactly the flags that this expression carries, nothing inferred here.
  void wrapFlags(const SCEVNAryExpr *S) {
    T.word(S->hasNoSignedWrap());
    T.word(S->hasNoUnsignedWrap());
  }
  void cast(Tag Is, const SCEV *S) {
    head(Is, S);
    write(S->operands()[0]);
  }
  void minMax(const SCEV *S, int64_t Op) {
    head(Tag::MinMax, S);
    T.word(Op);
    operands(S);
  }

  void write(const SCEV *S) {
    if (++Nodes > MaxNodes)
      return other("an expression too large to write down");
    switch (S->getSCEVType()) {
    case scConstant: {
      const APInt &Value = llvm::cast<SCEVConstant>(S)->getAPInt();
      if (Value.getBitWidth() > 64)
        return unsupported(S, "a constant of over 64 bits");
      head(Tag::Constant, S);
      return T.word(Value.getSExtValue());
    }
    case scUnknown: {
      int64_t Id = A.id(llvm::cast<SCEVUnknown>(S)->getValue());
      if (Id < 0)
        return unsupported(S, "a value from elsewhere");
      head(Tag::Unknown, S);
      return T.word(Id);
    }
    case scAddExpr:
    case scMulExpr:
      head(S->getSCEVType() == scAddExpr ? Tag::Add : Tag::Mul, S);
      wrapFlags(llvm::cast<SCEVNAryExpr>(S));
      return operands(S);
    case scUDivExpr:
      head(Tag::UDiv, S);
      write(S->operands()[0]);
      return write(S->operands()[1]);
    case scSMinExpr: return minMax(S, 0);
    case scSMaxExpr: return minMax(S, 1);
    case scUMinExpr: return minMax(S, 2);
    case scUMaxExpr: return minMax(S, 3);
    case scAddRecExpr: {
      auto *Recurrence = llvm::cast<SCEVAddRecExpr>(S);
      head(Tag::AddRec, S);
      T.word(A.LoopIds[Recurrence->getLoop()]);
      wrapFlags(Recurrence);
      return operands(S);
    }
    case scSignExtend: return cast(Tag::SExt, S);
    case scZeroExtend: return cast(Tag::ZExt, S);
    case scTruncate: return cast(Tag::Trunc, S);
    case scPtrToInt: return cast(Tag::PtrToInt, S);
    case scSequentialUMinExpr: return unsupported(S, "a sequential minimum");
    case scVScale: return unsupported(S, "vscale");
    case scCouldNotCompute: return other("***COULDNOTCOMPUTE***");
    }
    other("an unknown kind of scalar evolution");
  }
};

} // namespace

void writeScev(Analyses &A, const SCEV *S, Tape &T) {
  ScevWriter W{A, T};
  if (S)
    W.write(S);
  else
    W.other("neither an integer nor a pointer");
}

} // namespace loopwright
