//! Calls every function of the tables with fitting and unfitting arguments: spaces that differ, positions out of range, empty
//! sets, NaN. Whatever isl makes of them has to be an answer or an error, never a crash; run under valgrind, this also shows
//! reads outside of objects, and references that are lost on the way to an error.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::*;

/// A type whose functions can be called with sample arguments.
pub(crate) trait Exercise {
    fn exercise(gym: &Gym);
}

/// Argument values of a type, odd ones included.
trait Samples: Sized + 'static {
    fn samples(ctx: &Ctx) -> Vec<Self>;
}

pub(crate) struct Gym {
    pub(crate) ctx: Ctx,
    samples: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
    function: Cell<&'static str>,
    calls: Cell<usize>,
    answers: Cell<usize>,
    errors: Cell<usize>,
}

/// Up to this many combinations of arguments, all are tried; of more, one in this many.
const ALL_OF: usize = 250;
const ONE_IN: usize = 23;

impl Gym {
    fn new() -> Gym {
        Gym {
            ctx: Ctx::new(),
            samples: RefCell::default(),
            function: Cell::new(""),
            calls: Cell::new(0),
            answers: Cell::new(0),
            errors: Cell::new(0),
        }
    }

    pub(crate) fn begin(&self, function: &'static str) {
        self.function.set(function);
        self.calls.set(0);
        if std::env::var_os("ISL_EXERCISE_TRACE").is_some() {
            eprintln!("{function}");
        }
    }

    pub(crate) fn skip(&self) -> bool {
        let call = self.calls.get();
        self.calls.set(call + 1);
        call >= ALL_OF && !call.wrapping_mul(2_654_435_761).is_multiple_of(ONE_IN)
    }

    pub(crate) fn note<T>(&self, result: Result<T>) {
        match result {
            Ok(_) => self.answers.set(self.answers.get() + 1),
            Err(error) if error.is_out_of_budget() => panic!("{}: {error}", self.function.get()),
            Err(_) => self.errors.set(self.errors.get() + 1),
        }
    }

    #[allow(private_bounds)]
    pub(crate) fn samples<T: Samples>(&self) -> Rc<Vec<T>> {
        if let Some(samples) = self.samples.borrow().get(&TypeId::of::<T>()) {
            return samples.clone().downcast().expect("stored under its own type");
        }
        let samples = Rc::new(T::samples(&self.ctx));
        self.samples.borrow_mut().insert(TypeId::of::<T>(), samples.clone());
        samples
    }
}

/// One loop per argument, and the call in the innermost.
macro_rules! for_all_arguments {
    ($gym:ident $ty:ident $name:ident($($done:expr),*)) => {{
        if $gym.skip() {
            #[allow(clippy::needless_continue)]
            continue;
        }
        $gym.note($ty::$name($($done),*));
    }};
    ($gym:ident $ty:ident $name:ident() &self $(, $($rest:tt)*)?) => {
        for this in $gym.samples::<$ty>().iter() {
            crate::exercise::for_all_arguments! { $gym $ty $name(this) $($($rest)*)? }
        }
    };
    ($gym:ident $ty:ident $name:ident($($done:expr),*) $arg:ident: &Ctx $(, $($rest:tt)*)?) => {
        for $arg in [&$gym.ctx] {
            crate::exercise::for_all_arguments! { $gym $ty $name($($done,)* $arg) $($($rest)*)? }
        }
    };
    ($gym:ident $ty:ident $name:ident($($done:expr),*) $arg:ident: &str $(, $($rest:tt)*)?) => {
        for $arg in ["n", ""] {
            crate::exercise::for_all_arguments! { $gym $ty $name($($done,)* $arg) $($($rest)*)? }
        }
    };
    ($gym:ident $ty:ident $name:ident($($done:expr),*) $arg:ident: &[$of:ident] $(, $($rest:tt)*)?) => {
        let all = $gym.samples::<$of>();
        for $arg in [&all[..0], &all[..1], &all[..]] {
            crate::exercise::for_all_arguments! { $gym $ty $name($($done,)* $arg) $($($rest)*)? }
        }
    };
    ($gym:ident $ty:ident $name:ident($($done:expr),*) $arg:ident: &$of:ident $(, $($rest:tt)*)?) => {
        for $arg in $gym.samples::<$of>().iter() {
            crate::exercise::for_all_arguments! { $gym $ty $name($($done,)* $arg) $($($rest)*)? }
        }
    };
    ($gym:ident $ty:ident $name:ident($($done:expr),*) $arg:ident: usize $(, $($rest:tt)*)?) => {
        for $arg in crate::exercise::numbers(stringify!($arg)) {
            crate::exercise::for_all_arguments! { $gym $ty $name($($done,)* *$arg) $($($rest)*)? }
        }
    };
    ($gym:ident $ty:ident $name:ident($($done:expr),*) $arg:ident: $of:ident $(, $($rest:tt)*)?) => {
        for $arg in $gym.samples::<$of>().iter() {
            crate::exercise::for_all_arguments! { $gym $ty $name($($done,)* *$arg) $($($rest)*)? }
        }
    };
}
pub(crate) use for_all_arguments;

/// Values for an argument of this name. Positions may be absurd; nobody asks for 2³² dimensions and expects an answer.
pub(crate) fn numbers(name: &str) -> &'static [usize] {
    if name.contains("pos") || name == "first" { &[0, 1, 2, 7, 0xffff_ffff, usize::MAX] } else { &[0, 1, 3] }
}

macro_rules! samples {
    ($($ty:ident: |$ctx:ident| $samples:expr;)*) => {$(
        impl Samples for $ty {
            fn samples($ctx: &Ctx) -> Vec<$ty> {
                fn samples($ctx: &Ctx) -> Result<Vec<$ty>> {
                    Ok($samples)
                }
                samples($ctx).unwrap_or_else(|error| panic!("{}: {error}", stringify!($ty)))
            }
        }
    )*};
}

/// Samples given in isl's notation.
macro_rules! parsed_samples {
    ($($ty:ident: $($text:literal),*;)*) => {
        samples! { $($ty: |ctx| vec![$($ty::read_from_str(ctx, $text)?),*];)* }
    };
}

parsed_samples! {
    MultiVal: "{ [4, 8] }", "{ S[0, 8, 3] }", "{ [] }";
    PwAff: "[n] -> { S[i, j] -> [(i)] : i > n; S[i, j] -> [(j)] : i <= n }", "[n] -> { [(n)] : n > 2 }";
    MultiAff: "[n] -> { S[i, j] -> A[i + n, j, 3] }", "{ [] -> [] }", "[n] -> { S[i, j] -> S[j, i] }";
    PwMultiAff: "[n] -> { S[i, j] -> A[i + n, j] : i > 0; S[i, j] -> A[0, 0] : i < 0 }", "{ S[i, j] -> S[j, i] }";
    UnionPwAff: "{ S[i, j] -> [(i)]; T[i] -> [(2i)] }";
    MultiUnionPwAff: "[{ S[i, j] -> [(i)]; T[i] -> [(i)] }, { S[i, j] -> [(j)]; T[i] -> [(0)] }]";
    UnionPwMultiAff: "{ S[i, j] -> A[i]; T[i] -> B[i, i] }";
    BasicSet: "[n] -> { S[i, j] : 0 <= i < 5 and 0 <= j <= i and exists (e : j = 2e) }", "[n] -> { : n > 0 }",
        "{ [S[i] -> T[j]] : i = j and 0 <= i < 4 }";
    BasicMap: "[n] -> { S[i, j] -> S[i + 1, j] : 0 <= i < n }", "{ [S[i] -> T[j]] -> [A[i] -> B[x]] : x = i mod 4 }";
    Schedule: r#"{ domain: "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < 4; T[i] : 0 <= i < n }",
        child: { schedule: "[{ S[i, j] -> [(i)]; T[i] -> [(i)] }]", permutable: 1,
            child: { sequence: [
                { filter: "{ T[i] }" },
                { filter: "{ S[i, j] }", child: { schedule: "[{ S[i, j] -> [(j)] }]" } } ] } } }"#;
}

samples! {
    i64: |_ctx| vec![-3, 5, i64::MAX];
    u64: |_ctx| vec![0, 3];
    bool: |_ctx| vec![false, true];
    DimType: |_ctx| vec![DimType::Param, DimType::In, DimType::Out, DimType::Div, DimType::Cst];
    AstLoopType: |_ctx| vec![AstLoopType::Default, AstLoopType::Unroll];
    Val: |ctx| vec![
        Val::int_from_si(ctx, 3)?, Val::from_str(ctx, "-5/2")?, Val::nan(ctx)?, Val::int_from_si(ctx, 0)?,
        Val::from_str(ctx, "infty")?,
    ];
    Id: |ctx| vec![Id::alloc(ctx, "n", 0)?, Id::alloc(ctx, "q", 5)?];
    Space: |ctx| vec![
        // with a parameter that has no name
        Space::set_alloc(ctx, 1, 2)?,
        Space::params_alloc(ctx, 1)?,
        Space::read_from_str(ctx, "[n] -> { S[i, j] }")?,
        Space::read_from_str(ctx, "[n] -> { S[i, j] -> A[x] }")?,
        Space::read_from_str(ctx, "[n] -> { [S[i] -> T[j]] -> A[x] }")?,
    ];
    LocalSpace: |ctx| vec![
        LocalSpace::from_space(&Space::read_from_str(ctx, "[n] -> { S[i, j] }")?)?,
        LocalSpace::from_space(&Space::params_alloc(ctx, 1)?)?,
    ];
    Aff: |ctx| vec![
        Aff::read_from_str(ctx, "[n] -> { S[i, j] -> [(i + 2j + n + floor(i/3))] }")?,
        Aff::read_from_str(ctx, "{ [i] -> [(2)] }")?,
        Aff::read_from_str(ctx, "[n] -> { [(n)] }")?,
        Aff::zero_on_domain(&LocalSpace::from_space(&Space::set_alloc(ctx, 1, 2)?)?)?,
    ];
    Set: |ctx| vec![
        Set::read_from_str(ctx, "[n] -> { S[i, j] : 0 <= i < n and (j = 0 or j = 2i) }")?,
        Set::read_from_str(ctx, "{ S[i, j] : 0 <= i < 3 and 0 <= j <= i }")?,
        Set::read_from_str(ctx, "[n] -> { : n > 0 }")?,
        Set::read_from_str(ctx, "{ [S[i] -> T[j]] : i = j and 0 <= i < 4 }")?,
        Set::read_from_str(ctx, "{ S[i, j] : false }")?,
        Set::universe(&Space::set_alloc(ctx, 1, 2)?)?,
    ];
    UnionSet: |ctx| vec![
        UnionSet::read_from_str(ctx, "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < 4; T[i] : 0 <= i < n }")?,
        UnionSet::read_from_str(ctx, "{ }")?,
        UnionSet::from_set(&Set::universe(&Space::set_alloc(ctx, 1, 2)?)?)?,
    ];
    Map: |ctx| vec![
        Map::read_from_str(ctx, "[n] -> { S[i, j] -> S[i + 1, j] : 0 <= i < n; S[i, j] -> S[i, j + 1] : 0 <= j <= i < n }")?,
        Map::read_from_str(ctx, "{ [S[i] -> T[j]] -> [A[i] -> B[x]] : x = i mod 4 }")?,
        Map::read_from_str(ctx, "{ S[i, j] -> A[i] : 0 <= i, j < 4 }")?,
        Set::universe(&Space::set_alloc(ctx, 1, 2)?)?.identity()?,
    ];
    UnionMap: |ctx| vec![
        UnionMap::read_from_str(ctx, "[n] -> { S[i, j] -> A[i] : 0 <= i < n; T[i] -> A[i + 1] : 0 <= i < n }")?,
        UnionMap::read_from_str(ctx, "{ S[i, j] -> S[i + 1, j] : 0 <= i, j < 4 }")?,
        UnionMap::from_map(&Set::universe(&Space::set_alloc(ctx, 1, 2)?)?.identity()?)?,
    ];
    Point: |ctx| vec![
        Point::zero(&Space::read_from_str(ctx, "[n] -> { S[i, j] }")?)?,
        Set::read_from_str(ctx, "{ S[2, 3] }")?.sample_point()?,
        Set::read_from_str(ctx, "{ S[i, j] : false }")?.sample_point()?,
    ];
    Constraint: |ctx| {
        let space = LocalSpace::from_space(&Space::read_from_str(ctx, "[n] -> { S[i, j] }")?)?;
        vec![Constraint::alloc_inequality(&space)?.set_coefficient_si(DimType::Set, 0, 2)?]
    };
    ScheduleConstraints: |ctx| vec![
        ScheduleConstraints::on_domain(&UnionSet::read_from_str(ctx, "[n] -> { S[i, j] : 0 <= i, j < n }")?)?
            .set_validity(&UnionMap::read_from_str(ctx, "{ S[i, j] -> S[i + 1, j] }")?)?
    ];
    ScheduleNode: |ctx| {
        let root = Schedule::samples(ctx)[0].get_root()?;
        let band = root.child(0)?;
        let sequence = band.child(0)?;
        let filter = sequence.child(1)?;
        vec![root, band, sequence, filter]
    };
    AstBuild: |ctx| vec![AstBuild::alloc(ctx)?];
    AstNode: |ctx| {
        let outer = AstBuild::alloc(ctx)?.node_from_schedule(&Schedule::samples(ctx)[0])?;
        let block = outer.for_get_body()?;
        let statement = block.children()?[0].clone();
        vec![outer, block, statement]
    };
    AstExpr: |ctx| vec![
        AstNode::samples(ctx)[0].for_get_init()?,
        AstNode::samples(ctx)[0].for_get_cond()?,
        AstNode::samples(ctx)[0].for_get_iterator()?,
    ];
    UnionAccessInfo: |ctx| vec![
        UnionAccessInfo::from_sink(&UnionMap::read_from_str(ctx, "{ S[i, j] -> A[i] : 0 <= i, j < 4 }")?)?
            .set_must_source(&UnionMap::read_from_str(ctx, "{ T[i] -> A[i] : 0 <= i < 9 }")?)?
            .set_schedule_map(&UnionMap::read_from_str(ctx, "{ S[i, j] -> [1, i, j]; T[i] -> [0, i, 0] }")?)?
    ];
    UnionFlow: |ctx| vec![UnionAccessInfo::samples(ctx)[0].compute_flow()?];
    FixedBox: |ctx| vec![
        Map::read_from_str(ctx, "[n] -> { S[i] -> A[j] : i <= j < i + 4 }")?.get_range_simple_fixed_box_hull()?
    ];
}

#[test]
fn every_function_answers_or_refuses() {
    let gym = Gym::new();
    let exercises: &[fn(&Gym)] = &[
        Aff::exercise,
        PwAff::exercise,
        MultiAff::exercise,
        PwMultiAff::exercise,
        UnionPwAff::exercise,
        MultiUnionPwAff::exercise,
        UnionPwMultiAff::exercise,
        BasicSet::exercise,
        Set::exercise,
        UnionSet::exercise,
        BasicMap::exercise,
        Map::exercise,
        UnionMap::exercise,
        Val::exercise,
        MultiVal::exercise,
        Id::exercise,
        Space::exercise,
        LocalSpace::exercise,
        Point::exercise,
        Constraint::exercise,
        FixedBox::exercise,
        Schedule::exercise,
        ScheduleConstraints::exercise,
        ScheduleNode::exercise,
        AstBuild::exercise,
        AstNode::exercise,
        AstExpr::exercise,
        UnionAccessInfo::exercise,
        UnionFlow::exercise,
    ];
    for exercise in exercises {
        let budget = Budget::new("exercise", 200_000_000);
        gym.ctx
            .within(budget, || {
                exercise(&gym);
                Ok::<(), IslError>(())
            })
            .unwrap();
    }
    let (answers, errors) = (gym.answers.get(), gym.errors.get());
    assert!(answers > 3_000 && errors > 9_000, "{answers} answers, {errors} errors");
}
