//! Statements that the model makes: copies of array elements into memory of our own.
//!
//! ```text
//! for p { for (e read below) T[e - first(p)] = A[e];        an extension node with instances C[p, e], then what was there before,
//!         for i { … T[i - first(p)] … } }                   whose loads of A find their values in T
//! ```
//!
//! A copy is *transparent* if each of its readers finds what it would find in the array: then the order is right if it would be without
//! the copy. [`opaque`] says which are not, straight from the tree and the accesses of the region; who made a copy is not believed.

use super::reach::{instances_at, prefix_of};
use super::{BandId, Label, Step, StepError, Tree};
use crate::delicm::Element;
use crate::polynomial::Polynomial;
use crate::scop::{Access, AccessKind, Array, ArrayId, ArrayKind, CopyId, Role, Scop, StatementId, ValueId};
use indexmap::IndexMap;
use isl::{DimType, IslError, Map, MultiUnionPwAff, ScheduleNode, ScheduleNodeType, Set, UnionMap, UnionSet};
use planted::Fault;
use std::collections::BTreeSet;

pub type Copies = IndexMap<CopyId, Copy>;

/// `temporary[t] = array[e]`, for each instance `C[p…, e…]`: p are the values of the loops around it.
#[derive(Clone, Debug)]
pub struct Copy {
    /// What is copied; the offset is in the subscripts e.
    pub from: Element,
    /// Memory of this copy alone, of so many cells of the array's size.
    pub temporary: ArrayId,
    pub cells: i64,
    /// How many loops are around it.
    pub depth: usize,
    /// `{ C[p…, e…] -> [t] }`
    pub cell: Map,
    pub readers: Vec<Reader>,
}

/// A load that finds its value in a temporary.
#[derive(Clone, Debug)]
pub struct Reader {
    pub statement: StatementId,
    pub load: ValueId,
    /// `{ S[i…] -> [t] }`
    pub cell: Map,
}

/// `{ x -> C[p…, e…] }`: the copy of an element `{ x -> A[e…] }` in the iterations `{ x -> [p…] }` of the loops around.
fn instance(id: CopyId, prefix: &Map, element: &Map) -> Result<Map, IslError> {
    prefix.flat_range_product(element)?.set_tuple_name(DimType::Out, &id.to_string())
}

/// Larger elements are no elements, but blocks.
const MAX_CELL_BYTES: u64 = 16;
/// What one copy may take.
const MAX_BYTES: i64 = 1 << 20;

/// The tree with a copy of all elements of the array that loads below the band read, before it.
pub(super) fn pack(
    tree: &Tree,
    scop: &Scop,
    step: &Step,
    band: &ScheduleNode,
    array: ArrayId,
) -> Result<Tree, StepError> {
    let unfit = |why| StepError::Unpackable { step: step.clone(), why };
    let described = &scop.arrays[&array];
    let is_cell = described.cell_bytes.is_power_of_two() && described.cell_bytes <= MAX_CELL_BYTES;
    if described.kind != ArrayKind::Memory || !is_cell {
        return Err(unfit("it has no elements that fit a register"));
    }
    let id = CopyId(tree.copies.keys().map(|id| id.0 + 1).max().unwrap_or(0));
    let node = band.parent()?;
    let depth = node.get_schedule_depth()?;
    let mut loads = Vec::new();
    let mut footprint: Option<Map> = None;
    for instances in instances_at(&node)?.sets()? {
        let Some(statement) = StatementId::from_isl_name(&instances.get_tuple_name()?) else { continue };
        let described_statement = &scop.statements[&statement];
        if described_statement.accesses.iter().any(|a| a.array == array && a.is_write()) {
            return Err(unfit("it is written there"));
        }
        // Elements that nobody may read in the end need not be there to be copied; and a load finds its value in one place, in all
        // instances.
        if !described_statement.is_certain() || !described_statement.domain.is_subset(&instances)? {
            continue;
        }
        let prefix = prefix_of(&node, &instances)?;
        for access in &described_statement.accesses {
            let Some(load) = packable(access, array, described)? else { continue };
            if tree.copies.values().flat_map(|c| &c.readers).any(|r| r.statement == statement && r.load == load) {
                continue;
            }
            let read = prefix.reverse()?.apply_range(&access.relation)?;
            footprint = Some(match footprint {
                Some(other) => other.union(&read)?,
                None => read,
            });
            loads.push((statement, load, instance(id, &prefix, &access.relation)?));
        }
    }
    let Some(footprint) = footprint else { return Err(unfit("no load there is certain to read one of its elements")) };
    let footprint = footprint.coalesce()?;
    let (cell, cells) = boxed(id, array, &footprint, depth)?
        .filter(|(_, cells)| *cells <= MAX_BYTES / described.cell_bytes as i64)
        .ok_or_else(|| unfit("what is read has no fixed size, or a large one"))?;
    let subscripts: Vec<Polynomial> = (0..footprint.dim(DimType::Out)?).map(Polynomial::counter).collect();
    let (row, inside) = described.row_and_rest(&subscripts);
    let offset = flat_offset(described, inside).ok_or_else(|| unfit("it is too large"))?;
    let from = Element { array, row: row.cloned(), offset, bytes: described.cell_bytes, alignment: 1 };
    let taken = scop.arrays.keys().copied().chain(tree.copies.values().map(|copy| copy.temporary));
    let temporary = ArrayId(taken.map(|id| id.0 + 1).max().unwrap_or(0));
    let filled = if planted::is(Fault::PackedShort) { all_but_last(&footprint)? } else { footprint };
    let schedule = node.graft_before(&copy_loops(tree, id, &filled, depth)?)?.get_schedule()?;
    let mut readers = Vec::new();
    for (statement, load, copied) in loads {
        readers.push(Reader { statement, load, cell: copied.apply_range(&cell)?.coalesce()? });
    }
    let mut copies = tree.copies.clone();
    copies.insert(id, Copy { from, temporary, cells, depth, cell, readers });
    Ok(Tree { schedule, copies, private: tree.private.clone() })
}

/// The load that the access is, if it is one of a whole cell.
fn packable(access: &Access, array: ArrayId, described: &Array) -> Result<Option<ValueId>, IslError> {
    let Role::Load(load) = access.role else { return Ok(None) };
    let whole = access.array == array && access.kind == AccessKind::Read && access.exact;
    let one = whole && access.bytes == described.cell_bytes && access.relation.is_single_valued()?;
    Ok(one.then_some(load))
}

/// `{ C[p…, e…] -> [t] }` and how many t there are: elements in a box of fixed size that moves with p, row by row.
fn boxed(id: CopyId, array: ArrayId, footprint: &Map, depth: usize) -> Result<Option<(Map, i64)>, IslError> {
    let found = footprint.get_range_simple_fixed_box_hull()?;
    if !found.is_valid()? {
        return Ok(None);
    }
    let Some(sizes) = found.get_size()?.list()?.iter().map(isl::Val::to_i64).collect::<Option<Vec<i64>>>() else {
        return Ok(None);
    };
    let subscripts: Vec<String> = (0..sizes.len()).map(|d| format!("f{d}")).collect();
    let (mut stride, mut terms) = (1i64, Vec::new());
    for (subscript, size) in subscripts.iter().zip(&sizes).rev() {
        terms.push(format!("{stride}{subscript}"));
        let Some(next) = stride.checked_mul(*size) else { return Ok(None) };
        stride = next;
    }
    let text = format!("{{ {array}[{}] -> [{}] }}", subscripts.join(", "), terms.join(" + "));
    let numbered = Map::read_from_str(footprint.ctx(), &text)?;
    // { C[p…, e…] -> A[e…] } less { C[p…, e…] -> A[first(p)…] }
    let copied = copied(id, footprint, depth)?;
    let around = instances(id, footprint)?.reverse()?;
    let first = around.apply_range(&Map::from_multi_aff(&found.get_offset()?)?)?;
    Ok(Some((copied.sum(&first.neg()?)?.apply_range(&numbered)?.coalesce()?, stride)))
}

/// `{ [p…] -> C[p…, e…] }`
fn instances(id: CopyId, footprint: &Map) -> Result<Map, IslError> {
    instance(id, &footprint.domain()?.identity()?, footprint)
}

/// `{ C[p…, e…] -> A[e…] }`
fn copied(id: CopyId, footprint: &Map, depth: usize) -> Result<Map, IslError> {
    let instances = instances(id, footprint)?.range()?;
    let mut copied = Map::from_domain_and_range(&instances, &footprint.range()?)?;
    for d in 0..footprint.dim(DimType::Out)? {
        copied = copied.equate(DimType::In, depth + d, DimType::Out, d)?;
    }
    Ok(copied)
}

/// Bytes from the base, or from the beginning of a row.
fn flat_offset(array: &Array, subscripts: &[Polynomial]) -> Option<Polynomial> {
    let (first, inner) = subscripts.split_first()?;
    let mut flat = first.clone();
    for (subscript, size) in inner.iter().zip(&array.inner_sizes) {
        flat = flat.mul(size).ok()?.add(subscript).ok()?;
    }
    flat.scale(array.cell_bytes.into()).ok()
}

fn all_but_last(footprint: &Map) -> Result<Map, IslError> {
    footprint.subtract(&footprint.lexmax()?)
}

/// One loop for each subscript.
fn copy_loops(tree: &Tree, id: CopyId, footprint: &Map, depth: usize) -> Result<ScheduleNode, IslError> {
    let instances = instances(id, footprint)?;
    let dims = instances.dim(DimType::Out)?;
    let names: Vec<String> = (0..dims).map(|d| format!("i{d}")).collect();
    let row = |name: &String| format!("{{ {id}[{}] -> [({name})] }}", names.join(", "));
    let rows: Vec<String> = names[depth..].iter().map(row).collect();
    let rows = MultiUnionPwAff::read_from_str(footprint.ctx(), &format!("[{}]", rows.join(", ")))?;
    let band = BandId { number: super::label::next_number(&tree.schedule)?, level: 0 };
    let leaf = ScheduleNode::from_extension(&UnionMap::from_map(&instances)?)?.child(0)?;
    let loops = leaf.insert_partial_schedule(&rows)?.band_set_permutable(true)?;
    Label::from(band).insert(&loops)?.root()
}

/// Pairs of copies and those that may find something else in them than in the array, or for which the copy reads what the original may not;
/// at these parameter values.
///
/// A copy reads elements that its readers read for certain, and no others: others need not be there.
///
/// Let c be an instance of a copy, and r one of a reader with the same p, which reads the element that c copies. All of the following
/// together make r find what is in the array when r runs:
/// - The copy has one extension node, whose instances all run, in one child of the sequence below it; its first coordinates are the
///   values of the loops around.
/// - Whoever reads is in a later child of that sequence, in all instances. So c runs before r, in the same iteration p.
/// - What runs in these children, up to the last with a reader, does not write the array. What runs in other iterations of the loops around
///   runs before c or behind r, since those loops run one after the other: the flags of loops around an extension node say so.
/// - For each p, different elements have different cells, all of them in the temporary, which no other copy has. So nothing else is put
///   into the cell between c and r.
pub(super) fn opaque(tree: &Tree, scop: &Scop, known: &Set) -> Result<UnionMap, IslError> {
    let mut wrong = UnionMap::empty_ctx(&scop.ctx)?;
    let mut judged = BTreeSet::new();
    let mut temporaries: BTreeSet<ArrayId> = scop.arrays.keys().copied().collect();
    let mut extensions = Vec::new();
    tree.schedule.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        if node.get_type()? == ScheduleNodeType::Extension {
            extensions.push(node.clone());
        }
        Ok(true)
    })?;
    for node in extensions {
        for instances in node.extension_get_extension()?.maps()? {
            let id = CopyId::from_isl_name(&instances.get_tuple_name(DimType::Out)?);
            let copy = id.and_then(|id| Some((id, tree.copies.get(&id)?)));
            let is_transparent = match copy {
                Some((id, copy)) => {
                    judged.insert(id)
                        && temporaries.insert(copy.temporary)
                        && is_transparent(&node, id, copy, &instances.intersect_params(known)?, scop, known)?
                }
                None => false,
            };
            if !is_transparent {
                let all = UnionSet::from_set(&instances.range()?)?;
                wrong = wrong.union(&UnionMap::from_domain_and_range(&all, &instances_at(&node)?)?)?;
            }
        }
    }
    for (id, copy) in tree.copies.iter().filter(|(id, _)| !judged.contains(*id)) {
        let nobody = UnionSet::read_from_str(&scop.ctx, &format!("{{ {id}[] }}"))?;
        for reader in &copy.readers {
            let all = UnionSet::from_set(&reader.cell.domain()?)?;
            wrong = wrong.union(&UnionMap::from_domain_and_range(&nobody, &all)?)?;
        }
    }
    Ok(wrong)
}

fn is_transparent(
    node: &ScheduleNode,
    id: CopyId,
    copy: &Copy,
    instances: &Map,
    scop: &Scop,
    known: &Set,
) -> Result<bool, IslError> {
    let all = instances.range()?;
    let mut around = instances.clone();
    for d in 0..copy.depth {
        around = around.equate(DimType::In, d, DimType::Out, d)?;
    }
    if instances.dim(DimType::In)? != copy.depth || !instances.is_subset(&around)? {
        return Ok(false);
    }
    // For each p one cell for each element, and no other cells than there are.
    let cell = copy.cell.intersect_domain(&all)?;
    let inside = cell.range()?.lower_bound_si(DimType::Set, 0, 0)?.upper_bound_si(DimType::Set, 0, copy.cells - 1)?;
    if !all.is_subset(&cell.domain()?)?
        || !cell.is_single_valued()?
        || !cell.range()?.is_subset(&inside)?
        || !instances.reverse()?.flat_range_product(&cell)?.is_injective()?
    {
        return Ok(false);
    }
    let sequence = node.child(0)?;
    if sequence.get_type()? != ScheduleNodeType::Sequence {
        return Ok(false);
    }
    let own = UnionSet::from_set(&all)?;
    let mut is_filled = false;
    let mut is_read = Set::empty(&all.get_space()?)?;
    let mut readers: Vec<&Reader> = copy.readers.iter().collect();
    for part in sequence.children()? {
        let filter = part.filter_get_filter()?;
        let copies_here = !filter.intersect(&own)?.is_empty()?;
        if copies_here {
            if is_filled || !own.is_subset(&filter)? || !is_plain(&part.child(0)?)? {
                return Ok(false);
            }
            is_filled = true;
            continue;
        }
        if readers.is_empty() {
            break;
        }
        if !is_filled {
            continue;
        }
        for here in instances_at(&part.child(0)?)?.sets()? {
            let Some(statement) = StatementId::from_isl_name(&here.get_tuple_name()?) else { continue };
            let Some(described) = scop.statements.get(&statement) else { return Ok(false) };
            if described.accesses.iter().any(|a| a.array == copy.from.array && a.is_write()) {
                return Ok(false);
            }
            let prefix = prefix_of(node, &here)?;
            for reader in readers.extract_if(.., |reader| reader.statement == statement) {
                let domain = described.domain.intersect_params(known)?;
                let loads = |a: &&Access| a.role == Role::Load(reader.load) && a.array == copy.from.array && a.exact;
                let Some(access) = described.accesses.iter().find(loads) else { return Ok(false) };
                let read = access.relation.intersect_domain(&domain)?;
                let copied = instance(id, &prefix, &read)?;
                let same = reader.cell.intersect_domain(&domain)?.is_equal(&copied.apply_range(&copy.cell)?)?;
                let served = copied.range()?.is_subset(&all)? || planted::is(Fault::PackedShort);
                let one = read.is_single_valued()? && domain.is_subset(&copied.domain()?)?;
                if !same || !one || !served || !described.is_certain() {
                    return Ok(false);
                }
                is_read = is_read.union(&copied.range()?)?;
            }
        }
    }
    Ok(is_filled && readers.is_empty() && all.is_subset(&is_read)?)
}

/// Loops, and nothing that leaves an instance out.
fn is_plain(node: &ScheduleNode) -> Result<bool, IslError> {
    match node.get_type()? {
        ScheduleNodeType::Leaf => Ok(true),
        ScheduleNodeType::Band | ScheduleNodeType::Mark => is_plain(&node.child(0)?),
        _ => Ok(false),
    }
}

/// Is there an extension node below?
pub(super) fn has_copies_below(node: &ScheduleNode) -> Result<bool, IslError> {
    Ok(!node
        .every_descendant(|node: &ScheduleNode| Ok::<_, IslError>(node.get_type()? != ScheduleNodeType::Extension))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependence::dependences;
    use crate::fixture::{computed, test_scop};
    use crate::loop_ast::{AstOptions, generate};
    use crate::scop::Predicate;
    use crate::transform::{Legality, check_legal, labelled};
    use crate::verify::{Verdict, verify};
    use expect_test::{Expect, expect};

    const OUTER: BandId = BandId { number: 0, level: 0 };
    const READS: &str = "for i : 0 <= i < 10
                           for j : 0 <= j < 10
                             read A0[j, i]; write A1[i, j]";

    fn packed(sketch: &str, steps: &[Step]) -> (Scop, Result<Tree, StepError>) {
        let scop = test_scop(sketch);
        let tree: Tree = labelled(&scop.schedule).unwrap().into();
        let tree = steps.iter().try_fold(tree, |tree, step| step.apply(&tree, &scop));
        (scop, tree)
    }

    /// Whether it is said to be legal, and whether it computes the same.
    fn judged(scop: &Scop, tree: &Tree) -> (bool, bool) {
        let legal = check_legal(tree, scop, &dependences(scop).unwrap()).unwrap();
        let node = generate(tree, &scop.context, &AstOptions::default()).unwrap();
        let same = verify(scop, &computed(scop), &node, &[]).unwrap();
        (matches!(legal, Legality::Legal(_)), matches!(same, Verdict::Same { .. }))
    }

    fn shown(sketch: &str, steps: &[Step], expected: Expect) {
        let (scop, tree) = packed(sketch, steps);
        expected.assert_eq(&match tree {
            Ok(tree) => {
                assert_eq!(judged(&scop, &tree), (true, true));
                generate(&tree, &scop.context, &AstOptions::default()).unwrap().text(&scop)
            }
            Err(error) => format!("{error}\n"),
        });
    }

    #[test]
    fn what_is_read_is_copied_where_it_is_not_written() {
        let pack = [Step::Pack { band: BandId { number: 1, level: 0 }, array: ArrayId(0) }];
        shown(
            READS,
            &pack,
            expect![[r#"
            for (int c0 = 0; c0 <= 9; ++c0) {
              for (int c1 = 0; c1 <= 9; ++c1) {
                A2[c1] = A0[c1, c0];
              }
              for (int c2 = 0; c2 <= 9; ++c2) {
                S0(c0, c2, A2[c2]);
              }
            }
        "#]],
        );
        shown(
            &READS.replace("write A1[i, j]", "write A0[i, j]"),
            &pack,
            expect![[r#"
            pack A0 before B1: it is written there
        "#]],
        );
        shown(
            &READS.replace("A0[j, i]", "A0[j, i # 2]"),
            &pack,
            expect![[r#"
            pack A0 before B1: no load there is certain to read one of its elements
        "#]],
        );
        shown(
            &READS.replace("j < 10", "j < p0").replace("for i", "context 1 <= p0\nfor i"),
            &pack,
            expect![[r#"
            pack A0 before B1: what is read has no fixed size, or a large one
        "#]],
        );
    }

    #[test]
    fn a_copy_that_is_not_complete_or_comes_too_late_is_refused_and_noticed() {
        let (scop, tree) = packed(READS, &[Step::Pack { band: OUTER, array: ArrayId(0) }]);
        let tree = tree.unwrap();
        let text = tree.schedule.to_string();
        let other = |text: String| {
            let schedule = isl::Schedule::read_from_str(&scop.ctx, &text).unwrap();
            judged(&scop, &Tree { schedule, ..tree.clone() })
        };
        assert_eq!(other(text.clone()), (true, true));
        assert_eq!(other(text.replacen("o1 <= 9", "o1 <= 8", 1)), (false, false), "{text}");
        let (before, copies) = text.split_once("{ filter: \"{ C0").unwrap();
        let (copies, reads) = copies.split_once(", { filter: \"{ S0").unwrap();
        let (reads, behind) = reads.rsplit_once(" ] ").unwrap();
        let swapped = format!("{before}{{ filter: \"{{ S0{reads}, {{ filter: \"{{ C0{copies} ] {behind}");
        assert_eq!(other(swapped), (false, false), "{text}");
    }

    #[test]
    fn what_may_not_be_read_is_not_copied() {
        let pack = Step::Pack { band: OUTER, array: ArrayId(0) };
        let predicate = Predicate { condition: ValueId(99), truth: true, depth: 1 };
        let certain =
            test_scop("for i : 0 <= i < 10\n  read A0[i, 0]; write A1[i, 0]\n  read A0[i, 1]; write A1[i, 1]");
        let (mut predicated, mut boxed) = (certain.clone(), certain.clone());
        predicated.statements[1].predicates.push(predicate);
        boxed.statements[1].boxed = true;
        let tree: Tree = labelled(&certain.schedule).unwrap().into();
        let readers = |scop| {
            let tree = pack.apply(&tree, scop).unwrap();
            assert_eq!(judged(scop, &tree), (true, true));
            tree.copies[0].readers.iter().map(|reader| reader.statement.0).collect::<BTreeSet<_>>()
        };
        assert_eq!((readers(&certain), readers(&predicated), readers(&boxed)), ([0, 1].into(), [0].into(), [0].into()));
        predicated.statements[0].predicates.push(predicate);
        let refused = pack.apply(&tree, &predicated).unwrap_err().to_string();
        assert_eq!(refused, "pack A0 before B0: no load there is certain to read one of its elements");

        // Nor is it believed of a tree that others made, whether the one who may not read finds it there or not.
        predicated.statements[0].predicates.clear();
        let mut copied = pack.apply(&tree, &certain).unwrap();
        let is_legal = |tree: &Tree, scop: &Scop| judged(scop, tree).0;
        assert!(is_legal(&copied, &certain) && !is_legal(&copied, &predicated) && !is_legal(&copied, &boxed));
        copied.copies[0].readers.retain(|reader| reader.statement.0 == 0);
        assert!(!is_legal(&copied, &predicated) && !is_legal(&copied, &boxed));
    }

    #[test]
    fn loops_around_a_copy_keep_their_order() {
        let steps = [
            Step::Pack { band: BandId { number: 1, level: 0 }, array: ArrayId(0) },
            Step::Reverse { band: OUTER, member: 0 },
        ];
        let (_, turned) = packed(READS, &steps);
        assert!(matches!(turned, Err(StepError::AroundCopy { .. })));
        let (scop, tree) = packed(READS, &steps[..1]);
        let Legality::Legal(legal) = check_legal(&tree.unwrap(), &scop, &dependences(&scop).unwrap()).unwrap() else {
            panic!("it is legal");
        };
        assert!(matches!(legal.with(&Step::Threads { band: OUTER }, &scop), Err(StepError::AroundCopy { .. })));
    }
}
