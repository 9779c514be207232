//! Regions for tests, written as an indented sketch:
//!
//! ```text
//! context 1 <= p0 <= 4000
//! array A0 8 1000            (bytes of a cell, inner sizes; default: 8 bytes, inner sizes 1000)
//! rows A2 A3                 (the first subscript of A2 is the number of a pointer in A3)
//! for i : 0 <= i < p0
//!   for j : 0 <= j <= i
//!     read A0[i, j - 1]; write A0[i, j]
//!   update A1[i] +; read A0[i, i]
//! ```
//! Indentation is compared line by line, so a sketch with several outermost loops starts on a line of its own.
//! One line of accesses is one statement; statements are numbered in textual order. `update` is a read and a write of the
//! same bytes: `update A0[i] +` a sum, `smin` and `umin` minima of signed and unsigned numbers. `may` is a write that may not happen. `write A0[2i # 2]` covers two cells from `2i` on. Parameters are 32 bits wide.

use crate::assume::Assumptions;
use crate::delicm::{Code, Operation, Origin, Program};
use crate::polynomial::Polynomial;
use crate::scop::*;
use crate::update::{Combine, NumberFormat, Update};
use indexmap::IndexMap;

/// What `update A0[i] +` does.
pub(crate) const SUM: Update = Update { op: Combine::Add, number: NumberFormat::Integer(64), lanes: 1 };

struct Line<'a> {
    indent: usize,
    text: &'a str,
}

struct Built {
    domains: Vec<String>,
    statements: Vec<Vec<(AccessKind, Option<Update>, String)>>,
    /// Loop variables and conditions around each statement.
    around: Vec<(Vec<String>, Vec<String>)>,
}

/// The region that the sketch describes.
pub(crate) fn test_scop(sketch: &str) -> Scop {
    let ctx = isl::Ctx::new();
    let lines: Vec<Line> = sketch
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| Line { indent: l.len() - l.trim_start().len(), text: l.trim() })
        .collect();
    let params = (0..)
        .take_while(|k| sketch.contains(&format!("p{k}")))
        .map(|k| Param {
            name: format!("p{k}"),
            value: ValueId(k),
            bits: 32,
            unsigned: false,
            range: (i128::from(i32::MIN), i128::from(i32::MAX)),
        })
        .collect::<Vec<_>>();
    let prefix = if params.is_empty() {
        String::new()
    } else {
        format!("[{}] -> ", (0..params.len()).map(|k| format!("p{k}")).collect::<Vec<_>>().join(", "))
    };
    let mut context: Vec<String> = (0..params.len()).map(|k| format!("{} <= p{k} <= {}", i32::MIN, i32::MAX)).collect();
    let mut arrays: IndexMap<ArrayId, Array> = IndexMap::new();
    let mut behind: Vec<(ArrayId, ArrayId)> = Vec::new();
    let mut body = 0;
    for line in &lines {
        if let Some(constraint) = line.text.strip_prefix("context ") {
            context.push(constraint.to_string());
        } else if let Some(array) = line.text.strip_prefix("array ") {
            let words: Vec<&str> = array.split_whitespace().collect();
            let id = ArrayId::from_isl_name(words[0]).unwrap();
            let scalar = words[1] == "scalar";
            arrays.insert(id, array_of(id, if scalar { 8 } else { words[1].parse().unwrap() }, &words[2..], scalar));
        } else if let Some(rows) = line.text.strip_prefix("rows ") {
            let (rows, pointers) = rows.split_once(' ').unwrap();
            behind.push((ArrayId::from_isl_name(rows).unwrap(), ArrayId::from_isl_name(pointers).unwrap()));
        } else {
            break;
        }
        body += 1;
    }
    let mut built = Built { domains: Vec::new(), statements: Vec::new(), around: Vec::new() };
    let tree = block(&lines[body..], &mut Vec::new(), &mut Vec::new(), &prefix, &mut built);
    let domain = format!("{prefix}{{ {} }}", built.domains.join("; "));
    let mut schedule = format!("domain: \"{domain}\"");
    if !tree.is_empty() {
        schedule = format!("{schedule}, child: {{ {tree} }}");
    }
    let context = isl::Set::read_from_str(&ctx, &format!("{prefix}{{ : {} }}", all(&context))).unwrap();
    let mut last = 0;
    let mut fresh = || {
        last += 1;
        ValueId(last)
    };
    let mut statements = IndexMap::new();
    for (k, accesses) in built.statements.iter().enumerate() {
        let id = StatementId(k as u32);
        let (variables, conditions) = &built.around[k];
        let instance = format!("{id}[{}]", variables.join(", "));
        let text = format!("{prefix}{{ {instance} : {} }}", all(conditions));
        let domain = isl::Set::read_from_str(&ctx, &text).unwrap().intersect_params(&context).unwrap();
        let accesses = accesses
            .iter()
            .map(|(kind, update, cell)| {
                let (name, subscripts) = cell.trim_end_matches(']').split_once('[').unwrap();
                let (subscripts, count) = subscripts.split_once('#').unwrap_or((subscripts, "1"));
                let count: u64 = count.trim().parse().unwrap();
                let array = ArrayId::from_isl_name(name.trim()).unwrap();
                let subscripts: Vec<&str> = subscripts.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
                let inner = vec!["1000"; subscripts.len().saturating_sub(1)];
                let declared = arrays.entry(array).or_insert_with(|| {
                    // Nobody promised that subscripts stay in these rows.
                    Array { recovered: Recovered::None, ..array_of(array, 8, &inner, subscripts.is_empty()) }
                });
                let relation = match subscripts.split_last() {
                    Some((first, outer)) if count > 1 => {
                        let cells: String = outer.iter().map(|s| format!("{s}, ")).chain(["e".into()]).collect();
                        format!("{prefix}{{ {instance} -> {array}[{cells}] : 0 <= e - ({first}) < {count} }}")
                    }
                    _ => format!("{prefix}{{ {instance} -> {array}[{}] }}", subscripts.join(", ")),
                };
                let relation = isl::Map::read_from_str(&ctx, &relation).unwrap().intersect_domain(&domain).unwrap();
                let offset = flat(&subscripts, declared).map(|o| {
                    let text = format!("{prefix}{{ {instance} -> [{o}] }}");
                    isl::PwAff::read_from_str(&ctx, &text).unwrap().intersect_domain(&domain).unwrap()
                });
                let (value, instruction) = (fresh(), fresh());
                let role = match kind {
                    AccessKind::Read => Role::Load(value),
                    _ => Role::Store { instruction, value },
                };
                Access {
                    kind: *kind,
                    role,
                    array,
                    relation,
                    row: None,
                    offset: offset.map(crate::delinearize::Offset::Affine),
                    unshaped: None,
                    bytes: declared.cell_bytes * count,
                    exact: true,
                    update: *update,
                    line: crate::source::Line::UNKNOWN,
                }
            })
            .collect();
        statements.insert(
            id,
            Statement {
                line: crate::source::Line::UNKNOWN,
                domain,
                accesses,
                operations: 1,
                boxed: false,
                loop_names: variables.clone(),
                bound_to_thread: false,
                predicates: Vec::new(),
            },
        );
    }
    let schedule = isl::Schedule::read_from_str(&ctx, &format!("{{ {schedule} }}")).unwrap();
    let domain = statements.values().fold(isl::UnionSet::empty_ctx(&ctx).unwrap(), |all, s: &Statement| {
        all.union(&isl::UnionSet::from_set(&s.domain).unwrap()).unwrap()
    });
    let schedule = schedule.intersect_domain(&domain).unwrap();
    for &(id, pointers) in &behind {
        let rows = Some(Rows { pointers, first: 0, stride: 8, turn: Turn::default() });
        arrays.insert(id, Array { rows, ..array_of(id, 8, &[], false) });
        arrays.entry(pointers).or_insert_with(|| array_of(pointers, 8, &[], false));
        for statement in statements.values_mut() {
            for access in statement.accesses.iter_mut().filter(|a| a.array == id) {
                let subscripts = access.relation.as_pw_multi_aff().unwrap().pieces().unwrap();
                access.row = Polynomial::from_aff(&subscripts[0].1.get_at(0).unwrap()).unwrap();
                let column = Polynomial::from_aff(&subscripts[0].1.get_at(1).unwrap()).unwrap().unwrap();
                let offset = column.scale(8).unwrap().to_aff(&statement.domain.get_space().unwrap()).unwrap().unwrap();
                access.offset = Some(crate::delinearize::Offset::Affine(isl::PwAff::from_aff(&offset).unwrap()));
            }
        }
    }
    arrays.sort_keys();
    Scop {
        ctx,
        params,
        context,
        arrays,
        statements,
        schedule,
        may_alias: Vec::new(),
        invariants: IndexMap::new(),
        assumptions: Assumptions::default(),
        lines: (crate::source::Line::UNKNOWN, crate::source::Line::UNKNOWN),
    }
}

/// What the statements of a sketch compute: updates as they say, and else something new of everything they read.
pub(crate) fn computed(scop: &Scop) -> Program {
    let mut program = Program::default();
    for (&id, statement) in &scop.statements {
        let mut code = Code::default();
        let mut updated: Vec<(Update, &isl::Map, ValueId)> = Vec::new();
        for access in statement.accesses.iter().filter(|a| !a.is_write()) {
            let Role::Load(loaded) = access.role else { panic!("a sketch loads") };
            program.origins.insert(loaded, Origin::Load { operands: Vec::new() });
            code.operations.push(loaded);
            updated.extend(access.update.map(|update| (update, &access.relation, loaded)));
        }
        for access in statement.accesses.iter().filter(|a| a.is_write()) {
            let Role::Store { instruction, value } = access.role else { panic!("a sketch stores") };
            let of = |(update, relation, _): &(Update, &isl::Map, ValueId)| {
                access.update == Some(*update) && access.relation.plain_is_equal(relation).unwrap()
            };
            let old = updated.iter().position(of).map(|at| updated.remove(at));
            let mut operands = old.map(|(.., loaded)| loaded).into_iter().collect::<Vec<_>>();
            // Something that nothing else uses.
            operands.push(ValueId(u32::MAX - value.0));
            let update = old.map(|(update, ..)| (update, true));
            let operation = Operation { operands, repeatable: false, update };
            program.origins.insert(value, Origin::Operation(operation));
            let store = Operation { operands: vec![value], repeatable: false, update: None };
            program.origins.insert(instruction, Origin::Operation(store));
            code.operations.extend([value, instruction]);
        }
        program.statements.insert(id, code);
    }
    program
}

fn all(conditions: &[String]) -> String {
    if conditions.is_empty() { "true".into() } else { conditions.join(" and ") }
}

fn array_of(id: ArrayId, bytes: u64, inner: &[&str], scalar: bool) -> Array {
    Array {
        name: id.to_string(),
        kind: if scalar { ArrayKind::Value } else { ArrayKind::Memory },
        element: "double".into(),
        cell_bytes: bytes,
        rows: None,
        inner_sizes: inner.iter().map(|s| size_of(s)).collect(),
        recovered: Recovered::Constant,
        condition: None,
        may_wrap: None,
        live_out: !scalar,
    }
}

/// A xorshift generator: the same nests on every machine.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
    pub fn one_of<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.roll(options.len() as u64) as usize]
    }
}

/// A number or a parameter.
fn size_of(text: &str) -> Polynomial {
    match ParamId::from_isl_name(text) {
        Some(id) => Polynomial::param(id),
        None => Polynomial::constant(text.parse().unwrap()),
    }
}

/// The flat byte offset, where the inner sizes are constants.
fn flat(subscripts: &[&str], array: &Array) -> Option<String> {
    if array.kind.is_scalar() {
        return None;
    }
    let mut stride = array.cell_bytes as i64;
    let mut terms = Vec::new();
    for (k, subscript) in subscripts.iter().enumerate().rev() {
        terms.push(format!("{stride}*({subscript})"));
        if k > 0 {
            stride *= i64::try_from(array.inner_sizes[k - 1].as_constant()?).ok()?;
        }
    }
    Some(terms.join(" + "))
}

/// The schedule tree of the lines at one depth, as YAML without the outer braces.
fn block(
    lines: &[Line],
    variables: &mut Vec<String>,
    conditions: &mut Vec<String>,
    prefix: &str,
    built: &mut Built,
) -> String {
    let mut parts: Vec<(Vec<usize>, String)> = Vec::new();
    let mut k = 0;
    while k < lines.len() {
        let end = (k + 1..lines.len()).find(|&e| lines[e].indent <= lines[k].indent).unwrap_or(lines.len());
        let first = built.statements.len();
        let inner = &lines[k + 1..end];
        let tree = if let Some(head) = lines[k].text.strip_prefix("for ") {
            let (variable, condition) = head.split_once(':').unwrap();
            variables.push(variable.trim().to_string());
            conditions.push(condition.trim().to_string());
            let depth = variables.len();
            let child = block(inner, variables, conditions, prefix, built);
            variables.pop();
            conditions.pop();
            let rows: Vec<String> = (first..built.statements.len())
                .map(|s| {
                    let at = &built.around[s].0;
                    format!("S{s}[{}] -> [({})]", at.join(", "), at[depth - 1])
                })
                .collect();
            let child = if child.is_empty() { String::new() } else { format!(", child: {{ {child} }}") };
            format!("schedule: \"{prefix}[{{ {} }}]\"{child}", rows.join("; "))
        } else if let Some(condition) = lines[k].text.strip_prefix("if ") {
            conditions.push(condition.trim().to_string());
            let child = block(inner, variables, conditions, prefix, built);
            conditions.pop();
            child
        } else {
            statement(lines[k].text, variables, conditions, built);
            String::new()
        };
        parts.push(((first..built.statements.len()).collect(), tree));
        k = end;
    }
    if parts.len() == 1 {
        return parts.remove(0).1;
    }
    let filters: Vec<String> = parts
        .iter()
        .map(|(statements, tree)| {
            let members: Vec<String> =
                statements.iter().map(|s| format!("S{s}[{}]", built.around[*s].0.join(", "))).collect();
            let child = if tree.is_empty() { String::new() } else { format!(", child: {{ {tree} }}") };
            format!("{{ filter: \"{prefix}{{ {} }}\"{child} }}", members.join("; "))
        })
        .collect();
    format!("sequence: [ {} ]", filters.join(", "))
}

fn statement(text: &str, variables: &[String], conditions: &[String], built: &mut Built) {
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    for access in text.split(';').map(str::trim).filter(|a| !a.is_empty()) {
        let (kind, cell) = access.split_once(' ').unwrap();
        match kind {
            "read" => reads.push((AccessKind::Read, None, cell.to_string())),
            "write" => writes.push((AccessKind::Write, None, cell.to_string())),
            "may" => writes.push((AccessKind::MayWrite, None, cell.to_string())),
            "update" => {
                let (cell, op) = cell.split_once(']').unwrap();
                let op = match op.trim() {
                    "+" | "" => Combine::Add,
                    "smin" => Combine::SignedMin,
                    "umin" => Combine::UnsignedMin,
                    other => panic!("unknown operation `{other}`"),
                };
                let (cell, update) = (format!("{cell}]"), Some(Update { op, ..SUM }));
                reads.push((AccessKind::Read, update, cell.clone()));
                writes.push((AccessKind::Write, update, cell));
            }
            other => panic!("unknown access `{other}`"),
        }
    }
    let id = built.statements.len();
    built.domains.push(format!("S{id}[{}] : {}", variables.join(", "), all(conditions)));
    built.statements.push(reads.into_iter().chain(writes).collect());
    built.around.push((variables.to_vec(), conditions.to_vec()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_becomes_domains_relations_and_a_tree() {
        let scop = test_scop(
            "context 1 <= p0 <= 100
             for i : 0 <= i < p0
               write A0[i, 0]
               for j : 0 <= j <= i
                 read A0[i, j - 1]; write A0[i, j]",
        );
        assert_eq!(scop.statements.len(), 2);
        let s1 = &scop.statements[&StatementId(1)];
        assert_eq!(s1.domain.to_string(), "[p0] -> { S1[i, j] : p0 <= 100 and i < p0 and 0 <= j <= i }");
        assert_eq!(
            s1.accesses[0].offset.as_ref().unwrap().as_affine().unwrap().to_string().split(" : ").next().unwrap(),
            "[p0] -> { S1[i, j] -> [(-8 + 8000i + 8j)]"
        );
        assert_eq!(scop.schedule.get_map().unwrap().n_map().unwrap(), 2);
    }
}
