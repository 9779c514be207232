use crate::object::{Lower, lift_enum, ready};
use std::ffi::c_int;

use crate::object::{methods, object};
use crate::{Ctx, Id, IslError, MultiUnionPwAff, MultiVal, Result, Schedule, Space, UnionMap, UnionSet, callback, raw};

object! {
    /// A position in a schedule tree. Methods that change the tree give a position in a new tree; the old one is unchanged.
    ScheduleNode(isl_schedule_node), print isl_schedule_node_to_str
}

methods! { ScheduleNode;
    fn from_domain(domain: &UnionSet) -> ScheduleNode = isl_schedule_node_from_domain;
    /// A tree of its own, to be grafted onto another: `{ [outer loops] -> instances }`.
    fn from_extension(extension: &UnionMap) -> ScheduleNode = isl_schedule_node_from_extension;
    fn is_equal(&self, other: &ScheduleNode) -> bool = isl_schedule_node_is_equal;
    fn get_type(&self) -> ScheduleNodeType = isl_schedule_node_get_type;
    fn get_schedule(&self) -> Schedule = isl_schedule_node_get_schedule;
    fn has_parent(&self) -> bool = isl_schedule_node_has_parent;
    fn n_children(&self) -> usize = isl_schedule_node_n_children;
    fn root(&self) -> ScheduleNode = isl_schedule_node_root;
    fn parent(&self) -> ScheduleNode = isl_schedule_node_parent;
    fn ancestor(&self, generation: usize) -> ScheduleNode = isl_schedule_node_ancestor;
    fn child(&self, pos: usize) -> ScheduleNode = isl_schedule_node_child;
    fn group(&self, group_id: &Id) -> ScheduleNode = isl_schedule_node_group;
    fn band_get_space(&self) -> Space = isl_schedule_node_band_get_space;
    fn band_get_partial_schedule(&self) -> MultiUnionPwAff = isl_schedule_node_band_get_partial_schedule;
    fn band_get_partial_schedule_union_map(&self) -> UnionMap = isl_schedule_node_band_get_partial_schedule_union_map;
    fn band_member_set_ast_loop_type(&self, pos: usize, kind: AstLoopType) -> ScheduleNode
        = isl_schedule_node_band_member_set_ast_loop_type;
    fn band_n_member(&self) -> usize = isl_schedule_node_band_n_member;
    fn band_member_get_coincident(&self, pos: usize) -> bool = isl_schedule_node_band_member_get_coincident;
    fn band_member_set_coincident(&self, pos: usize, coincident: bool) -> ScheduleNode
        = isl_schedule_node_band_member_set_coincident;
    fn band_get_permutable(&self) -> bool = isl_schedule_node_band_get_permutable;
    fn band_set_permutable(&self, permutable: bool) -> ScheduleNode = isl_schedule_node_band_set_permutable;
    /// Splits the band into a tile band and, below it, a point band. The options `tile_scale_tile_loops` and
    /// `tile_shift_point_loops` say how the two count.
    fn band_tile(&self, sizes: &MultiVal) -> ScheduleNode = isl_schedule_node_band_tile;
    fn filter_get_filter(&self) -> UnionSet = isl_schedule_node_filter_get_filter;
    fn extension_get_extension(&self) -> UnionMap = isl_schedule_node_extension_get_extension;
    fn mark_get_id(&self) -> Id = isl_schedule_node_mark_get_id;
    /// The number of band members above this node.
    fn get_schedule_depth(&self) -> usize = isl_schedule_node_get_schedule_depth;
    /// The instances that reach this node.
    fn get_domain(&self) -> UnionSet = isl_schedule_node_get_domain;
    /// The spaces of the instances that reach this node.
    fn get_universe_domain(&self) -> UnionSet = isl_schedule_node_get_universe_domain;
    fn get_prefix_schedule_multi_union_pw_aff(&self) -> MultiUnionPwAff
        = isl_schedule_node_get_prefix_schedule_multi_union_pw_aff;
    fn insert_partial_schedule(&self, schedule: &MultiUnionPwAff) -> ScheduleNode
        = isl_schedule_node_insert_partial_schedule;
    /// Puts a mark above this node; gives the mark.
    fn insert_mark(&self, mark: &Id) -> ScheduleNode = isl_schedule_node_insert_mark;
    fn insert_sequence(&self, filters: &[UnionSet]) -> ScheduleNode = isl_schedule_node_insert_sequence;
    /// Removes the subtree; gives the leaf.
    fn cut(&self) -> ScheduleNode = isl_schedule_node_cut;
    /// Removes this node; gives what takes its place.
    fn delete(&self) -> ScheduleNode = isl_schedule_node_delete;
    /// Runs the instances of an extension before this node; gives this node.
    fn graft_before(&self, graft: &ScheduleNode) -> ScheduleNode = isl_schedule_node_graft_before;
    fn reset_user(&self) -> ScheduleNode = isl_schedule_node_reset_user;
    fn align_params(&self, space: &Space) -> ScheduleNode = isl_schedule_node_align_params;
}

/// What a node of a schedule tree does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScheduleNodeType {
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Leaf,
    Guard,
    Mark,
    Sequence,
    Set,
}

/// How the AST generator makes the loop of a band member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstLoopType {
    /// No wish.
    Default,
    /// One loop for all statements, never split.
    Atomic,
    /// One copy of the body per value.
    Unroll,
    /// One loop for every set of statements that share it.
    Separate,
}

lift_enum! { ScheduleNodeType;
    0 => Band, 1 => Context, 2 => Domain, 3 => Expansion, 4 => Extension, 5 => Filter, 6 => Leaf, 7 => Guard, 8 => Mark,
    9 => Sequence, 10 => Set
}

lift_enum! { AstLoopType; 0 => Default, 1 => Atomic, 2 => Unroll, 3 => Separate }

impl Lower<c_int> for AstLoopType {
    fn lower(&self, _: &Ctx, _: &'static str) -> Result<c_int> {
        Ok(*self as c_int)
    }
}

ready!(AstLoopType);

impl ScheduleNode {
    /// All children, in order.
    pub fn children(&self) -> Result<Vec<ScheduleNode>> {
        (0..self.n_children()?).map(|position| self.child(position)).collect()
    }

    /// Visits this node and what is below it from the top down; below a node for which `visit` says `false` nothing is visited.
    pub fn foreach_descendant_top_down<E: From<IslError>>(
        &self,
        visit: impl FnMut(&ScheduleNode) -> Result<bool, E>,
    ) -> Result<(), E> {
        const FUNCTION: &str = "isl_schedule_node_foreach_descendant_top_down";
        // SAFETY: the function keeps what it shows to its callback.
        unsafe { callback::test_each(self, FUNCTION, raw::isl_schedule_node_foreach_descendant_top_down, visit) }
    }

    /// Whether `test` holds for this node and everything below it; stops at the first for which it does not.
    pub fn every_descendant<E: From<IslError>>(
        &self,
        test: impl FnMut(&ScheduleNode) -> Result<bool, E>,
    ) -> Result<bool, E> {
        const FUNCTION: &str = "isl_schedule_node_every_descendant";
        // SAFETY: the function keeps what it shows to its callback.
        unsafe { callback::test_each(self, FUNCTION, raw::isl_schedule_node_every_descendant, test) }
    }

    /// Replaces this node and every node below it by what `rewrite` makes of it, children first. The node that `rewrite` gives
    /// back has to be at the position of the one it got.
    pub fn map_descendant_bottom_up<E: From<IslError>>(
        &self,
        rewrite: impl FnMut(ScheduleNode) -> Result<ScheduleNode, E>,
    ) -> Result<ScheduleNode, E> {
        const FUNCTION: &str = "isl_schedule_node_map_descendant_bottom_up";
        // SAFETY: the function gives nodes to its callback and takes the results.
        unsafe { callback::rewrite_each(self, FUNCTION, raw::isl_schedule_node_map_descendant_bottom_up, rewrite) }
    }
}
