//! Places in the source.

/// A file that a function's code comes from, as its facts number them; 0 is the one that the function is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A line of a file. Without debug information there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    pub file: FileId,
    /// From 1 on; 0 if unknown.
    pub number: u32,
}

impl Line {
    pub const UNKNOWN: Line = Line { file: FileId(0), number: 0 };

    pub fn is_known(self) -> bool {
        self.number != 0
    }
    /// This one, or the other if this is unknown.
    pub fn or(self, other: Line) -> Line {
        if self.is_known() { self } else { other }
    }
    /// The first that is known.
    pub fn first(lines: impl IntoIterator<Item = Line>) -> Line {
        lines.into_iter().find(|line| line.is_known()).unwrap_or_default()
    }
}
