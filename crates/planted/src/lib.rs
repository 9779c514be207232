//! Faults that can be planted in the optimizer on purpose, to see that the tests find them.
//!
//! A place that could be wrong asks `planted::is(Fault::…)` and is wrong if the answer is yes. In ordinary builds the answer is no, known
//! at compile time. With the feature `on` the environment variable `LOOPWRIGHT_PLANT` names the one fault that is there.
//! `make mutants` plants each in turn and tells who notices: `=>` names the test that is there for a fault, all others are for generated
//! kernels to find.

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident $(=> $test:ident $case:literal)?,)*) => {
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
            /// The test that is there for this fault, as `cargo test` knows it: its program and the case in it.
            pub fn test(self) -> Option<(&'static str, &'static str)> {
                match self { $(Fault::$name => None$(.or(Some((stringify!($test), $case))))?,)* }
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
    ExtentShort => fixtures "sound/touching_ranges.c",
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
    ChangeUntested => fixtures "sound/changing_bounds.c",
    /// That addresses computed in few bits are those of the model is not tested.
    WindowUntested => fixtures "sound/wrapping_rows.c",
    /// That rows behind pointers are apart is not tested.
    RowPointersUntested => fixtures "sound/rows_behind_pointers.c",
    /// Pointers to rows are read before it is known whether the original gets to them.
    RowPointersReadAtOnce => fixtures "sound/rows_change_their_table.c",
    /// What the region may not even read is read before it.
    PreloadAnywhere => fixtures "run/mapped_null_behind_check.c",

    /// The last iteration of a tile that is cut off is lost.
    RemainderShort,
    /// Quotients of negative numbers are rounded up.
    QuotientTruncated,
    /// Conditions between new loops are left out.
    GuardDropped,
    /// What a loop writes is loaded before it.
    TouchedLoadedAhead => fixtures "sound/loaded_ahead.c",
    /// Parts of new loops change places.
    PartsSwapped => fixtures "schedule/mapped_temporary.c",
    /// Updates of one element count for independent where loops run at once.
    UpdatesAtOnce => fixtures "sound/updates.c",
    /// Innermost loops that carry dependences pass for independent.
    CarriedAtOnce,
    /// What may set errno runs in any thread.
    EffectsInAnyThread => fixtures "sound/errno.c",
    /// Scalars share the elements of temporaries whoever needs them.
    TemporariesShared => fixtures "sound/shared_temporaries.c",

    /// What a scalar holds before the region does not reach the new code.
    InitialValueLost,
    /// What a scalar holds behind the new code does not reach the rest of the program.
    LastValueLost,
    /// Every thread leaves out the last iteration of its share.
    ShareShort,
    /// What follows the exit in a loop runs once more.
    LastIterationGoesOn => fixtures "sound/exit_in_the_middle.c",
    /// The default of a switch runs with every case.
    DefaultTakesAll => fixtures "read/mapped_switch.c",
    /// Loops have one iteration less.
    CountShort,
    /// Unsigned comparisons pass for signed ones.
    UnsignedTakenForSigned,

    /// φs of two different casts of one value become one of them.
    CastsTakenForEqual,
    /// What is computed before the region is not frozen.
    PoisonHoisted => fixtures "ir/mapped_poison_is_frozen.c",
    /// Promises are believed before it is known whether control gets to them.
    PromisesBelievedEarly => fixtures "sound/promises.c",
    /// That errors do not happen is assumed and not tested.
    ErrorsNotTested,

    /// Updates of bytes that overlap in part pass for updates of the same bytes.
    OverlapCommutes,
    /// Signed and unsigned minima pass for one kind of update.
    MinimaCommute => fixtures "sound/updates.c",
    /// Sums of floating point change places without fast-math flags.
    FloatSumsCommute => fixtures "sound/strict_sums.c",
    /// Updates in another order still promise not to wrap and to load from a range.
    UpdatesKeepPromises => fixtures "ir/mapped_update_promises_nothing.cpp",
    /// Dataflow analysis takes a counter that is a number for a place in the text.
    TimeWithoutClock => fixtures "sound/dataflow_under_conditions.c",

    /// Two accesses that share some bytes are taken for two of the same cell.
    CellsMeetInPart,
    /// What a statement stores between its read of a cell and its write to it is overlooked.
    OwnStoreOverlooked => fixtures "sound/write_back.c",
    /// Moved values are aligned as the best aligned access to their array is.
    AlignmentOfAnyAccess,

    /// Values in memory are loaded before the region whether they can be read or not.
    PreloadAlways => fixtures "run/mapped_null_behind_check.c",
    /// Overflows of the check's arithmetic are not noticed.
    OverflowUnnoticed => fixtures "sound/wrapping_rows.c",

    /// Calls that may write errno change places.
    ErrnoForgotten,
    /// All calls are taken to leave the same number in errno.
    ErrnoOfOneValue,
    /// No pointer is taken to lead to errno.
    ErrnoApart,
    /// A call whose result nobody needs is dropped, though it may write errno.
    ErrnoUnneeded => fixtures "sound/errno_of_unused.c",
    /// Types keep arrays apart: a later store may come before an earlier access of another type.
    TypesSeparate => fixtures "sound/reused_memory.c",
    /// Two arrays of which only the second is written are not compared.
    SecondWriteUnchecked,

    /// A scalar moves into elements that others overwrite while it is needed.
    MovedIntoOverwritten,
    /// A scalar moves into elements whose contents are still read.
    MovedOverContents,
    /// A scalar moves into elements that the region might not write, and stays there.
    MovedWhereNothingIsWritten,
    /// A value is loaded again from an element that was overwritten meanwhile.
    LoadedAgainFromOverwritten,

    /// A copy into memory of our own leaves out an element that is read there.
    PackedShort => fixtures "run/mapped_packed.c",
    /// A group of iterations that is not whole is written out all the same.
    RaggedTakenForWhole => fixtures "run/mapped_side_by_side.c",
    /// Iterations that run side by side share their scalars.
    ScalarsSharedSideBySide => fixtures "run/mapped_side_by_side.c",

    /// A function that was brought into form stays so, though nothing came of it.
    CanonicalFormKept => unchanged "fixtures/read/mapped_sum.c",
    /// A φ where a boxed part begins is not found under the name of what it stands for.
    TwinAtBoxEntryForgotten => fixtures "sound/boxed_entries.c",
    /// Slots that only edges of a boxed part write are not made.
    EdgeSlotsForgotten => fixtures "sound/unread_slots.c",
    /// What a boxed part leaves for a φ behind it is not written.
    EdgeWriteLost,
    /// A region does not hand its result to the next one, if that begins with the block of its φ.
    TakenOverEdgeIgnored => fixtures "sound/adjacent_nests.c",

    /// New loops turn although the loops in them are empty.
    EmptyLoopsTurn => fixtures "sound/empty_nests.c",
    /// Values in memory that are read before the loops are not part of what the test of an overlap covers.
    CellsOutsideExtents,
    /// The last element of an array of several dimensions is not part of what the test of an overlap covers.
    LastElementOutsideExtents => fixtures "sound/touching_ranges.c",
    /// How often loops turn is taken for a signed number.
    CountsSigned => fixtures "run/mapped_not_equal.c",

    /// What the library that our own code calls leaves in errno stays there.
    LibraryErrno => fixtures "sound/library_errno.c",
    /// The copy of a part that ends its region has edges to where the original goes on.
    BoxLeftAnywhere => fixtures "sound/box_at_exit.c",

    /// A loop of which nobody knows whether it ends is a statement like any other.
    EndlessPartBoxed => fixtures "sound/endless_parts.c",
    /// What a loop inside of a part that the model does not look into touches lacks its last iteration.
    BoxCountShort => fixtures "sound/boxed_loops.c",
    /// A branch inside of such a part is taken for its opposite.
    BoxGuardsTurned => fixtures "sound/boxed_loops.c",
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
