// Scalar evolutions as trees. LLVM shares subexpressions; written as a tree some of them would have no end, hence the bound.
#include "shim.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace loopwright {
namespace {

constexpr unsigned MaxNodes = 2000;
constexpr unsigned MaxPrintedSize = 100;

struct ScevWriter {
  Analyses &A;
  Tape &T;
  unsigned Nodes = 0;

  void other(StringRef Text) {
    T.word(ScevTag::Other);
    T.text(Text);
  }
  void unsupported(const SCEV *S, StringRef What) {
    if (S->getExpressionSize() > MaxPrintedSize)
      return other(What);
    std::string Text;
    raw_string_ostream(Text) << *S;
    other(Text);
  }
  void head(ScevTag Is, const SCEV *S) {
    T.word(Is);
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
  void cast(ScevTag Is, const SCEV *S) {
    head(Is, S);
    write(S->operands()[0]);
  }
  void minMax(const SCEV *S, MinMaxOp Op) {
    head(ScevTag::MinMax, S);
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
      head(ScevTag::Constant, S);
      return T.word(Value.getSExtValue());
    }
    case scUnknown: {
      int64_t Id = A.id(llvm::cast<SCEVUnknown>(S)->getValue());
      if (Id < 0)
        return unsupported(S, "a value from elsewhere");
      head(ScevTag::Unknown, S);
      return T.word(Id);
    }
    case scAddExpr:
    case scMulExpr:
      head(S->getSCEVType() == scAddExpr ? ScevTag::Add : ScevTag::Mul, S);
      wrapFlags(llvm::cast<SCEVNAryExpr>(S));
      return operands(S);
    case scUDivExpr:
      head(ScevTag::UDiv, S);
      write(S->operands()[0]);
      return write(S->operands()[1]);
    case scSMinExpr: return minMax(S, MinMaxOp::SMin);
    case scSMaxExpr: return minMax(S, MinMaxOp::SMax);
    case scUMinExpr: return minMax(S, MinMaxOp::UMin);
    case scUMaxExpr: return minMax(S, MinMaxOp::UMax);
    case scAddRecExpr: {
      auto *Recurrence = llvm::cast<SCEVAddRecExpr>(S);
      head(ScevTag::AddRec, S);
      T.word(A.LoopIds[Recurrence->getLoop()]);
      wrapFlags(Recurrence);
      return operands(S);
    }
    case scSignExtend: return cast(ScevTag::SExt, S);
    case scZeroExtend: return cast(ScevTag::ZExt, S);
    case scTruncate: return cast(ScevTag::Trunc, S);
    case scPtrToInt: return cast(ScevTag::PtrToInt, S);
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
