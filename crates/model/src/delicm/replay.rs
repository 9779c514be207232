//! An independent check of what moving scalars did: run the region before and after, with names for values instead of numbers, and
//! compare what is in memory in the end.
//!
//! It shares no reasoning with the rest of this room: instructions touch the cells that the original says, values that were moved go by
//! their addresses, and what is touched must be what the new accesses declare. A value that is wider than a cell is in several, a part
//! in each; who reads parts of several values, or not all parts of one, reads something else. What is promised of the address of a
//! moved value must follow from what the original, as it ran, promised of its own.

use super::Outcome;
use super::code::{Changed, Code, Element, Fetch, Home, Operand, Origin, Program, Role, ValueId};
use crate::polynomial::{Polynomial, Var};
use crate::scop::{Access, Array, ArrayId, Scop, Statement, StatementId};
use crate::verify::{MAX_INSTANCES, Trace, Traced, VERIFY, Verdict};
use isl::IslError;
use std::collections::{BTreeSet, HashMap};

/// Values with equal numbers are equal, whatever the program's input.
type Term = u32;

#[derive(Clone, PartialEq, Eq, Hash)]
enum Made {
    Before(ArrayId, i128),
    Outside(ValueId),
    Counter(Option<ValueId>, i128),
    Operation(ValueId, Vec<Term>),
    /// Something an instance of an original statement did, from all that it found.
    Opaque(StatementId, Vec<i128>, usize, Vec<Term>),
    /// What a call leaves that may have written: this or, perhaps, what was there before.
    Maybe(Term, Part),
    /// Parts of several values, or some of one.
    Mixed(Vec<Part>),
}

/// The n-th of so many cells that a value takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Part {
    of: Term,
    number: usize,
    count: usize,
}

/// A cell of an array, counted from its base; scalars have one. Rows behind pointers are [`BETWEEN_ROWS`] cells from each other.
type Cell = (ArrayId, i128);

/// More than any row has cells.
const BETWEEN_ROWS: i128 = 1 << 64;

/// The row that a cell is in; 0 in an array without rows behind pointers.
fn row_of(cell: i128) -> i128 {
    (cell + BETWEEN_ROWS / 2).div_euclid(BETWEEN_ROWS)
}

#[derive(Default)]
struct Terms(HashMap<Made, Term>);

impl Terms {
    fn of(&mut self, made: Made) -> Term {
        let next = self.0.len() as Term;
        *self.0.entry(made).or_insert(next)
    }
}

/// The state of one run.
struct Run<'a> {
    scop: &'a Scop,
    /// Where arrays are described: those of the original, and what was added.
    arrays: &'a Scop,
    program: &'a Program,
    params: &'a [i128],
    terms: &'a mut Terms,
    memory: HashMap<Cell, Part>,
    touched: BTreeSet<(bool, Cell)>,
    /// Alignments, and the numbers of bytes from an array's base that have them if the program keeps its promises.
    aligned: BTreeSet<(ArrayId, i128, u64, i128)>,
    /// What an address of a moved value is in the way of.
    complaint: Option<String>,
}

/// Does `changed`, run as `outcome` says, leave in memory what `original` does, at these parameters?
pub fn replay(
    original: &Scop,
    program: &Program,
    changed: &Scop,
    outcome: &Outcome,
    params: &[i128],
) -> Result<Verdict, IslError> {
    original.ctx.within(VERIFY, || {
        let (Traced::All(before), Traced::All(after)) =
            (Trace::of(original, params, MAX_INSTANCES)?, Trace::of(changed, params, MAX_INSTANCES)?)
        else {
            return Ok(Verdict::TooLarge);
        };
        let mut terms = Terms::default();
        let mut run = Run::new((original, original), program, params, &mut terms);
        for (k, (id, at)) in before.instances.iter().enumerate() {
            let Some(code) = program.statements.get(id) else { continue };
            run.touched.clear();
            run.original(*id, at, code, &run.cells(&before, k));
        }
        let Run { memory: expected, aligned, .. } = run;
        let mut run = Run::new((original, changed), program, params, &mut terms);
        run.aligned = aligned;
        for (k, (id, at)) in after.instances.iter().enumerate() {
            let changes = &outcome.statements[id];
            let Some(position) = before.position(changes.from, at) else {
                return Ok(Verdict::Different { what: format!("{} does not exist", after.name(k)) });
            };
            run.touched.clear();
            run.changed(changes, at, &run.cells(&before, position));
            let declared = run.declared(changed, &after, k);
            if let Some((writes, (array, cell))) = run.touched.iter().find(|t| !declared.contains(t)) {
                let what = if *writes { "writes" } else { "reads" };
                return Ok(Verdict::Different { what: format!("{} {what} {array}[{cell}] unsaid", after.name(k)) });
            }
            if let Some(complaint) = run.complaint {
                return Ok(Verdict::Different { what: format!("{}: {complaint}", after.name(k)) });
            }
        }
        let found = run.memory;
        let stays = |(array, _): &Cell| {
            original.arrays.get(array).is_some_and(|array| !array.kind.is_scalar() || array.live_out)
        };
        let cells: BTreeSet<Cell> = expected.keys().chain(found.keys()).copied().filter(stays).collect();
        for cell in cells {
            // A cell that one run never wrote contains what it did before.
            let untouched = Part { of: terms.of(Made::Before(cell.0, cell.1)), number: 0, count: 1 };
            let (a, b) = (expected.get(&cell).unwrap_or(&untouched), found.get(&cell).unwrap_or(&untouched));
            if a != b {
                let name = &original.arrays[&cell.0].name;
                return Ok(Verdict::Different { what: format!("{name}[{}] ends up with another value", cell.1) });
            }
        }
        Ok(Verdict::Same { instances: after.instances.len() })
    })
}

impl<'a> Run<'a> {
    fn new(
        (scop, arrays): (&'a Scop, &'a Scop),
        program: &'a Program,
        params: &'a [i128],
        terms: &'a mut Terms,
    ) -> Run<'a> {
        let (memory, touched, aligned) = Default::default();
        Run { scop, arrays, program, params, terms, memory, touched, aligned, complaint: None }
    }

    fn array(&self, id: ArrayId) -> &'a Array {
        self.scop.arrays.get(&id).unwrap_or_else(|| &self.arrays.arrays[&id])
    }

    /// The cells of each access of an instance, in order.
    fn cells(&self, trace: &Trace, k: usize) -> HashMap<usize, Vec<Cell>> {
        let mut out: HashMap<usize, Vec<Cell>> = HashMap::new();
        for &(access, cell) in &trace.touched[k] {
            let (array, subscripts) = trace.cell(cell);
            out.entry(access).or_default().push((*array, self.flat(*array, subscripts)));
        }
        out.values_mut().for_each(|cells| cells.sort());
        out
    }

    fn declared(&self, changed: &Scop, trace: &Trace, k: usize) -> BTreeSet<(bool, Cell)> {
        let statement = &changed.statements[&trace.instances[k].0];
        let touched = trace.touched[k].iter().map(|&(access, cell)| {
            let (array, subscripts) = trace.cell(cell);
            (statement.accesses[access].is_write(), (*array, self.flat(*array, subscripts)))
        });
        touched.collect()
    }

    fn flat(&self, array: ArrayId, subscripts: &[i128]) -> i128 {
        let (row, inside) = self.array(array).row_and_rest(subscripts);
        let Some((first, rest)) = inside.split_first() else { return 0 };
        let at = |size: &Polynomial| size.at(|var| self.variable(var, &[])).unwrap_or(0);
        let flat = rest.iter().zip(&self.array(array).inner_sizes).fold(*first, |flat, (s, size)| flat * at(size) + s);
        row.map_or(flat, |row| row * BETWEEN_ROWS + flat)
    }

    fn variable(&self, var: Var, at: &[i128]) -> i128 {
        match var {
            Var::Counter(d) => at.get(d as usize).copied().unwrap_or(0),
            Var::Param(p) => self.params[p.index()],
        }
    }

    fn read(&mut self, cells: &[Cell]) -> Term {
        let mut parts = Vec::new();
        for &cell in cells {
            self.touched.insert((false, cell));
            parts.push(self.part(cell));
        }
        match parts[..] {
            [Part { of, .. }, ..] if parts.iter().copied().eq(parts_of(of, parts.len())) => of,
            _ => self.terms.of(Made::Mixed(parts)),
        }
    }

    fn write(&mut self, cells: &[Cell], term: Term) {
        for (&cell, part) in cells.iter().zip(parts_of(term, cells.len())) {
            self.touched.insert((true, cell));
            self.memory.insert(cell, part);
        }
    }

    /// What a cell holds.
    fn part(&mut self, cell: Cell) -> Part {
        match self.memory.get(&cell) {
            Some(part) => *part,
            None => Part { of: self.terms.of(Made::Before(cell.0, cell.1)), number: 0, count: 1 },
        }
    }

    fn may_write(&mut self, cells: &[Cell], term: Term) {
        for &cell in cells {
            let before = self.part(cell);
            let of = self.terms.of(Made::Maybe(term, before));
            self.touched.insert((true, cell));
            self.memory.insert(cell, Part { of, ..before });
        }
    }

    fn element(&mut self, element: &Element, at: &[i128]) -> Vec<Cell> {
        let size = i128::from(self.array(element.array).cell_bytes);
        let offset = element.offset.at(|var| self.variable(var, at)).unwrap_or(i128::MIN / 2);
        let nowhere = -(1 << 40);
        let row = element.row.as_ref().map_or(0, |row| row.at(|var| self.variable(var, at)).unwrap_or(nowhere));
        let offset = offset + row * BETWEEN_ROWS * size;
        let first = offset.div_euclid(size);
        if offset.rem_euclid(size) != 0 || i128::from(element.bytes).rem_euclid(size) != 0 {
            self.complaint = Some(format!("{} bytes at {offset} of {} are no cells", element.bytes, element.array));
        }
        // Addresses that differ by a multiple of an alignment have it both or not at all.
        let follows = |&(array, row, alignment, known): &(ArrayId, i128, u64, i128)| {
            let step = i128::from(element.alignment);
            let is_there = (array, row) == (element.array, row_of(first));
            is_there && alignment >= element.alignment && (offset - known).rem_euclid(step) == 0
        };
        if element.alignment > 1 && !self.aligned.iter().any(follows) {
            let Element { array, alignment, .. } = element;
            self.complaint = Some(format!("byte {offset} of {array} may be no multiple of {alignment}"));
        }
        (0..i128::from(element.bytes) / size).map(|n| (element.array, first + n)).collect()
    }

    /// What an access of the original that runs promises of its address.
    fn promise(&mut self, access: ValueId, cells: &[Cell]) {
        if let (Some(&alignment), Some(&(array, first))) = (self.program.alignments.get(&access), cells.first()) {
            let size = i128::from(self.array(array).cell_bytes);
            let rest = (first * size).rem_euclid(i128::from(alignment));
            self.aligned.insert((array, row_of(first), alignment, rest));
        }
    }

    /// What a value is in an instance that has computed the others that it needs.
    fn value(&mut self, value: ValueId, now: &HashMap<ValueId, Term>) -> Term {
        match now.get(&value) {
            Some(term) => *term,
            None => self.terms.of(Made::Outside(value)),
        }
    }

    fn counters(&mut self, code: &Code, at: &[i128], now: &mut HashMap<ValueId, Term>) {
        for (&value, counter) in &code.counters {
            let offset = counter.offset.at(|var| self.variable(var, at)).unwrap_or(0);
            now.insert(value, self.terms.of(Made::Counter(counter.base, offset)));
        }
    }

    fn original(&mut self, id: StatementId, at: &[i128], code: &Code, cells: &HashMap<usize, Vec<Cell>>) {
        let mut now = HashMap::new();
        let accesses = &self.scop.statements[&id].accesses;
        for (k, access) in accesses.iter().enumerate() {
            if let (Role::ReadScalar(value), Some(cells)) = (access.role, cells.get(&k)) {
                now.insert(value, self.read(cells));
            }
        }
        self.counters(code, at, &mut now);
        for (k, access) in accesses.iter().enumerate().filter(|(_, access)| access.exact) {
            if let (Role::Load(by) | Role::Store { instruction: by, .. }, Some(cells)) = (access.role, cells.get(&k)) {
                self.promise(by, cells);
            }
        }
        self.operations(id, at, &code.operations, cells, &mut now);
        for (k, access) in accesses.iter().enumerate() {
            if let (Role::WriteScalar(Some(value)), Some(cells)) = (access.role, cells.get(&k)) {
                let term = self.value(value, &now);
                self.write(cells, term);
            }
        }
    }

    fn changed(&mut self, changes: &Changed, at: &[i128], cells: &HashMap<usize, Vec<Cell>>) {
        let code = &self.program.statements[&changes.from];
        let mut fetched: Vec<Term> = Vec::new();
        for fetch in &changes.fetched {
            let term = match fetch {
                Fetch::Load { element, .. } => {
                    let cells = self.element(element, at);
                    self.read(&cells)
                }
                Fetch::Copy { value, operands } => {
                    let mut now = HashMap::new();
                    for (operand, source) in operands {
                        let term = self.operand(source, &fetched, at);
                        now.insert(*operand, term);
                    }
                    let operands = self.program.operands(*value).to_vec();
                    let operands = operands.iter().map(|v| self.value(*v, &now)).collect();
                    self.terms.of(Made::Operation(*value, operands))
                }
            };
            fetched.push(term);
        }
        let mut now = HashMap::new();
        for (value, operand) in &changes.bindings {
            let term = self.operand(operand, &fetched, at);
            now.insert(*value, term);
        }
        let place = |run: &mut Self, place: &Home| match place {
            Home::Scalar(scalar) => vec![(*scalar, 0)],
            Home::Element(element) => run.element(element, at),
        };
        for (value, from) in &changes.reads {
            let cells = place(self, from);
            let term = self.read(&cells);
            now.insert(*value, term);
        }
        self.counters(code, at, &mut now);
        self.operations(changes.from, at, &changes.operations, cells, &mut now);
        let written: Vec<(Term, Vec<Cell>)> =
            changes.writes.iter().map(|(value, to)| (self.value(*value, &now), place(self, to))).collect();
        written.into_iter().for_each(|(term, cells)| self.write(&cells, term));
    }

    fn operand(&mut self, operand: &Operand, fetched: &[Term], at: &[i128]) -> Term {
        match operand {
            Operand::Fetched(n) => fetched[*n],
            Operand::Outside(value) => self.terms.of(Made::Outside(*value)),
            Operand::Counter(counter) => {
                let offset = counter.offset.at(|var| self.variable(var, at)).unwrap_or(0);
                self.terms.of(Made::Counter(counter.base, offset))
            }
        }
    }

    /// Runs the operations that are left of a statement in their order, then what the model does not look into.
    fn operations(
        &mut self,
        id: StatementId,
        at: &[i128],
        operations: &[ValueId],
        cells: &HashMap<usize, Vec<Cell>>,
        now: &mut HashMap<ValueId, Term>,
    ) {
        let none = Vec::new();
        let Statement { accesses, boxed, predicates, .. } = &self.scop.statements[&id];
        for &value in operations {
            let access = accesses.iter().position(|access| match access.role {
                Role::Load(load) => load == value,
                Role::Store { instruction, .. } => instruction == value,
                Role::Call(call) => call == value,
                _ => false,
            });
            let touched = access.and_then(|k| cells.get(&k)).unwrap_or(&none);
            match (access.map(|k| accesses[k].role), self.program.origins.get(&value)) {
                (Some(Role::Load(_)), _) => {
                    let term = self.read(touched);
                    now.insert(value, term);
                }
                (Some(Role::Store { value: stored, .. }), _) => {
                    let term = self.value(stored, now);
                    if predicates.is_empty() {
                        self.write(touched, term);
                        continue;
                    }
                    // What is there then depends on them.
                    let mut inputs = vec![term];
                    inputs.extend(predicates.iter().map(|p| self.value(p.condition, now)));
                    let term = self.terms.of(Made::Operation(value, inputs));
                    self.may_write(touched, term);
                }
                (role, Some(Origin::Operation(operation))) => {
                    let operands = operation.operands.iter().map(|v| self.value(*v, now)).collect();
                    let term = self.terms.of(Made::Operation(value, operands));
                    now.insert(value, term);
                    if let Some(Role::Call(_)) = role {
                        self.may_write(touched, term);
                    }
                }
                _ => {}
            }
        }
        let is_opaque = |access: &Access| matches!(access.role, Role::Block(_) | Role::WriteScalar(None));
        let opaque = || accesses.iter().enumerate().filter(|(_, access)| is_opaque(access));
        let mut found: Vec<Term> = Vec::new();
        for (k, _) in opaque().filter(|(_, access)| !access.is_write()) {
            found.push(self.read(cells.get(&k).unwrap_or(&none)));
        }
        if *boxed {
            let mut inputs: Vec<(ValueId, Term)> = now.iter().map(|(v, t)| (*v, *t)).collect();
            inputs.sort();
            found.extend(inputs.into_iter().map(|(_, term)| term));
        }
        for (k, _) in opaque().filter(|(_, access)| access.is_write()) {
            let term = self.terms.of(Made::Opaque(id, at.to_vec(), k, found.clone()));
            self.write(cells.get(&k).unwrap_or(&none), term);
        }
    }
}

/// A value as it lies in memory.
fn parts_of(of: Term, count: usize) -> impl Iterator<Item = Part> {
    (0..count).map(move |number| Part { of, number, count })
}
