//! Which instances of the region's statements reach a node, and in which iterations of the loops around it. isl does not tell that of nodes
//! below an extension.

use crate::scop::StatementId;
use isl::{DimType, IslError, Map, ScheduleNode, ScheduleNodeType, Set, UnionPwAff, UnionSet};

/// Those of the tree's domain that the filters above the node let pass.
pub(crate) fn instances_at(node: &ScheduleNode) -> Result<UnionSet, IslError> {
    let mut instances = node.get_schedule()?.get_domain()?;
    for above in ancestors(node)? {
        if above.get_type()? == ScheduleNodeType::Filter {
            instances = instances.intersect(&above.filter_get_filter()?)?;
        }
    }
    Ok(instances)
}

/// Whose instances they are.
pub(crate) fn statements_of(instances: &UnionSet) -> Result<Vec<StatementId>, IslError> {
    let mut statements = Vec::new();
    for set in instances.sets()? {
        statements.extend(StatementId::from_isl_name(&set.get_tuple_name()?));
    }
    Ok(statements)
}

/// `{ S[i…] -> [p…] }` for these instances of a statement: the values of the loops around a node.
pub(super) fn prefix_of(node: &ScheduleNode, instances: &Set) -> Result<Map, IslError> {
    let mut rows: Vec<UnionPwAff> = Vec::new();
    for above in ancestors(node)?.iter().rev() {
        if above.get_type()? == ScheduleNodeType::Band {
            rows.extend(above.band_get_partial_schedule()?.list()?);
        }
    }
    let name = instances.get_tuple_name()?;
    let nothing = Set::universe(&isl::Space::set_alloc(node.ctx(), 0, 0)?)?;
    let mut prefix = Map::from_domain_and_range(instances, &nothing)?;
    for row in rows {
        for part in row.pw_affs()? {
            if part.get_domain_space()?.get_tuple_name(DimType::Set)? == name {
                prefix = prefix.flat_range_product(&Map::from_pw_aff(&part)?)?;
            }
        }
    }
    Ok(prefix)
}

/// From the node's parent to the root.
pub(super) fn ancestors(node: &ScheduleNode) -> Result<Vec<ScheduleNode>, IslError> {
    let mut all = Vec::new();
    let mut node = node.clone();
    while node.has_parent()? {
        node = node.parent()?;
        all.push(node.clone());
    }
    Ok(all)
}
