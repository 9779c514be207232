// What the writer needs of LLVM that the C API does not offer.

#include "shim.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;
using namespace loopwright;

extern "C" {

static bool can_redirect(ArrayRef<BasicBlock *> from, BasicBlock *to) {
  if (to->isEHPad())
    return false;
  // The targets of assembler code are operands, to be exchanged as those of any branch; those of a computed goto are addresses.
  return none_of(from, [](BasicBlock *block) { return isa<IndirectBrInst>(block->getTerminator()); });
}

// Null on success, else why the control flow does not allow it; then nothing was changed.
const char *lw_write_split(LLVMBasicBlockRef entry_ref, const LLVMBasicBlockRef *block_refs, size_t count,
                           const LLVMBasicBlockRef *error_refs, size_t error_count,
                           const LLVMBasicBlockRef *decided_refs, const LLVMBasicBlockRef *taken_refs, size_t decided_count,
                           Joints *out) {
  BasicBlock *entry = unwrap(entry_ref);
  SmallPtrSet<BasicBlock *, 16> inside;
  for (size_t i = 0; i < count; ++i)
    inside.insert(unwrap(block_refs[i]));
  SmallPtrSet<BasicBlock *, 4> errors;
  for (size_t i = 0; i < error_count; ++i)
    errors.insert(unwrap(error_refs[i]));
  // The way on of blocks that never take another one.
  DenseMap<BasicBlock *, BasicBlock *> decided;
  for (size_t i = 0; i < decided_count; ++i)
    decided[unwrap(decided_refs[i])] = unwrap(taken_refs[i]);
  auto is_taken = [&](BasicBlock *block, BasicBlock *next) {
    auto known = decided.find(block);
    return known == decided.end() || known->second == next || !is_contained(successors(block), known->second);
  };
  if (!inside.contains(entry))
    return "the entry must be inside the region";

  SmallSetVector<BasicBlock *, 8> before, leaving, exits;
  for (BasicBlock *block : predecessors(entry))
    if (!inside.contains(block))
      before.insert(block);
  // All edges out of the region led to one block when it was read, but for errors, which stay the original's own. If that is the entry
  // of another region, written before this one, then blocks were put in front of it, with its φs, and the edges lead to the first of these.
  for (BasicBlock *block : inside)
    for (BasicBlock *next : successors(block))
      if (!inside.contains(next) && !errors.contains(next) && is_taken(block, next))
        exits.insert(next);
  if (exits.size() != 1)
    return "not all edges out of the region lead to one block";
  BasicBlock *exit = exits.front();
  for (BasicBlock *block : predecessors(exit))
    if (inside.contains(block))
      leaving.insert(block);
  bool is_function_entry = entry->isEntryBlock();
  if (before.empty() && !is_function_entry)
    return "no edge enters the region";
  if (!can_redirect(before.getArrayRef(), entry) || !can_redirect(leaving.getArrayRef(), exit))
    return "an edge into or out of the region cannot be split";
  for (BasicBlock *block : inside) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    for (unsigned side : {0u, 1u}) {
      BasicBlock *next = branch->getSuccessor(side), *taken = branch->getSuccessor(1 - side);
      if (next == exit || inside.contains(next) || is_taken(block, next))
        continue;
      next->removePredecessor(block, /*KeepOneInputPHIs=*/true);
      BranchInst *only = BranchInst::Create(taken, branch->getIterator());
      only->copyMetadata(*branch, {LLVMContext::MD_dbg, LLVMContext::MD_loop, LLVMContext::MD_annotation});
      only->setDebugLoc(branch->getDebugLoc());
      branch->eraseFromParent();
      break;
    }
  }

  BasicBlock *entering;
  if (none_of(predecessors(entry), [&](BasicBlock *block) { return inside.contains(block); })) {
    // Static allocas must stay in the function's first block; φs without a back edge count as defined before the region.
    BasicBlock::iterator first = entry->getFirstNonPHIIt();
    if (is_function_entry) {
      while (isa<AllocaInst>(*first))
        ++first;
      for (Instruction &instruction : make_early_inc_range(make_range(first, entry->end())))
        if (auto *memory = dyn_cast<AllocaInst>(&instruction); memory && isa<ConstantInt>(memory->getArraySize()))
          memory->moveBefore(*entry, first);
    }
    entering = entry->splitBasicBlockBefore(first, "lw.entering");
  } else {
    entering = SplitBlockPredecessors(entry, before.getArrayRef(), ".lw.entering", static_cast<DomTreeUpdater *>(nullptr));
  }
  BasicBlock *original = entering->splitBasicBlock(entering->getTerminator(), "lw.original");
  BasicBlock *original_exit =
      SplitBlockPredecessors(exit, leaving.getArrayRef(), ".lw.original.exit", static_cast<DomTreeUpdater *>(nullptr));
  BasicBlock *merge = original_exit->splitBasicBlock(original_exit->getTerminator(), "lw.merge");
  *out = {wrap(entering), wrap(original), wrap(original_exit), wrap(merge), wrap(exit)};
  return nullptr;
}

bool lw_write_is_never_poison(LLVMValueRef value, LLVMValueRef context) {
  return isGuaranteedNotToBeUndefOrPoison(unwrap(value), nullptr, cast<Instruction>(unwrap(context)));
}

// A copy of `instruction`, operands and all, at the end of `block`. It keeps its flags, type-based alias information and source
// location, but nothing that speaks of the loop or the scope that the original stands in.
LLVMValueRef lw_write_clone(LLVMValueRef instruction_ref, LLVMBasicBlockRef block) {
  Instruction *copy = cast<Instruction>(unwrap(instruction_ref))->clone();
  copy->insertInto(unwrap(block), unwrap(block)->end());
  for (unsigned kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias, LLVMContext::MD_access_group,
                        LLVMContext::MD_mem_parallel_loop_access, LLVMContext::MD_DIAssignID, LLVMContext::MD_loop})
    copy->setMetadata(kind, nullptr);
  return wrap(copy);
}

bool lw_write_is_thread_dependent(LLVMValueRef constant) { return cast<Constant>(unwrap(constant))->isThreadDependent(); }

// For a copy that runs where the original would not.
void lw_write_drop_promises(LLVMValueRef instruction_ref) {
  Instruction *instruction = cast<Instruction>(unwrap(instruction_ref));
  instruction->dropPoisonGeneratingAnnotations();
  instruction->dropUBImplyingAttrsAndMetadata();
}

void lw_write_drop_promises_of_value(LLVMValueRef instruction_ref) {
  Instruction *instruction = cast<Instruction>(unwrap(instruction_ref));
  // A minimum is always one of the numbers that there were, so that what is promised of NaN holds in any order.
  if (auto *call = dyn_cast<CallBase>(instruction))
    call->removeRetAttr(Attribute::NoUndef);
  else
    instruction->dropPoisonGeneratingFlags();
  instruction->dropPoisonGeneratingReturnAttributes();
  instruction->dropPoisonGeneratingMetadata();
  for (unsigned kind : {LLVMContext::MD_noundef, LLVMContext::MD_dereferenceable, LLVMContext::MD_dereferenceable_or_null,
                        LLVMContext::MD_invariant_load, LLVMContext::MD_invariant_group})
    instruction->setMetadata(kind, nullptr);
}

// No effect on data: leaving it out of a copy is always sound.
bool lw_write_is_hint(LLVMValueRef instruction) {
  auto *call = dyn_cast<IntrinsicInst>(unwrap(instruction));
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::assume:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::pseudoprobe:
  case Intrinsic::donothing:
    return true;
  default:
    return isa<DbgInfoIntrinsic>(call);
  }
}

bool lw_write_touches_memory(LLVMValueRef instruction) {
  return cast<Instruction>(unwrap(instruction))->mayReadOrWriteMemory();
}

void lw_write_set_incoming_value(LLVMValueRef phi, LLVMBasicBlockRef block, LLVMValueRef value) {
  cast<PHINode>(unwrap(phi))->setIncomingValueForBlock(unwrap(block), unwrap(value));
}

static SmallPtrSet<BasicBlock *, 16> as_set(const LLVMBasicBlockRef *block_refs, size_t count) {
  SmallPtrSet<BasicBlock *, 16> blocks;
  for (size_t i = 0; i < count; ++i)
    blocks.insert(unwrap(block_refs[i]));
  return blocks;
}

// What a debugger shows of a variable is no use in LLVM's sense.
static void show_instead(Value *value, Value *by, const SmallPtrSetImpl<BasicBlock *> &inside) {
  SmallVector<DbgVariableIntrinsic *, 4> calls;
  SmallVector<DbgVariableRecord *, 4> records;
  findDbgUsers(calls, value, &records);
  for (DbgVariableIntrinsic *call : calls)
    if (!inside.contains(call->getParent()))
      call->replaceVariableLocationOp(value, by);
  for (DbgVariableRecord *record : records)
    if (!inside.contains(record->getParent()))
      record->replaceVariableLocationOp(value, by);
}

// Uses outside `inside`; a use by a φ counts where its edge comes from. `by` dominates them all.
void lw_write_replace_uses_outside(LLVMValueRef value_ref, LLVMValueRef by, const LLVMBasicBlockRef *block_refs,
                                   size_t count) {
  auto inside = as_set(block_refs, count);
  unwrap(value_ref)->replaceUsesWithIf(unwrap(by), [&](Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    if (user == unwrap(by))
      return false;
    auto *phi = dyn_cast<PHINode>(user);
    return !inside.contains(phi ? phi->getIncomingBlock(use) : user->getParent());
  });
  show_instead(unwrap(value_ref), unwrap(by), inside);
}

// The same where `merged`, a φ, need not dominate all uses: behind errors of the original both values may arrive, or only the
// original's.
void lw_write_merge_uses_outside(LLVMValueRef value_ref, LLVMValueRef merged_ref, const LLVMBasicBlockRef *block_refs,
                                 size_t count) {
  auto inside = as_set(block_refs, count);
  auto *original = cast<Instruction>(unwrap(value_ref)), *merged = cast<Instruction>(unwrap(merged_ref));
  SSAUpdater update;
  update.Initialize(original->getType(), original->getName());
  update.AddAvailableValue(original->getParent(), original);
  update.AddAvailableValue(merged->getParent(), merged);
  for (Use &use : make_early_inc_range(original->uses())) {
    auto *user = cast<Instruction>(use.getUser());
    auto *phi = dyn_cast<PHINode>(user);
    BasicBlock *place = phi ? phi->getIncomingBlock(use) : user->getParent();
    if (user == merged || inside.contains(place))
      continue;
    if (place == merged->getParent())
      use.set(merged);
    else
      update.RewriteUse(use);
  }
  show_instead(original, merged, inside);
}

// Metadata

LLVMMetadataRef lw_write_distinct_node(LLVMContextRef context) { return wrap(MDNode::getDistinct(*unwrap(context), {})); }

// distinct !{!self, operands…}
LLVMMetadataRef lw_write_self_node(LLVMContextRef context, const LLVMMetadataRef *operands, size_t count) {
  SmallVector<Metadata *, 4> all{nullptr};
  for (size_t i = 0; i < count; ++i)
    all.push_back(unwrap(operands[i]));
  MDNode *node = MDNode::getDistinct(*unwrap(context), all);
  node->replaceOperandWith(0, node);
  return wrap(node);
}

// A loop id of its own with the same properties as `original_ref`'s, except for what is said of access groups. Null if there is none.
LLVMMetadataRef lw_write_copy_loop_id(LLVMValueRef terminator) {
  MDNode *original = cast<Instruction>(unwrap(terminator))->getMetadata(LLVMContext::MD_loop);
  if (!original)
    return nullptr;
  SmallVector<Metadata *, 4> all{nullptr};
  for (const MDOperand &operand : drop_begin(original->operands())) {
    auto *property = dyn_cast<MDNode>(operand);
    if (property && property->getNumOperands() > 0)
      if (auto *name = dyn_cast<MDString>(property->getOperand(0)); name && name->getString() == "llvm.loop.parallel_accesses")
        continue;
    all.push_back(operand);
  }
  MDNode *node = MDNode::getDistinct(original->getContext(), all);
  node->replaceOperandWith(0, node);
  return wrap(node);
}

void lw_write_set_metadata(LLVMValueRef instruction, uint32_t kind, LLVMMetadataRef node) {
  cast<Instruction>(unwrap(instruction))->setMetadata(kind, node ? cast<MDNode>(unwrap(node)) : nullptr);
}

void lw_write_set_branch_weights(LLVMValueRef branch, uint32_t taken, uint32_t not_taken) {
  auto *instruction = cast<Instruction>(unwrap(branch));
  instruction->setMetadata(LLVMContext::MD_prof, MDBuilder(instruction->getContext()).createBranchWeights(taken, not_taken));
}

// Where the promise of the scopes begins: copies of the code get scopes of their own by it.
void lw_write_begin_alias_scopes(LLVMValueRef before, const LLVMMetadataRef *scopes, size_t count) {
  IRBuilder<> builder(cast<Instruction>(unwrap(before)));
  for (size_t i = 0; i < count; ++i)
    builder.CreateNoAliasScopeDeclaration(MDNode::get(builder.getContext(), {unwrap(scopes[i])}));
}

// A location for code that has no line in the source, in the function's own scope; null without debug information.
LLVMMetadataRef lw_write_artificial_location(LLVMValueRef function) {
  DISubprogram *scope = cast<Function>(unwrap(function))->getSubprogram();
  return scope ? wrap(DILocation::get(scope->getContext(), 0, 0, scope)) : nullptr;
}

// Functions of our own

// `void name(types…)`, internal, compiled like `parent`.
LLVMValueRef lw_write_worker(LLVMValueRef parent_ref, const char *name, LLVMTypeRef type) {
  auto *parent = cast<Function>(unwrap(parent_ref));
  Module *module = parent->getParent();
  Function *worker =
      Function::Create(unwrap<FunctionType>(type), GlobalValue::InternalLinkage, parent->getAddressSpace(), name, module);
  worker->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  worker->setCallingConv(CallingConv::C);
  worker->setDSOLocal(true);
  // String attributes say how to compile (target-cpu, target-features, frame-pointer, …); of the others, only those that do.
  AttrBuilder attributes(parent->getContext());
  for (const Attribute &attribute : parent->getAttributes().getFnAttrs())
    if (attribute.isStringAttribute())
      attributes.addAttribute(attribute);
  for (Attribute::AttrKind kind :
       {Attribute::UWTable, Attribute::StackProtect, Attribute::StackProtectStrong, Attribute::StackProtectReq,
        Attribute::NullPointerIsValid, Attribute::NoRedZone, Attribute::NoImplicitFloat, Attribute::ShadowCallStack,
        Attribute::SanitizeAddress, Attribute::SanitizeHWAddress, Attribute::SanitizeMemTag, Attribute::VScaleRange,
        Attribute::OptimizeForSize, Attribute::MinSize, Attribute::NoCfCheck, Attribute::FnRetThunkExtern})
    if (parent->hasFnAttribute(kind))
      attributes.addAttribute(parent->getFnAttribute(kind));
  attributes.addAttribute(Attribute::NoInline).addAttribute(Attribute::NoUnwind).addAttribute("loopwright");
  worker->addFnAttrs(attributes);

  if (DISubprogram *scope = parent->getSubprogram()) {
    LLVMContext &context = parent->getContext();
    auto *no_types = DISubroutineType::get(context, DINode::FlagZero, 0, MDNode::get(context, {}));
    worker->setSubprogram(DISubprogram::getDistinct(
        context, scope->getFile(), worker->getName(), worker->getName(), scope->getFile(), scope->getLine(), no_types,
        scope->getScopeLine(), nullptr, 0, 0, DINode::FlagArtificial,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized | DISubprogram::SPFlagLocalToUnit, scope->getUnit(),
        nullptr));
  }
  return wrap(worker);
}

// Rows that run side by side are streams of elements, one register each. To SLP they are lanes of one vector, to be gathered from
// everywhere in every iteration, and its cost model takes an x86 gather for cheap: dot products of eight rows are then slower than one
// row alone. Without gathers it leaves them as they are. A function is inlined only where it finds the features it was compiled for:
// before that, all functions that are alike stay so.
void lw_write_avoid_gathers(LLVMValueRef function_ref, bool alike) {
  auto *function = cast<Function>(unwrap(function_ref));
  if (!Triple(function->getParent()->getTargetTriple()).isX86())
    return;
  const StringRef feature = "+prefer-no-gather";
  const Attribute before = function->getFnAttribute("target-features");
  if (before.getValueAsString().contains(feature))
    return;
  const std::string features = (before.getValueAsString() + (before.getValueAsString().empty() ? "" : ",") + feature).str();
  for (Function &other : *function->getParent())
    if (&other == function || (alike && !other.isDeclaration() && other.getFnAttribute("target-features") == before))
      other.addFnAttr("target-features", features);
}

// Gives an instruction copied into `worker` a location there: the line in the function that the worker was cut out of.
void lw_write_rescope(LLVMValueRef instruction_ref, LLVMValueRef worker) {
  auto *instruction = cast<Instruction>(unwrap(instruction_ref));
  DISubprogram *scope = cast<Function>(unwrap(worker))->getSubprogram();
  DILocation *location = instruction->getDebugLoc().get();
  if (!location)
    return;
  if (!scope) {
    instruction->setDebugLoc(DebugLoc());
    return;
  }
  while (DILocation *caller = location->getInlinedAt())
    location = caller;
  bool same_file = location->getFile() == scope->getFile();
  instruction->setDebugLoc(DILocation::get(scope->getContext(), same_file ? location->getLine() : 0,
                                           same_file ? location->getColumn() : 0, scope));
}

// Puts the blocks from `first` to before the two ends into a function of their own. False if LLVM cannot.
bool lw_write_outline(LLVMBasicBlockRef first, LLVMBasicBlockRef end, LLVMBasicBlockRef other_end) {
  SmallSetVector<BasicBlock *, 16> blocks;
  blocks.insert(unwrap(first));
  for (size_t i = 0; i < blocks.size(); ++i)
    for (BasicBlock *next : successors(blocks[i]))
      if (next != unwrap(end) && next != unwrap(other_end))
        blocks.insert(next);
  Function &function = *unwrap(first)->getParent();
  CodeExtractor extractor(blocks.getArrayRef());
  if (!extractor.isEligible())
    return false;
  CodeExtractorAnalysisCache cache(function);
  Function *outlined = extractor.extractCodeRegion(cache);
  if (!outlined)
    return false;
  outlined->addFnAttr(Attribute::NoInline);
  for (unsigned number = 0;; ++number) {
    std::string name = (function.getName() + ".lw.check." + Twine(number)).str();
    if (function.getParent()->getFunction(name))
      continue;
    outlined->setName(name);
    return true;
  }
}

void lw_write_append_destructor(LLVMValueRef function_ref) {
  auto *function = cast<Function>(unwrap(function_ref));
  appendToGlobalDtors(*function->getParent(), function, 65535);
}

// LLVM knows malloc and free, and that they may be called was found out with the facts. It does not know the function that says where
// errno is; null if there is none.
LLVMValueRef lw_write_library(LLVMValueRef caller_ref, Library which) {
  Module &module = *cast<Function>(unwrap(caller_ref))->getParent();
  if (which == Library::ErrnoLocation && !hasErrnoLocation(module))
    return nullptr;
  TargetLibraryInfoImpl known{Triple(module.getTargetTriple())};
  TargetLibraryInfo library(known);
  Type *pointer = PointerType::getUnqual(module.getContext());
  Type *nothing = Type::getVoidTy(module.getContext());
  static constexpr StringLiteral names[] = {"malloc", "free", "__errno_location"};
  FunctionType *const types[] = {FunctionType::get(pointer, {Type::getInt64Ty(module.getContext())}, false),
                                 FunctionType::get(nothing, {pointer}, false), FunctionType::get(pointer, false)};
  StringRef name = names[size_t(which)];
  bool is_new = !module.getFunction(name);
  FunctionCallee callee = module.getOrInsertFunction(name, types[size_t(which)]);
  auto *function = dyn_cast<Function>(callee.getCallee());
  if (function && function->isDeclaration())
    inferNonMandatoryLibFuncAttrs(*function, library);
  if (function && is_new && which == Library::ErrnoLocation) {
    // As the library's header promises it.
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    function->setWillReturn();
    function->addFnAttr(Attribute::NoSync);
    function->addFnAttr(Attribute::NoFree);
  }
  return wrap(callee.getCallee());
}
}
