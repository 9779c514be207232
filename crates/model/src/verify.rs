//! An independent check of a transformed region: replay all instances, compare who reads whose values.
//!
//! At given parameters it enumerates the instances in the original order, runs the generated loops, and compares for every read the
//! write it sees, for every cell that is visible afterwards the write that stays, and that every instance runs exactly once. Loops
//! that claim to be coincident are run forwards and backwards.
//!
//! What it shares with what it checks is what the program is, and none of the conclusions:
//! - the domains: which instances there are, and in which order the program runs them;
//! - the addresses: which bytes of which array an access of an instance reads, writes or may write. Subscripts are not believed: flattened
//!   again they must name all bytes at the address, and no others ([`placement`]).
//!
//! Beside these it looks at the instructions ([`computes`]), and believes what the reader says of a single one: which operation of which
//! type it is, and which scalars the program reads behind the region. That a write is an update is not taken from [`Access::update`],
//! on which dependence analysis relies, but found again, instance by instance, from what is computed of which bytes; and updates are
//! run as what they do to bytes ([`bytes`]). Dependences, live ranges and the marks of schedules are not looked at.
//!
//! [`Access::update`]: crate::scop::Access::update

mod bytes;
mod computes;
mod placement;
mod trace;

pub(crate) use trace::{Trace, Traced};

use crate::delicm::Program;
use crate::loop_ast::{Direction, For, Node, Ran, Untouched, calls_of};
use crate::polynomial::Var;
use crate::scop::{Access, ArrayId, Role, Scop};
use bytes::{Event, Replayed, replay};
use isl::{Budget, IslError};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

pub(crate) const VERIFY: Budget = Budget::new("verify", 4_000_000);
/// More instances than this are not replayed.
pub const MAX_INSTANCES: usize = 20_000;
/// Nor are loops that go round more often than this: around a loop that is empty, one may run for ever.
const MAX_ITERATIONS: u64 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At these parameters the two orders compute the same.
    Same { instances: usize },
    /// They do not, or the loops run other instances.
    Different { what: String },
    /// Nothing was compared.
    TooLarge,
}

/// Compares the original order of `scop` with the order in which `node` runs its instances; `program` says what its statements compute.
///
/// Requires: `params` has one value per parameter, in the context and satisfying the check that guards `node`.
pub fn verify(scop: &Scop, program: &Program, node: &Node, params: &[i128]) -> Result<Verdict, IslError> {
    scop.ctx.within(VERIFY, || {
        let Traced::All(trace) = Trace::of(scop, params, MAX_INSTANCES)? else { return Ok(Verdict::TooLarge) };
        if let Some(what) = placement::misplaced(scop, &trace, params) {
            return Ok(Verdict::Different { what });
        }
        let original = replay(scop, program, &trace, (0..trace.instances.len()).map(Event::instance).collect());
        for direction in [Direction::Forwards, Direction::CoincidentBackwards] {
            let order = match order_of(scop, node, params, &trace, direction) {
                Ok(Some(order)) => order,
                Ok(None) => return Ok(Verdict::TooLarge),
                Err(what) => return Ok(Verdict::Different { what }),
            };
            if let Some(what) = difference(scop, &trace, &original, &replay(scop, program, &trace, order)) {
                return Ok(Verdict::Different { what: format!("{what} ({direction:?})") });
            }
        }
        Ok(Verdict::Same { instances: trace.instances.len() })
    })
}

/// Is the model of scalars complete: does every read of one see a write, or what it is before the region, for the scalars in `initial`?
/// A program computes a value before it uses it.
pub fn scalars_are_written(scop: &Scop, initial: &[ArrayId], params: &[i128]) -> Result<Verdict, IslError> {
    scop.ctx.within(VERIFY, || {
        let Traced::All(trace) = Trace::of(scop, params, MAX_INSTANCES)? else { return Ok(Verdict::TooLarge) };
        let mut written: HashSet<ArrayId> = initial.iter().copied().collect();
        for (k, touched) in trace.touched.iter().enumerate() {
            let accesses = &scop.statements[&trace.instances[k].0].accesses;
            let scalars = |writes: bool| {
                let accesses = touched.iter().map(|(a, _)| &accesses[*a]).filter(move |a| a.is_write() == writes);
                accesses.map(|a| a.array).filter(|array| scop.arrays[array].kind.is_scalar())
            };
            if let Some(array) = scalars(false).find(|array| !written.contains(array)) {
                let what = format!("{} reads `{}`, which nobody wrote", trace.name(k), scop.arrays[&array].name);
                return Ok(Verdict::Different { what });
            }
            written.extend(scalars(true));
        }
        Ok(Verdict::Same { instances: trace.instances.len() })
    })
}

/// Parameter values in `valid` at which the region has instances, but few: each parameter as close to `wish` as it can be.
pub fn sample_params(scop: &Scop, valid: &isl::Set, wish: i64) -> Result<Option<Vec<i128>>, IslError> {
    sample_uneven_params(scop, valid, |_| wish)
}

/// The same with a wish for each parameter.
pub fn sample_uneven_params(
    scop: &Scop,
    valid: &isl::Set,
    wish: impl Fn(usize) -> i64,
) -> Result<Option<Vec<i128>>, IslError> {
    scop.ctx.within(VERIFY, || {
        let mut set = scop.context.intersect(valid)?;
        if set.is_empty()? {
            return Ok(None);
        }
        let mut out = Vec::new();
        for k in 0..scop.params.len() {
            let (name, wish) = (format!("p{k}"), wish(k));
            let Some(at) = set.find_dim_by_name(isl::DimType::Param, &name)? else {
                out.push(i128::from(wish));
                continue;
            };
            let nearest = (0..=2 * wish).map(|d| if d % 2 == 0 { wish + d / 2 } else { wish - (d + 1) / 2 });
            let mut chosen = None;
            for value in nearest {
                let fixed = set.fix_si(isl::DimType::Param, at, value)?;
                if !fixed.is_empty()? {
                    chosen = Some((value, fixed));
                    break;
                }
            }
            let Some((value, fixed)) = chosen else {
                // Far away from the wish: any value will do.
                let point = set.params()?.sample_point()?;
                let value = point.get_coordinate_val(isl::DimType::Param, at)?;
                set = set.fix_val(isl::DimType::Param, at, &value)?;
                let Some(value) = value.to_i128() else { return Ok(None) };
                out.push(value);
                continue;
            };
            set = fixed;
            out.push(i128::from(value));
        }
        Ok(Some(out))
    })
}

/// What the loops do, in order. `None`: it takes too long to tell.
fn order_of(
    scop: &Scop,
    node: &Node,
    params: &[i128],
    trace: &Trace,
    direction: Direction,
) -> Result<Option<Vec<Event>>, String> {
    let mut seen = vec![false; trace.instances.len()];
    let mut order = Vec::new();
    let mut complaint = None;
    let mut own = OwnCells::default();
    // The innermost loop that runs, and what ran in it.
    let mut inside: Option<(&For, Vec<usize>)> = None;
    let outcome = node.run(params, direction, MAX_ITERATIONS, &mut |ran: Ran| {
        let event = match ran {
            Ran::Enters(f) => {
                inside = Some((f, Vec::new()));
                return ControlFlow::Continue(());
            }
            Ran::Leaves => {
                complaint = inside.take().and_then(|(f, ran)| touched_after_all(scop, trace, f, &ran));
                return if complaint.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
            Ran::Instance { statement, at, found, private } => match trace.position(statement, &at) {
                None => Err(format!("{statement}{at:?} runs but does not exist")),
                Some(k) if seen[k] => Err(format!("{statement}{at:?} runs twice")),
                Some(k) => {
                    seen[k] = true;
                    if let Some((_, ran)) = &mut inside {
                        ran.push(k);
                    }
                    let accesses = &scop.statements[&statement].accesses;
                    let found = found.into_iter().map(|(load, cell)| {
                        let access = accesses.iter().position(|a| a.role == Role::Load(load));
                        let access = access.ok_or_else(|| format!("{statement} has no such load"))?;
                        Ok((access, own.cell(trace, cell)))
                    });
                    let found = found.collect::<Result<Vec<_>, String>>();
                    let mut elsewhere = Vec::new();
                    for (access, touched) in accesses.iter().enumerate() {
                        let scalar = private.iter().find(|(scalar, _)| *scalar == touched.array);
                        elsewhere.extend(scalar.map(|&own_scalar| (access, own.cell(trace, own_scalar))));
                    }
                    found.map(|found| Event::Instance { k, elsewhere: found.into_iter().chain(elsewhere).collect() })
                }
            },
            Ran::Copy { from, at, into } => {
                let value = |var: Var| match var {
                    Var::Counter(d) => at[d as usize],
                    Var::Param(p) => params[p.index()],
                };
                let row = from.row.as_ref().and_then(|row| row.at(value));
                let source = from.offset.at(value);
                let source = source.and_then(|offset| own.source(scop, trace, params, (from.array, row, offset)));
                let unknown = || format!("a copy reads {}{at:?}, which nobody touches", from.array);
                source.ok_or_else(unknown).map(|from| Event::Copy { from, into: own.cell(trace, into) })
            }
        };
        match event {
            Ok(event) => order.push(event),
            Err(what) => complaint = Some(what),
        }
        if complaint.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match (outcome, complaint) {
        (_, Some(complaint)) => Err(complaint),
        (Err(meaningless), _) => Err(format!("an expression has no value: {}", meaningless.what)),
        (Ok(ControlFlow::Break(())), None) => Ok(None),
        (Ok(ControlFlow::Continue(())), None) => match seen.iter().position(|s| !s) {
            Some(k) => Err(format!("{} does not run", trace.name(k))),
            None => Ok(Some(order)),
        },
    }
}

/// What a loop should leave as it is, and does not; or is not one element in it.
fn touched_after_all(scop: &Scop, trace: &Trace, f: &For, ran: &[usize]) -> Option<String> {
    let calls = calls_of(&f.body).map_or(1, |calls| calls.len());
    let accesses = |k: usize| &scop.statements[&trace.instances[k].0].accesses;
    let cells = |k: usize, is_it: &dyn Fn(&Access) -> bool| -> BTreeSet<usize> {
        trace.touched[k].iter().filter(|(a, _)| is_it(&accesses(k)[*a])).map(|(_, cell)| *cell).collect()
    };
    let written: BTreeSet<usize> = ran.iter().flat_map(|&k| cells(k, &|a| a.is_write())).collect();
    f.untouched.iter().find_map(|Untouched { call, role, array, .. }| {
        let mut readers = ran.iter().skip(*call).step_by(calls);
        let of = |k: usize| cells(k, &|a| a.role == *role && a.array == *array);
        let first = of(*readers.next()?);
        let k = ran[*call];
        if !first.is_disjoint(&written) {
            return Some(format!("what {} reads from {array} is written in its loop", trace.name(k)));
        }
        readers
            .any(|&k| of(k) != first)
            .then(|| format!("what {} reads from {array} changes in its loop", trace.name(k)))
    })
}

/// Cells that the original order does not know, numbered behind those of the trace; and its cells by their addresses.
#[derive(Default)]
struct OwnCells {
    numbers: HashMap<(ArrayId, i128), usize>,
    by_offset: Option<HashMap<Place, usize>>,
}

/// An array, a row behind a pointer if it has such, and the bytes from there.
type Place = (ArrayId, Option<i128>, i128);

impl OwnCells {
    fn cell(&mut self, trace: &Trace, cell: (ArrayId, i128)) -> usize {
        let next = trace.cells().len() + self.numbers.len();
        *self.numbers.entry(cell).or_insert(next)
    }

    fn source(&mut self, scop: &Scop, trace: &Trace, params: &[i128], place: Place) -> Option<usize> {
        let by_offset = self.by_offset.get_or_insert_with(|| {
            let offset = |(cell, (array, subscripts)): (usize, &(ArrayId, Vec<i128>))| {
                let described = &scop.arrays[array];
                let flat = placement::flattened(described, subscripts, params)?;
                let row = described.row_and_rest(subscripts).0.copied();
                Some(((*array, row, flat * i128::from(described.cell_bytes)), cell))
            };
            trace.cells().iter().enumerate().filter_map(offset).collect()
        });
        by_offset.get(&place).copied()
    }
}

fn difference(scop: &Scop, trace: &Trace, original: &Replayed, new: &Replayed) -> Option<String> {
    let mut reads: Vec<_> = original.reads.iter().filter(|(key, seen)| new.reads.get(*key) != Some(*seen)).collect();
    reads.sort();
    if let Some(((k, a, cell), _)) = reads.first() {
        let array = scop.statements[&trace.instances[*k].0].accesses[*a].array;
        return Some(format!("{} reads another value from {array}{:?}", trace.name(*k), trace.cell(*cell)));
    }
    let is_visible = |cell: usize| scop.arrays[&trace.cell(cell).0].live_out;
    let mut cells: Vec<_> = original
        .finally
        .iter()
        .filter(|(cell, seen)| is_visible(**cell) && new.finally.get(*cell) != Some(*seen))
        .collect();
    cells.sort();
    cells.first().map(|(cell, _)| format!("cell {:?} ends with another value", trace.cell(**cell)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{computed, test_scop};
    use crate::loop_ast::{AstOptions, generate};

    fn replayed(sketch: &str, schedule: Option<&str>, params: &[i128]) -> Verdict {
        let scop = test_scop(sketch);
        let schedule =
            schedule.map_or_else(|| scop.schedule.clone(), |s| isl::Schedule::read_from_str(&scop.ctx, s).unwrap());
        let node = generate(&schedule.into(), &scop.context, &AstOptions::default()).unwrap();
        verify(&scop, &computed(&scop), &node, params).unwrap()
    }

    const SUM: &str = "for i : 0 <= i < p0
                         update A0[0] +";
    const CHAIN: &str = "for i : 0 <= i < p0
                           read A0[i - 1]; write A0[i]";

    fn reversed(coincident: bool) -> String {
        format!(
            "{{ domain: \"[p0] -> {{ S0[i] : 0 <= i < p0 }}\", child: {{ schedule: \"[p0] -> [{{ S0[i] -> [(-i)] }}]\", \
             coincident: [{}] }} }}",
            u8::from(coincident)
        )
    }

    #[test]
    fn the_original_order_is_the_same() {
        assert_eq!(replayed(CHAIN, None, &[7]), Verdict::Same { instances: 7 });
    }
    #[test]
    fn a_scalar_that_nobody_wrote_is_found() {
        let scop = test_scop(
            "
             array A0 scalar
             for i : 0 <= i < p0
               for j : i + 1 <= j < p0
                 write A0[]
               read A0[]",
        );
        let asked = |initial: &[ArrayId], n| scalars_are_written(&scop, initial, &[n]).unwrap();
        assert_eq!(asked(&[], 3), Verdict::Same { instances: 6 });
        assert!(matches!(asked(&[], 1), Verdict::Different { .. }));
        assert_eq!(asked(&[ArrayId(0)], 1), Verdict::Same { instances: 1 });
    }
    #[test]
    fn a_reversed_chain_differs() {
        assert!(matches!(replayed(CHAIN, Some(&reversed(false)), &[7]), Verdict::Different { .. }));
    }
    #[test]
    fn reductions_may_be_reversed() {
        assert_eq!(replayed(SUM, Some(&reversed(false)), &[7]), Verdict::Same { instances: 7 });
    }
    /// The loop k inside of i, both counting up or down.
    fn in_order(k: &str, i: &str) -> String {
        let schedule = format!("[p0, p1] -> [{{ S0[k, i] -> [({i})] }}, {{ S0[k, i] -> [({k})] }}]");
        let domain = "[p0, p1] -> { S0[k, i] : 0 <= k < p0 and 0 <= i < p1 }";
        format!("{{ domain: \"{domain}\", child: {{ schedule: \"{schedule}\" }} }}")
    }
    fn updates(accesses: &str, order: &str) -> Verdict {
        let sketch = format!("for k : 0 <= k < p0\n  for i : 0 <= i < p1\n    {accesses}");
        replayed(&sketch, Some(order), &[3, 4])
    }
    #[test]
    fn updates_are_run_as_what_they_do_to_bytes() {
        let same = Verdict::Same { instances: 12 };
        // Each of its own bytes: any order will do.
        assert_eq!(updates("update A0[2i # 2] +", &in_order("-k", "i")), same);
        assert_eq!(updates("update A0[2i # 2] +; update A0[2k # 2] +", &in_order("-k", "-i")), same);
        // They overlap in part, whatever they are said to be.
        assert!(matches!(updates("update A0[i # 2] +", &in_order("k", "i")), Verdict::Different { .. }));
        assert!(matches!(
            updates("update A0[2i # 2] +; update A0[2k + 1 # 2] +", &in_order("k", "i")),
            Verdict::Different { .. }
        ));
        // One wide, one narrow.
        assert!(matches!(
            updates("update A0[2i # 2] +; update A0[2k] +", &in_order("k", "i")),
            Verdict::Different { .. }
        ));
        // Two kinds.
        assert!(matches!(
            updates("update A0[i] smin; update A0[k] umin", &in_order("k", "i")),
            Verdict::Different { .. }
        ));
        assert_eq!(updates("update A0[i] smin; update A0[k] smin", &in_order("k", "i")), same);
    }
    #[test]
    fn what_accesses_are_said_to_be_is_not_believed() {
        let mut scop =
            test_scop("for k : 0 <= k < p0\n  for i : 0 <= i < p1\n    update A0[i] smin; update A0[k] umin");
        let program = computed(&scop);
        for access in &mut scop.statements[0].accesses {
            access.update = Some(crate::fixture::SUM);
        }
        // Dependence analysis does believe it: no order is left, and verification is what notices.
        assert!(crate::dependence::dependences(&scop).unwrap().validity().unwrap().is_empty().unwrap());
        let schedule = isl::Schedule::read_from_str(&scop.ctx, &in_order("k", "i")).unwrap();
        let node = generate(&schedule.into(), &scop.context, &AstOptions::default()).unwrap();
        assert!(matches!(verify(&scop, &program, &node, &[3, 4]).unwrap(), Verdict::Different { .. }));
        // Nor is it believed where nothing is known of what is computed.
        let scop = test_scop(SUM);
        let schedule = isl::Schedule::read_from_str(&scop.ctx, &reversed(false)).unwrap();
        let node = generate(&schedule.into(), &scop.context, &AstOptions::default()).unwrap();
        assert!(matches!(verify(&scop, &Program::default(), &node, &[7]).unwrap(), Verdict::Different { .. }));
    }
    #[test]
    fn subscripts_that_miss_a_byte_are_found() {
        let mut scop = test_scop("for i : 0 <= i < p0\n  write A0[2i # 2]");
        let node = generate(&scop.schedule.clone().into(), &scop.context, &AstOptions::default()).unwrap();
        let verdict = |scop: &Scop| verify(scop, &Program::default(), &node, &[3]).unwrap();
        assert_eq!(verdict(&scop), Verdict::Same { instances: 3 });
        let access = &mut scop.statements[0].accesses[0];
        access.relation = access.relation.lexmin().unwrap();
        assert!(matches!(verdict(&scop), Verdict::Different { .. }));
    }
    #[test]
    fn a_false_claim_of_coincidence_is_found() {
        let claim = "{ domain: \"[p0] -> { S0[i] : 0 <= i < p0 }\", child: { schedule: \"[p0] -> [{ S0[i] -> [(i)] }]\", \
                     coincident: [1] } }";
        assert!(matches!(replayed(CHAIN, Some(claim), &[7]), Verdict::Different { .. }));
    }
    #[test]
    fn a_missing_instance_is_found() {
        let fewer =
            "{ domain: \"[p0] -> { S0[i] : 1 <= i < p0 }\", child: { schedule: \"[p0] -> [{ S0[i] -> [(i)] }]\" } }";
        let found = replayed(CHAIN, Some(fewer), &[7]);
        assert_eq!(found, Verdict::Different { what: "S0[0] does not run".into() });
    }
    #[test]
    fn the_last_write_stays() {
        let overwrite = "for i : 0 <= i < p0
                           write A0[0]";
        assert!(matches!(replayed(overwrite, Some(&reversed(false)), &[3]), Verdict::Different { .. }));
    }
    #[test]
    fn writes_that_may_not_happen_keep_their_order() {
        let maybe = "for i : 0 <= i < p0
                       may A0[0]";
        assert_eq!(replayed(maybe, None, &[3]), Verdict::Same { instances: 3 });
        assert!(matches!(replayed(maybe, Some(&reversed(false)), &[3]), Verdict::Different { .. }));
    }
    /// `t = …; … = t;` in a loop over i, in the order of the rows of the two statements.
    fn handed_on(assigned: &str, used: &str) -> Verdict {
        let sketch = "for i : 0 <= i < p0
                        write A2[]
                        read A2[]; write A1[i]";
        let tree = format!(
            "{{ domain: \"[p0] -> {{ S0[i] : 0 <= i < p0; S1[i] : 0 <= i < p0 }}\", child: {{ schedule: \
             \"[p0] -> [{{ S0[i] -> [({assigned})]; S1[i] -> [({used})] }}]\", child: {{ sequence: [ \
             {{ filter: \"{{ S0[i] }}\" }}, {{ filter: \"{{ S1[i] }}\" }} ] }} }} }}"
        );
        replayed(sketch, Some(&tree), &[6])
    }

    #[test]
    fn live_ranges_of_a_scalar_may_change_places() {
        assert_eq!(handed_on("i", "i"), Verdict::Same { instances: 12 });
        assert_eq!(handed_on("-i", "-i"), Verdict::Same { instances: 12 });
    }
    #[test]
    fn live_ranges_that_overlap_differ() {
        assert!(matches!(handed_on("i", "i + 1"), Verdict::Different { .. }));
        assert!(matches!(handed_on("-i", "-i + 1"), Verdict::Different { .. }));
        assert!(matches!(handed_on("i", "p0 + i"), Verdict::Different { .. }));
    }
    #[test]
    fn large_regions_are_not_replayed() {
        assert_eq!(replayed(CHAIN, None, &[1_000_000_000]), Verdict::TooLarge);
    }
    #[test]
    fn loops_without_instances_do_not_turn() {
        let sketch = "for i : 0 <= i < p0
                        for j : 0 <= j < p1
                          write A0[i, j]";
        let interchanged = "{ domain: \"[p0, p1] -> { S0[i, j] : 0 <= i < p0 and 0 <= j < p1 }\", child: { schedule: \
             \"[p0, p1] -> [{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i)] }]\" } }";
        assert_eq!(replayed(sketch, Some(interchanged), &[0, 1_000_000_000_000]), Verdict::Same { instances: 0 });
        assert_eq!(replayed(sketch, Some(interchanged), &[2, 3]), Verdict::Same { instances: 6 });
    }
    #[test]
    fn sampled_parameters_are_in_the_context_and_near_the_wish() {
        let scop = test_scop(
            "context 3 <= p0 <= 100
             context p0 < p1
             for i : 0 <= i < p0
               write A0[i]",
        );
        assert_eq!(sample_params(&scop, &scop.context, 5).unwrap(), Some(vec![5, 6]));
    }
}
