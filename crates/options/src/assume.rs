//! The kinds of assumptions: what the user may forbid, what the model assumes, what the report tells.

use serde::{Deserialize, Serialize};

/// The five families of "Optimistic Loop Optimization", one for code that is written to give up, and one for rows behind pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Row pointers: rows that are reached through pointers in memory are apart.
    RP,
}

impl AssumptionKind {
    pub const ALL: [AssumptionKind; 7] = [Self::RT, Self::EE, Self::BL, Self::IB, Self::AA, Self::EB, Self::RP];

    pub fn name(self) -> &'static str {
        match self {
            Self::RT => "RT",
            Self::EE => "EE",
            Self::BL => "BL",
            Self::IB => "IB",
            Self::AA => "AA",
            Self::EB => "EB",
            Self::RP => "RP",
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

    /// `none`, `all`, or kinds with `+` between them.
    pub(crate) fn parse(text: &str) -> Option<Allowed> {
        let kind = |name: &str| AssumptionKind::ALL.into_iter().find(|k| k.name().eq_ignore_ascii_case(name));
        match text {
            "none" => Some(Allowed::NONE),
            "all" => Some(Allowed::ALL),
            _ => text.split('+').try_fold(Allowed::NONE, |allowed, name| Some(allowed.with(kind(name)?))),
        }
    }
}

impl Default for Allowed {
    fn default() -> Self {
        Allowed::ALL
    }
}
