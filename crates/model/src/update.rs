//! What an update `a = a op x` does to the bytes of `a`, and when two of them may change places.
//!
//! Two updates commute if they are of one kind and touch the same bytes, or no byte in common. Everything else keeps its order:
//! a sum that reaches into half of another's bytes hands it a carry, the smaller of two signed numbers need not be the smaller of two
//! unsigned ones, and a sum of 32 bits drops the carry that one of 64 keeps.

use std::fmt;

/// The kind of an update: `lanes` numbers side by side, each combined with one of x by `op`. Equal kinds do the same to bytes.
///
/// `op` commutes and associates on such numbers, bit for bit or because fast-math flags allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    pub op: Combine,
    pub number: NumberFormat,
    pub lanes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Also of what is subtracted: a − x is a + (−x).
    Add,
    Mul,
    SignedMin,
    SignedMax,
    UnsignedMin,
    UnsignedMax,
    /// The smaller, or the one that is a number.
    FloatMin,
    FloatMax,
    /// The smaller, or NaN if either is.
    FloatMinimum,
    FloatMaximum,
    And,
    Or,
    Xor,
}

/// How bytes are read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberFormat {
    /// So many bits, modulo two to the power of them; which sign they have is a matter of the operation.
    Integer(u32),
    Half,
    BFloat,
    Single,
    Double,
    /// Of 80 bits.
    Extended,
    Quad,
    /// The sum of two doubles.
    DoubleDouble,
}

impl NumberFormat {
    /// As LLVM writes the type: `i32`, `double`.
    pub fn from_llvm_name(name: &str) -> Option<NumberFormat> {
        Some(match name {
            "half" => NumberFormat::Half,
            "bfloat" => NumberFormat::BFloat,
            "float" => NumberFormat::Single,
            "double" => NumberFormat::Double,
            "x86_fp80" => NumberFormat::Extended,
            "fp128" => NumberFormat::Quad,
            "ppc_fp128" => NumberFormat::DoubleDouble,
            _ => NumberFormat::Integer(name.strip_prefix('i')?.parse().ok()?),
        })
    }
    /// Numbers side by side, as LLVM writes the type: `i32` is one, `<4 x float>` are four.
    pub fn lanes_from_llvm_name(name: &str) -> Option<(NumberFormat, u32)> {
        let Some(inner) = name.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
            return Some((NumberFormat::from_llvm_name(name)?, 1));
        };
        let (lanes, number) = inner.split_once(" x ")?;
        Some((NumberFormat::from_llvm_name(number)?, lanes.parse().ok()?))
    }
}

impl fmt::Display for NumberFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFormat::Integer(bits) => return write!(f, "i{bits}"),
            NumberFormat::Half => "half",
            NumberFormat::BFloat => "bfloat",
            NumberFormat::Single => "float",
            NumberFormat::Double => "double",
            NumberFormat::Extended => "x86_fp80",
            NumberFormat::Quad => "fp128",
            NumberFormat::DoubleDouble => "ppc_fp128",
        })
    }
}

/// `Add i32`, `FloatMin <4 x float>`
impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{:?} {}", self.op, self.number),
            lanes => write!(f, "{:?} <{lanes} x {}>", self.op, self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_written() {
        for name in ["i1", "i24", "i128", "half", "bfloat", "float", "double", "x86_fp80", "fp128", "ppc_fp128"] {
            assert_eq!(NumberFormat::from_llvm_name(name).map(|n| n.to_string()), Some(name.to_string()));
            assert_eq!(NumberFormat::lanes_from_llvm_name(name), NumberFormat::from_llvm_name(name).map(|n| (n, 1)));
        }
        assert_eq!(NumberFormat::lanes_from_llvm_name("<4 x float>"), Some((NumberFormat::Single, 4)));
        for other in ["ptr", "{ i32, i32 }", "<vscale x 4 x i32>", "<2 x ptr>", "[2 x i32]", "x86_amx"] {
            assert_eq!(NumberFormat::lanes_from_llvm_name(other), None, "{other}");
        }
    }
}
