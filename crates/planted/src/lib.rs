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

    /// That arrays do not overlap is not tested.
    OverlapUntested,
    /// The last byte of an access is not part of what the test of an overlap covers.
    ExtentShort,
    /// What the region only reads is not part of what the test of an overlap covers.
    ReadsOutsideExtents,
    /// That integers do not wrap around is not tested.
    WrapUntested,
    /// That subscripts stay in their rows is not tested.
    RowsUntested,
    /// That loops end is not tested.
    EndlessUntested,
    /// That the program's own checks hold is not tested.
    ErrorsUntested,
    /// That values in memory do not change is not tested.
    ChangeUntested,
    /// That addresses computed in few bits are those of the model is not tested.
    WindowUntested,
    /// What the region may not even read is read before it.
    PreloadAnywhere,

    /// The last iteration of a tile that is cut off is lost.
    RemainderShort,
    /// Quotients of negative numbers are rounded up.
    QuotientTruncated,
    /// Conditions between new loops are left out.
    GuardDropped,
    /// Updates of one element count for independent where loops run at once.
    UpdatesAtOnce,
    /// Innermost loops that carry dependences pass for independent.
    CarriedAtOnce,
    /// What may set errno runs in any thread.
    EffectsInAnyThread,
    /// Scalars share the elements of temporaries whoever needs them.
    TemporariesShared,

    /// What a scalar holds before the region does not reach the new code.
    InitialValueLost,
    /// What a scalar holds behind the new code does not reach the rest of the program.
    LastValueLost,
    /// Every thread leaves out the last iteration of its share.
    ShareShort,
    /// What follows the exit in a loop runs once more.
    LastIterationGoesOn,
    /// The default of a switch runs with every case.
    DefaultTakesAll,
    /// Loops have one iteration less.
    CountShort,
    /// Unsigned comparisons pass for signed ones.
    UnsignedTakenForSigned,

    /// Addresses of fewer than 64 bits pass for numbers that do not wrap around in them.
    NarrowAddresses,
    /// What the library that our own code calls leaves in errno stays there.
    LibraryErrno,
    /// The copy of a part that ends its region has edges to where the original goes on.
    BoxLeftAnywhere,
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
