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

    /// Calls that may write errno change places.
    ErrnoForgotten,
    /// All calls are taken to leave the same number in errno.
    ErrnoOfOneValue,
    /// No pointer is taken to lead to errno.
    ErrnoApart,
    /// A call whose result nobody needs is dropped, though it may write errno.
    ErrnoUnneeded,
    /// Types keep arrays apart: a later store may come before an earlier access of another type.
    TypesSeparate,
    /// Two arrays of which only the second is written are not compared.
    SecondWriteUnchecked,
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
