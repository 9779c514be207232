use crate::object::{methods, object};
use crate::{Schedule, UnionMap};

object! {
    /// The question of a dataflow analysis: who accesses what, and in which order.
    UnionAccessInfo(isl_union_access_info), print isl_union_access_info_to_str
}

methods! { UnionAccessInfo;
    fn from_sink(sink: &UnionMap) -> UnionAccessInfo = isl_union_access_info_from_sink;
    fn set_must_source(&self, must_source: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_must_source;
    fn set_may_source(&self, may_source: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_may_source;
    fn set_kill(&self, kill: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_kill;
    fn set_schedule(&self, schedule: &Schedule) -> UnionAccessInfo = isl_union_access_info_set_schedule;
    fn set_schedule_map(&self, schedule_map: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_schedule_map;
    fn compute_flow(&self) -> UnionFlow = isl_union_access_info_compute_flow;
}

object! {
    /// The answer of a dataflow analysis.
    UnionFlow(isl_union_flow), print isl_union_flow_to_str
}

methods! { UnionFlow;
    fn get_must_dependence(&self) -> UnionMap = isl_union_flow_get_must_dependence;
    fn get_may_dependence(&self) -> UnionMap = isl_union_flow_get_may_dependence;
    fn get_full_must_dependence(&self) -> UnionMap = isl_union_flow_get_full_must_dependence;
    fn get_full_may_dependence(&self) -> UnionMap = isl_union_flow_get_full_may_dependence;
    fn get_must_no_source(&self) -> UnionMap = isl_union_flow_get_must_no_source;
    fn get_may_no_source(&self) -> UnionMap = isl_union_flow_get_may_no_source;
}
