//! Parameters, arrays, and the argument sets a kernel is called with.

use crate::kernel::*;
use crate::rng::Rng;

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Size,
    /// Small, of either sign; if unsigned, its negative values wrap.
    Offset,
    /// Up to the largest value of its type; only ever compared.
    Huge,
    /// A leading dimension. `strict`: no row may run into the next.
    Lead {
        strict: bool,
    },
}

/// How often what turns up in a signature; weights where not said otherwise.
pub struct Taste {
    /// Percent of the kernels whose pointers are.
    pub restrict: u64,
    /// Argument, pointee, global.
    pub origins: [u64; 3],
    /// Percent of the kernels with one.
    pub huge: u64,
    pub tables: u64,
    /// At least and at most.
    pub arrays: (i64, i64),
    /// In the order of `Elem::ALL`, of the type that most arrays of a kernel have, and the percentage of those.
    pub elems: [u64; 6],
    pub alike: u64,
    /// One, two, three dimensions, by the depth of the nest.
    pub dims: [&'static [u64]; 3],
    /// Global, rows, flat, flat by parameters, variable length, shifted or walked.
    pub shapes: [u64; 6],
}

/// Every form of every thing.
pub const LOOPS: Taste = Taste {
    restrict: 25,
    origins: [86, 7, 7],
    huge: 20,
    tables: 25,
    arrays: (1, 4),
    elems: [40, 16, 20, 7, 8, 9],
    alike: 80,
    dims: [&[85, 15], &[30, 65, 5], &[20, 50, 30]],
    shapes: [19, 19, 18, 20, 10, 14],
};

/// Simpler, so that scalars are what matters: the compiler often knows that arrays are apart, and moves their cells into registers.
pub const SCALARS: Taste = Taste {
    restrict: 45,
    origins: [94, 3, 3],
    huge: 0,
    tables: 6,
    arrays: (2, 5),
    elems: [44, 20, 22, 3, 3, 8],
    alike: 68,
    dims: [&[90, 10], &[55, 45], &[35, 60, 5]],
    shapes: [30, 22, 12, 20, 10, 6],
};

pub fn generate(rng: &mut Rng, index: usize, depth: usize, taste: &Taste) -> (Kernel, Vec<Role>) {
    let mut kernel = Kernel {
        index,
        vars: Vec::new(),
        parameters: 0,
        arrays: Vec::new(),
        tables: Vec::new(),
        scalars: Vec::new(),
        body: Vec::new(),
        result: None,
        sets: Vec::new(),
        restrict: rng.percent(taste.restrict),
    };
    let mut roles = Vec::new();
    // One type for most parameters, as people write.
    let usual = [Int::Int, Int::Long, Int::Unsigned, Int::Size][rng.weighted(&[50, 20, 15, 15])];
    let parameter = |rng: &mut Rng, kernel: &mut Kernel, roles: &mut Vec<Role>, role: Role| {
        let ty = if rng.percent(75) {
            usual
        } else {
            rng.pick(&[Int::Int, Int::Long, Int::Unsigned, Int::Size, Int::Short])
        };
        let origin = [Origin::Argument, Origin::Pointee, Origin::Global][rng.weighted(&taste.origins)];
        let origin = if matches!(role, Role::Lead { .. }) { Origin::Argument } else { origin };
        kernel.vars.push(Var { ty, origin });
        roles.push(role);
        VarId(kernel.vars.len() - 1)
    };
    for _ in 0..rng.within(1, 3) {
        parameter(rng, &mut kernel, &mut roles, Role::Size);
    }
    for _ in 0..rng.weighted(&[50, 35, 15]) {
        parameter(rng, &mut kernel, &mut roles, Role::Offset);
    }
    // The length of a row: a parameter of its own, one that another array has too, or, unless it has to be positive, a size that
    // loops go up to; often with something added.
    let lead = |rng: &mut Rng, kernel: &mut Kernel, roles: &mut Vec<Role>, strict: bool| {
        let role = Role::Lead { strict };
        let of = |wanted: Role| -> Vec<VarId> {
            let is = |v: &VarId| roles[v.0] == wanted && kernel.vars[v.0].origin == Origin::Argument;
            (0..roles.len()).map(VarId).filter(is).collect()
        };
        let (known, sizes) = (of(role), of(Role::Size));
        let var = match rng.weighted(&[45, 25, 30]) {
            1 if !known.is_empty() => rng.pick(&known),
            2 if !strict && !sizes.is_empty() => rng.pick(&sizes),
            _ => parameter(rng, kernel, roles, role),
        };
        Poly::var(var).plus(rng.pick(&[0, 0, 0, 1, 2]))
    };
    if rng.percent(taste.huge) {
        parameter(rng, &mut kernel, &mut roles, Role::Huge);
    }
    let primary = Elem::ALL[rng.weighted(&taste.elems)];
    for _ in 0..rng.within(taste.arrays.0, taste.arrays.1) {
        let elem = if rng.percent(taste.alike) { primary } else { rng.pick(&Elem::ALL) };
        let dims = 1 + rng.weighted(taste.dims[depth.min(3) - 1]);
        let shape = match rng.weighted(&taste.shapes) {
            0 => Shape::Global,
            1 if dims > 1 && index % 3 == 1 => Shape::Pointers,
            1 => Shape::Rows,
            2 => Shape::Flat((1..dims).map(|_| leading(rng, depth)).collect()),
            3 => Shape::FlatBy((1..dims).map(|_| lead(rng, &mut kernel, &mut roles, false)).collect()),
            4 if dims > 1 => Shape::Vla((1..dims).map(|_| lead(rng, &mut kernel, &mut roles, true)).collect()),
            5 if dims == 1 => Shape::Shifted(parameter(rng, &mut kernel, &mut roles, Role::Offset)),
            5 if dims == 2 => Shape::Walked(lead(rng, &mut kernel, &mut roles, false)),
            _ => Shape::Rows,
        };
        kernel.arrays.push(Array { elem, dims, shape });
    }
    if rng.percent(taste.tables) {
        kernel.tables.push(Table { limit: rng.within(1, 20) });
    }
    kernel.parameters = kernel.vars.len();
    kernel.sets = sets(rng, &kernel, &roles, depth);
    (kernel, roles)
}

/// Around this many iterations per loop of a nest of this depth.
fn usual_size(depth: usize) -> i64 {
    [900, 105, 28, 13][depth - 1]
}

fn leading(rng: &mut Rng, depth: usize) -> i64 {
    let usual = usual_size(depth).min(100);
    match rng.weighted(&[85, 15]) {
        0 => usual * 3 / 2 + rng.within(0, 8),
        // Too short for some rows: they overlap.
        _ => rng.within(1, usual),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// What a check should accept.
    Usual,
    /// Some sizes are zero, one or negative.
    Edge,
    /// All are.
    Empty,
    Overlapping,
}

fn sets(rng: &mut Rng, kernel: &Kernel, roles: &[Role], depth: usize) -> Vec<ArgumentSet> {
    let mut kinds = vec![Kind::Usual, Kind::Usual, Kind::Edge, Kind::Edge, Kind::Empty];
    if !kernel.restrict && kernel.arrays.len() > 1 {
        kinds.extend([Kind::Overlapping; 3]);
    }
    kinds.iter().map(|kind| set(rng, kernel, roles, depth, *kind)).collect()
}

fn set(rng: &mut Rng, kernel: &Kernel, roles: &[Role], depth: usize, kind: Kind) -> ArgumentSet {
    let usual = usual_size(depth);
    let mut values = vec![0; roles.len()];
    for (k, role) in roles.iter().enumerate() {
        let ty = kernel.vars[k].ty;
        values[k] = match role {
            Role::Size => {
                let value = match kind {
                    Kind::Usual | Kind::Overlapping => rng.within(usual * 6 / 10, usual * 14 / 10),
                    Kind::Edge => rng.pick(&[0, 1, 2, 3, -1, -5, usual, usual + 1]),
                    Kind::Empty => rng.pick(&[0, 0, -1, -7, 1]),
                };
                if ty.is_unsigned() { value.max(0) } else { value }
            }
            Role::Offset => match kind {
                Kind::Usual => rng.within(0, 3),
                _ => rng.within(-4, 4),
            },
            Role::Huge => match (rng.percent(40), ty) {
                (true, Int::Int) => i64::from(i32::MAX),
                (true, Int::Unsigned) => i64::from(u32::MAX),
                (true, Int::Long | Int::Size) => i64::MAX,
                (true, _) => 32767,
                (false, _) => rng.within(0, usual * 2),
            },
            Role::Lead { .. } => 0,
        };
    }
    let largest = (0..roles.len()).filter(|k| roles[*k] == Role::Size).map(|k| values[k]).max().unwrap_or(0).max(1);
    for (k, role) in roles.iter().enumerate() {
        if let Role::Lead { strict } = role {
            values[k] = if *strict || kind == Kind::Usual || rng.percent(70) {
                largest.min(120) + if rng.percent(25) { 0 } else { rng.within(2, 12) }
            } else {
                rng.within(0, largest)
            };
        }
    }
    let mut placement = vec![Placement::Apart; kernel.arrays.len()];
    if kind == Kind::Overlapping {
        for (k, place) in placement.iter_mut().enumerate() {
            let elem = kernel.arrays[k].elem;
            if kernel.arrays[k].shape == Shape::Global || rng.percent(15) {
                continue;
            }
            let of = |global: bool| -> Vec<usize> {
                (0..kernel.arrays.len())
                    .filter(|j| kernel.arrays[*j].elem == elem && (kernel.arrays[*j].shape == Shape::Global) == global)
                    .collect()
            };
            let (globals, earlier) = (of(true), of(false).into_iter().filter(|j| *j < k).collect::<Vec<_>>());
            if !globals.is_empty() && (earlier.is_empty() || rng.percent(30)) {
                *place = Placement::Within(ArrayId(rng.pick(&globals)), rng.draw());
                continue;
            }
            if earlier.is_empty() {
                continue;
            }
            let other = ArrayId(rng.pick(&earlier));
            *place = match rng.weighted(&[25, 35, 15, 25]) {
                0 => Placement::Near(other, 0),
                1 => Placement::Near(other, rng.pick(&[-3, -2, -1, 1, 2, 3])),
                2 => Placement::Near(other, rng.within(-2 * usual, 2 * usual)),
                _ => Placement::Behind(other),
            };
        }
    }
    ArgumentSet { values, placement }
}
