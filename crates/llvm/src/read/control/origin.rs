//! What a loop counts from.
//!
//! Iterations are numbered from 0, whatever the counter of the source is. But where a loop begins at the largest of several numbers,
//! `for (j = max(0, i - w); …)`, all that it counts would be a function in pieces then: subscripts, and values that no single polynomial
//! gives. So such a loop is numbered as its counter is. That is a choice of coordinates and nothing else: what one function of the
//! counters around says for iteration 0 may be anything, as long as it is the same function wherever the loop is looked at.

use super::count::{Turns, turns};
use crate::facts::{BlockId, LoopId, Scev, Type};
use crate::read::Stop;
use crate::read::arithmetic::{Arithmetic, Function, Read, Scope};
use isl::{DimType, IslError, Map, PwAff, Set};
use model::plan::MIN_WINDOW;
use model::refusal::RefusalKind;

/// More pieces are none of a maximum that people write.
const MAX_PIECES: usize = 4;

/// The iterations of the loop, counted from a number other than 0, which is kept in [`Arithmetic::origins`]. Nothing if there is no such
/// number, or nothing to gain from it: a window of few iterations, known to be so, is left to those who write it out.
///
/// Requires: `scope` is that of the loop's header before the loop is entered, `inner` the same with the loop, its domain all numbers.
pub fn turns_from_origin(
    arithmetic: &mut Arithmetic,
    id: LoopId,
    exiting: BlockId,
    scope: &Scope,
    inner: &Scope,
) -> Result<Option<Turns>, Stop> {
    let before = arithmetic.known.mark();
    if let Some(begun) = find_origin(arithmetic, id, scope)? {
        let inner = Scope { domain: inner.domain.intersect(&begun)?, ..inner.clone() };
        match turns(arithmetic, id, exiting, scope, &inner) {
            Ok(turns) if is_wide(arithmetic, &turns.begun, &inner)? => {
                let (begun, completed) = (in_one_piece(&turns.begun)?, in_one_piece(&turns.completed)?);
                return Ok(Some(Turns { begun, completed }));
            }
            Err(Stop::Isl(error)) => return Err(Stop::Isl(error)),
            _ => {}
        }
    }
    // No parameter that nobody asks for.
    arithmetic.known.go_back_to(before);
    arithmetic.origins.remove(&id);
    Ok(None)
}

/// May the loop go round often?
fn is_wide(arithmetic: &Arithmetic, begun: &Set, inner: &Scope) -> Result<bool, Stop> {
    let innermost = inner.loops.len() - 1;
    let iteration =
        arithmetic.iteration(inner, innermost).map_err(|e| e.refused(RefusalKind::NonAffineBound, inner))?;
    let numbers = Map::from_pw_aff(&iteration.intersect_domain(begun)?)?.range()?;
    let last = numbers.intersect_params(&arithmetic.known.assumed)?.dim_max_val(0)?.to_i128();
    Ok(last.is_none_or(|last| last + 1 >= MIN_WINDOW))
}

/// What to count the loop from, kept in [`Arithmetic::origins`]; returned are the iterations from that on, in the space of its instances.
fn find_origin(arithmetic: &mut Arithmetic, id: LoopId, scope: &Scope) -> Result<Option<Set>, Stop> {
    let facts = arithmetic.values.facts;
    let mut inner = scope.clone();
    inner.loops.push(id);
    // What is counted, by its first value and by how much it grows.
    let mut counted: Vec<(PwAff, PwAff)> = Vec::new();
    let header = facts.block(facts.loops[id.index()].header);
    for phi in header.instructions.iter().copied().take_while(|&v| facts.is_phi(v)) {
        let Scev::AddRec { in_loop, operands, .. } = arithmetic.scev(phi, &inner) else { continue };
        let ([start, step], true) = (&operands[..], in_loop == id) else { continue };
        let is_pointer = matches!(facts.value(phi).ty, Type::Pointer { .. });
        let read = |this: &mut Arithmetic| -> Read<(PwAff, PwAff)> {
            let step = this.of_scev::<PwAff>(step, scope, 0)?.function;
            if is_pointer {
                return Ok((this.address_of_scev::<PwAff>(start, scope, 0)?.offset, step));
            }
            Ok((this.of_scev::<PwAff>(start, scope, 0)?.function, step))
        };
        match arithmetic.prove(read)? {
            Some((start, step)) if step.is_cst()? => counted.push((start.coalesce()?, step)),
            // It may be one polynomial if counted from 0.
            _ => return Ok(None),
        }
    }
    let Some(origin) = counted.iter().find_map(|(start, step)| origin_of(start, step, scope).transpose()) else {
        return Ok(None);
    };
    let (origin, begun) = origin?;
    // Nothing else that turns with it may fall into pieces for it.
    for (start, step) in &counted {
        let rest = start.sub(&step.mul(&origin)?)?.coalesce()?;
        if rest.n_piece()? > 1 {
            return Ok(None);
        }
    }
    arithmetic.origins.insert(id, origin);
    Ok(Some(begun))
}

/// The first value, if it is a maximum and grows by one; and what is from it on.
fn origin_of(start: &PwAff, step: &PwAff, scope: &Scope) -> Result<Option<(PwAff, Set)>, IslError> {
    let here = start.intersect_domain(&scope.domain)?.coalesce()?;
    if here.n_piece()? < 2 || start.n_piece()? > MAX_PIECES || PwAff::as_constant(step) != Some(1) {
        return Ok(None);
    }
    let depth = start.dim(DimType::In)?;
    let origin = start.add_dims(DimType::In, 1)?;
    let space = origin.domain()?.get_space()?;
    let counter = isl::Aff::var_on_domain(&isl::LocalSpace::from_space(&space)?, DimType::Set, depth)?;
    let begun = PwAff::from_aff(&counter)?.ge_set(&origin)?.coalesce()?;
    Ok((begun.n_basic_set()? == 1).then_some((start.clone(), begun)))
}

/// The same set, in one piece if it is its hull: bounds that are chosen by conditions leave it in pieces.
fn in_one_piece(set: &Set) -> Result<Set, IslError> {
    if set.n_basic_set()? < 2 {
        return Ok(set.clone());
    }
    let hull = set.simple_hull()?.to_set()?;
    Ok(if hull.is_subset(set)? { hull } else { set.clone() })
}
