//! What both families draw with: parameters, memory, places and values.

use super::*;
use crate::rng::Rng;

/// The columns of arrays that are walked along: few, and so many that their order matters.
const COLUMNS: [i64; 4] = [48, 72, 200, 200];

/// Argument sets of a kernel, at most.
const SETS: usize = 3;

/// Attempts to find a valid argument set.
const TRIES: usize = 30;

/// The values a parameter may get.
#[derive(Clone, Debug)]
pub enum Choice {
    Among(Vec<i64>),
    /// Another parameter's value and a little.
    Near(usize, Vec<i64>),
}

pub struct Draw {
    pub rng: Rng,
    pub kernel: Kernel,
    choices: Vec<Choice>,
    /// By pointer: where it may point.
    spots: Vec<Vec<(usize, i64)>>,
    /// The memory of bytes that most statements share.
    arena: Option<usize>,
}

/// Kernels of one family: bodies are drawn until one has a valid call, which the first nearly always has.
pub fn kernel(family: &'static str, seed: u64, index: usize, body: fn(&mut Draw) -> Vec<Stmt>) -> Kernel {
    let mut rng = Rng::new(seed, index as u64 + if family == "bytes" { 1 << 40 } else { 1 << 41 });
    loop {
        let mut draw = Draw::new(rng, family, index);
        draw.kernel.body = body(&mut draw);
        match draw.finish() {
            Ok(kernel) => return kernel,
            Err(after) => rng = after,
        }
    }
}

impl Draw {
    fn new(mut rng: Rng, family: &'static str, index: usize) -> Draw {
        let counter = if rng.percent(50) { signed(32) } else { signed(64) };
        let kernel = Kernel {
            index,
            family,
            params: Vec::new(),
            pointers: Vec::new(),
            blocks: Vec::new(),
            locals: Vec::new(),
            counters: 0,
            counter,
            result: None,
            reassociate: false,
            body: Vec::new(),
            sets: Vec::new(),
        };
        Draw { rng, kernel, choices: Vec::new(), spots: Vec::new(), arena: None }
    }

    /// Ensures: the kernel is valid, or there is no set of arguments for it.
    fn finish(mut self) -> Result<Kernel, Rng> {
        let mut sets = Vec::new();
        for _ in 0..TRIES {
            let mut values: Vec<i64> = Vec::new();
            for choice in &self.choices {
                let value = match choice {
                    Choice::Among(all) => self.rng.pick(all),
                    Choice::Near(param, by) => values[*param] + self.rng.pick(by),
                };
                values.push(value);
            }
            let at = self.spots.iter().map(|all| self.rng.pick(all)).collect();
            let set = Set { values, at };
            self.kernel.sets = vec![set.clone()];
            if !sets.contains(&set) && self.kernel.is_valid() {
                sets.push(set);
            }
            if sets.len() == SETS {
                break;
            }
        }
        self.kernel.sets = sets;
        if self.kernel.is_valid() { Ok(self.kernel) } else { Err(self.rng) }
    }

    // --- numbers ---

    pub fn param(&mut self, ty: Ty, known: bool, choice: Choice) -> usize {
        self.kernel.params.push(Param { ty, known });
        self.choices.push(choice);
        self.kernel.params.len() - 1
    }

    /// How often a loop runs: mostly a parameter.
    pub fn size(&mut self) -> Expr {
        if self.rng.percent(15) {
            return Expr::Number(self.rng.pick(&[4, 8, 9, 16, 24]));
        }
        if !self.kernel.params.is_empty() && self.rng.percent(40) && matches!(self.choices[0], Choice::Among(_)) {
            return Expr::Param(0);
        }
        Expr::Param(self.new_size())
    }

    pub fn new_size(&mut self) -> usize {
        let ty = if self.rng.percent(70) { self.kernel.counter } else { signed(32) };
        self.param(ty, false, Choice::Among(vec![1, 5, 9, 13, 17, 17, 21, 24, 33, 33]))
    }

    pub fn counter(&mut self) -> usize {
        self.kernel.counters += 1;
        self.kernel.counters - 1
    }

    pub fn local(&mut self, ty: Ty) -> usize {
        self.kernel.locals.push(ty);
        self.kernel.locals.len() - 1
    }

    // --- memory ---

    pub fn block(&mut self, block: Block) -> usize {
        self.kernel.blocks.push(block);
        self.kernel.blocks.len() - 1
    }

    pub fn pointer(&mut self, pointer: Pointer, spots: Vec<(usize, i64)>) -> usize {
        self.kernel.pointers.push(pointer);
        self.spots.push(spots);
        self.kernel.pointers.len() - 1
    }

    /// A matrix of its own.
    pub fn matrix(&mut self, elem: Ty) -> usize {
        self.matrix_of(elem, Block::Filled(elem))
    }

    pub fn matrix_of(&mut self, elem: Ty, block: Block) -> usize {
        let block = self.block(block);
        let (row, restrict) = (Some(self.rng.pick(&COLUMNS)), self.rng.percent(50));
        self.pointer(Pointer { elem, row, restrict, place: Where::Argument }, vec![(block, 0)])
    }

    /// An array of its own.
    pub fn array(&mut self, elem: Ty) -> usize {
        let place = match self.rng.below(20) {
            0 => Where::ThreadLocal,
            1 | 2 => Where::Global,
            _ => Where::Argument,
        };
        if place != Where::Argument {
            let pointer = self.kernel.pointers.len();
            let block = self.block(Block::Global(pointer));
            return self.pointer(Pointer { elem, row: None, restrict: false, place }, vec![(block, 0)]);
        }
        let block = self.block(Block::Filled(elem));
        let restrict = self.rng.percent(50);
        self.pointer(Pointer { elem, row: None, restrict, place }, vec![(block, 0)])
    }

    /// Bytes: mostly the ones that were used before, sometimes through a pointer of their own.
    pub fn arena(&mut self) -> usize {
        match self.arena {
            Some(pointer) if self.rng.percent(75) => pointer,
            Some(pointer) if !self.kernel.pointers[pointer].restrict => {
                let (block, byte) = self.spots[pointer][0];
                let by = self.rng.pick(&[0, 0, 1, 2, 3, 4, 8]);
                let spots = vec![(block, byte + by), (block, byte), (block, byte + 16)];
                let elem = unsigned(8);
                self.pointer(Pointer { elem, row: None, restrict: false, place: Where::Argument }, spots)
            }
            _ => {
                let fill = if self.rng.percent(80) {
                    unsigned(8)
                } else {
                    self.rng.pick(&[unsigned(32), Ty::Float, Ty::Double])
                };
                let block = self.block(Block::Filled(fill));
                let restrict = self.rng.percent(40);
                let pointer = Pointer { elem: fill, row: None, restrict, place: Where::Argument };
                let pointer = self.pointer(pointer, vec![(block, 0)]);
                self.arena = Some(pointer);
                pointer
            }
        }
    }

    /// Some bytes, through some door; the address is known to be a multiple of `multiple`.
    pub fn bytes(&mut self, pointer: usize, ty: Ty, at: Expr, multiple: i64) -> Place {
        let named = matches!(ty, Ty::Int { bits, .. } if bits <= 64) || matches!(ty, Ty::Float | Ty::Double);
        let four = matches!(ty, Ty::Int { bits: 32, .. });
        let own = self.spots[pointer].iter().all(|s| s.1 % 16 == 0);
        let how = match self.rng.below(20) {
            0 if four => How::Three,
            1..=4 if named => How::Pun,
            5..=9 => How::Copy,
            10..=12 if own && multiple % ty.alignment() == 0 => How::Alias,
            13 if own && multiple % 16 == 0 => How::Over,
            14 if own && multiple % 16 == 0 => How::Assumed,
            _ => How::Unaligned,
        };
        Place { pointer, ty, how, row: None, at }
    }

    /// An element: `matrix[row][at]`, or `array[at]`.
    pub fn element(&self, pointer: usize, row: Option<Expr>, at: Expr) -> Place {
        Place { pointer, ty: self.kernel.pointers[pointer].elem, how: How::Plain, row, at }
    }

    // --- types ---

    /// One that bytes of any kind are a value of.
    pub fn width(&mut self) -> Ty {
        let sign = self.rng.percent(50);
        let int = |bits| Ty::Int { bits, signed: sign };
        match self.rng.below(24) {
            0..=2 => int(8),
            3..=5 => int(16),
            6..=11 => int(32),
            12..=15 => int(64),
            16 => int(128),
            17 | 18 => Ty::Float,
            19 => Ty::Double,
            20 | 21 => Ty::Lanes(self.rng.pick(&[8, 16, 32, 64])),
            _ => int(32),
        }
    }

    pub fn operator(&mut self, ty: Ty) -> Op {
        self.rng.pick(ty.operators())
    }

    // --- values ---

    /// A value made of these, and numbers.
    pub fn value(&mut self, of: &[Value], depth: usize) -> Value {
        if depth == 0 || self.rng.percent(35) {
            let k = self.rng.below(of.len() + 1);
            return of.get(k).cloned().unwrap_or_else(|| Value::Number(self.rng.pick(&[1, 3, 5, 7, -3, 77_777])));
        }
        let op = self.rng.pick(&[Op::Add, Op::Add, Op::Sub, Op::Mul]);
        let (a, b) = (self.value(of, depth - 1), self.value(of, depth - 1));
        let binary = a.binary(op, b);
        if self.rng.percent(20) {
            binary.cast(self.rng.pick(&[signed(16), unsigned(8), signed(64), unsigned(32)]))
        } else {
            binary
        }
    }

    // --- loops ---

    pub fn up(&self, counter: usize, high: Expr, body: Vec<Stmt>) -> Stmt {
        self.from(counter, Expr::Number(0), high, body)
    }

    pub fn from(&self, counter: usize, low: Expr, high: Expr, body: Vec<Stmt>) -> Stmt {
        Stmt::Loop(Loop { counter, form: Form::Up, low, high, step: 1, body })
    }

    /// Now and then in another form.
    pub fn some_loop(&mut self, counter: usize, high: Expr, body: Vec<Stmt>) -> Stmt {
        let (form, step) = match self.rng.below(16) {
            0 => (Form::Down, 1),
            1 => (Form::Do, 1),
            2 => (Form::Up, 2),
            _ => (Form::Up, 1),
        };
        Stmt::Loop(Loop { counter, form, low: Expr::Number(0), high, step, body })
    }

    /// A condition about a counter of a loop, mostly true for some iterations and false for others.
    pub fn condition(&mut self, counter: usize) -> Cond {
        let left = Expr::Counter(counter);
        match self.rng.below(5) {
            0 => {
                let every = self.rng.pick(&[2, 3, 4]);
                Cond {
                    left: left.partial(Partial::Remainder, 32, Expr::Number(every)),
                    rel: self.rng.pick(&[Rel::Eq, Rel::Ne]),
                    right: Expr::Number(0),
                }
            }
            1 | 2 => Cond {
                left,
                rel: self.rng.pick(&[Rel::Lt, Rel::Ge, Rel::Eq]),
                right: Expr::Number(self.rng.pick(&[0, 3, 5, 8])),
            },
            _ => {
                let limit = self.param(signed(32), false, Choice::Among(vec![0, 3, 5, 9, 16, 40]));
                Cond { left, rel: self.rng.pick(&[Rel::Lt, Rel::Ge, Rel::Eq, Rel::Ne]), right: Expr::Param(limit) }
            }
        }
    }
}
