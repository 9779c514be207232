//! An independent check of what moving scalars did: run the region before and after, with names for values instead of numbers, and
//! compare what is in memory in the end.
//!
//! It shares no reasoning with the rest of this room: instructions touch the cells that the original says, values that were moved go by
//! their addresses, and what is touched must be what the new accesses declare.

use super::Outcome;
use super::code::{Changed, Code, Element, Fetch, Operand, Origin, Place, Program, Role, Value};
use crate::polynomial::{Polynomial, Var};
use crate::scop::{Array, ArrayId, Scop, StatementId};
use crate::verify::{MAX_INSTANCES, Trace, Traced, Verdict};
use isl::{Budget, IslError};
use std::collections::{BTreeSet, HashMap};

/// Values with equal numbers are equal, whatever the program's input.
type Term = u32;

#[derive(Clone, PartialEq, Eq, Hash)]
enum Made {
    Before(ArrayId, i128),
    Outside(Value),
    Counter(Option<Value>, i128),
    Operation(Value, Vec<Term>),
    /// Something an instance of an original statement did, from all that it found.
    Opaque(StatementId, Vec<i128>, usize, Vec<Term>),
    /// What a call leaves that may have written: this or, perhaps, what was there before.
    Maybe(Term, Term),
    /// Parts of several values.
    Mixed(Vec<(Term, u64)>),
}

/// A cell of an array, counted from its base; scalars have one.
type Cell = (ArrayId, i128);

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
    /// A value, and which part of it.
    memory: HashMap<Cell, (Term, u64)>,
    touched: BTreeSet<(bool, Cell)>,
}

/// Does `changed`, run as `outcome` says, leave in memory what `original` does, at these parameters?
pub fn replay(
    original: &Scop,
    program: &Program,
    changed: &Scop,
    outcome: &Outcome,
    params: &[i128],
) -> Result<Verdict, IslError> {
    original.ctx.within(Budget::VERIFY, || {
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
        let expected = run.memory;
        let mut run = Run::new((original, changed), program, params, &mut terms);
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
        }
        let found = run.memory;
        let stays = |(array, _): &Cell| {
            original.arrays.get(array).is_some_and(|array| !array.kind.is_scalar() || array.live_out)
        };
        let cells: BTreeSet<Cell> = expected.keys().chain(found.keys()).copied().filter(stays).collect();
        for cell in cells {
            // A cell that one run never wrote contains what it did before.
            let untouched = (terms.of(Made::Before(cell.0, cell.1)), 0);
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
        Run { scop, arrays, program, params, terms, memory: HashMap::new(), touched: BTreeSet::new() }
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
        let Some((first, rest)) = subscripts.split_first() else { return 0 };
        let at = |size: &Polynomial| size.at(|var| self.variable(var, &[])).unwrap_or(0);
        rest.iter().zip(&self.array(array).inner_sizes).fold(*first, |flat, (s, size)| flat * at(size) + s)
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
            let part = match self.memory.get(&cell) {
                Some(part) => *part,
                None => (self.terms.of(Made::Before(cell.0, cell.1)), 0),
            };
            parts.push(part);
        }
        match parts[..] {
            [(term, 0)] => term,
            [(term, 0), ..] if parts.iter().enumerate().all(|(n, p)| *p == (term, n as u64)) => term,
            _ => self.terms.of(Made::Mixed(parts)),
        }
    }

    fn write(&mut self, cells: &[Cell], term: Term) {
        for (n, &cell) in cells.iter().enumerate() {
            self.touched.insert((true, cell));
            self.memory.insert(cell, (term, n as u64));
        }
    }

    fn may_write(&mut self, cells: &[Cell], term: Term) {
        for &cell in cells {
            let (before, part) = match self.memory.get(&cell) {
                Some(before) => *before,
                None => (self.terms.of(Made::Before(cell.0, cell.1)), 0),
            };
            let after = self.terms.of(Made::Maybe(term, before));
            self.touched.insert((true, cell));
            self.memory.insert(cell, (after, part));
        }
    }

    fn element(&self, element: &Element, at: &[i128]) -> Vec<Cell> {
        let size = i128::from(self.array(element.array).cell_bytes);
        let offset = element.offset.at(|var| self.variable(var, at)).unwrap_or(i128::MIN / 2);
        let first = offset.div_euclid(size);
        (0..i128::from(element.bytes) / size).map(|n| (element.array, first + n)).collect()
    }

    /// What a value is in an instance that has computed the others that it needs.
    fn value(&mut self, value: Value, now: &HashMap<Value, Term>) -> Term {
        match now.get(&value) {
            Some(term) => *term,
            None => self.terms.of(Made::Outside(value)),
        }
    }

    fn counters(&mut self, code: &Code, at: &[i128], now: &mut HashMap<Value, Term>) {
        for (&value, counter) in &code.counters {
            let offset = counter.offset.at(|var| self.variable(var, at)).unwrap_or(0);
            now.insert(value, self.terms.of(Made::Counter(counter.base, offset)));
        }
    }

    fn original(&mut self, id: StatementId, at: &[i128], code: &Code, cells: &HashMap<usize, Vec<Cell>>) {
        let mut now = HashMap::new();
        for (k, role) in code.roles.iter().enumerate() {
            if let (Role::ReadScalar(value), Some(cells)) = (role, cells.get(&k)) {
                now.insert(*value, self.read(cells));
            }
        }
        self.counters(code, at, &mut now);
        self.operations(id, at, (code, &code.operations), cells, &mut now);
        for (k, role) in code.roles.iter().enumerate() {
            if let (Role::WriteScalar(Some(value)), Some(cells)) = (role, cells.get(&k)) {
                let term = self.value(*value, &now);
                self.write(cells, term);
            }
        }
    }

    fn changed(&mut self, changes: &Changed, at: &[i128], cells: &HashMap<usize, Vec<Cell>>) {
        let code = &self.program.statements[&changes.from];
        let mut fetched: Vec<Term> = Vec::new();
        for fetch in &changes.fetched {
            let term = match fetch {
                Fetch::Load { element, .. } => self.read(&self.element(element, at)),
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
        let place = |run: &Self, place: &Place| match place {
            Place::Scalar(scalar) => vec![(*scalar, 0)],
            Place::Element(element) => run.element(element, at),
        };
        for (value, from) in &changes.reads {
            let term = self.read(&place(self, from));
            now.insert(*value, term);
        }
        self.counters(code, at, &mut now);
        self.operations(changes.from, at, (code, &changes.operations), cells, &mut now);
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
        (code, operations): (&Code, &[Value]),
        cells: &HashMap<usize, Vec<Cell>>,
        now: &mut HashMap<Value, Term>,
    ) {
        let none = Vec::new();
        for &value in operations {
            let access = code.roles.iter().position(|role| match role {
                Role::Load(load) => *load == value,
                Role::Store { instruction, .. } => *instruction == value,
                Role::Call(call) => *call == value,
                _ => false,
            });
            let touched = access.and_then(|k| cells.get(&k)).unwrap_or(&none);
            match (access.map(|k| code.roles[k]), self.program.origins.get(&value)) {
                (Some(Role::Load(_)), _) => {
                    let term = self.read(touched);
                    now.insert(value, term);
                }
                (Some(Role::Store { value: stored, .. }), _) => {
                    let term = self.value(stored, now);
                    self.write(touched, term);
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
        let opaque = |scop: &Scop| -> Vec<(usize, bool)> {
            let accesses = &scop.statements[&id].accesses;
            let is_opaque = |role: &Role| matches!(role, Role::Block | Role::WriteScalar(None));
            let all = code.roles.iter().enumerate().filter(|(_, role)| is_opaque(role));
            all.map(|(k, _)| (k, accesses[k].is_write())).collect()
        };
        let opaque = opaque(self.scop);
        let mut found: Vec<Term> = Vec::new();
        for (k, _) in opaque.iter().filter(|(_, writes)| !writes) {
            found.push(self.read(cells.get(k).unwrap_or(&none)));
        }
        if self.scop.statements[&id].boxed {
            let mut inputs: Vec<(Value, Term)> = now.iter().map(|(v, t)| (*v, *t)).collect();
            inputs.sort();
            found.extend(inputs.into_iter().map(|(_, term)| term));
        }
        for (k, _) in opaque.into_iter().filter(|(_, writes)| *writes) {
            let term = self.terms.of(Made::Opaque(id, at.to_vec(), k, found.clone()));
            self.write(cells.get(&k).unwrap_or(&none), term);
        }
    }
}
