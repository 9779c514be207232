//! How safe values become C arguments and C results become safe values. Everything else in this crate is a table of
//! signatures over these two traits.

use std::cmp::Ordering;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ulong};

use crate::raw::{self, Give, KeptString};
use crate::{Ctx, DimType, IslError, Result, Set};

/// Anything that knows its context.
pub(crate) trait InCtx {
    fn ctx(&self) -> &Ctx;
}

impl InCtx for Ctx {
    fn ctx(&self) -> &Ctx {
        self
    }
}

impl<T: InCtx> InCtx for &T {
    fn ctx(&self) -> &Ctx {
        (*self).ctx()
    }
}

/// A safe value that can be passed to C as `Raw`.
///
/// Lowering borrows: where C takes ownership it gets a new reference, and what was lowered stays valid during the call.
pub(crate) trait Lower<Raw> {
    fn lower(&self, ctx: &Ctx, function: &'static str) -> Result<Raw>;
}

/// What has to be made before lowering, and live until C returns.
pub(crate) trait Prepare {
    type Ready;
    fn prepare(self, function: &'static str) -> Result<Self::Ready>;
}

/// A C result that can be read as `Safe`.
pub(crate) trait Lift<Safe> {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<Safe>;
}

pub(crate) fn check_same_ctx(a: &Ctx, b: &Ctx, function: &'static str) -> Result<()> {
    if a.is_same(b) {
        return Ok(());
    }
    Err(IslError::invalid(function, "the arguments belong to different contexts"))
}

impl Lower<*mut raw::isl_ctx> for &Ctx {
    fn lower(&self, ctx: &Ctx, function: &'static str) -> Result<*mut raw::isl_ctx> {
        check_same_ctx(self, ctx, function)?;
        Ok(self.as_ptr())
    }
}

impl Prepare for &str {
    type Ready = CString;
    fn prepare(self, function: &'static str) -> Result<CString> {
        CString::new(self).map_err(|_| IslError::invalid(function, "a string contains a NUL character"))
    }
}

impl Lower<*const c_char> for CString {
    fn lower(&self, _: &Ctx, _: &'static str) -> Result<*const c_char> {
        Ok(self.as_ptr())
    }
}

macro_rules! ready {
    ($($ty:ty),*) => {$(
        impl crate::object::Prepare for $ty {
            type Ready = Self;
            fn prepare(self, _: &'static str) -> crate::Result<Self> {
                Ok(self)
            }
        }
    )*};
}
pub(crate) use ready;

ready!(&Ctx, usize, i64, u64, bool, DimType);

macro_rules! lower_integer {
    ($($safe:ty => $raw:ty),*) => {$(
        impl Lower<$raw> for $safe {
            fn lower(&self, _: &Ctx, function: &'static str) -> Result<$raw> {
                #[allow(clippy::useless_conversion)]
                <$raw>::try_from(*self)
                    .map_err(|_| IslError::invalid(function, format!("{self} is out of range for C")))
            }
        }
    )*};
}

lower_integer!(usize => c_int, usize => c_uint, i64 => c_int, i64 => c_long, u64 => c_ulong);

impl Lower<c_int> for bool {
    fn lower(&self, _: &Ctx, _: &'static str) -> Result<c_int> {
        Ok(c_int::from(*self))
    }
}

impl Lift<bool> for raw::isl_bool {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<bool> {
        self.0.lift(ctx, function)
    }
}

impl Lift<()> for raw::isl_stat {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<()> {
        if self.0 < 0 { Err(ctx.take_error(function)) } else { Ok(()) }
    }
}

impl Lift<usize> for raw::isl_size {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<usize> {
        self.0.lift(ctx, function)
    }
}

impl Lift<bool> for c_int {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<bool> {
        if self < 0 { Err(ctx.take_error(function)) } else { Ok(self != 0) }
    }
}

impl Lift<usize> for c_int {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<usize> {
        usize::try_from(self).map_err(|_| ctx.take_error(function))
    }
}

/// A position, or none: isl says -1 for both "none" and an error.
impl Lift<Option<usize>> for c_int {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<Option<usize>> {
        match usize::try_from(self) {
            Ok(position) => Ok(Some(position)),
            Err(_) if ctx.has_error() => Err(ctx.take_error(function)),
            Err(_) => Ok(None),
        }
    }
}

/// A sign or a comparison: here -1 is an answer.
impl Lift<Ordering> for c_int {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<Ordering> {
        if ctx.has_error() { Err(ctx.take_error(function)) } else { Ok(self.cmp(&0)) }
    }
}

impl Lift<i32> for c_int {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<i32> {
        if ctx.has_error() { Err(ctx.take_error(function)) } else { Ok(self) }
    }
}

impl Lift<i64> for c_long {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<i64> {
        if ctx.has_error() { Err(ctx.take_error(function)) } else { Ok(self) }
    }
}

impl Lift<f64> for f64 {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<f64> {
        if ctx.has_error() { Err(ctx.take_error(function)) } else { Ok(self) }
    }
}

impl Lift<String> for KeptString {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<String> {
        if self.0.is_null() {
            return Err(if ctx.has_error() {
                ctx.take_error(function)
            } else {
                IslError::invalid(function, "there is no name")
            });
        }
        // SAFETY: isl gives NUL-terminated strings, kept alive by the object that was asked.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl Lift<String> for Give<c_char> {
    fn lift(self, ctx: &Ctx, function: &'static str) -> Result<String> {
        if self.0.is_null() {
            return Err(ctx.take_error(function));
        }
        // SAFETY: isl gives a NUL-terminated string allocated by malloc, ours to free.
        unsafe {
            let string = CStr::from_ptr(self.0).to_string_lossy().into_owned();
            raw::free(self.0.cast());
            Ok(string)
        }
    }
}

/// Defines a safe handle on a reference-counted C type: `Clone`, `Drop`, lowering to `Take` and `Keep`, lifting from `Give`,
/// and, where named, printing, parsing and lists.
macro_rules! object {
    ($(#[$meta:meta])* $name:ident($c:ident)
        $(, print $to_str:ident)? $(, parse $read:ident)?
        $(, list $list:ident $alloc:ident $add:ident $size:ident $get:ident)?) => {
        $(#[$meta])*
        pub struct $name {
            ptr: *mut crate::raw::$c,
            ctx: crate::Ctx,
        }

        impl $name {
            pub fn ctx(&self) -> &crate::Ctx {
                &self.ctx
            }
        }

        impl crate::object::InCtx for $name {
            fn ctx(&self) -> &crate::Ctx {
                &self.ctx
            }
        }

        impl crate::object::Handle for $name {
            type Raw = crate::raw::$c;
            fn as_ptr(&self) -> *mut crate::raw::$c {
                self.ptr
            }
            unsafe fn from_owned(ptr: *mut crate::raw::$c, ctx: &crate::Ctx) -> Self {
                $name { ptr, ctx: ctx.clone() }
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                $name { ptr: crate::object::into_take(self).into_ptr(), ctx: self.ctx.clone() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle owns its reference.
                unsafe { <crate::raw::$c as crate::raw::Counted>::free(self.ptr) }
            }
        }

        impl crate::object::Lower<crate::raw::Take<crate::raw::$c>> for &$name {
            fn lower(&self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<crate::raw::Take<crate::raw::$c>> {
                crate::object::check_same_ctx(&self.ctx, ctx, function)?;
                Ok(crate::object::into_take(*self))
            }
        }

        impl crate::object::Lower<crate::raw::Keep<crate::raw::$c>> for &$name {
            fn lower(&self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<crate::raw::Keep<crate::raw::$c>> {
                crate::object::check_same_ctx(&self.ctx, ctx, function)?;
                Ok(crate::raw::Keep(self.ptr))
            }
        }

        impl crate::object::Lift<$name> for crate::raw::Give<crate::raw::$c> {
            fn lift(self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<$name> {
                if self.0.is_null() {
                    return Err(ctx.take_error(function));
                }
                Ok($name { ptr: self.0, ctx: ctx.clone() })
            }
        }

        /// NULL without an error is "none".
        impl crate::object::Lift<Option<$name>> for crate::raw::Give<crate::raw::$c> {
            fn lift(self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<Option<$name>> {
                if self.0.is_null() && !ctx.has_error() {
                    return Ok(None);
                }
                self.lift(ctx, function).map(Some)
            }
        }

        crate::object::ready!(&$name);

        $(impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let printed = self.ctx.unbudgeted(|| {
                    // SAFETY: the object is alive; printing looks only.
                    let string = unsafe { crate::raw::$to_str(crate::raw::Keep(self.ptr)) };
                    crate::object::Lift::<String>::lift(string, &self.ctx, stringify!($to_str))
                });
                match printed {
                    Ok(string) => f.write_str(string.trim_end_matches('\n')),
                    Err(error) => write!(f, "<{error}>"),
                }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        })?

        $(impl $name {
            crate::object::method! {
                [/** Parses isl's notation. */] read_from_str(ctx: &crate::Ctx, text: &str) -> $name = $read []
            }
        })?

        $(impl crate::object::Lift<Vec<$name>> for crate::raw::Give<crate::raw::$list> {
            fn lift(self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<Vec<$name>> {
                if self.0.is_null() {
                    return Err(ctx.take_error(function));
                }
                // SAFETY: the list is ours and freed when `list` is dropped; `$get` gives references of our own.
                unsafe {
                    let list = crate::raw::Take::new(self.0);
                    let size: usize = crate::raw::$size(crate::raw::Keep(self.0)).lift(ctx, function)?;
                    let elements = (0..size)
                        .map(|i| crate::raw::$get(crate::raw::Keep(self.0), i as std::ffi::c_int).lift(ctx, function))
                        .collect();
                    drop(list);
                    elements
                }
            }
        }

        impl crate::object::Lower<crate::raw::Take<crate::raw::$list>> for &[$name] {
            fn lower(&self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<crate::raw::Take<crate::raw::$list>> {
                let capacity = self.len().lower(ctx, function)?;
                // SAFETY: every reference put in a `Take` is ours.
                unsafe {
                    let mut list = crate::raw::Take::new(crate::raw::$alloc(ctx.as_ptr(), capacity).0);
                    for element in self.iter() {
                        list = crate::raw::Take::new(crate::raw::$add(list, element.lower(ctx, function)?).0);
                    }
                    Ok(list)
                }
            }
        }

        crate::object::ready!(&[$name]);)?
    };
}
pub(crate) use object;

/// A handle on a C object.
pub(crate) trait Handle: InCtx + Sized {
    type Raw: raw::Counted;

    fn as_ptr(&self) -> *mut Self::Raw;

    /// # Safety
    /// `ptr` is a reference, in `ctx`, that the caller owns and gives up.
    unsafe fn from_owned(ptr: *mut Self::Raw, ctx: &Ctx) -> Self;

    /// # Safety
    /// `ptr` points to a live object in `ctx`.
    unsafe fn from_borrowed(ptr: *mut Self::Raw, ctx: &Ctx) -> Self {
        // SAFETY: by the contract of this function; the copy is a reference of its own.
        unsafe { Self::from_owned(<Self::Raw as raw::Counted>::copy(ptr), ctx) }
    }
}

/// Another reference to the object behind `handle`.
///
/// Most objects are counted. The few that isl really copies are copied outside of the budget: a copy never fails, so it
/// cannot be what makes a budget run out.
pub(crate) fn into_take<T: Handle>(handle: &T) -> raw::Take<T::Raw> {
    // SAFETY: the handle keeps the object alive; the copy is a reference of its own.
    let copy = unsafe { <T::Raw as raw::Counted>::copy(handle.as_ptr()) };
    if !copy.is_null() {
        // SAFETY: as above.
        return unsafe { raw::Take::new(copy) };
    }
    // SAFETY: as above.
    let copy = handle.ctx().unbudgeted(|| unsafe { <T::Raw as raw::Counted>::copy(handle.as_ptr()) });
    assert!(!copy.is_null(), "isl: out of memory");
    // SAFETY: as above.
    unsafe { raw::Take::new(copy) }
}

/// Methods and associated functions, each named after the C function it calls. `&self` and other objects are borrowed; where C
/// takes them, it gets references of its own. A `require` states what C relies on without checking it.
macro_rules! methods {
    ($ty:ident; $(
        $(#[$meta:meta])* fn $name:ident($($signature:tt)*) -> $ret:ty = $c:ident $(, require $requirement:expr)?;
    )*) => {
        impl $ty {
            $(crate::object::method! { [$(#[$meta])*] $name($($signature)*) -> $ret = $c [$($requirement)?] })*
        }

        #[cfg(test)]
        impl crate::exercise::Exercise for $ty {
            fn exercise(gym: &crate::exercise::Gym) {
                $(
                    gym.begin(stringify!($c));
                    crate::exercise::for_all_arguments! { gym $ty $name() $($signature)* }
                )*
            }
        }
    };
}
pub(crate) use methods;

macro_rules! method {
    (
        [$(#[$meta:meta])*]
        $name:ident(&$this:ident $(, $arg:ident: $arg_ty:ty)*) -> $ret:ty = $c:ident [$($requirement:expr)?]
    ) => {
        $(#[$meta])*
        pub fn $name(&$this $(, $arg: $arg_ty)*) -> crate::Result<$ret> {
            $(crate::object::require($requirement, stringify!($c), stringify!($requirement))?;)?
            crate::object::call!($this $($arg)*; $c -> $ret)
        }
    };
    (
        [$(#[$meta:meta])*]
        $name:ident($first:ident: $first_ty:ty $(, $arg:ident: $arg_ty:ty)*) -> $ret:ty = $c:ident [$($requirement:expr)?]
    ) => {
        $(#[$meta])*
        pub fn $name($first: $first_ty $(, $arg: $arg_ty)*) -> crate::Result<$ret> {
            $(crate::object::require($requirement, stringify!($c), stringify!($requirement))?;)?
            crate::object::call!($first $($arg)*; $c -> $ret)
        }
    };
}
pub(crate) use method;

pub(crate) fn require(holds: bool, function: &'static str, requirement: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(IslError::invalid(function, format!("requires {requirement}"))) }
}

/// Calls `$c` in the context of its first argument.
macro_rules! call {
    ($first:ident $($arg:ident)*; $c:ident -> $ret:ty) => {{
        #[allow(unused_imports)]
        use crate::object::{InCtx, Lift, Lower, Prepare};
        const FUNCTION: &str = stringify!($c);
        let ctx = InCtx::ctx($first);
        $(let $arg = Prepare::prepare($arg, FUNCTION)?;)*
        ctx.reset_error();
        // SAFETY: the types in `raw` state what C does with each argument: what it takes is a reference made for it, what it
        // keeps is borrowed from a handle that lives until the call returns; what it gives is ours.
        let result = unsafe {
            crate::raw::$c($first.lower(ctx, FUNCTION)? $(, $arg.lower(ctx, FUNCTION)?)*)
        };
        let result: $ret = result.lift(ctx, FUNCTION)?;
        ctx.check_interrupted()?;
        Ok(result)
    }};
}
pub(crate) use call;

/// Calls a C function that also tells whether its result is exact.
pub(crate) fn with_exactness<T: Handle>(
    object: &T,
    function: &'static str,
    call: unsafe extern "C" fn(raw::Take<T::Raw>, *mut raw::isl_bool) -> Give<T::Raw>,
) -> Result<(T, bool)>
where
    Give<T::Raw>: Lift<T>,
{
    let ctx = object.ctx();
    let mut exact = raw::isl_bool(0);
    ctx.reset_error();
    // SAFETY: C takes a reference of its own, and writes to `exact` before it returns.
    let result = unsafe { call(into_take(object), &raw mut exact) };
    let result = result.lift(ctx, function)?;
    ctx.check_interrupted()?;
    Ok((result, exact.lift(ctx, function)?))
}

/// Calls a C optimization over `domain` that also gives the part of `domain` that has no optimum.
pub(crate) fn with_rest<T: Handle>(
    object: &T,
    domain: &Set,
    function: &'static str,
    call: unsafe extern "C" fn(raw::Take<T::Raw>, raw::Take<raw::isl_set>, *mut *mut raw::isl_set) -> Give<T::Raw>,
) -> Result<(T, Set)>
where
    Give<T::Raw>: Lift<T>,
{
    let ctx = object.ctx();
    check_same_ctx(ctx, domain.ctx(), function)?;
    let mut rest = std::ptr::null_mut();
    ctx.reset_error();
    // SAFETY: C takes references of its own, and stores one of ours, or NULL, in `rest`.
    let (result, rest) = unsafe {
        let result = call(into_take(object), into_take(domain), &raw mut rest);
        (result, Give(rest))
    };
    let result = result.lift(ctx, function);
    let rest = rest.lift(ctx, function);
    ctx.check_interrupted()?;
    Ok((result?, rest?))
}

/// Reads a C enumeration; what is not listed is an error.
macro_rules! lift_enum {
    ($name:ident; $($value:literal => $variant:ident),*) => {
        impl crate::object::Lift<$name> for std::ffi::c_int {
            fn lift(self, ctx: &crate::Ctx, function: &'static str) -> crate::Result<$name> {
                match self {
                    $($value => Ok($name::$variant),)*
                    _ => Err(ctx.take_error(function)),
                }
            }
        }
    };
}
pub(crate) use lift_enum;
