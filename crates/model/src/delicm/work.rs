//! The region while values are being moved about in it.

use super::code::{Changed, Code, Counts, Element, Fetch, Home, Operand, Program, Role, ValueId};
use crate::delinearize::Offset;
use crate::known::KnownParams;
use crate::polynomial::{PiecewisePolynomial, Polynomial};
use crate::scop::{Access, AccessKind, Array, ArrayId, Predicate, Scop, StatementId};
use crate::source::Line;
use crate::zone::{Flow, Pair, Timeline};
use indexmap::IndexMap;
use isl::{DimType, IslError, Map, PwMultiAff, Set, UnionMap};
use std::collections::{BTreeSet, HashMap};

/// An access with its purpose.
#[derive(Clone)]
pub(super) struct WorkingAccess {
    pub access: Access,
    /// The access relation in a form in which only valid parameters count.
    pub relation: Map,
    /// Where the access is not an instruction of the program's own.
    pub element: Option<Element>,
    pub alive: bool,
}

impl WorkingAccess {
    pub(super) fn writes(&self) -> bool {
        self.alive && self.access.is_write()
    }
    /// The value of its statement that the access yields or stores.
    pub(super) fn value(&self) -> Option<ValueId> {
        match self.access.role {
            Role::Load(value) | Role::Store { value, .. } | Role::ReadScalar(value) => Some(value),
            Role::WriteScalar(value) => value,
            Role::Reload(_) | Role::Call(_) | Role::Block(_) => None,
        }
    }
}

#[derive(Clone)]
pub(super) struct WorkingStatement {
    /// The statement of the region that it is, or is a part of.
    pub from: StatementId,
    pub domain: Set,
    pub boxed: bool,
    pub predicates: Vec<Predicate>,
    pub in_loop: bool,
    pub items: Vec<WorkingAccess>,
    pub code: Code,
    pub fetched: Vec<Fetch>,
    pub bindings: IndexMap<ValueId, Operand>,
    pub updating: Vec<ValueId>,
    pub alive: bool,
}

impl WorkingStatement {
    pub(super) fn alive(&self) -> impl Iterator<Item = (usize, &WorkingAccess)> {
        self.items.iter().enumerate().filter(|(_, i)| i.alive)
    }

    /// The same under another name.
    pub(super) fn renamed(&self, id: StatementId) -> Result<WorkingStatement, IslError> {
        let mut copy = self.clone();
        let name = id.to_string();
        copy.domain = copy.domain.set_tuple_name(&name)?;
        for item in &mut copy.items {
            item.relation = item.relation.set_tuple_name(isl::DimType::In, &name)?;
            item.access.relation = item.access.relation.set_tuple_name(isl::DimType::In, &name)?;
            if let Some(Offset::Affine(offset)) = &item.access.offset {
                let id = isl::Id::alloc(offset.ctx(), &name, 0)?;
                item.access.offset = Some(Offset::Affine(offset.set_tuple_id(isl::DimType::In, &id)?));
            }
        }
        Ok(copy)
    }

    /// What the bindings are fetched from.
    pub(super) fn needed_fetches(&self) -> BTreeSet<usize> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<&Operand> = self.bindings.values().collect();
        while let Some(operand) = open.pop() {
            if let Operand::Fetched(n) = operand
                && needed.insert(*n)
                && let Fetch::Copy { operands, .. } = &self.fetched[*n]
            {
                open.extend(operands.iter().map(|(_, o)| o));
            }
        }
        needed
    }
}

pub(super) struct Work<'a> {
    pub scop: &'a Scop,
    pub program: &'a Program,
    /// The parameter values that count.
    pub known: KnownParams,
    pub timeline: Timeline,
    pub drafts: IndexMap<StatementId, WorkingStatement>,
    /// Memory of our own that drafts use.
    pub temporaries: IndexMap<ArrayId, Array>,
    pub counts: Counts,
    /// Statements for which it was seen that to cut them does not help, for a scalar; until something changes for it.
    pub uncuttable: BTreeSet<(StatementId, ArrayId)>,
    flows: HashMap<ArrayId, Flow>,
    /// All that were ever computed, with what they were computed from: many scalars are touched in the same way, and so is one before
    /// and behind a change.
    computed: Vec<(Vec<Touch>, Flow)>,
}

/// An access to an array, whatever the array is called.
struct Touch {
    statement: StatementId,
    /// What the statement is a part of, and with its number says when it runs.
    from: StatementId,
    reads: bool,
    certain: bool,
    /// `{ S[i…] -> cells[e…] }`
    cells: Map,
}

impl Touch {
    /// False where it is not plain to see.
    fn is_same(&self, other: &Touch) -> Result<bool, IslError> {
        let key = |touch: &Touch| (touch.statement, touch.from, touch.reads, touch.certain);
        Ok(key(self) == key(other) && self.cells.plain_is_equal(&other.cells)?)
    }
}

impl<'a> Work<'a> {
    pub(super) fn new(scop: &'a Scop, program: &'a Program) -> Result<Work<'a>, IslError> {
        let known = KnownParams::of(scop)?;
        let timeline = Timeline::of(scop, &known)?;
        let mut drafts = IndexMap::new();
        for (&id, statement) in &scop.statements {
            let code = program.statements.get(&id).cloned().unwrap_or_default();
            let mut items = Vec::new();
            for access in &statement.accesses {
                items.push(WorkingAccess {
                    access: access.clone(),
                    relation: known.shorten(&access.relation.intersect_domain(&statement.domain)?)?,
                    element: None,
                    alive: timeline.runs(id),
                });
            }
            drafts.insert(
                id,
                WorkingStatement {
                    from: id,
                    domain: known.shorten_set(&statement.domain)?,
                    boxed: statement.boxed,
                    predicates: statement.predicates.clone(),
                    in_loop: !statement.loop_names.is_empty(),
                    items,
                    code,
                    fetched: Vec::new(),
                    bindings: IndexMap::new(),
                    updating: Vec::new(),
                    alive: timeline.runs(id),
                },
            );
        }
        let mut work = Work {
            scop,
            program,
            known,
            timeline,
            drafts,
            temporaries: IndexMap::new(),
            counts: Counts::default(),
            uncuttable: BTreeSet::new(),
            flows: HashMap::new(),
            computed: Vec::new(),
        };
        work.counts.before = work.scalar_writes();
        Ok(work)
    }

    /// Scalars that statements in loops write, each counted once for each statement of the region: parts of one count as it did.
    pub(super) fn scalar_writes(&self) -> u64 {
        let drafts = self.drafts.values().filter(|d| d.alive && d.in_loop);
        let writes = drafts.flat_map(|d| d.alive().filter(|(_, i)| i.writes()).map(|(_, i)| (d.from, i.access.array)));
        writes.filter(|(_, array)| self.is_scalar(*array)).collect::<BTreeSet<_>>().len() as u64
    }

    pub(super) fn array(&self, id: ArrayId) -> &Array {
        self.temporaries.get(&id).unwrap_or_else(|| &self.scop.arrays[&id])
    }

    pub(super) fn is_scalar(&self, array: ArrayId) -> bool {
        self.array(array).kind.is_scalar()
    }

    /// Who reads whose writes of an array as the accesses are now.
    pub(super) fn flow(&mut self, array: ArrayId) -> Result<Flow, IslError> {
        if let Some(known) = self.flows.get(&array) {
            return Ok(known.clone());
        }
        let touches = self.touches(array)?;
        let known = match self.computed_for(&touches)? {
            Some(known) => known,
            None => {
                let flow = self.computed_flow(&touches)?;
                self.computed.push((touches, flow.clone()));
                flow
            }
        };
        let flow = known.of_array(&array.to_string())?;
        self.flows.insert(array, flow.clone());
        Ok(flow)
    }

    fn touches(&self, array: ArrayId) -> Result<Vec<Touch>, IslError> {
        let mut touches = Vec::new();
        for (&statement, draft) in &self.drafts {
            for (_, item) in draft.alive().filter(|(_, i)| i.access.array == array) {
                touches.push(Touch {
                    statement,
                    from: draft.from,
                    reads: item.access.kind == AccessKind::Read,
                    certain: item.access.kind == AccessKind::Write && item.access.exact && !draft.boxed,
                    cells: item.relation.set_tuple_name(DimType::Out, "cells")?,
                });
            }
        }
        Ok(touches)
    }

    fn computed_for(&self, touches: &[Touch]) -> Result<Option<Flow>, IslError> {
        for (others, flow) in self.computed.iter().filter(|(others, _)| others.len() == touches.len()) {
            let mut is_same = true;
            for (a, b) in touches.iter().zip(others) {
                is_same = is_same && a.is_same(b)?;
            }
            if is_same {
                return Ok(Some(flow.clone()));
            }
        }
        Ok(None)
    }

    fn computed_flow(&self, touches: &[Touch]) -> Result<Flow, IslError> {
        let empty = UnionMap::empty_ctx(&self.scop.ctx)?;
        let (mut reads, mut certain, mut possible) = (empty.clone(), empty.clone(), empty);
        for touch in touches {
            let into = match (touch.reads, touch.certain) {
                (true, _) => &mut reads,
                (false, true) => &mut certain,
                (false, false) => &mut possible,
            };
            *into = into.union(&UnionMap::from_map(&touch.cells)?)?;
        }
        let mut flow = self.timeline.flow(&reads, &certain, &possible)?;
        let mut pairs = Vec::new();
        for Pair { writer, reader, map } in flow.pairs {
            let map = self.known.shorten(&map)?;
            if !map.intersect_params(&self.known.values)?.is_empty()? {
                pairs.push(Pair { writer, reader, map });
            }
        }
        flow.pairs = pairs;
        let mut initial = Vec::new();
        for (reader, map) in flow.initial {
            if !map.intersect_params(&self.known.values)?.is_empty()? {
                initial.push((reader, map));
            }
        }
        flow.initial = initial;
        Ok(flow)
    }

    pub(super) fn know_flow(&mut self, array: ArrayId, flow: Flow) {
        self.flows.insert(array, flow);
    }

    pub(super) fn known_flows(&self) -> HashMap<ArrayId, Flow> {
        self.flows.clone()
    }

    /// Requires: they were known when the accesses were as they are now.
    pub(super) fn know_flows(&mut self, flows: HashMap<ArrayId, Flow>) {
        self.flows = flows;
    }

    pub(super) fn forget_flow(&mut self, array: ArrayId) {
        self.flows.remove(&array);
    }

    /// No instance at valid parameters.
    pub(super) fn is_impossible(&self, map: &Map) -> Result<bool, IslError> {
        if map.plain_is_empty()? {
            return Ok(true);
        }
        map.intersect_params(&self.known.values)?.is_empty()
    }

    /// Is `small` inside of `large` at valid parameters?
    pub(super) fn is_inside(&self, small: &Map, large: &Map) -> Result<bool, IslError> {
        small.intersect_params(&self.known.values)?.is_subset(large)
    }

    /// The relation `{ S[i…] -> T[…] }` as one function of the counters, if it is one: for all instances in its domain.
    pub(super) fn function(&self, relation: &Map) -> Result<Option<Vec<Polynomial>>, IslError> {
        let relation = relation.intersect_params(&self.known.values)?.coalesce()?;
        if !relation.is_single_valued()? {
            return Ok(None);
        }
        let domain = relation.domain()?;
        let pieces = PwMultiAff::from_map(&relation)?.pieces()?;
        for (_, piece) in &pieces {
            if pieces.len() > 1
                && !self.is_inside(&relation, &Map::from_multi_aff(piece)?.intersect_domain(&domain)?)?
            {
                continue;
            }
            let mut functions = Vec::new();
            for k in 0..piece.dim(DimType::Out)? {
                match Polynomial::from_aff(&piece.get_at(k)?)? {
                    Some(function) => functions.push(function),
                    None => break,
                }
            }
            if functions.len() == piece.dim(DimType::Out)? {
                return Ok(Some(functions));
            }
        }
        Ok(None)
    }

    /// The row of an element with these subscripts, and the bytes from its beginning, or from the array's base.
    fn flat(&self, array: ArrayId, subscripts: &[Polynomial]) -> Option<(Option<Polynomial>, Polynomial)> {
        let array = &self.array(array);
        let (row, inside) = array.row_and_rest(subscripts);
        let mut flat = inside.first()?.clone();
        for (size, subscript) in array.inner_sizes.iter().zip(&inside[1..]) {
            flat = flat.mul(size).ok()?.add(subscript).ok()?;
        }
        Some((row.cloned(), flat.scale(array.cell_bytes.into()).ok()?))
    }

    /// The element that `{ S[i…] -> A[e…] }` names, as an address.
    pub(super) fn element(&self, array: ArrayId, bytes: u64, cells: &Map) -> Result<Option<Element>, IslError> {
        let first = self.first_cells(array, bytes, cells)?;
        let Some(subscripts) = self.function(&first)? else { return Ok(None) };
        if !self.is_one_interval(array, bytes, cells, &first)? {
            return Ok(None);
        }
        self.element_at(array, bytes, &subscripts, &first)
    }

    /// The element with these subscripts; `first` is the relation `{ S[i…] -> A[e…] }` that they are.
    pub(super) fn element_at(
        &self,
        array: ArrayId,
        bytes: u64,
        subscripts: &[Polynomial],
        first: &Map,
    ) -> Result<Option<Element>, IslError> {
        let Some((row, offset)) = self.flat(array, subscripts) else { return Ok(None) };
        Ok(Some(Element { array, row, offset, bytes, alignment: self.alignment(array, first)? }))
    }

    /// An access to these cells.
    pub(super) fn access(
        &self,
        (kind, role): (AccessKind, Role),
        cells: &Map,
        element: &Element,
        line: Line,
    ) -> Result<Access, IslError> {
        let relation = cells.intersect_params(&self.known.values)?;
        let domain = relation.domain()?.reset_tuple_id()?;
        let piece = (domain, element.offset.clone());
        let offset = Some(Offset::Polynomial(PiecewisePolynomial { pieces: vec![piece] }));
        let Element { array, bytes, .. } = *element;
        let row = element.row.clone();
        let unshaped = None;
        Ok(Access { kind, role, array, relation, row, offset, unshaped, bytes, exact: true, update: None, line })
    }

    /// What became of the statements.
    pub(super) fn changed(&self) -> IndexMap<StatementId, Changed> {
        let place = |item: &WorkingAccess| match &item.element {
            Some(element) => Home::Element(element.clone()),
            None => Home::Scalar(item.access.array),
        };
        let of = |draft: &WorkingStatement| {
            let needed: Vec<usize> = draft.needed_fetches().into_iter().collect();
            let renumbered = |operand: &Operand| match operand {
                Operand::Fetched(n) => Operand::Fetched(needed.binary_search(n).expect("it is needed")),
                other => other.clone(),
            };
            let again = |fetch: &Fetch| match fetch {
                Fetch::Copy { value, operands } => {
                    let operands = operands.iter().map(|(v, o)| (*v, renumbered(o))).collect();
                    Fetch::Copy { value: *value, operands }
                }
                load => load.clone(),
            };
            let mut changed = Changed {
                from: draft.from,
                fetched: needed.iter().map(|&n| again(&draft.fetched[n])).collect(),
                bindings: draft.bindings.iter().map(|(v, o)| (*v, renumbered(o))).collect(),
                operations: draft.code.operations.clone(),
                updating: draft.updating.clone(),
                reads: Vec::new(),
                writes: Vec::new(),
            };
            for (_, item) in draft.alive() {
                match item.access.role {
                    Role::ReadScalar(value) => changed.reads.push((value, place(item))),
                    Role::WriteScalar(Some(value)) => changed.writes.push((value, place(item))),
                    _ => {}
                }
            }
            changed
        };
        self.drafts.iter().filter(|(_, d)| d.alive).map(|(&id, draft)| (id, of(draft))).collect()
    }
}
