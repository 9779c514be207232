use crate::error::or_unchanged;
use crate::object::{methods, object, with_exactness};
use crate::{Aff, BasicMap, DimType, FixedBox, MultiAff, PwAff, PwMultiAff, Result, Set, Space, UnionMap, Val, raw};

object! {
    /// A finite union of [`BasicMap`]s in one space: the relation { [in] -> [out] : constraints }.
    Map(isl_map), print isl_map_to_str, parse isl_map_read_from_str,
        list isl_map_list isl_map_list_alloc isl_map_list_add isl_map_list_size isl_map_list_get_at
}

methods! { Map;
    fn from_pw_aff(pwaff: &PwAff) -> Map = isl_map_from_pw_aff;
    fn as_pw_multi_aff(&self) -> PwMultiAff = isl_map_as_pw_multi_aff;
    fn dim(&self, kind: DimType) -> usize = isl_map_dim;
    fn get_space(&self) -> Space = isl_map_get_space;
    /// The name of the tuple; an error if it has none.
    fn get_tuple_name(&self, kind: DimType) -> String = isl_map_get_tuple_name;
    fn set_tuple_name(&self, kind: DimType, s: &str) -> Map = isl_map_set_tuple_name;
    /// The position of the dimension with this name, if there is one.
    fn find_dim_by_name(&self, kind: DimType, name: &str) -> Option<usize> = isl_map_find_dim_by_name;
    /// The lexicographically smallest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmin(&self) -> Map = isl_map_lexmin;
    /// The lexicographically largest element for each value of the parameters and inputs. Exact; parametric integer
    /// programming.
    fn lexmax(&self) -> Map = isl_map_lexmax;
    fn sum(&self, other: &Map) -> Map = isl_map_sum;
    fn neg(&self) -> Map = isl_map_neg;
    fn lexmin_pw_multi_aff(&self) -> PwMultiAff = isl_map_lexmin_pw_multi_aff;
    fn universe(space: &Space) -> Map = isl_map_universe;
    fn empty(space: &Space) -> Map = isl_map_empty;
    fn identity(space: &Space) -> Map = isl_map_identity;
    fn lex_lt(set_space: &Space) -> Map = isl_map_lex_lt;
    fn reverse(&self) -> Map = isl_map_reverse;
    fn union(&self, other: &Map) -> Map = isl_map_union;
    fn intersect_domain(&self, set: &Set) -> Map = isl_map_intersect_domain;
    fn intersect_range(&self, set: &Set) -> Map = isl_map_intersect_range;
    /// The relation with its inputs replaced by their image under the argument.
    fn apply_domain(&self, other: &Map) -> Map = isl_map_apply_domain;
    /// The composition: first `self`, then the argument.
    fn apply_range(&self, other: &Map) -> Map = isl_map_apply_range;
    fn product(&self, other: &Map) -> Map = isl_map_product;
    fn domain_product(&self, other: &Map) -> Map = isl_map_domain_product;
    fn range_product(&self, other: &Map) -> Map = isl_map_range_product;
    fn flat_range_product(&self, other: &Map) -> Map = isl_map_flat_range_product;
    fn domain_factor_domain(&self) -> Map = isl_map_domain_factor_domain;
    fn range_factor_domain(&self) -> Map = isl_map_range_factor_domain;
    fn range_factor_range(&self) -> Map = isl_map_range_factor_range;
    fn intersect(&self, other: &Map) -> Map = isl_map_intersect;
    fn intersect_params(&self, params: &Set) -> Map = isl_map_intersect_params;
    /// Exact. The number of pieces can grow as the product of the constraints of `other`.
    fn subtract(&self, other: &Map) -> Map = isl_map_subtract;
    fn fix_si(&self, kind: DimType, pos: usize, value: i64) -> Map = isl_map_fix_si;
    /// { out − in }.
    fn deltas(&self) -> Set = isl_map_deltas;
    fn add_dims(&self, kind: DimType, n: usize) -> Map = isl_map_add_dims;
    /// Projects these dimensions out; exact over the integers.
    fn project_out(&self, kind: DimType, first: usize, n: usize) -> Map = isl_map_project_out;
    fn equate(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_equate;
    fn order_lt(&self, kind1: DimType, pos1: usize, kind2: DimType, pos2: usize) -> Map = isl_map_order_lt;
    fn wrap(&self) -> Set = isl_map_wrap;
    fn domain(&self) -> Set = isl_map_domain;
    fn range(&self) -> Set = isl_map_range;
    fn domain_map(&self) -> Map = isl_map_domain_map;
    fn range_map(&self) -> Map = isl_map_range_map;
    fn from_basic_map(bmap: &BasicMap) -> Map = isl_map_from_basic_map;
    fn from_domain(set: &Set) -> Map = isl_map_from_domain;
    fn from_domain_and_range(domain: &Set, range: &Set) -> Map = isl_map_from_domain_and_range;
    /// Whether it is obviously empty: `false` proves nothing.
    fn plain_is_empty(&self) -> bool = isl_map_plain_is_empty;
    /// Exact over the integers.
    fn is_empty(&self) -> bool = isl_map_is_empty;
    fn is_subset(&self, other: &Map) -> bool = isl_map_is_subset;
    fn is_equal(&self, other: &Map) -> bool = isl_map_is_equal;
    /// Whether every input has at most one output. Exact.
    fn is_single_valued(&self) -> bool = isl_map_is_single_valued;
    /// Whether every output has at most one input. Exact.
    fn is_injective(&self) -> bool = isl_map_is_injective;
    fn is_bijective(&self) -> bool = isl_map_is_bijective;
    fn is_identity(&self) -> bool = isl_map_is_identity;
    fn zip(&self) -> Map = isl_map_zip;
    fn curry(&self) -> Map = isl_map_curry;
    fn uncurry(&self) -> Map = isl_map_uncurry;
    fn involves_dims(&self, kind: DimType, first: usize, n: usize) -> bool = isl_map_involves_dims;
    /// The value of the dimension if it is obviously fixed, else NaN.
    fn plain_get_val_if_fixed(&self, kind: DimType, pos: usize) -> Val = isl_map_plain_get_val_if_fixed;
    fn gist_domain(&self, context: &Set) -> Map = isl_map_gist_domain,
        require self.get_space()?.domain()?.has_equal_tuples(&context.get_space()?)?;
    /// Drops what the parameters being in `context` implies.
    fn gist_params(&self, context: &Set) -> Map = isl_map_gist_params;
    /// As `coalesce`; an error where isl fails to join pieces.
    fn coalesce_or_fail(&self) -> Map = isl_map_coalesce;
    /// Whether the two are obviously equal: `false` proves nothing.
    fn plain_is_equal(&self, other: &Map) -> bool = isl_map_plain_is_equal;
    fn n_basic_map(&self) -> usize = isl_map_n_basic_map;
    /// The pieces; they may overlap.
    fn basic_maps(&self) -> Vec<BasicMap> = isl_map_get_basic_map_list;
    /// One piece that has all of them in it, made of constraints that are there.
    fn simple_hull(&self) -> BasicMap = isl_map_simple_hull;
    /// Without what divisions say: more elements.
    fn remove_divs(&self) -> Map = isl_map_remove_divs;
    fn lex_le_map(&self, other: &Map) -> Map = isl_map_lex_le_map;
    fn lex_lt_map(&self, other: &Map) -> Map = isl_map_lex_lt_map;
    fn get_range_simple_fixed_box_hull(&self) -> FixedBox = isl_map_get_range_simple_fixed_box_hull;
    fn from_aff(aff: &Aff) -> Map = isl_map_from_aff;
    fn from_multi_aff(maff: &MultiAff) -> Map = isl_map_from_multi_aff;
    /// The only map in the union; an error if there are several spaces.
    fn from_union_map(umap: &UnionMap) -> Map = isl_map_from_union_map;
}

impl Map {
    /// Fewer, larger pieces for the same elements. Worth its price before anything that is quadratic in the pieces.
    pub fn coalesce(&self) -> Result<Map> {
        or_unchanged(self.coalesce_or_fail(), self)
    }

    /// The transitive closure, and whether it is exact; if not, it is an overapproximation.
    pub fn transitive_closure(&self) -> Result<(Map, bool)> {
        with_exactness(self, "isl_map_transitive_closure", raw::isl_map_transitive_closure)
    }
}
