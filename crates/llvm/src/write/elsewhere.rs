//! Values that cross statements without a slot: fetched again, or kept in array elements; and elements that have copies in memory of our
//! own.

use super::WriteError;
use super::code::CodeWriter;
use super::ir::{Type, Value};
use super::statement::Instance;
use crate::body::{BodyKind, Elsewhere};
use crate::facts::ValueId;
use model::delicm::{CounterValue, Element, Fetch, Operand};
use model::loop_ast::{For, OwnCell, Untouched, calls_of};
use model::polynomial::Polynomial;
use model::scop::{ArrayId, Role, StatementId};

/// What malloc aligns to, at least; the elements of temporaries are powers of two.
const HEAP_ALIGNMENT: u64 = 8;

/// What the calls of an innermost loop find in elements that the loop does not touch: loaded once, before it.
#[derive(Default)]
pub(super) struct Ahead {
    /// Of which call, and in which element.
    of_elements: Vec<(usize, Element, Value)>,
    /// Of which call, and what the load yields.
    of_loads: Vec<(usize, ValueId, Value)>,
    /// How many calls were written.
    pub(super) calls: usize,
}

impl Ahead {
    fn find(&self, element: &Element) -> Option<Value> {
        // The call being written has been counted.
        let of_call = self.of_elements.iter().filter(|(call, ..)| call + 1 == self.calls);
        of_call.filter(|(_, known, _)| known == element).map(|(.., value)| *value).next()
    }

    /// The loads that the call being written need not do, and what they yield.
    pub(super) fn loads(&self) -> impl Iterator<Item = (ValueId, Value)> {
        let of_call = self.of_loads.iter().filter(|(call, ..)| call + 1 == self.calls);
        of_call.map(|(_, load, value)| (*load, *value))
    }
}

/// What a statement has fetched so far.
pub(super) struct Fetched(Vec<Option<Value>>);

impl Fetched {
    pub(super) fn nothing(elsewhere: &Elsewhere) -> Fetched {
        Fetched(vec![None; elsewhere.fetched.len()])
    }
}

impl CodeWriter<'_> {
    /// Makes the values that the statement has from elsewhere known to its instance.
    pub(super) fn fetch(
        &mut self,
        elsewhere: &Elsewhere,
        coordinates: &[Value],
        instance: &mut Instance,
        fetched: &mut Fetched,
    ) -> Result<(), WriteError> {
        for n in 0..elsewhere.fetched.len() {
            self.fetch_one(n, elsewhere, coordinates, fetched)?;
        }
        let values = elsewhere.bindings.iter().map(|b| b.0).chain(elsewhere.loads.iter().map(|l| l.0));
        for value in values.collect::<Vec<_>>() {
            if !instance.now.contains_key(&self.site.value(value)) {
                self.fetch_value(value, elsewhere, coordinates, instance, fetched)?;
            }
        }
        Ok(())
    }

    /// The same for one value, if it comes from elsewhere.
    pub(super) fn fetch_value(
        &mut self,
        value: ValueId,
        elsewhere: &Elsewhere,
        coordinates: &[Value],
        instance: &mut Instance,
        fetched: &mut Fetched,
    ) -> Result<(), WriteError> {
        let now = if let Some((_, operand)) = elsewhere.bindings.iter().find(|b| b.0 == value) {
            self.fetched_operand(value, operand, elsewhere, coordinates, fetched)?
        } else if let Some((_, element)) = elsewhere.loads.iter().find(|l| l.0 == value) {
            self.load_element(value, element, coordinates)?
        } else {
            return Ok(());
        };
        instance.now.insert(self.site.value(value), now);
        Ok(())
    }

    fn fetch_one(
        &mut self,
        n: usize,
        elsewhere: &Elsewhere,
        coordinates: &[Value],
        fetched: &mut Fetched,
    ) -> Result<Value, WriteError> {
        match fetched.0.get(n) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => {}
            None => return Err(WriteError::Reader("something is used that is not fetched".into())),
        }
        let value = match &elsewhere.fetched[n] {
            Fetch::Load { value, element } => self.load_element(*value, element, coordinates)?,
            Fetch::Copy { value, operands } => {
                let original = self.site.value(*value);
                if !original.is_instruction() || original.is_phi() || original.touches_memory() {
                    return Err(WriteError::Reader("what cannot be repeated is fetched".into()));
                }
                let mut now = Vec::new();
                for (operand, source) in operands {
                    let value = self.fetched_operand(*operand, source, elsewhere, coordinates, fetched)?;
                    now.push((self.site.value(*operand), value));
                }
                let copy = self.target.clone_here(self.build, original);
                for (index, operand) in original.operands().into_iter().enumerate() {
                    let twin = self.site.stands_for(operand);
                    let known = now.iter().find(|(value, _)| *value == twin).map(|(_, now)| *now);
                    let operand_now = known.unwrap_or_else(|| self.outside(operand));
                    if operand_now != operand {
                        copy.set_operand(index, operand_now);
                    }
                }
                copy
            }
        };
        fetched.0[n] = Some(value);
        Ok(value)
    }

    fn fetched_operand(
        &mut self,
        value: ValueId,
        operand: &Operand,
        elsewhere: &Elsewhere,
        coordinates: &[Value],
        fetched: &mut Fetched,
    ) -> Result<Value, WriteError> {
        match operand {
            Operand::Fetched(n) => self.fetch_one(*n, elsewhere, coordinates, fetched),
            Operand::Outside(value) => Ok(self.outside(self.site.value(*value))),
            Operand::Counter(CounterValue { base, offset }) => self.write_induction(value, *base, offset, coordinates),
        }
    }

    /// Loads what calls find in elements that are the same in all iterations of the loop, and that none of its iterations writes.
    ///
    /// Requires: the builder is before a loop that is entered, and behind the test of what is `tested`; the loop's counter is that of the first
    /// iteration. Ensures: only what this iteration loads is loaded: all calls run in it, and those under predicates that are not tested are
    /// left out.
    pub(super) fn load_ahead(&mut self, f: &For, tested: &[StatementId]) -> Result<Ahead, WriteError> {
        let mut ahead = Ahead::default();
        if f.untouched.is_empty() {
            return Ok(ahead);
        }
        let calls =
            calls_of(&f.body).ok_or_else(|| WriteError::Plan("a loop with loops has untouched elements".into()))?;
        for Untouched { call, role, array, row, offset, bytes } in &f.untouched {
            let &(statement, coordinates) =
                calls.get(*call).ok_or_else(|| WriteError::Plan("an untouched element without a call".into()))?;
            let body = self.site.body(statement)?;
            if !body.predicates.is_empty() && !tested.contains(&statement) {
                continue;
            }
            let is_it = |e: &Element| e.array == *array && e.row == *row && e.offset == *offset;
            let fetched = body.elsewhere.fetched.iter().filter_map(|fetch| match fetch {
                Fetch::Load { value, element } => Some((*value, element)),
                Fetch::Copy { .. } => None,
            });
            let read = body.elsewhere.loads.iter().map(|(value, element)| (*value, element));
            let own = |value: ValueId| {
                let alignment = self.site.value(value).alignment().into();
                Element { array: *array, row: row.clone(), offset: offset.clone(), bytes: *bytes, alignment }
            };
            let (value, element) = match role {
                Role::Load(value) if matches!(body.kind, BodyKind::Instructions(_)) => (*value, own(*value)),
                Role::Load(_) => continue,
                _ => match fetched.chain(read).find(|(_, element)| is_it(element)) {
                    Some((value, element)) => (value, element.clone()),
                    None => continue,
                },
            };
            let now = coordinates.iter().map(|c| self.write_int(c)).collect::<Result<Vec<_>, _>>()?;
            let loaded = self.load_element(value, &element, &now)?;
            match role {
                Role::Load(_) => ahead.of_loads.push((*call, value, loaded)),
                _ => ahead.of_elements.push((*call, element, loaded)),
            }
        }
        Ok(ahead)
    }

    fn load_element(&mut self, like: ValueId, element: &Element, coordinates: &[Value]) -> Result<Value, WriteError> {
        let ty = self.site.value(like).ty();
        if let Some(loaded) = self.ahead.find(element).filter(|loaded| loaded.ty() == ty) {
            return Ok(loaded);
        }
        let pointer = self.element_pointer(element, coordinates)?;
        let load = self.build.load(ty, pointer);
        self.mark_element(load, element);
        self.found_at.push((element.clone(), pointer));
        Ok(load)
    }

    /// Copies an element, for these loads.
    pub(super) fn write_copy(
        &mut self,
        from: &Element,
        coordinates: &[Value],
        into: &OwnCell,
        loads: &[ValueId],
    ) -> Result<(), WriteError> {
        let loads: Vec<Value> = loads.iter().map(|&load| self.site.value(load)).collect();
        let Some(&first) = loads.first() else { return Err(WriteError::Plan("a copy that nobody reads".into())) };
        // Bytes that are read as several types are copied as bytes, as LLVM does it.
        let is_one_type = loads.iter().all(|load| load.ty() == first.ty());
        let ty = if is_one_type { first.ty() } else { self.build.int(8 * from.bytes as u32) };
        let alignment = loads.iter().map(|load| load.alignment()).min().unwrap_or(1).into();
        let pointer = self.element_pointer(from, coordinates)?;
        let value = self.build.load(ty, pointer);
        self.mark_element(value, &Element { alignment, ..from.clone() });
        let pointer = self.own_pointer(into)?;
        let store = self.build.store(value, pointer);
        self.mark_own(store, into);
        Ok(())
    }

    /// What is in a cell of memory of our own.
    pub(super) fn load_own(&mut self, ty: Type, own: &OwnCell) -> Result<Value, WriteError> {
        let pointer = self.own_pointer(own)?;
        let load = self.build.load(ty, pointer);
        self.mark_own(load, own);
        Ok(load)
    }

    fn own_pointer(&mut self, own: &OwnCell) -> Result<Value, WriteError> {
        let number = self.write_int(&own.number)?;
        let offset = self.build.mul(number, self.build.constant(own.bytes as i64));
        let Some(&start) = self.temporaries.get(&own.temporary) else {
            return Err(WriteError::Plan(format!("{} has no memory", own.temporary)));
        };
        let start = self.local(start);
        Ok(self.build.offset(start, offset))
    }

    pub(super) fn store_element(
        &mut self,
        value: Value,
        element: &Element,
        coordinates: &[Value],
    ) -> Result<(), WriteError> {
        let pointer = self.element_pointer(element, coordinates)?;
        let store = self.build.store(value, pointer);
        self.mark_element(store, element);
        Ok(())
    }

    fn element_pointer(&mut self, element: &Element, coordinates: &[Value]) -> Result<Value, WriteError> {
        let offset = self.write_polynomial(&element.offset, coordinates)?;
        if let Some(row) = &element.row {
            let row = self.row_pointer(element.array, row, coordinates)?;
            return Ok(self.build.offset(row, offset));
        }
        let base = match (self.temporaries.get(&element.array), self.site.region.bases.get(&element.array)) {
            (Some(&own), _) => self.local(own),
            (None, Some(&base)) => self.outside(self.site.value(base)),
            (None, None) => return Err(WriteError::Reader(format!("{} has no base", element.array))),
        };
        Ok(self.build.offset(base, offset))
    }

    /// The pointer to a row, loaded again.
    fn row_pointer(&mut self, array: ArrayId, row: &Polynomial, coordinates: &[Value]) -> Result<Value, WriteError> {
        let number = self.write_polynomial(row, coordinates)?;
        let region = self.site.region;
        let rows = region.scop.arrays.get(&array).and_then(|a| a.rows);
        let rows = rows.ok_or_else(|| WriteError::Plan(format!("{array} has no rows behind pointers")))?;
        let base = region.bases.get(&rows.pointers).map(|&base| self.outside(self.site.value(base)));
        let base = base.ok_or_else(|| WriteError::Reader(format!("{} has no base", rows.pointers)))?;
        let offset = self.build.mul(number, self.build.constant(rows.stride));
        let place = self.build.offset(base, self.build.add(offset, self.build.constant(rows.first)));
        let pointer = self.build.load(self.build.pointer(), place);
        self.mark(pointer, rows.pointers, self.site.alignment_of_pointers(array).into());
        Ok(pointer)
    }

    fn mark_element(&mut self, access: Value, element: &Element) {
        let aligned = match self.temporaries.contains_key(&element.array) {
            true => element.bytes.min(HEAP_ALIGNMENT),
            false => element.alignment,
        };
        self.mark(access, element.array, aligned);
    }

    fn mark_own(&mut self, access: Value, own: &OwnCell) {
        self.mark(access, own.temporary, own.bytes.min(HEAP_ALIGNMENT));
    }

    fn mark(&mut self, access: Value, array: ArrayId, aligned: u64) {
        access.set_alignment(aligned as u32);
        self.tags.mark_array(self.build, access, array);
        self.tags.mark_independent(access);
    }
}
