use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::object::{Handle, InCtx, Lower, call, check_same_ctx, into_take, methods, object, ready};
use crate::raw::{self, STAT_ERROR, STAT_OK};
use crate::{AstExpr, AstNode, Ctx, Id, PwAff, Result, Schedule, Set, Space, UnionMap};

object! {
    /// isl's build, without the closures that it calls.
    BareBuild(isl_ast_build)
}

/// What is known at a place of the loops being generated, and how to generate more: context, options, names and callbacks.
///
/// The closures given to the `set_…` methods live as long as any build derived from this one. They are called while loops are
/// generated from a build that has them; their errors and panics come out of the function that generates.
#[derive(Clone)]
pub struct AstBuild {
    bare: BareBuild,
    callbacks: Rc<Callbacks>,
}

type AtNode = dyn FnMut(AstNode, &AstBuild) -> Result<AstNode>;
type BeforeFor = dyn FnMut(&AstBuild) -> Result<Id>;
type BeforeMark = dyn FnMut(&Id, &AstBuild) -> Result<()>;

#[derive(Clone)]
struct Callbacks {
    ctx: Ctx,
    at_each_domain: Option<Rc<RefCell<AtNode>>>,
    before_each_for: Option<Rc<RefCell<BeforeFor>>>,
    after_each_for: Option<Rc<RefCell<AtNode>>>,
    before_each_mark: Option<Rc<RefCell<BeforeMark>>>,
    after_each_mark: Option<Rc<RefCell<AtNode>>>,
}

impl Callbacks {
    fn none(ctx: &Ctx) -> Rc<Callbacks> {
        Rc::new(Callbacks {
            ctx: ctx.clone(),
            at_each_domain: None,
            before_each_for: None,
            after_each_for: None,
            before_each_mark: None,
            after_each_mark: None,
        })
    }
}

methods! { AstBuild;
    /// The outer loops, as { domain -> [values of their iterators] }.
    fn get_schedule(&self) -> UnionMap = isl_ast_build_get_schedule;
    fn get_schedule_space(&self) -> Space = isl_ast_build_get_schedule_space;
    /// A condition that holds if and only if the iterators and parameters are in `set`.
    fn expr_from_set(&self, set: &Set) -> AstExpr = isl_ast_build_expr_from_set;
    fn expr_from_pw_aff(&self, pa: &PwAff) -> AstExpr = isl_ast_build_expr_from_pw_aff;
    fn node_from_schedule(&self, schedule: &Schedule) -> AstNode = isl_ast_build_node_from_schedule;
}

impl AstBuild {
    /// A build that knows nothing about the parameters.
    pub fn alloc(ctx: &Ctx) -> Result<AstBuild> {
        let bare: Result<BareBuild> = call!(ctx; isl_ast_build_alloc -> BareBuild);
        Ok(AstBuild { bare: bare?, callbacks: Callbacks::none(ctx) })
    }

    /// A build that knows that the parameters are in `context`.
    pub fn from_context(context: &Set) -> Result<AstBuild> {
        let bare: Result<BareBuild> = call!(context; isl_ast_build_from_context -> BareBuild);
        Ok(AstBuild { bare: bare?, callbacks: Callbacks::none(context.ctx()) })
    }

    pub fn ctx(&self) -> &Ctx {
        self.bare.ctx()
    }

    pub fn restrict(&self, set: &Set) -> Result<AstBuild> {
        self.derive(call!(self set; isl_ast_build_restrict -> BareBuild))
    }

    pub fn set_options(&self, options: &UnionMap) -> Result<AstBuild> {
        self.derive(call!(self options; isl_ast_build_set_options -> BareBuild))
    }

    /// Names for the iterators, from the outermost loop on.
    pub fn set_iterators(&self, iterators: &[Id]) -> Result<AstBuild> {
        self.derive(call!(self iterators; isl_ast_build_set_iterators -> BareBuild))
    }

    /// `at` may replace every user statement; the build it sees knows the loops around it.
    pub fn set_at_each_domain(
        &self,
        at: impl FnMut(AstNode, &AstBuild) -> Result<AstNode> + 'static,
    ) -> Result<AstBuild> {
        self.with_callbacks(|callbacks| callbacks.at_each_domain = Some(Rc::new(RefCell::new(at))))
    }

    /// `before` is called where a loop begins; the id it gives becomes the loop's annotation.
    pub fn set_before_each_for(&self, before: impl FnMut(&AstBuild) -> Result<Id> + 'static) -> Result<AstBuild> {
        self.with_callbacks(|callbacks| callbacks.before_each_for = Some(Rc::new(RefCell::new(before))))
    }

    /// `after` is called when a loop is complete, and may replace it.
    pub fn set_after_each_for(
        &self,
        after: impl FnMut(AstNode, &AstBuild) -> Result<AstNode> + 'static,
    ) -> Result<AstBuild> {
        self.with_callbacks(|callbacks| callbacks.after_each_for = Some(Rc::new(RefCell::new(after))))
    }

    pub fn set_before_each_mark(&self, before: impl FnMut(&Id, &AstBuild) -> Result<()> + 'static) -> Result<AstBuild> {
        self.with_callbacks(|callbacks| callbacks.before_each_mark = Some(Rc::new(RefCell::new(before))))
    }

    pub fn set_after_each_mark(
        &self,
        after: impl FnMut(AstNode, &AstBuild) -> Result<AstNode> + 'static,
    ) -> Result<AstBuild> {
        self.with_callbacks(|callbacks| callbacks.after_each_mark = Some(Rc::new(RefCell::new(after))))
    }

    fn derive(&self, bare: Result<BareBuild>) -> Result<AstBuild> {
        Ok(AstBuild { bare: bare?, callbacks: self.callbacks.clone() })
    }

    /// A build with other callbacks. The C callbacks get a pointer to the table, so a changed table is registered anew.
    fn with_callbacks(&self, change: impl FnOnce(&mut Callbacks)) -> Result<AstBuild> {
        let mut callbacks = Callbacks::clone(&self.callbacks);
        change(&mut callbacks);
        let callbacks = Rc::new(callbacks);
        let user = Rc::as_ptr(&callbacks).cast_mut().cast::<c_void>();
        let ctx = self.ctx();
        ctx.reset_error();
        let mut build = into_take(&self.bare);
        // SAFETY: each function takes the build and gives it back; `user` outlives it, because every build that isl derives from
        // it and that Rust can see holds the same table.
        unsafe {
            if callbacks.at_each_domain.is_some() {
                build = raw::Take::new(raw::isl_ast_build_set_at_each_domain(build, at_each_domain, user).0);
            }
            if callbacks.before_each_for.is_some() {
                build = raw::Take::new(raw::isl_ast_build_set_before_each_for(build, before_each_for, user).0);
            }
            if callbacks.after_each_for.is_some() {
                build = raw::Take::new(raw::isl_ast_build_set_after_each_for(build, after_each_for, user).0);
            }
            if callbacks.before_each_mark.is_some() {
                build = raw::Take::new(raw::isl_ast_build_set_before_each_mark(build, before_each_mark, user).0);
            }
            if callbacks.after_each_mark.is_some() {
                build = raw::Take::new(raw::isl_ast_build_set_after_each_mark(build, after_each_mark, user).0);
            }
        }
        let build = build.into_ptr();
        if build.is_null() {
            return Err(ctx.take_error("isl_ast_build_set callback"));
        }
        // SAFETY: the reference is ours.
        let bare = unsafe { BareBuild::from_owned(build, ctx) };
        Ok(AstBuild { bare, callbacks })
    }
}

impl fmt::Debug for AstBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get_schedule_space() {
            Ok(space) => write!(f, "AstBuild({space})"),
            Err(error) => write!(f, "AstBuild(<{error}>)"),
        }
    }
}

impl InCtx for AstBuild {
    fn ctx(&self) -> &Ctx {
        self.bare.ctx()
    }
}

impl Lower<raw::Take<raw::isl_ast_build>> for &AstBuild {
    fn lower(&self, ctx: &Ctx, function: &'static str) -> Result<raw::Take<raw::isl_ast_build>> {
        (&self.bare).lower(ctx, function)
    }
}

impl Lower<raw::Keep<raw::isl_ast_build>> for &AstBuild {
    fn lower(&self, ctx: &Ctx, function: &'static str) -> Result<raw::Keep<raw::isl_ast_build>> {
        (&self.bare).lower(ctx, function)
    }
}

ready!(&AstBuild);

/// Runs a closure for isl. A failure or panic is left in the context, where the function that generates finds it.
///
/// # Safety
/// `build` is live, and `user` is the `Callbacks` that [`AstBuild::with_callbacks`] registered, held by an `Rc`.
unsafe fn run<T>(
    build: *mut raw::isl_ast_build,
    user: *mut c_void,
    work: impl FnOnce(&Callbacks, &AstBuild) -> Result<T>,
) -> Option<T> {
    // SAFETY: by the contract of this function; the count is raised for the `Rc` made here.
    let build = unsafe {
        let user = user.cast_const().cast::<Callbacks>();
        Rc::increment_strong_count(user);
        let callbacks = Rc::from_raw(user);
        AstBuild { bare: BareBuild::from_borrowed(build, &callbacks.ctx), callbacks }
    };
    match catch_unwind(AssertUnwindSafe(|| work(&build.callbacks, &build))) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(error)) => {
            build.ctx().store_error(error);
            None
        }
        Err(payload) => {
            build.ctx().store_panic(payload);
            None
        }
    }
}

/// # Safety
/// As for [`run`]; and the caller gives up its reference to `node`.
unsafe fn run_at_node(
    node: *mut raw::isl_ast_node,
    build: *mut raw::isl_ast_build,
    user: *mut c_void,
    which: impl FnOnce(&Callbacks) -> &Option<Rc<RefCell<AtNode>>>,
) -> *mut raw::isl_ast_node {
    // SAFETY: by the contract of this function.
    let result = unsafe {
        run(build, user, |callbacks, build| {
            let node = AstNode::from_owned(node, &callbacks.ctx);
            let Some(at) = which(callbacks) else {
                return Ok(node);
            };
            let node = (at.borrow_mut())(node, build)?;
            check_same_ctx(node.ctx(), &callbacks.ctx, "callback")?;
            Ok(node)
        })
    };
    result.map_or(std::ptr::null_mut(), |node| into_take(&node).into_ptr())
}

unsafe extern "C" fn at_each_domain(
    node: *mut raw::isl_ast_node,
    build: *mut raw::isl_ast_build,
    user: *mut c_void,
) -> *mut raw::isl_ast_node {
    // SAFETY: isl gives the node to the callback, keeps the build, and takes the node it gets back.
    unsafe { run_at_node(node, build, user, |callbacks| &callbacks.at_each_domain) }
}

unsafe extern "C" fn after_each_for(
    node: *mut raw::isl_ast_node,
    build: *mut raw::isl_ast_build,
    user: *mut c_void,
) -> *mut raw::isl_ast_node {
    // SAFETY: isl gives the node to the callback, keeps the build, and takes the node it gets back.
    unsafe { run_at_node(node, build, user, |callbacks| &callbacks.after_each_for) }
}

unsafe extern "C" fn after_each_mark(
    node: *mut raw::isl_ast_node,
    build: *mut raw::isl_ast_build,
    user: *mut c_void,
) -> *mut raw::isl_ast_node {
    // SAFETY: isl gives the node to the callback, keeps the build, and takes the node it gets back.
    unsafe { run_at_node(node, build, user, |callbacks| &callbacks.after_each_mark) }
}

unsafe extern "C" fn before_each_for(build: *mut raw::isl_ast_build, user: *mut c_void) -> *mut raw::isl_id {
    // SAFETY: isl keeps the build and takes the id.
    let result = unsafe {
        run(build, user, |callbacks, build| {
            let Some(before) = &callbacks.before_each_for else {
                return Id::alloc(&callbacks.ctx, "for", 0);
            };
            let id = (before.borrow_mut())(build)?;
            check_same_ctx(id.ctx(), &callbacks.ctx, "callback")?;
            Ok(id)
        })
    };
    result.map_or(std::ptr::null_mut(), |id| into_take(&id).into_ptr())
}

unsafe extern "C" fn before_each_mark(
    mark: *mut raw::isl_id,
    build: *mut raw::isl_ast_build,
    user: *mut c_void,
) -> c_int {
    // SAFETY: isl keeps both.
    let result = unsafe {
        run(build, user, |callbacks, build| {
            let Some(before) = &callbacks.before_each_mark else {
                return Ok(());
            };
            let mark = Id::from_borrowed(mark, &callbacks.ctx);
            (before.borrow_mut())(&mark, build)
        })
    };
    result.map_or(STAT_ERROR, |()| STAT_OK)
}
