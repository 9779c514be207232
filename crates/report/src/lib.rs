//! What was found and done in one module, as data: written by the optimizer, read by the command.
//!
//! Sets, maps and schedules are text in isl notation with the source's names; polynomials are sums of products. Every field
//! is always present: what a region does not have is empty, `null` or zero, never absent. The order is the program's.
//!
//! This crate knows neither isl nor LLVM, so that the command links neither.

pub use options::AssumptionKind;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of loopwright.
    pub loopwright: String,
    /// The source file, or the name of the module where there is none.
    pub module: String,
    pub functions: Vec<Function>,
    /// How much is assumed in all of them.
    pub assumed: Vec<Assumed>,
}

/// The assumptions of one kind, in all regions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assumed {
    pub kind: AssumptionKind,
    pub taken: u64,
    /// Those that do not follow from what is known and the assumptions before them.
    pub not_implied: u64,
}

/// Every function that was visited, also those without a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// The symbol.
    pub name: String,
    /// As its author wrote it: without mangling and parameters.
    pub source_name: String,
    pub scops: Vec<Scop>,
    pub refusals: Vec<Refusal>,
}

/// A region that was modelled, whether or not anything was done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scop {
    /// Function and first source line, `kernel:12`; an ordinal instead of the line without debug info.
    pub id: String,
    /// The file that all its lines are in, where it is not the one that was compiled but one that this includes.
    pub file: String,
    /// First and last source line, zeros when unknown.
    pub lines: [u32; 2],
    pub parameters: Vec<Parameter>,
    /// What is known of the parameters at compile time.
    pub context: String,
    pub arrays: Vec<Array>,
    pub statements: Vec<Statement>,
    pub assumptions: Vec<Assumption>,
    /// The affine part of the run-time check, simplified; [`UNIVERSE`] when nothing needs checking.
    pub check: String,
    /// The terms that are evaluated, in order.
    pub check_terms: Vec<CheckTerm>,
    /// Every loop is a dimension and every access exact.
    pub modelled: bool,
    /// Operations that the emitted check executes at most.
    pub check_cost: u64,
    /// Writes of scalars in loops, around the removal of scalar dependences.
    pub scalar_writes: BeforeAfter,
    pub delicm: Delicm,
    pub dependences: Dependences,
    pub transformation: Transformation,
}

/// The set of parameters without a constraint, as isl prints it.
pub const UNIVERSE: &str = "{  : }";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameter {
    pub name: String,
    /// As LLVM writes it: `i64`.
    #[serde(rename = "type")]
    pub ty: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Array {
    pub name: String,
    pub element: String,
    pub element_bytes: u64,
    /// Outermost first; `*` is an unknown extent, everything else an affine expression. Empty for scalars.
    pub shape: Vec<String>,
    pub recovered: Recovered,
    /// The parameters for which the subscripts stay inside the shape; universe where that is proved.
    pub condition: String,
    /// The same without the braces, `n <= 1200`; empty for the universe.
    pub requires: String,
    /// Not an array of the program, but memory of the new loops' own.
    pub temporary: bool,
}

/// How the shape of an array came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recovered {
    Declared,
    Constant,
    Parametric,
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statement {
    pub name: String,
    pub line: u32,
    pub domain: String,
    /// The original order.
    pub schedule: String,
    pub accesses: Vec<Access>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    pub kind: AccessKind,
    pub array: String,
    /// An SSA value that crosses statements, not memory.
    pub scalar: bool,
    pub relation: String,
    /// The subscripts, `i-1` and `j`, outermost first; none where the relation is not one tuple of functions.
    pub subscripts: Option<Vec<String>>,
    /// Flat, in elements; empty when it has no closed form.
    pub offset: String,
    /// None where the address is not one polynomial, or nobody knows in which direction it moves.
    pub lmad: Option<Lmad>,
    pub reduction: Option<Reduction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    Read,
    Write,
    MayWrite,
}

/// The set { base + Σ kᵢ·strideᵢ | 0 ≤ kᵢ·strideᵢ ≤ spanᵢ }, and what it is to the elements that are touched by all instances of the
/// statement together, where there is one.
///
/// Inner loops first. Where strides and spans speak of indices, these count the steps of their dimension from 0, and a stride is the
/// one from that step to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lmad {
    pub base: String,
    pub dims: Vec<LmadDim>,
    pub mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mark {
    Exact,
    /// It contains them all.
    Over,
    /// It contains nothing else.
    Under,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LmadDim {
    pub stride: String,
    pub span: String,
    pub index: String,
}

impl Lmad {
    /// `A^{1,5}_{4,15}+2`
    pub fn text(&self, array: &str) -> String {
        let list = |part: fn(&LmadDim) -> &str| self.dims.iter().map(part).collect::<Vec<_>>().join(",");
        let dims = match self.dims.is_empty() {
            true => String::new(),
            false => format!("^{{{}}}_{{{}}}", list(|dim| &dim.stride), list(|dim| &dim.span)),
        };
        let sign = if self.base.starts_with('-') { "" } else { "+" };
        format!("{array}{}", format!("{dims}{sign}{}", self.base).replace(' ', ""))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reduction {
    #[serde(rename = "+")]
    Add,
    #[serde(rename = "*")]
    Mul,
    #[serde(rename = "min")]
    Min,
    #[serde(rename = "max")]
    Max,
    #[serde(rename = "&")]
    And,
    #[serde(rename = "|")]
    Or,
    #[serde(rename = "^")]
    Xor,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assumption {
    pub kind: AssumptionKind,
    /// One sentence.
    pub because: String,
    pub line: u32,
    /// The parameters for which it holds.
    pub valid: String,
    /// The same without the braces, `n <= 1200`; empty for the universe.
    pub requires: String,
    /// The pair that must not overlap, for AA.
    pub arrays: Vec<String>,
    /// It follows from what is known and the assumptions before it.
    pub implied: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckTerm {
    pub kind: CheckKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckKind {
    /// Enough iterations to pay for the transformation.
    #[serde(rename = "work")]
    Work,
    /// The bounds of the new loops fit their machine type.
    #[serde(rename = "fits")]
    Fits,
    /// Memory of the new loops' own is not too much.
    Memory,
    /// What is assumed.
    #[serde(untagged)]
    Assumed(AssumptionKind),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforeAfter {
    pub before: u64,
    pub after: u64,
}

/// Scalar dependences that were removed, by the way it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delicm {
    pub forwarded: u64,
    pub reloaded: u64,
    pub mapped: u64,
    /// Given memory of their own, with the option `expand`.
    pub expanded: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependences {
    pub flow: String,
    pub anti: String,
    pub output: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transformation {
    pub by: By,
    /// An isl schedule tree; empty when nothing was changed.
    pub schedule: String,
    /// How one gets there from the original order, or from one of isl's scheduler: `tile B0 by 32 x 32`.
    pub steps: Vec<String>,
    /// The new loops as C-like text; empty when nothing was changed.
    pub ast: String,
    pub tiled: bool,
    pub parallel: bool,
    pub vectorized: bool,
    /// A recognised shape of computation with its own treatment: `matmul`.
    pub pattern: Option<String>,
    /// How a script was corrected.
    pub deviation: Vec<Deviation>,
    /// The condition under which exactly this transformation survives overlapping arrays.
    pub overlap_test: Option<String>,
}

impl Transformation {
    /// The region is left as it was.
    pub fn none() -> Self {
        Transformation {
            by: By::None,
            schedule: String::new(),
            steps: Vec::new(),
            ast: String::new(),
            tiled: false,
            parallel: false,
            vectorized: false,
            pattern: None,
            deviation: Vec::new(),
            overlap_test: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    Auto,
    Script,
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deviation {
    pub statement: String,
    pub dimension: u32,
    pub by: String,
}

/// Why a loop was left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub kind: String,
    /// The file of the line, where it is not the one that was compiled.
    pub file: String,
    /// Source line, 0 when unknown.
    pub line: u32,
    pub message: String,
    pub advice: String,
}

fn assumed(functions: &[Function]) -> Vec<Assumed> {
    let mut counts = std::collections::BTreeMap::new();
    for assumption in functions.iter().flat_map(|f| &f.scops).flat_map(|s| &s.assumptions) {
        let (taken, not_implied) = counts.entry(assumption.kind).or_insert((0, 0));
        *taken += 1;
        *not_implied += u64::from(!assumption.implied);
    }
    counts.into_iter().map(|(kind, (taken, not_implied))| Assumed { kind, taken, not_implied }).collect()
}

impl Report {
    /// Counts again, for a report that was put together or taken apart.
    pub fn count(&mut self) {
        self.assumed = assumed(&self.functions);
    }

    pub fn new(module: impl Into<String>, functions: Vec<Function>) -> Self {
        let assumed = assumed(&functions);
        Report { loopwright: env!("CARGO_PKG_VERSION").to_string(), module: module.into(), functions, assumed }
    }

    /// The JSON text, with a newline at the end. Equal reports give equal bytes.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers always serialize");
        text.push('\n');
        text
    }

    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn sample() -> Report {
        let scop = Scop {
            id: "kernel:12".into(),
            file: String::new(),
            lines: [12, 20],
            parameters: vec![Parameter { name: "n".into(), ty: "i64".into() }],
            context: "[n] -> {  : 0 <= n <= 1000 }".into(),
            arrays: vec![Array {
                name: "A".into(),
                element: "double".into(),
                element_bytes: 8,
                shape: vec!["*".into(), "n".into()],
                recovered: Recovered::Parametric,
                condition: UNIVERSE.into(),
                requires: String::new(),
                temporary: false,
            }],
            statements: vec![Statement {
                name: "S0".into(),
                line: 14,
                domain: "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < n }".into(),
                schedule: "[n] -> { S0[i, j] -> [i, j] }".into(),
                accesses: vec![Access {
                    kind: AccessKind::MayWrite,
                    array: "A".into(),
                    scalar: false,
                    relation: "[n] -> { S0[i, j] -> A[i, j] }".into(),
                    subscripts: Some(vec!["i".into(), "j".into()]),
                    offset: "n*i + j".into(),
                    lmad: Some(Lmad {
                        base: "0".into(),
                        dims: vec![LmadDim { stride: "n".into(), span: "n*n - n".into(), index: "i".into() }],
                        mark: Mark::Exact,
                    }),
                    reduction: Some(Reduction::Add),
                }],
            }],
            assumptions: vec![Assumption {
                kind: AssumptionKind::AA,
                because: "A and B are plain pointers".into(),
                line: 14,
                valid: "[n] -> {  : }".into(),
                requires: String::new(),
                arrays: vec!["A".into(), "B".into()],
                implied: false,
            }],
            check: UNIVERSE.into(),
            check_terms: vec![CheckTerm { kind: CheckKind::Work, text: "n >= 16".into() }],
            modelled: true,
            check_cost: 7,
            scalar_writes: BeforeAfter::default(),
            delicm: Delicm::default(),
            dependences: Dependences::default(),
            transformation: Transformation::none(),
        };
        let refusal = Refusal {
            kind: "Call".into(),
            file: "a.h".into(),
            line: 30,
            message: "the call to `printf` may do anything".into(),
            advice: "move the call out of the loop".into(),
        };
        let (name, source_name) = ("_Z6kernelv".into(), "kernel".into());
        let function = Function { name, source_name, scops: vec![scop], refusals: vec![refusal] };
        let mut report = Report::new("a.c", vec![function]);
        report.loopwright = "0".into();
        report
    }

    #[test]
    fn every_field_is_present_under_its_documented_name() {
        expect![[r#"
            {
              "loopwright": "0",
              "module": "a.c",
              "functions": [
                {
                  "name": "_Z6kernelv",
                  "sourceName": "kernel",
                  "scops": [
                    {
                      "id": "kernel:12",
                      "file": "",
                      "lines": [
                        12,
                        20
                      ],
                      "parameters": [
                        {
                          "name": "n",
                          "type": "i64"
                        }
                      ],
                      "context": "[n] -> {  : 0 <= n <= 1000 }",
                      "arrays": [
                        {
                          "name": "A",
                          "element": "double",
                          "elementBytes": 8,
                          "shape": [
                            "*",
                            "n"
                          ],
                          "recovered": "parametric",
                          "condition": "{  : }",
                          "requires": "",
                          "temporary": false
                        }
                      ],
                      "statements": [
                        {
                          "name": "S0",
                          "line": 14,
                          "domain": "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < n }",
                          "schedule": "[n] -> { S0[i, j] -> [i, j] }",
                          "accesses": [
                            {
                              "kind": "maywrite",
                              "array": "A",
                              "scalar": false,
                              "relation": "[n] -> { S0[i, j] -> A[i, j] }",
                              "subscripts": [
                                "i",
                                "j"
                              ],
                              "offset": "n*i + j",
                              "lmad": {
                                "base": "0",
                                "dims": [
                                  {
                                    "stride": "n",
                                    "span": "n*n - n",
                                    "index": "i"
                                  }
                                ],
                                "mark": "exact"
                              },
                              "reduction": "+"
                            }
                          ]
                        }
                      ],
                      "assumptions": [
                        {
                          "kind": "AA",
                          "because": "A and B are plain pointers",
                          "line": 14,
                          "valid": "[n] -> {  : }",
                          "requires": "",
                          "arrays": [
                            "A",
                            "B"
                          ],
                          "implied": false
                        }
                      ],
                      "check": "{  : }",
                      "checkTerms": [
                        {
                          "kind": "work",
                          "text": "n >= 16"
                        }
                      ],
                      "modelled": true,
                      "checkCost": 7,
                      "scalarWrites": {
                        "before": 0,
                        "after": 0
                      },
                      "delicm": {
                        "forwarded": 0,
                        "reloaded": 0,
                        "mapped": 0,
                        "expanded": 0
                      },
                      "dependences": {
                        "flow": "",
                        "anti": "",
                        "output": ""
                      },
                      "transformation": {
                        "by": "none",
                        "schedule": "",
                        "steps": [],
                        "ast": "",
                        "tiled": false,
                        "parallel": false,
                        "vectorized": false,
                        "pattern": null,
                        "deviation": [],
                        "overlapTest": null
                      }
                    }
                  ],
                  "refusals": [
                    {
                      "kind": "Call",
                      "file": "a.h",
                      "line": 30,
                      "message": "the call to `printf` may do anything",
                      "advice": "move the call out of the loop"
                    }
                  ]
                }
              ],
              "assumed": [
                {
                  "kind": "AA",
                  "taken": 1,
                  "notImplied": 1
                }
              ]
            }
        "#]]
        .assert_eq(&sample().to_json());
    }

    #[test]
    fn what_was_written_is_read_again() {
        assert_eq!(Report::from_json(&sample().to_json()).unwrap(), sample());
    }
}
