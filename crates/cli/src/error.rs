//! Everything that ends the command: one message that names the place.

use std::fmt;
use std::io;
use std::path::Path;

/// A finished sentence for the user, without the leading `loopwright: error:`.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }

    /// `FILE: cannot be read: No such file or directory`.
    pub fn at(path: &Path, what: &str, cause: &io::Error) -> Self {
        // "(os error 2)" tells nobody anything.
        let cause = cause.to_string();
        let cause = cause.split(" (os error").next().unwrap_or_default();
        Error(format!("{}: {what}: {cause}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
