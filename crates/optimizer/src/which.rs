//! Which functions a person means by a name.

/// A function of the module.
pub struct Called {
    pub symbol: String,
    /// As its author wrote it: `linear::solve`.
    pub source_name: String,
}

/// Those that `wanted` names: the symbol; or else what the source calls so, with or without what it is in and its template arguments;
/// or else the same in other letters, which are all one in Fortran. The error is what to say where there is none.
pub fn meant(wanted: &str, known: &[Called]) -> Result<Vec<usize>, String> {
    let is_symbol = |f: &Called| f.symbol == wanted;
    let is_name = |f: &Called| names(&f.source_name).any(|name| name == wanted);
    let is_alike = |f: &Called| names(&f.source_name).any(|name| name.eq_ignore_ascii_case(wanted));
    for is_meant in [&is_symbol as &dyn Fn(&Called) -> bool, &is_name, &is_alike] {
        let found: Vec<usize> = (0..known.len()).filter(|&k| is_meant(&known[k])).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let names = || known.iter().map(|f| f.source_name.as_str());
    let near = near_matches(wanted, names(), 5);
    let hint = if !near.is_empty() {
        format!("near matches: {}", near.join(", "))
    } else if known.is_empty() {
        "it has no function left at this place, all were inlined or removed".to_string()
    } else {
        let some: Vec<&str> = names().take(8).collect();
        format!("it has: {}{}", some.join(", "), if known.len() > some.len() { ", …" } else { "" })
    };
    Err(format!("there is no function `{wanted}`; {hint}"))
}

/// `a::b::f<int>` may be called so, `a::b::f`, `b::f` and `f`.
fn names(source_name: &str) -> impl Iterator<Item = &str> {
    let is_operator = source_name.contains("operator");
    let bare = source_name.find('<').filter(|_| !is_operator).map_or(source_name, |at| &source_name[..at]);
    let behind = bare.match_indices("::").map(move |(at, colons)| &bare[at + colons.len()..]);
    [source_name, bare].into_iter().chain(behind)
}

/// The `limit` names closest to `wanted`, best first; nothing that has little to do with it.
fn near_matches<'a>(wanted: &str, known: impl Iterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let lower = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .map(|name| {
            let contained = !lower.is_empty() && name.to_lowercase().contains(&lower);
            let alike = names(name).map(|part| strsim::jaro_winkler(wanted, part)).fold(0.0, f64::max);
            (if contained { 1.0 } else { alike }, name)
        })
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by_key(|(_, name)| *name);
    scored.into_iter().take(limit).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant_of(wanted: &str, known: &[(&str, &str)]) -> Result<Vec<usize>, String> {
        let known: Vec<Called> = known
            .iter()
            .map(|(symbol, source_name)| Called { symbol: symbol.to_string(), source_name: source_name.to_string() })
            .collect();
        meant(wanted, &known)
    }

    #[test]
    fn source_names_find_their_functions() {
        assert_eq!(meant_of("kernel", &[("main", "main"), ("_Z6kernelPdi", "kernel")]), Ok(vec![1]));
        assert_eq!(meant_of("_Z6kernelPdi", &[("_Z6kernelPdi", "kernel"), ("_Z6kernelPf", "kernel")]), Ok(vec![0]));
        assert_eq!(meant_of("kernel", &[("_Z6kernelPdi", "kernel"), ("_Z6kernelPf", "kernel")]), Ok(vec![0, 1]));
        for name in ["kernel", "ns::kernel", "a::ns::kernel", "a::ns::kernel<int>"] {
            assert_eq!(meant_of(name, &[("_Z1", "a::ns::kernel<int>")]), Ok(vec![0]), "{name}");
        }
        assert_eq!(meant_of("Kernel", &[("kernel_", "kernel")]), Ok(vec![0]));
        assert_eq!(meant_of("kernel", &[("_QMmodPkernel", "mod::kernel")]), Ok(vec![0]));
        assert!(meant_of("ernel", &[("kernel", "kernel")]).is_err());
    }

    #[test]
    fn near_matches_come_best_first_and_strangers_not_at_all() {
        let known = ["kernel_matmul", "kernel", "main", "init"];
        assert_eq!(near_matches("kernl", known.into_iter(), 3), ["kernel", "kernel_matmul"]);
        assert_eq!(near_matches("matmul", known.into_iter(), 3), ["kernel_matmul"]);
        assert_eq!(near_matches("kernal", ["ns::kernel<int>"].into_iter(), 3), ["ns::kernel<int>"]);
        assert!(near_matches("zzz", known.into_iter(), 3).is_empty());
    }
}
