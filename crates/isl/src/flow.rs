use crate::UnionMap;
use crate::object::{methods, object};

object! {
    /// The question of a dataflow analysis: who accesses what, and in which order.
    UnionAccessInfo(isl_union_access_info), print isl_union_access_info_to_str
}

methods! { UnionAccessInfo;
    /// The accesses { instance -> element } whose sources are looked for.
    fn from_sink(sink: &UnionMap) -> UnionAccessInfo = isl_union_access_info_from_sink;
    /// The accesses that define an element for certain: they hide all earlier ones.
    fn set_must_source(&self, must_source: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_must_source;
    /// The accesses that may define an element.
    fn set_may_source(&self, may_source: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_may_source;
    /// The order of execution, as { instance -> time }.
    fn set_schedule_map(&self, schedule_map: &UnionMap) -> UnionAccessInfo = isl_union_access_info_set_schedule_map;
    fn compute_flow(&self) -> UnionFlow = isl_union_access_info_compute_flow;
}

object! {
    /// The answer of a dataflow analysis.
    UnionFlow(isl_union_flow), print isl_union_flow_to_str
}

methods! { UnionFlow;
    /// { source -> sink } where the source is the last access before the sink for certain.
    fn get_must_dependence(&self) -> UnionMap = isl_union_flow_get_must_dependence;
    /// { source -> sink } of all sources that may be the last one, those of `get_must_dependence` included.
    fn get_may_dependence(&self) -> UnionMap = isl_union_flow_get_may_dependence;
    /// As `get_may_dependence`, with the element accessed: { source -> [sink -> element] }.
    fn get_full_may_dependence(&self) -> UnionMap = isl_union_flow_get_full_may_dependence;
    /// The accesses of the sink for which there is no source at all.
    /// The accesses of the sink for which there may be no definite source.
    fn get_may_no_source(&self) -> UnionMap = isl_union_flow_get_may_no_source;
}
