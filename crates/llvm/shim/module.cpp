// Modules that tests read, and the analysis managers for them; what is printed and verified.
#include "shim.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace llvm;
using namespace loopwright;

namespace loopwright {

// Members in this order: results in an outer manager may point into the inner ones, so the outer goes first.
struct OwnManagers final : Managers {
  std::unique_ptr<TargetMachine> Machine;
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;

  explicit OwnManagers(Module &M) {
    static std::once_flag Once;
    std::call_once(Once, [] { InitializeNativeTarget(); });
    std::string Ignored;
    // Without a machine for this triple LLVM answers with its defaults, which know no vector registers.
    if (const Target *T = TargetRegistry::lookupTarget(M.getTargetTriple(), Ignored))
      Machine.reset(T->createTargetMachine(M.getTargetTriple(), "", "", TargetOptions(), std::nullopt));
    PassBuilder Builder(Machine.get());
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
    FAM = &Functions;
  }
};

struct OwnModule {
  LLVMContext Context;
  std::unique_ptr<Module> M;
  std::unique_ptr<OwnManagers> AMs;
};

// `_QMlinearPsolve`, solve in the module linear, is `linear::solve`; a letter says what each name stands for. Of a procedure that is in
// nothing flang makes `solve_`, and a C programmer may, too: there, whoever made the module tells.
static std::string fortranName(const Function &F) {
  StringRef Name = F.getName();
  if (Name == "_QQmain")
    return "the main program";
  if (!Name.consume_front("_Q")) {
    if (F.getParent()->getSourceFileName() == "FIRModule" && !Name.starts_with("_"))
      Name.consume_back("_");
    return Name.str();
  }
  std::string Found;
  while (!Name.empty() && isUpper(Name.front())) {
    Name = Name.drop_front();
    StringRef Part = Name.take_until([](char C) { return isUpper(C); });
    Found += (Found.empty() ? "" : "::") + Part.str();
    Name = Name.drop_front(Part.size());
  }
  return Found.empty() ? F.getName().str() : Found;
}

std::string sourceName(const Function &F) {
  std::string Symbol = F.getName().str();
  ItaniumPartialDemangler Demangled;
  if (StringRef(Symbol).starts_with("_Z") && !Demangled.partialDemangle(Symbol.c_str()) && Demangled.isFunction())
    if (char *Name = Demangled.getFunctionName(nullptr, nullptr)) {
      std::string Found = Name;
      free(Name);
      return Found;
    }
  return fortranName(F);
}

} // namespace loopwright

extern "C" {

// LLVM IR or bitcode, from a file (Text null) or from memory. Null and a message, to be freed, if it is not valid.
OwnModule *lw_module_read(const char *Name, const char *Text, size_t Length, char **Message) {
  auto Own = std::make_unique<OwnModule>();
  SMDiagnostic Diagnostic;
  Own->M = parseIR(MemoryBufferRef(StringRef(Text, Length), Name), Diagnostic, Own->Context);
  if (!Own->M) {
    std::string Reason;
    raw_string_ostream Stream(Reason);
    Diagnostic.print(nullptr, Stream, /*ShowColors=*/false, /*ShowKindLabel=*/false);
    *Message = copyText(StringRef(Reason).rtrim().str());
    return nullptr;
  }
  // What the pass managers of LLVM 19 work on, and so what clang would show us.
  Own->M->convertToNewDbgValues();
  Own->AMs = std::make_unique<OwnManagers>(*Own->M);
  return Own.release();
}
void lw_module_free(OwnModule *Own) { delete Own; }
LLVMModuleRef lw_module_ref(OwnModule *Own) { return wrap(Own->M.get()); }
Managers *lw_module_managers(OwnModule *Own) { return Own->AMs.get(); }

char *lw_module_print(LLVMModuleRef M, bool WithUseOrder) {
  std::string Text;
  raw_string_ostream Out(Text);
  unwrap(M)->print(Out, /*AAW=*/nullptr, WithUseOrder);
  return copyText(Text);
}

// Null if all is well; otherwise what is wrong, to be freed.
char *lw_module_verify(LLVMModuleRef M) {
  std::string Message;
  raw_string_ostream Stream(Message);
  return verifyModule(*unwrap(M), &Stream) ? copyText(Message) : nullptr;
}

char *lw_function_print(LLVMValueRef F) {
  std::string Text;
  raw_string_ostream(Text) << *unwrap<Function>(F);
  return copyText(Text);
}

char *lw_function_source_name(LLVMValueRef F) { return copyText(sourceName(*unwrap<Function>(F))); }

// The file that was compiled, if the module says so: flang calls all its modules alike. Null if it does not.
char *lw_module_compiled_file(LLVMModuleRef M) {
  for (const DICompileUnit *Unit : unwrap(M)->debug_compile_units())
    return copyText(Unit->getFilename().str());
  return nullptr;
}

char *lw_function_verify(LLVMValueRef F) {
  std::string Message;
  raw_string_ostream Stream(Message);
  return verifyFunction(*unwrap<Function>(F), &Stream) ? copyText(Message) : nullptr;
}

void lw_forget(Managers *AMs, LLVMValueRef F) { AMs->forget(*unwrap<Function>(F)); }

void lw_text_free(char *Text) { free(Text); }

} // extern "C"
