//! Faults that can be planted in the optimizer on purpose, to see that the tests find them.
//!
//! A place that could be wrong asks `planted::is(Fault::…)` and is wrong if the answer is yes. In ordinary builds the answer is no, known
//! at compile time. With the feature `on` the environment variable `LOOPWRIGHT_PLANT` names the one fault that is there.
//! `make mutants` plants each in turn and tells which generated kernels or fixtures notice.

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $($(#[doc = $doc])+ $name,)*
        }
        impl Fault {
            pub const ALL: &[Fault] = &[$(Fault::$name,)*];

            pub fn name(self) -> &'static str {
                match self { $(Fault::$name => stringify!($name),)* }
            }
            /// What is wrong then.
            pub fn describe(self) -> &'static str {
                match self { $(Fault::$name => concat!($($doc),+).trim_ascii_start(),)* }
            }
        }
    };
}

faults! {
    /// Anti dependences are left out.
    AntiDropped,
    /// Output dependences are left out.
    OutputDropped,
    /// Flow dependences are left out.
    FlowDropped,

    /// A function that was brought into form stays so, though nothing came of it.
    CanonicalFormKept,
    /// A φ where a boxed part begins is not found under the name of what it stands for.
    TwinAtBoxEntryForgotten,
    /// Slots that only edges of a boxed part write are not made.
    EdgeSlotsForgotten,
    /// What a boxed part leaves for a φ behind it is not written.
    EdgeWriteLost,
    /// A region does not hand its result to the next one, if that begins with the block of its φ.
    TakenOverEdgeIgnored,
    /// Scalars do not hold what arrives in them before the region.
    InitialForgotten,
}

/// Is this fault planted?
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn is(_: Fault) -> bool {
    false
}

/// Is this fault planted?
#[cfg(feature = "on")]
pub fn is(fault: Fault) -> bool {
    use std::sync::OnceLock;
    static PLANTED: OnceLock<Option<Fault>> = OnceLock::new();
    *PLANTED.get_or_init(|| {
        let name = std::env::var("LOOPWRIGHT_PLANT").ok()?;
        let found = Fault::ALL.iter().copied().find(|f| f.name() == name);
        Some(found.unwrap_or_else(|| panic!("LOOPWRIGHT_PLANT={name}: there is no such fault")))
    }) == Some(fault)
}
