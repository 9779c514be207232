use crate::object::{methods, object};
use crate::{
    IslError, MultiUnionPwAff, Result, ScheduleNode, Set, Space, UnionMap, UnionPwMultiAff, UnionSet, callback, raw,
};

object! {
    /// A schedule tree.
    Schedule(isl_schedule), print isl_schedule_to_str, parse isl_schedule_read_from_str
}

methods! { Schedule;
    fn empty(space: &Space) -> Schedule = isl_schedule_empty;
    fn from_domain(domain: &UnionSet) -> Schedule = isl_schedule_from_domain;
    fn get_map(&self) -> UnionMap = isl_schedule_get_map;
    fn plain_is_equal(&self, other: &Schedule) -> bool = isl_schedule_plain_is_equal;
    fn get_root(&self) -> ScheduleNode = isl_schedule_get_root;
    fn get_domain(&self) -> UnionSet = isl_schedule_get_domain;
    fn insert_partial_schedule(&self, partial: &MultiUnionPwAff) -> Schedule = isl_schedule_insert_partial_schedule;
    fn sequence(&self, other: &Schedule) -> Schedule = isl_schedule_sequence;
    fn set(&self, other: &Schedule) -> Schedule = isl_schedule_set;
    fn intersect_domain(&self, domain: &UnionSet) -> Schedule = isl_schedule_intersect_domain;
    fn gist_domain_params(&self, context: &Set) -> Schedule = isl_schedule_gist_domain_params;
    fn reset_user(&self) -> Schedule = isl_schedule_reset_user;
    fn align_params(&self, space: &Space) -> Schedule = isl_schedule_align_params;
    fn pullback_union_pw_multi_aff(&self, upma: &UnionPwMultiAff) -> Schedule = isl_schedule_pullback_union_pw_multi_aff;
    fn expand(&self, contraction: &UnionPwMultiAff, expansion: &Schedule) -> Schedule = isl_schedule_expand;
}

object! {
    /// What a schedule has to respect, and what it should try to do.
    ScheduleConstraints(isl_schedule_constraints), print isl_schedule_constraints_to_str, parse isl_schedule_constraints_read_from_str
}

methods! { ScheduleConstraints;
    /// No constraints yet on these instances.
    fn on_domain(domain: &UnionSet) -> ScheduleConstraints = isl_schedule_constraints_on_domain;
    /// { a -> b }: a is executed before b.
    fn set_validity(&self, validity: &UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_validity;
    /// { a -> b }: a loop is coincident (parallel) if it gives a and b the same value.
    fn set_coincidence(&self, coincidence: &UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_coincidence;
    /// { a -> b }: the distance between a and b is kept small.
    fn set_proximity(&self, proximity: &UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_proximity;
    /// `validity` binds only where the accesses tagged in `condition` are not at the same loop iteration.
    fn set_conditional_validity(&self, condition: &UnionMap, validity: &UnionMap) -> ScheduleConstraints
        = isl_schedule_constraints_set_conditional_validity;
    /// Solves integer linear programs: the most expensive function of this crate. Run it within a budget.
    fn compute_schedule(&self) -> Schedule = isl_schedule_constraints_compute_schedule;
}

impl Schedule {
    /// Visits the nodes from the root down; below a node for which `visit` says `false` nothing is visited.
    pub fn foreach_schedule_node_top_down<E: From<IslError>>(
        &self,
        visit: impl FnMut(&ScheduleNode) -> Result<bool, E>,
    ) -> Result<(), E> {
        const FUNCTION: &str = "isl_schedule_foreach_schedule_node_top_down";
        // SAFETY: the function keeps what it shows to its callback.
        unsafe { callback::test_each(self, FUNCTION, raw::isl_schedule_foreach_schedule_node_top_down, visit) }
    }

    /// Replaces every node by what `rewrite` makes of it, children first. The node that `rewrite` gives back has to be at the
    /// position of the one it got.
    pub fn map_schedule_node_bottom_up<E: From<IslError>>(
        &self,
        rewrite: impl FnMut(ScheduleNode) -> Result<ScheduleNode, E>,
    ) -> Result<Schedule, E> {
        const FUNCTION: &str = "isl_schedule_map_schedule_node_bottom_up";
        // SAFETY: the function gives nodes to its callback and takes the results.
        unsafe { callback::rewrite_each(self, FUNCTION, raw::isl_schedule_map_schedule_node_bottom_up, rewrite) }
    }
}
