//! What we take for granted without proof, and therefore check at run time.

/// The five families of "Optimistic Loop Optimization", and one for code that is written to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumptionKind {
    /// Referential transparency: a value in memory does not change.
    RT,
    /// Expression evaluation: no wrap-around.
    EE,
    /// Bounded loops.
    BL,
    /// In bounds.
    IB,
    /// No aliasing.
    AA,
    /// Error blocks: checks of the program itself do not fail.
    EB,
}

impl AssumptionKind {
    pub const ALL: [AssumptionKind; 6] = [Self::RT, Self::EE, Self::BL, Self::IB, Self::AA, Self::EB];

    pub fn name(self) -> &'static str {
        match self {
            Self::RT => "RT",
            Self::EE => "EE",
            Self::BL => "BL",
            Self::IB => "IB",
            Self::AA => "AA",
            Self::EB => "EB",
        }
    }
}

/// The kinds of assumptions that may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed(u8);

impl Allowed {
    pub const ALL: Allowed = Allowed(u8::MAX);
    pub const NONE: Allowed = Allowed(0);

    pub fn with(self, kind: AssumptionKind) -> Allowed {
        Allowed(self.0 | 1 << kind as u8)
    }
    pub fn contains(self, kind: AssumptionKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl Default for Allowed {
    fn default() -> Self {
        Allowed::ALL
    }
}

/// The region behaves as modelled for the parameter values in `valid`, a set over the parameters.
#[derive(Clone, Debug)]
pub struct Assumption {
    pub kind: AssumptionKind,
    /// One sentence for the user.
    pub because: String,
    pub line: u32,
    pub valid: isl::Set,
}

/// The assumptions of one region; all of them must hold.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    entries: Vec<Assumption>,
}
impl Assumptions {
    pub fn add(&mut self, assumption: Assumption) {
        self.entries.push(assumption);
    }
    pub fn iter(&self) -> impl Iterator<Item = &Assumption> {
        self.entries.iter()
    }
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Assumptions {
    /// The parameter values in `context` at which all assumptions hold that `keep` selects, as a set that says nothing that
    /// `context` says already.
    ///
    /// Requires: `context` is a parameter set.
    pub fn valid(
        &self,
        context: &isl::Set,
        keep: impl Fn(usize, &Assumption) -> bool,
    ) -> Result<isl::Set, isl::IslError> {
        let mut valid = isl::Set::universe(&context.get_space()?)?;
        for (_, assumption) in self.entries.iter().enumerate().filter(|(number, a)| keep(*number, a)) {
            valid = valid.intersect(&assumption.valid)?;
        }
        // The gist is only exact where the context is not empty; an empty context needs no check at all.
        valid.coalesce()?.gist(&context.coalesce()?)?.coalesce()
    }
}
