use thiserror::Error;

/// Why isl gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IslError {
    /// The operation budget of a stage was used up: see [`Ctx::within`](crate::Ctx::within).
    #[error("the operation budget of stage `{stage}` is used up")]
    OutOfBudget { stage: &'static str },
    /// The arguments do not fit each other: spaces differ, a position is out of range, a string does not parse.
    #[error("{function}: {message}")]
    Invalid { function: &'static str, message: String },
    /// The arguments make sense, but isl does not implement this case.
    #[error("{function}: unsupported: {message}")]
    Unsupported { function: &'static str, message: String },
    /// isl contradicts itself, or gives no reason at all.
    #[error("{function}: internal error of isl: {message}")]
    Internal { function: &'static str, message: String },
    /// The allocator gave nothing.
    #[error("{function}: out of memory")]
    OutOfMemory { function: &'static str },
}

impl IslError {
    pub(crate) fn invalid(function: &'static str, message: impl Into<String>) -> IslError {
        IslError::Invalid { function, message: message.into() }
    }

    /// Whether this is a used-up budget: a reason to refuse, not a bug.
    pub fn is_out_of_budget(&self) -> bool {
        matches!(self, IslError::OutOfBudget { .. })
    }
}

pub type Result<T, E = IslError> = std::result::Result<T, E>;

/// What simplifies need not succeed: isl's joining of pieces gives up now and then ("cannot relax redundant constraint"), and the
/// pieces as they were say the same.
pub(crate) fn or_unchanged<T: Clone>(simplified: Result<T>, original: &T) -> Result<T> {
    match simplified {
        Err(IslError::Invalid { .. } | IslError::Internal { .. }) => Ok(original.clone()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_isl_cannot_simplify_stays_as_it_was() {
        let failed = IslError::invalid("isl_map_coalesce", "cannot relax redundant constraint");
        assert_eq!(or_unchanged(Err(failed), &1), Ok(1));
        assert_eq!(or_unchanged(Ok(2), &1), Ok(2));
        let spent = IslError::OutOfBudget { stage: "dependence" };
        assert_eq!(or_unchanged(Err(spent.clone()), &1), Err(spent), "a budget ends the work, it is no failure of isl");
    }
}
