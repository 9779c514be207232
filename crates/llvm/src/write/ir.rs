//! The few LLVM operations that the writer is made of, as methods that cannot be misspelt. The only file here with `unsafe`.
//!
//! Why the calls are sound, once for all: every handle comes from the module being changed and lives as long as it; nothing is
//! erased while the writer runs except through [`Builder::erase`], whose callers drop the handle; the writer is single-threaded.
#![allow(unsafe_code)]

use crate::ffi::*;
use crate::module::c_text;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMTargetDataRef,
};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMLinkage, LLVMTypeKind,
    LLVMUnnamedAddr,
};
use std::ffi::{CStr, c_uint};
use std::mem::MaybeUninit;

pub use crate::codes::Library;
pub use crate::ffi::{Block, Joints, Metadata, Module, Type, Value};

/// `Err` says why, and then nothing was changed.
pub fn split_region(
    entry: Block,
    blocks: &[Block],
    errors: &[Block],
    decided: &[(Block, Block)],
) -> Result<Joints, String> {
    let mut joints = MaybeUninit::uninit();
    let (inside, count) = (blocks.as_ptr(), blocks.len());
    let (from, to): (Vec<Block>, Vec<Block>) = decided.iter().copied().unzip();
    let why = unsafe {
        let (errors, error_count) = (errors.as_ptr(), errors.len());
        let (from, to, out) = (from.as_ptr(), to.as_ptr(), joints.as_mut_ptr());
        lw_write_split(entry, inside, count, errors, error_count, from, to, decided.len(), out)
    };
    match why.is_null() {
        true => Ok(unsafe { joints.assume_init() }),
        false => Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned()),
    }
}

/// The shim has null for what is not there.
fn present(node: Metadata) -> Option<Metadata> {
    (!node.0.is_null()).then_some(node)
}

macro_rules! kinds {
    ($($name:ident($of_kind:ident))*) => {$(
        pub fn $name(self) -> bool {
            unsafe { !$of_kind(self.0).is_null() }
        }
    )*};
}

impl Value {
    kinds! { is_instruction(LLVMIsAInstruction) is_phi(LLVMIsAPHINode) is_load(LLVMIsALoadInst) }
    kinds! { is_alloca(LLVMIsAAllocaInst) is_store(LLVMIsAStoreInst) }

    pub fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }
    /// Constants, globals and functions: the same in every function of the module.
    pub fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }
    /// A constant that contains the address of a thread-local variable.
    pub fn is_thread_dependent(self) -> bool {
        self.is_constant() && unsafe { lw_write_is_thread_dependent(self) }
    }
    pub fn constant_int(self) -> Option<i64> {
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetSExtValue(self.0)) }
    }
    pub fn constant_bool(self) -> Option<bool> {
        self.constant_int().map(|v| v != 0)
    }
    pub fn is_block(self) -> bool {
        unsafe { LLVMValueIsBasicBlock(self.0) != 0 }
    }
    /// The block of an instruction.
    pub fn block(self) -> Option<Block> {
        self.is_instruction().then(|| Block(unsafe { LLVMGetInstructionParent(self.0) }))
    }
    /// The function that an instruction or argument belongs to.
    pub fn function(self) -> Option<Value> {
        unsafe {
            if !LLVMIsAArgument(self.0).is_null() {
                return Some(Value(LLVMGetParamParent(self.0)));
            }
        }
        self.block().map(Block::function)
    }
    /// Of a function.
    pub fn name(self) -> String {
        let mut length = 0;
        let bytes = unsafe {
            let start = LLVMGetValueName2(self.0, &mut length);
            std::slice::from_raw_parts(start.cast::<u8>(), length)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
    /// Of a function, as its author wrote it.
    pub fn source_name(self) -> String {
        unsafe { take_text(lw_function_source_name(self.0)) }.unwrap_or_default()
    }
    /// Of a function.
    pub fn entry_block(self) -> Block {
        Block(unsafe { LLVMGetEntryBasicBlock(self.0) })
    }
    /// Of a function.
    pub fn module(self) -> Module {
        Module(unsafe { LLVMGetGlobalParent(self.0) })
    }
    pub fn argument(self, index: u32) -> Value {
        Value(unsafe { LLVMGetParam(self.0, index) })
    }
    #[cfg(test)]
    pub fn arguments(self) -> Vec<Value> {
        unsafe { (0..LLVMCountParams(self.0)).map(|i| self.argument(i)).collect() }
    }
    pub fn operands(self) -> Vec<Value> {
        unsafe {
            let count = LLVMGetNumOperands(self.0).max(0) as c_uint;
            (0..count).map(|i| Value(LLVMGetOperand(self.0, i))).collect()
        }
    }
    pub fn set_operand(self, index: usize, value: Value) {
        unsafe { LLVMSetOperand(self.0, index as c_uint, value.0) }
    }
    pub fn incoming(self) -> Vec<(Value, Block)> {
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .map(|i| (Value(LLVMGetIncomingValue(self.0, i)), Block(LLVMGetIncomingBlock(self.0, i))))
                .collect()
        }
    }
    pub fn add_incoming(self, value: Value, block: Block) {
        unsafe { LLVMAddIncoming(self.0, [value.0].as_mut_ptr(), [block.0].as_mut_ptr(), 1) }
    }
    pub fn set_incoming_value(self, block: Block, value: Value) {
        unsafe { lw_write_set_incoming_value(self, block, value) }
    }
    pub fn successors(self) -> Vec<Block> {
        unsafe { (0..LLVMGetNumSuccessors(self.0)).map(|i| Block(LLVMGetSuccessor(self.0, i))).collect() }
    }
    pub fn set_successor(self, index: usize, block: Block) {
        unsafe { LLVMSetSuccessor(self.0, index as c_uint, block.0) }
    }
    /// Not undef and not poison when `context` runs.
    pub fn is_never_poison(self, context: Value) -> bool {
        unsafe { lw_write_is_never_poison(self, context) }
    }
    pub fn is_hint(self) -> bool {
        unsafe { lw_write_is_hint(self) }
    }
    pub fn touches_memory(self) -> bool {
        unsafe { lw_write_touches_memory(self) }
    }
    pub fn set_no_signed_wrap(self) {
        // The builder may have folded the operation to a constant.
        if self.is_instruction() {
            unsafe { LLVMSetNSW(self.0, 1) }
        }
    }
    /// Of a load or store, in bytes.
    pub fn alignment(self) -> u32 {
        unsafe { LLVMGetAlignment(self.0) }
    }
    /// Only those of its result, which depend on the values that others found before: that it did not wrap, lies in a range, is not poison.
    pub fn drop_promises_of_value(self) {
        unsafe { lw_write_drop_promises_of_value(self) }
    }
    /// Of a load or store: it happens here, whatever LLVM thinks of its use.
    pub fn make_volatile(self) {
        unsafe { LLVMSetVolatile(self.0, 1) }
    }
    pub fn drop_promises(self) {
        unsafe { lw_write_drop_promises(self) }
    }
    pub fn copy_fast_math_flags(self, from: Value) {
        unsafe {
            if LLVMCanValueUseFastMathFlags(from.0) != 0 {
                LLVMSetFastMathFlags(self.0, LLVMGetFastMathFlags(from.0));
            }
        }
    }
    pub fn set_metadata(self, kind: &str, node: Metadata) {
        unsafe {
            let id = LLVMGetMDKindIDInContext(self.ty().context(), kind.as_ptr().cast(), kind.len() as c_uint);
            lw_write_set_metadata(self, id, node);
        }
    }
    pub fn drop_metadata(self, kind: &str) {
        self.set_metadata(kind, Metadata(std::ptr::null_mut()))
    }
    /// The place from which on the scopes' promise holds. Without it a loop around the code is read as if the promise held across
    /// its iterations: unrolled, `for (t…) { if (check(a, b)) {…} swap(a, b); }` has the same scopes in both copies. With it,
    /// whoever copies the code gives the copy scopes of its own.
    pub fn begin_alias_scopes_before(self, scopes: &[Metadata]) {
        unsafe { lw_write_begin_alias_scopes(self, scopes.as_ptr(), scopes.len()) }
    }
    pub fn set_branch_weights(self, taken: u32, not_taken: u32) {
        unsafe { lw_write_set_branch_weights(self, taken, not_taken) }
    }
    /// Of a terminator: a loop id with the same properties for a copy of its loop.
    pub fn copied_loop_id(self) -> Option<Metadata> {
        present(unsafe { lw_write_copy_loop_id(self) })
    }
    pub fn move_location_to(self, worker: Value) {
        unsafe { lw_write_rescope(self, worker) }
    }
    /// With `merged`, a φ of this value and another, or what becomes of both on the way.
    pub fn merge_uses_outside(self, blocks: &[Block], merged: Value) {
        unsafe { lw_write_merge_uses_outside(self, merged, blocks.as_ptr(), blocks.len()) }
    }
    pub fn replace_uses_outside(self, blocks: &[Block], by: Value) {
        unsafe { lw_write_replace_uses_outside(self, by, blocks.as_ptr(), blocks.len()) }
    }
    /// A use by a φ counts where its edge comes from.
    pub fn is_used_outside(self, blocks: &[Block]) -> bool {
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        while !next.is_null() {
            let user = Value(unsafe { LLVMGetUser(next) });
            let outside = |block: Block| !blocks.contains(&block);
            let used = if user.is_phi() {
                user.incoming().into_iter().any(|(value, from)| value == self && outside(from))
            } else {
                user.block().is_some_and(outside)
            };
            if used {
                return true;
            }
            next = unsafe { LLVMGetNextUse(next) };
        }
        false
    }
    pub fn set_alignment(self, bytes: u32) {
        unsafe { LLVMSetAlignment(self.0, bytes) }
    }
    pub fn set_initializer(self, value: Value) {
        unsafe { LLVMSetInitializer(self.0, value.0) }
    }
    pub fn make_private_constant(self) {
        unsafe {
            LLVMSetLinkage(self.0, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetGlobalConstant(self.0, 1);
            LLVMSetUnnamedAddress(self.0, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
        }
    }
    pub fn make_internal(self) {
        unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage) }
    }
    pub fn add_string_attribute(self, name: &str) {
        unsafe {
            let context = self.ty().context();
            let attribute =
                LLVMCreateStringAttribute(context, name.as_ptr().cast(), name.len() as c_uint, c"".as_ptr(), 0);
            LLVMAddAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, attribute);
        }
    }
    /// `argument` counts from 0.
    pub fn add_argument_attribute(self, argument: u32, name: &str) {
        self.add_attribute_at(argument + 1, name)
    }
    pub fn add_function_attribute(self, name: &str) {
        self.add_attribute_at(LLVMAttributeFunctionIndex, name)
    }
    fn add_attribute_at(self, place: u32, name: &str) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMAddAttributeAtIndex(self.0, place, LLVMCreateEnumAttribute(self.ty().context(), kind, 0));
        }
    }
    /// Of a function: it is compiled without instructions that load the lanes of a vector from several places; if `alike`, all functions of
    /// the module are.
    pub fn avoid_gathers(self, alike: bool) {
        unsafe { lw_write_avoid_gathers(self, alike) }
    }
    pub fn register_destructor(self) {
        unsafe { lw_write_append_destructor(self) }
    }
    /// A location in this function that has no line; none without debug information.
    pub fn artificial_location(self) -> Option<Metadata> {
        present(unsafe { lw_write_artificial_location(self) })
    }
}

impl Block {
    pub fn function(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }
    pub fn terminator(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }
    pub fn instructions(self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut next = LLVMGetFirstInstruction(self.0);
            while !next.is_null() {
                all.push(Value(next));
                next = LLVMGetNextInstruction(next);
            }
        }
        all
    }
    pub fn phis(self) -> Vec<Value> {
        self.instructions().into_iter().take_while(|i| i.is_phi()).collect()
    }
    /// Moves the blocks from this one to before the two ends into a function of their own, which is not inlined. Values that cross are
    /// passed; none of these blocks, and nothing in them, may be used by us afterwards. False if LLVM cannot.
    pub fn outline_up_to(self, ends: [Block; 2]) -> bool {
        unsafe { lw_write_outline(self, ends[0], ends[1]) }
    }
    pub fn move_after(self, other: Block) {
        unsafe { LLVMMoveBasicBlockAfter(self.0, other.0) }
    }
}

impl Type {
    /// 0, null.
    pub fn zero(self) -> Value {
        Value(unsafe { LLVMConstNull(self.0) })
    }
    pub fn is_pointer(self) -> bool {
        unsafe { LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMPointerTypeKind }
    }
    /// Bits of an integer type.
    pub fn int_bits(self) -> Option<u32> {
        unsafe { (LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMIntegerTypeKind).then(|| LLVMGetIntTypeWidth(self.0)) }
    }
    pub fn context(self) -> LLVMContextRef {
        unsafe { LLVMGetTypeContext(self.0) }
    }
}

impl Module {
    fn layout(self) -> LLVMTargetDataRef {
        unsafe { LLVMGetModuleDataLayout(self.0) }
    }
    /// (bytes, alignment)
    pub fn layout_of(self, ty: Type) -> (u64, u64) {
        unsafe { (LLVMABISizeOfType(self.layout(), ty.0), u64::from(LLVMABIAlignmentOfType(self.layout(), ty.0))) }
    }
    pub fn function(self, name: &CStr) -> Option<Value> {
        let found = unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(Value(found))
    }
    pub fn add_function(self, name: &CStr, ty: Type) -> Value {
        Value(unsafe { LLVMAddFunction(self.0, name.as_ptr(), ty.0) })
    }
    pub fn global(self, name: &CStr) -> Option<Value> {
        let found = unsafe { LLVMGetNamedGlobal(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(Value(found))
    }
    pub fn add_global(self, name: &CStr, ty: Type) -> Value {
        Value(unsafe { LLVMAddGlobal(self.0, ty.0, name.as_ptr()) })
    }
}

impl Library {
    /// Declared in the module of a function that calls it, where there is such a function.
    pub fn declared_for(self, caller: Value) -> Option<Value> {
        let function = unsafe { lw_write_library(caller, self) };
        (!function.0.is_null()).then_some(function)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    UnsignedLe,
}

/// Where instructions are appended. All integers are 64 bits wide unless said otherwise.
pub struct Builder {
    raw: LLVMBuilderRef,
    context: LLVMContextRef,
}

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

/// `fn(Value, Value or Type) -> Value`.
macro_rules! operations {
    ($with:ident: $($name:ident($build:ident))*) => {$(
        pub fn $name(&self, a: Value, b: $with) -> Value {
            Value(unsafe { $build(self.raw, a.0, b.0, c"".as_ptr()) })
        }
    )*};
}

impl Builder {
    operations! { Value: add(LLVMBuildAdd) sub(LLVMBuildSub) mul(LLVMBuildMul) sdiv(LLVMBuildSDiv) udiv(LLVMBuildUDiv) urem(LLVMBuildURem) }
    operations! { Value: srem(LLVMBuildSRem) and(LLVMBuildAnd) or(LLVMBuildOr) xor(LLVMBuildXor) }
    operations! { Type: sext(LLVMBuildSExt) zext(LLVMBuildZExt) trunc(LLVMBuildTrunc) }

    pub fn new(function: Value) -> Builder {
        let context = function.ty().context();
        Builder { raw: unsafe { LLVMCreateBuilderInContext(context) }, context }
    }
    pub fn at_end(&self, block: Block) {
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.0) }
    }
    pub fn before(&self, instruction: Value) {
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.0) }
    }
    pub fn block(&self) -> Block {
        Block(unsafe { LLVMGetInsertBlock(self.raw) })
    }
    pub fn set_location(&self, location: Option<Metadata>) {
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, location.map_or(std::ptr::null_mut(), |l| l.0)) }
    }
    /// Runs `emit` at another place, then comes back.
    pub fn elsewhere<T>(&self, go: impl FnOnce(&Builder), emit: impl FnOnce(&Builder) -> T) -> T {
        let here = self.block();
        go(self);
        let result = emit(self);
        self.at_end(here);
        result
    }

    pub fn i64(&self) -> Type {
        self.int(64)
    }
    pub fn int(&self, bits: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(self.context, bits) })
    }
    pub fn pointer(&self) -> Type {
        Type(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }
    pub fn void(&self) -> Type {
        Type(unsafe { LLVMVoidTypeInContext(self.context) })
    }
    pub fn array_type(&self, element: Type, count: u64) -> Type {
        Type(unsafe { LLVMArrayType2(element.0, count) })
    }
    pub fn function_type(&self, result: Type, arguments: &[Type], variadic: bool) -> Type {
        let mut raw: Vec<_> = arguments.iter().map(|f| f.0).collect();
        Type(unsafe { LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as c_uint, variadic.into()) })
    }
    pub fn constant(&self, value: i64) -> Value {
        self.constant_of(self.i64(), value)
    }
    pub fn constant_of(&self, ty: Type, value: i64) -> Value {
        Value(unsafe { LLVMConstInt(ty.0, value as u64, 1) })
    }
    pub fn null(&self) -> Value {
        Value(unsafe { LLVMConstNull(self.pointer().0) })
    }
    pub fn bool(&self, value: bool) -> Value {
        self.constant_of(self.int(1), value.into())
    }
    /// With a terminating zero.
    pub fn text(&self, text: &str) -> Value {
        Value(unsafe { LLVMConstStringInContext2(self.context, text.as_ptr().cast(), text.len(), 0) })
    }
    pub fn constant_struct(&self, fields: &[Value]) -> Value {
        let mut raw: Vec<_> = fields.iter().map(|f| f.0).collect();
        Value(unsafe { LLVMConstStructInContext(self.context, raw.as_mut_ptr(), raw.len() as c_uint, 0) })
    }

    pub fn new_block(&self, name: &CStr) -> Block {
        self.new_block_in(self.block().function(), name)
    }
    pub fn new_block_in(&self, function: Value, name: &CStr) -> Block {
        Block(unsafe { LLVMAppendBasicBlockInContext(self.context, function.0, name.as_ptr()) })
    }

    pub fn ashr(&self, a: Value, bits: u32) -> Value {
        Value(unsafe { LLVMBuildAShr(self.raw, a.0, self.constant(bits.into()).0, c"".as_ptr()) })
    }
    pub fn shl(&self, a: Value, bits: Value) -> Value {
        Value(unsafe { LLVMBuildShl(self.raw, a.0, bits.0, c"".as_ptr()) })
    }
    pub fn not(&self, a: Value) -> Value {
        Value(unsafe { LLVMBuildNot(self.raw, a.0, c"".as_ptr()) })
    }
    pub fn compare(&self, how: Compare, a: Value, b: Value) -> Value {
        let predicate = match how {
            Compare::Eq => LLVMIntPredicate::LLVMIntEQ,
            Compare::Ne => LLVMIntPredicate::LLVMIntNE,
            Compare::Lt => LLVMIntPredicate::LLVMIntSLT,
            Compare::Le => LLVMIntPredicate::LLVMIntSLE,
            Compare::Gt => LLVMIntPredicate::LLVMIntSGT,
            Compare::Ge => LLVMIntPredicate::LLVMIntSGE,
            Compare::UnsignedLe => LLVMIntPredicate::LLVMIntULE,
        };
        Value(unsafe { LLVMBuildICmp(self.raw, predicate, a.0, b.0, c"".as_ptr()) })
    }
    pub fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.raw, condition.0, then.0, otherwise.0, c"".as_ptr()) })
    }
    pub fn address(&self, pointer: Value) -> Value {
        Value(unsafe { LLVMBuildPtrToInt(self.raw, pointer.0, self.i64().0, c"".as_ptr()) })
    }
    pub fn freeze(&self, value: Value) -> Value {
        Value(unsafe { LLVMBuildFreeze(self.raw, value.0, c"".as_ptr()) })
    }
    /// `pointer + bytes`, wrapping: no promise of staying in the object.
    pub fn offset(&self, pointer: Value, bytes: Value) -> Value {
        Value(unsafe { LLVMBuildGEP2(self.raw, self.int(8).0, pointer.0, [bytes.0].as_mut_ptr(), 1, c"".as_ptr()) })
    }
    pub fn alloca(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildAlloca(self.raw, ty.0, c"".as_ptr()) })
    }
    pub fn load(&self, ty: Type, pointer: Value) -> Value {
        Value(unsafe { LLVMBuildLoad2(self.raw, ty.0, pointer.0, c"".as_ptr()) })
    }
    pub fn store(&self, value: Value, pointer: Value) -> Value {
        Value(unsafe { LLVMBuildStore(self.raw, value.0, pointer.0) })
    }
    /// Adds atomically, ordered with nothing.
    pub fn count_up(&self, counter: Value) {
        unsafe {
            let ordering = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
            let op = LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd;
            LLVMBuildAtomicRMW(self.raw, op, counter.0, self.constant(1).0, ordering, 0);
        }
    }
    pub fn phi(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildPhi(self.raw, ty.0, c"".as_ptr()) })
    }
    pub fn call(&self, ty: Type, function: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<_> = arguments.iter().map(|a| a.0).collect();
        Value(unsafe {
            LLVMBuildCall2(self.raw, ty.0, function.0, raw.as_mut_ptr(), raw.len() as c_uint, c"".as_ptr())
        })
    }
    /// An intrinsic of two 64-bit operands, overloaded on their type.
    pub fn intrinsic(&self, name: &str, a: Value, b: Value) -> Value {
        unsafe {
            let module = LLVMGetGlobalParent(self.block().function().0);
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let mut types = [self.i64().0];
            let function = LLVMGetIntrinsicDeclaration(module, id, types.as_mut_ptr(), 1);
            let ty = LLVMIntrinsicGetType(self.context, id, types.as_mut_ptr(), 1);
            self.call(Type(ty), Value(function), &[a, b])
        }
    }
    pub fn field(&self, aggregate: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildExtractValue(self.raw, aggregate.0, index, c"".as_ptr()) })
    }
    pub fn branch(&self, to: Block) -> Value {
        Value(unsafe { LLVMBuildBr(self.raw, to.0) })
    }
    /// Unconditional where the condition is known.
    pub fn branch_if(&self, condition: Value, then: Block, otherwise: Block) -> Value {
        match condition.constant_bool() {
            Some(true) => self.branch(then),
            Some(false) => self.branch(otherwise),
            None => Value(unsafe { LLVMBuildCondBr(self.raw, condition.0, then.0, otherwise.0) }),
        }
    }
    pub fn return_void(&self) {
        unsafe {
            LLVMBuildRetVoid(self.raw);
        }
    }
    pub fn return_value(&self, value: Value) {
        unsafe {
            LLVMBuildRet(self.raw, value.0);
        }
    }
    pub fn erase(&self, instruction: Value) {
        unsafe { LLVMInstructionEraseFromParent(instruction.0) }
    }

    /// A copy of `instruction` at the end of the current block, see the shim for what it keeps.
    pub fn clone_here(&self, instruction: Value) -> Value {
        let block = self.block();
        let copy = unsafe { lw_write_clone(instruction, block) };
        self.at_end(block);
        copy
    }
    pub fn worker(&self, parent: Value, name: &str, ty: Type) -> Value {
        let name = c_text(name);
        unsafe { lw_write_worker(parent, name.as_ptr(), ty) }
    }

    pub fn metadata_text(&self, text: &str) -> Metadata {
        Metadata(unsafe { LLVMMDStringInContext2(self.context, text.as_ptr().cast(), text.len()) })
    }
    pub fn metadata_value(&self, constant: Value) -> Metadata {
        Metadata(unsafe { LLVMValueAsMetadata(constant.0) })
    }
    pub fn metadata_node(&self, operands: &[Metadata]) -> Metadata {
        let mut raw: Vec<_> = operands.iter().map(|o| o.0).collect();
        Metadata(unsafe { LLVMMDNodeInContext2(self.context, raw.as_mut_ptr(), raw.len()) })
    }
    /// `distinct !{}`
    pub fn distinct_node(&self) -> Metadata {
        unsafe { lw_write_distinct_node(self.context) }
    }
    /// `distinct !{itself, operands…}`
    pub fn self_node(&self, operands: &[Metadata]) -> Metadata {
        unsafe { lw_write_self_node(self.context, operands.as_ptr(), operands.len()) }
    }
}
