//! Closures that fail or panic inside isl, and work that runs out of its allowance.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use isl::*;

fn set(ctx: &Ctx, text: &str) -> Set {
    Set::read_from_str(ctx, text).unwrap()
}

fn domain(ctx: &Ctx) -> UnionSet {
    UnionSet::read_from_str(ctx, "{ S[i, j] : 0 <= i < 10 and 0 <= j <= i }").unwrap()
}

fn schedule(ctx: &Ctx) -> Schedule {
    let outer = MultiUnionPwAff::read_from_str(ctx, "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]");
    Schedule::from_domain(&domain(ctx)).unwrap().insert_partial_schedule(&outer.unwrap()).unwrap()
}

#[test]
fn every_point_is_visited_once() {
    let ctx = Ctx::new();
    let mut points = Vec::new();
    set(&ctx, "{ [i, j] : 0 <= j <= i < 3 }")
        .foreach_point::<IslError>(|point| {
            let at = |position| point.get_coordinate_val(DimType::Set, position).map(|v| v.to_i64());
            points.push((at(0)?.unwrap(), at(1)?.unwrap()));
            Ok(())
        })
        .unwrap();
    points.sort();
    assert_eq!(points, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]);
}

#[test]
fn an_error_stops_the_iteration_and_keeps_its_type() {
    #[derive(Debug)]
    enum Mine {
        Stop,
        Isl,
    }
    impl From<IslError> for Mine {
        fn from(_: IslError) -> Mine {
            Mine::Isl
        }
    }
    let ctx = Ctx::new();
    let mut visited = 0;
    let result = set(&ctx, "{ [i] : 0 <= i < 100 }").foreach_point(|_| {
        visited += 1;
        if visited == 3 { Err(Mine::Stop) } else { Ok(()) }
    });
    assert!(matches!(result, Err(Mine::Stop)));
    assert_eq!(visited, 3);
    let unbounded = set(&ctx, "{ [i] : i >= 0 }").foreach_point(|_| Ok::<(), Mine>(()));
    assert!(matches!(unbounded, Err(Mine::Isl)));
}

#[test]
fn a_panic_passes_through_isl_and_leaves_the_context_usable() {
    let ctx = Ctx::new();
    let schedule = schedule(&ctx);
    let panics: [&dyn Fn(); 4] = [
        &|| {
            let visit = |_: Point| -> Result<()> { panic!("in a callback") };
            let _ = set(&ctx, "{ [i] : 0 <= i < 9 }").foreach_point(visit);
        },
        &|| {
            let rewrite = |_: ScheduleNode| -> Result<ScheduleNode> { panic!("in a callback") };
            let _ = schedule.map_schedule_node_bottom_up(rewrite);
        },
        &|| {
            let visit = |_: &ScheduleNode| -> Result<bool> { panic!("in a callback") };
            let _ = schedule.get_root().unwrap().foreach_descendant_top_down(visit);
        },
        &|| {
            let build = AstBuild::alloc(&ctx).unwrap();
            let build = build.set_at_each_domain(|_, _| panic!("in a callback")).unwrap();
            let _ = build.node_from_schedule(&schedule);
        },
    ];
    for panicking in panics {
        let payload = catch_unwind(AssertUnwindSafe(panicking)).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"in a callback"));
        assert!(set(&ctx, "{ [i] : i > i }").is_empty().unwrap());
    }
}

#[test]
fn build_callbacks_see_the_loops_around_them() {
    let ctx = Ctx::new();
    let seen = Rc::new(Cell::new(0));
    let count = seen.clone();
    let ctx_in_callback = ctx.clone();
    let build = AstBuild::from_context(&set(&ctx, "{ : }"))
        .unwrap()
        .set_at_each_domain(move |node, build| {
            count.set(count.get() + 1);
            let map = build.get_schedule()?;
            assert!(map.is_injective()?);
            node.set_annotation(&Id::alloc(&ctx_in_callback, "here", 7)?)
        })
        .unwrap();
    let names = ["a", "b"].map(|name| Id::alloc(&ctx, name, 0).unwrap());
    let build = build.set_iterators(&names).unwrap();
    let node = build.node_from_schedule(&schedule(&ctx)).unwrap();
    assert_eq!(seen.get(), 1);
    assert_eq!(
        node.to_C_str().unwrap(),
        "for (int a = 0; a <= 9; a += 1)\n  for (int b = 0; b <= a; b += 1)\n    S(a, b);\n"
    );
    let user = node.for_get_body().unwrap().for_get_body().unwrap();
    assert_eq!(user.get_annotation().unwrap().unwrap().user(), 7);
    assert!(node.get_annotation().unwrap().is_none());
}

#[test]
fn a_failing_build_callback_is_the_error_of_the_generation() {
    let ctx = Ctx::new();
    let failing = AstBuild::alloc(&ctx)
        .unwrap()
        .set_before_each_for(|build| {
            Err(IslError::Unsupported { function: "test", message: build.get_schedule_space()?.to_string() })
        })
        .unwrap();
    let error = failing.node_from_schedule(&schedule(&ctx)).unwrap_err();
    assert!(matches!(error, IslError::Unsupported { function: "test", .. }), "{error}");
}

fn hard(ctx: &Ctx) -> Result<Set> {
    let mut all = Set::read_from_str(ctx, "{ [a, b, c, d] : a = 0 }")?;
    for i in 1..40 {
        let piece = format!("{{ [a, b, c, d] : {i}a + 3b <= {i}c and 7b + {i}d >= 5a and (a + b + {i}c) mod 7 = 3 }}");
        all = all.subtract(&Set::read_from_str(ctx, &piece)?)?;
    }
    Ok(all)
}

#[test]
fn running_out_names_the_stage_and_the_next_stage_is_fresh() {
    let ctx = Ctx::new();
    let tight = Budget::new("tight", 5_000);
    let result = ctx.within(tight, || hard(&ctx));
    assert_eq!(result.unwrap_err(), IslError::OutOfBudget { stage: "tight" });
    assert_eq!(ctx.operations_left(), None);
    let easy = ctx.within(tight, || set(&ctx, "{ [i] : 0 <= i < 5 }").count_val());
    assert_eq!(easy.unwrap().to_i64(), Some(5));
}

#[test]
fn what_the_inner_budget_uses_is_used_in_the_outer_one() {
    let ctx = Ctx::new();
    let outer = Budget::new("outer", 10_000);
    let inner = Budget::new("inner", 9_000);
    let small = Budget::new("small", 2_000);
    ctx.within(outer, || {
        let before = ctx.operations_left().unwrap();
        assert_eq!(ctx.within(inner, || hard(&ctx)).unwrap_err(), IslError::OutOfBudget { stage: "inner" });
        let after = ctx.operations_left().unwrap();
        assert!(before - after >= 9_000 && after > 0, "{before} {after}");
        // Less is left than `small` allows, so the outer budget is what runs out.
        assert_eq!(ctx.within(small, || hard(&ctx)).unwrap_err(), IslError::OutOfBudget { stage: "outer" });
        assert_eq!(ctx.operations_left(), Some(0));
        assert!(Set::read_from_str(&ctx, "{ [i] }").unwrap_err().is_out_of_budget());
        Ok::<(), IslError>(())
    })
    .unwrap();
}

#[test]
fn that_only_its_own_budget_ran_out_is_no_error() {
    let ctx = Ctx::new();
    ctx.within(Budget::new("outer", 10_000), || {
        assert!(matches!(ctx.try_within(Budget::new("small", 2_000), || hard(&ctx)), Ok(None)));
        let outer = IslError::OutOfBudget { stage: "outer" };
        let inside = || ctx.within(Budget::new("small", 500), || hard(&ctx));
        assert!(
            ctx.try_within(Budget::new("small", 2_000), inside).unwrap_err().is_out_of_budget(),
            "names do not matter"
        );
        assert_eq!(ctx.try_within(Budget::new("large", 20_000), || hard(&ctx)).unwrap_err(), outer);
        Ok::<(), IslError>(())
    })
    .unwrap();
}

#[test]
fn what_the_innermost_of_three_budgets_uses_is_used_in_the_outermost() {
    let ctx = Ctx::new();
    ctx.within(Budget::new("outer", 10_000), || {
        ctx.within(Budget::new("middle", 8_000), || {
            ctx.within(Budget::new("inner", 6_000), || hard(&ctx)).unwrap_err();
            Ok::<(), IslError>(())
        })?;
        let left = ctx.operations_left().unwrap();
        assert!(0 < left && left <= 4_000, "{left}");
        Ok::<(), IslError>(())
    })
    .unwrap();
}

#[test]
fn a_part_of_what_is_left_leaves_the_rest() {
    let ctx = Ctx::new();
    ctx.within(Budget::new("whole", 10_000), || {
        assert!(matches!(ctx.try_within_part("part", 2, || hard(&ctx)), Ok(None)));
        let left = ctx.operations_left().unwrap();
        assert!((4_900..=5_000).contains(&left), "{left}");
        Ok::<(), IslError>(())
    })
    .unwrap();
    assert!(matches!(ctx.try_within_part("part of no limit", 2, || domain(&ctx).is_empty()), Ok(Some(_))));
}

/// Where nobody counts what large numbers cost (see `build.rs`) they have no limit.
#[cfg(isl_calls_us)]
mod large_numbers {
    use super::*;

    /// 3 to the power of 2ⁿ.
    fn squared(ctx: &Ctx, n: usize) -> Result<Val> {
        (0..n).try_fold(Val::int_from_si(ctx, 3)?, |value, _| value.mul(&value))
    }

    #[test]
    fn few_operations_with_large_numbers_run_out() {
        let ctx = Ctx::new();
        let little = Budget::new("little", 20_000);
        // Each is an operation or two, and takes four times as long as the one before.
        let error = ctx.within(little, || squared(&ctx, 40)).unwrap_err();
        assert_eq!(error, IslError::OutOfBudget { stage: "little" });
        let easy = ctx.within(little, || squared(&ctx, 3));
        assert_eq!(easy.unwrap().to_i64(), Some(6561));
        assert!(!hard(&ctx).unwrap().is_empty().unwrap());
    }

    /// What a polyhedron's lexicographic minimum costs, if its coefficients have about so many decimal digits.
    fn cost(digits: u32) -> u64 {
        let ctx = Ctx::new();
        let mut coefficient = (1..).map(|i| format!("{}{i}", "7".repeat(digits as usize)));
        let mut next = || coefficient.next().unwrap();
        let constraints: Vec<String> =
            (0..5).map(|_| format!("{}a + {}b >= {}c + {}d + {}", next(), next(), next(), next(), next())).collect();
        let text = format!("{{ [a, b, c, d] : a, b, c, d >= 0 and {} }}", constraints.join(" and "));
        let polyhedron = set(&ctx, &text);
        ctx.within(Budget::new("large", 1_000_000_000), || {
            polyhedron.lexmin()?;
            Ok::<_, IslError>(1_000_000_000 - ctx.operations_left().unwrap())
        })
        .unwrap()
    }

    #[test]
    fn the_longer_the_numbers_the_more_the_same_work_costs() {
        let [short, long, longer] = [1, 800, 1600].map(cost);
        assert!(10 * short < long, "{short} {long}");
        assert!(3 * long < longer && longer < 6 * long, "{long} {longer}");
        assert_eq!(long, cost(800));
    }

    #[test]
    fn large_numbers_are_counted_for_the_innermost_context() {
        let [outer, inner] = [Ctx::new(), Ctx::new()];
        let whole = Budget::new("whole", 100_000);
        outer
            .within(whole, || {
                let before = outer.operations_left();
                inner.within(Budget::new("inner", 20_000), || squared(&inner, 40)).unwrap_err();
                assert_eq!(outer.operations_left(), before);
                assert!(squared(&outer, 40).unwrap_err().is_out_of_budget());
                Ok::<(), IslError>(())
            })
            .unwrap();
    }
}

#[test]
fn printing_and_copying_cost_nothing() {
    let ctx = Ctx::new();
    ctx.within(Budget::new("little", 4_000), || {
        let triangle = set(&ctx, "{ [i, j] : 0 <= j <= i < 3 }");
        let constraints = ScheduleConstraints::on_domain(&domain(&ctx))?;
        let before = ctx.operations_left();
        assert_eq!(triangle.to_string(), "{ [i, j] : i <= 2 and 0 <= j <= i }");
        assert_eq!(ctx.operations_left(), before);
        assert!(hard(&ctx).is_err());
        assert_eq!(ctx.operations_left(), Some(0));
        let copy = constraints.clone();
        assert_eq!(copy.to_string(), constraints.to_string());
        Ok::<(), IslError>(())
    })
    .unwrap();
}

#[test]
fn the_same_work_costs_the_same() {
    let used = || {
        let ctx = Ctx::new();
        const PLENTY: Budget = Budget::new("plenty", 1_000_000);
        ctx.within(PLENTY, || {
            set(&ctx, "{ [a, b] : a mod 3 = 1 and 0 <= b < a < 100 }").lexmin()?;
            Ok::<_, IslError>(PLENTY.operations - ctx.operations_left().unwrap())
        })
        .unwrap()
    };
    let first = used();
    assert!(first > 0);
    assert_eq!(first, used());
}

#[test]
fn a_panic_in_budgeted_work_restores_the_limit() {
    let ctx = Ctx::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        ctx.within(Budget::new("panicking", 10), || -> Result<()> { panic!("in the work") })
    }));
    assert!(result.is_err());
    assert_eq!(ctx.operations_left(), None);
}

/// Dataflow, scheduling and loop generation for a stencil, within a budget of so many operations. Reading the operands is
/// outside of it: isl's parser loses a token where an allocation is refused.
fn stencil(limit: u64) -> Result<AstNode> {
    let ctx = Ctx::new();
    let union_map = |text| UnionMap::read_from_str(&ctx, text).unwrap();
    let domain = "[n, m] -> { S[t, i] : 0 <= t < n and 0 < i < m; T[t] : 0 <= t < n }";
    let domain = UnionSet::read_from_str(&ctx, domain).unwrap();
    let writes = union_map("{ S[t, i] -> A[t + 1, i]; T[t] -> B[t] }");
    let reads = union_map("{ S[t, i] -> A[t, i - 1]; S[t, i] -> A[t, i + 1]; S[t, i] -> B[t - 1] }");
    let order = union_map("{ S[t, i] -> [t, 0, i]; T[t] -> [t, 1, 0] }");
    let context = set(&ctx, "[n, m] -> { : n, m > 4 }");
    ctx.within(Budget::new("cut", limit), || {
        let flow = UnionAccessInfo::from_sink(&reads.intersect_domain(&domain)?)?
            .set_must_source(&writes.intersect_domain(&domain)?)?
            .set_schedule_map(&order)?
            .compute_flow()?
            .get_may_dependence()?;
        let constraints = ScheduleConstraints::on_domain(&domain)?.set_validity(&flow)?.set_proximity(&flow)?;
        let build = AstBuild::from_context(&context)?.set_at_each_domain(|node, _| Ok(node))?;
        build.node_from_schedule(&constraints.compute_schedule()?)
    })
}

#[test]
fn wherever_the_budget_ends_it_is_the_error() {
    let mut limit = 1;
    while let Err(error) = stencil(limit) {
        assert_eq!(error, IslError::OutOfBudget { stage: "cut" }, "after {limit} operations");
        limit += 1 + limit / 11;
    }
    assert!(limit > 1_000, "{limit}");
}
