//! Closures as C callbacks. A closure that fails or panics stops isl's iteration; isl frees what it holds and returns, and only
//! then the error is returned or the panic resumed, so nothing unwinds through C and nothing leaks.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::object::{Handle, Lift};
use crate::raw::{self, Give, Rewrite, STAT_ERROR, STAT_OK, Take, Visit, VisitTwo};
use crate::{Ctx, IslError, Result};

struct Visitor<'a, F, E> {
    ctx: &'a Ctx,
    visit: F,
    error: Option<E>,
}

impl<'a, F, E: From<IslError>> Visitor<'a, F, E> {
    /// Calls `enter`, an isl function, with the user pointer for the trampolines below.
    fn run<R: Lift<T>, T>(
        ctx: &'a Ctx,
        function: &'static str,
        visit: F,
        enter: impl FnOnce(*mut c_void) -> R,
    ) -> Result<T, E> {
        let mut visitor = Visitor { ctx, visit, error: None };
        ctx.reset_error();
        let result = enter((&raw mut visitor).cast());
        let result = result.lift(ctx, function);
        if let Some(error) = visitor.error {
            return Err(error);
        }
        let result = result?;
        ctx.check_interrupted()?;
        Ok(result)
    }

    /// Runs the closure; `None` if it failed or panicked.
    fn call<T>(&mut self, call: impl FnOnce(&mut F, &Ctx) -> Result<T, E>) -> Option<T> {
        let (visit, ctx) = (&mut self.visit, self.ctx);
        match catch_unwind(AssertUnwindSafe(|| call(visit, ctx))) {
            Ok(Ok(value)) => Some(value),
            Ok(Err(error)) => {
                self.error.get_or_insert(error);
                None
            }
            Err(payload) => {
                ctx.store_panic(payload);
                None
            }
        }
    }
}

fn stat(answer: Option<()>) -> c_int {
    answer.map_or(STAT_ERROR, |()| STAT_OK)
}

// In all of these, `user` is the `Visitor` that the caller below passed to isl, which hands it back unchanged while the caller
// waits; isl calls back one at a time.

unsafe extern "C" fn visit_one<T, F, E>(object: *mut T::Raw, user: *mut c_void) -> c_int
where
    T: Handle,
    F: FnMut(T) -> Result<(), E>,
    E: From<IslError>,
{
    // SAFETY: see above; isl gives the object to the callback.
    unsafe {
        let visitor = &mut *user.cast::<Visitor<F, E>>();
        let object = T::from_owned(object, visitor.ctx);
        stat(visitor.call(|visit, _| visit(object)))
    }
}

unsafe extern "C" fn visit_two<A, B, F, E>(a: *mut A::Raw, b: *mut B::Raw, user: *mut c_void) -> c_int
where
    A: Handle,
    B: Handle,
    F: FnMut(A, B) -> Result<(), E>,
    E: From<IslError>,
{
    // SAFETY: see above; isl gives the objects to the callback.
    unsafe {
        let visitor = &mut *user.cast::<Visitor<F, E>>();
        let (a, b) = (A::from_owned(a, visitor.ctx), B::from_owned(b, visitor.ctx));
        stat(visitor.call(|visit, _| visit(a, b)))
    }
}

unsafe extern "C" fn test_one<T, F, E>(object: *mut T::Raw, user: *mut c_void) -> c_int
where
    T: Handle,
    F: FnMut(&T) -> Result<bool, E>,
    E: From<IslError>,
{
    // SAFETY: see above; isl keeps the object, so we take a reference of our own.
    unsafe {
        let visitor = &mut *user.cast::<Visitor<F, E>>();
        let object = T::from_borrowed(object, visitor.ctx);
        visitor.call(|visit, _| visit(&object)).map_or(STAT_ERROR, c_int::from)
    }
}

unsafe extern "C" fn rewrite_one<T, F, E>(object: *mut T::Raw, user: *mut c_void) -> *mut T::Raw
where
    T: Handle,
    F: FnMut(T) -> Result<T, E>,
    E: From<IslError>,
{
    // SAFETY: see above; isl gives the object to the callback and takes the result.
    unsafe {
        let visitor = &mut *user.cast::<Visitor<F, E>>();
        let object = T::from_owned(object, visitor.ctx);
        let result = visitor.call(|visit, ctx| {
            let result = visit(object)?;
            crate::object::check_same_ctx(result.ctx(), ctx, "callback")?;
            Ok(result)
        });
        result.map_or(std::ptr::null_mut(), |result| crate::object::into_take(&result).into_ptr())
    }
}

/// `foreach` over `object`'s parts, each given to `visit`.
///
/// # Safety
/// `foreach` is a C function that keeps its first argument, calls its second argument with parts of type `T` that it gives
/// away, and with its third argument.
pub(crate) unsafe fn for_each<O, T, E>(
    object: &O,
    function: &'static str,
    foreach: unsafe extern "C" fn(raw::Keep<O::Raw>, Visit<T::Raw>, *mut c_void) -> raw::isl_stat,
    visit: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    O: Handle,
    T: Handle,
    E: From<IslError>,
{
    fn trampoline<T: Handle, F: FnMut(T) -> Result<(), E>, E: From<IslError>>(_: &F) -> Visit<T::Raw> {
        visit_one::<T, F, E>
    }
    let trampoline = trampoline::<T, _, E>(&visit);
    Visitor::run(object.ctx(), function, visit, |user| {
        // SAFETY: by the contract of this function.
        unsafe { foreach(raw::Keep(object.as_ptr()), trampoline, user) }
    })
}

/// As [`for_each`], for parts that come in pairs.
///
/// # Safety
/// As for [`for_each`].
pub(crate) unsafe fn for_each_pair<O, A, B>(
    object: &O,
    function: &'static str,
    foreach: unsafe extern "C" fn(raw::Keep<O::Raw>, VisitTwo<A::Raw, B::Raw>, *mut c_void) -> raw::isl_stat,
) -> Result<Vec<(A, B)>>
where
    O: Handle,
    A: Handle,
    B: Handle,
{
    fn trampoline<A: Handle, B: Handle, F: FnMut(A, B) -> Result<()>>(_: &F) -> VisitTwo<A::Raw, B::Raw> {
        visit_two::<A, B, F, IslError>
    }
    let mut pairs = Vec::new();
    let visit = |a: A, b: B| -> Result<()> {
        pairs.push((a, b));
        Ok(())
    };
    let trampoline = trampoline(&visit);
    Visitor::run(object.ctx(), function, visit, |user| {
        // SAFETY: by the contract of this function.
        unsafe { foreach(raw::Keep(object.as_ptr()), trampoline, user) }
    })?;
    Ok(pairs)
}

/// A C function that calls `test` with borrowed parts of `object` and looks at the answer.
///
/// # Safety
/// As for [`for_each`], but the parts are kept by isl.
pub(crate) unsafe fn test_each<O, T, E, R, Answer>(
    object: &O,
    function: &'static str,
    every: unsafe extern "C" fn(raw::Keep<O::Raw>, Visit<T::Raw>, *mut c_void) -> R,
    test: impl FnMut(&T) -> Result<bool, E>,
) -> Result<Answer, E>
where
    O: Handle,
    T: Handle,
    E: From<IslError>,
    R: Lift<Answer>,
{
    fn trampoline<T: Handle, F: FnMut(&T) -> Result<bool, E>, E: From<IslError>>(_: &F) -> Visit<T::Raw> {
        test_one::<T, F, E>
    }
    let trampoline = trampoline::<T, _, E>(&test);
    Visitor::run(object.ctx(), function, test, |user| {
        // SAFETY: by the contract of this function.
        unsafe { every(raw::Keep(object.as_ptr()), trampoline, user) }
    })
}

/// A C function that replaces parts of `object` by what `rewrite` makes of them.
///
/// # Safety
/// `map` is a C function that takes its first argument, calls its second argument with parts of type `T` that it gives away,
/// takes what it gets back, and gives a new object.
pub(crate) unsafe fn rewrite_each<O, T, E>(
    object: &O,
    function: &'static str,
    map: unsafe extern "C" fn(Take<O::Raw>, Rewrite<T::Raw>, *mut c_void) -> Give<O::Raw>,
    rewrite: impl FnMut(T) -> Result<T, E>,
) -> Result<O, E>
where
    O: Handle,
    T: Handle,
    E: From<IslError>,
    Give<O::Raw>: Lift<O>,
{
    fn trampoline<T: Handle, F: FnMut(T) -> Result<T, E>, E: From<IslError>>(_: &F) -> Rewrite<T::Raw> {
        rewrite_one::<T, F, E>
    }
    let trampoline = trampoline::<T, _, E>(&rewrite);
    Visitor::run(object.ctx(), function, rewrite, |user| {
        // SAFETY: by the contract of this function.
        unsafe { map(crate::object::into_take(object), trampoline, user) }
    })
}
