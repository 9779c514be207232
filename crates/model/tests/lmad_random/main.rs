//! Random pairs of descriptors, in numbers and in symbols, against enumeration.
//!
//! Whatever is answered must be right for all small values of the parameters that the facts admit: what is exact is the set, what is over
//! contains it, what is under lies in it, and what holds under a condition holds wherever the condition does. Of pairs that were made by
//! taking one descriptor apart it is known what could have been found, and most of it must be.
//!
//! `LMAD_PAIRS` sets another number of pairs; `LMAD_SHOW` prints what was missed.

mod draw;
mod sets;

use draw::{Family, Pair, Rng};
use model::lmad::{Ground, Lmad, Mark, Region, Side};
use model::polynomial::{Answer, Facts};
use sets::{Bytes, Values, bytes_of, holds};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A slice of a few seconds; `make fuzz` asks for all.
const PAIRS: usize = 3_000;
/// Of what could have been found.
const FOUND_SHARE: f64 = 0.9;
/// The pairs are divided in so many sequences, whatever the number of threads: the same pairs on every machine.
const LANES: usize = 16;

/// What was there to be found, and how much of it was.
#[derive(Clone, Copy, Default)]
struct Tally {
    there: usize,
    found: usize,
}

#[derive(Clone, Copy, Default)]
struct Tallies {
    disjoint: Tally,
    contained: Tally,
    mergeable: Tally,
}

/// The two sets for each of the values of the parameters.
struct Truth<'p> {
    pair: &'p Pair,
    at: Vec<(Values, Bytes, Bytes)>,
}

impl<'p> Truth<'p> {
    fn of(pair: &'p Pair) -> Option<Truth<'p>> {
        let mut at = Vec::new();
        for values in &pair.values {
            at.push((*values, bytes_of(&pair.first, values)?, bytes_of(&pair.second, values)?));
        }
        Some(Truth { pair, at })
    }
    /// At all values.
    fn always(&self, is_so: impl Fn(&Bytes, &Bytes) -> bool) -> bool {
        self.at.iter().all(|(_, a, b)| is_so(a, b))
    }
    #[track_caller]
    fn check(&self, what: &str, answer: &Answer, is_so: impl Fn(&Bytes, &Bytes) -> bool) {
        for (values, a, b) in &self.at {
            let right = !holds(answer, values) || is_so(a, b);
            assert!(right, "{what} by {answer:?} at {values:?}\n{}", self.pair.text());
        }
    }
    /// The answer says so wherever it is so.
    fn is_found(&self, answer: &Answer, is_so: impl Fn(&Bytes, &Bytes) -> bool) -> bool {
        self.at.iter().all(|(values, a, b)| holds(answer, values) || !is_so(a, b))
    }
    #[track_caller]
    fn check_set(
        &self,
        what: &str,
        parts: &[Lmad],
        mark: Mark,
        when: &Answer,
        meant: impl Fn(&Bytes, &Bytes) -> Bytes,
    ) {
        for (values, a, b) in &self.at {
            if !holds(when, values) {
                continue;
            }
            let mut all = Bytes::default();
            for part in parts {
                // More than are counted out.
                let Some(bytes) = bytes_of(part, values) else { return };
                all = all.union(&bytes);
            }
            let meant = meant(a, b);
            let right = match mark {
                Mark::Exact => all == meant,
                Mark::Over => meant.is_subset(&all),
                Mark::Under => all.is_subset(&meant),
            };
            let shown: Vec<String> = parts.iter().map(draw::text).collect();
            assert!(right, "{what} is {mark:?} at {values:?} if {when:?}: {shown:?}\n{}", self.pair.text());
        }
    }
}

fn mark_of(parts: &[Lmad]) -> Mark {
    parts.iter().map(Lmad::mark).find(|mark| *mark != Mark::Exact).unwrap_or(Mark::Exact)
}

fn grounds(facts: &Facts) -> [Ground; 2] {
    [Ground::proved(facts.clone()), Ground::assuming(facts.clone())]
}

fn run(pair: &Pair, tallies: &mut Tallies) -> Option<()> {
    let truth = Truth::of(pair)?;
    let Pair { first, second, facts, .. } = pair;
    let is_disjoint = |a: &Bytes, b: &Bytes| a.is_disjoint(b);
    let is_inside = |a: &Bytes, b: &Bytes| a.is_subset(b);
    let missed = |what: &str| {
        if std::env::var("LMAD_SHOW").is_ok() {
            println!("missed: {what}\n{}", pair.text());
        }
    };

    let disjoint = first.disjoint(second, facts);
    truth.check("disjoint", &disjoint, is_disjoint);
    truth.check("disjoint", &second.disjoint(first, facts), is_disjoint);
    if pair.family.is_split() && truth.always(is_disjoint) {
        let found = truth.is_found(&disjoint, is_disjoint);
        tallies.disjoint.there += 1;
        tallies.disjoint.found += usize::from(found);
        if !found {
            missed("disjoint");
        }
    }
    let inside = first.contained_in(second, facts);
    truth.check("contained", &inside, is_inside);
    truth.check("contains", &second.contained_in(first, facts), |a, b| b.is_subset(a));
    if pair.family == Family::Part {
        let found = truth.is_found(&inside, is_inside);
        tallies.contained.there += 1;
        tallies.contained.found += usize::from(found);
        if !found {
            missed("contained");
        }
    }
    truth.check("equivalent", &first.equivalent(second, facts), |a, b| a == b);
    truth.check("inhabited", &first.is_inhabited(facts), |a, _| !a.is_empty());
    if first.is_empty(facts) {
        assert!(truth.always(|a, _| a.is_empty()), "empty\n{}", pair.text());
    }

    for mut ground in grounds(facts) {
        let simple = first.simplified(&mut ground).unwrap();
        truth.check_set("simplified", std::slice::from_ref(&simple), Mark::Exact, ground.condition(), |a, _| a.clone());
    }
    let mut merged = false;
    for mut ground in grounds(facts) {
        if let Some(joined) = first.union(second, &mut ground) {
            let joined = std::slice::from_ref(&joined);
            truth.check_set("union", joined, Mark::Exact, ground.condition(), |a, b| a.union(b));
            merged |= pair.values.iter().all(|values| holds(ground.condition(), values));
        }
    }
    if pair.is_mergeable {
        tallies.mergeable.there += 1;
        tallies.mergeable.found += usize::from(merged);
        if !merged {
            missed("mergeable");
        }
    }
    for side in [Side::May, Side::Must] {
        for mut ground in grounds(facts) {
            let common: Vec<Lmad> = first.intersection(second, side, &mut ground).into_iter().collect();
            let mark = mark_of(&common);
            assert!(side.bears(mark), "{mark:?} for {side:?}\n{}", pair.text());
            truth.check_set("intersection", &common, mark, ground.condition(), Bytes::intersection);
            let mut ground = Ground::proved(facts.clone());
            let rest = first.subtract(second, side, &mut ground);
            let mark = match mark_of(&rest) {
                // Nothing certain is left, which is an estimate too.
                Mark::Exact if rest.is_empty() && side == Side::Must => Mark::Under,
                mark => mark,
            };
            truth.check_set("difference", &rest, mark, ground.condition(), Bytes::difference);
        }
        let mut ground = Ground::proved(facts.clone());
        let mut region = Region::nothing(side);
        region.add(first, &mut ground);
        region.add(second, &mut ground);
        region.simplify(&mut ground);
        truth.check_set("region", region.parts(), region.mark(), ground.condition(), Bytes::union);
        assert_eq!(region.mark(), Mark::Exact, "{}", pair.text());
    }
    if let Some(ends) = first.ends(facts) {
        for (values, a, _) in &truth.at {
            let low = ends.low.evaluate(&values.0, &Default::default());
            let high = ends.high.evaluate(&values.0, &Default::default());
            let (Some(low), Some(high)) = (low, high) else { panic!("no ends at {values:?}\n{}", pair.text()) };
            match a.ends() {
                Some(ends) => assert_eq!(ends, (low, high), "ends at {values:?}\n{}", pair.text()),
                None => assert_eq!((low, high), (0, 0), "ends at {values:?}\n{}", pair.text()),
            }
        }
    }
    Some(())
}

fn for_all_lanes<T: Send + Default>(pairs: usize, work: impl Fn(u64, usize, &mut T) -> bool + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(LANES);
    let lanes = || {
        let mut mine = T::default();
        loop {
            let lane = next.fetch_add(1, Ordering::Relaxed);
            if lane >= LANES {
                return mine;
            }
            let mut done = 0;
            for n in 0.. {
                if done >= pairs / LANES {
                    break;
                }
                done += usize::from(work((lane + LANES * n) as u64, n, &mut mine));
            }
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(lanes)).collect();
        running.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

fn pairs() -> usize {
    std::env::var("LMAD_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(PAIRS)
}

#[test]
fn every_answer_about_random_pairs_is_right_and_most_of_what_there_is_is_found() {
    let tallies = for_all_lanes(pairs(), |seed, n, tallies: &mut Tallies| {
        let family = Family::ALL[n % Family::ALL.len()];
        match Pair::random(family, &mut Rng(seed)) {
            Some(pair) => run(&pair, tallies).is_some(),
            None => false,
        }
    });
    let mut poor = Vec::new();
    for what in ["disjoint", "contained", "mergeable"] {
        let tally = |t: &Tallies| match what {
            "disjoint" => t.disjoint,
            "contained" => t.contained,
            _ => t.mergeable,
        };
        let there: usize = tallies.iter().map(|t| tally(t).there).sum();
        let found: usize = tallies.iter().map(|t| tally(t).found).sum();
        let share = found as f64 / there.max(1) as f64;
        println!("{what}: {found} of {there} found, {:.2} %", 100.0 * share);
        assert!(there > pairs() / 50, "{what}: only {there}");
        if share < FOUND_SHARE {
            poor.push(what);
        }
    }
    assert!(poor.is_empty(), "less than {FOUND_SHARE} found: {poor:?}");
}

/// Nests with inner bounds in terms of outer counters: as built, simplified, estimated, and their ends.
#[test]
fn random_nests_are_what_their_loops_touch() {
    let built = for_all_lanes(pairs() / 2, |seed, _, built: &mut [usize; 3]| {
        let nest = draw::Nest::random(&mut Rng(seed));
        let mut ground = Ground::assuming(nest.facts.clone());
        built[0] += 1;
        let Ok(lmad) = Lmad::of_nest(nest.offset.clone(), nest.bytes, &nest.loops, &mut ground) else { return true };
        built[1] += 1;
        let simple = lmad.simplified(&mut ground).unwrap();
        built[2] += usize::from(simple.is_closed());
        let may = lmad.closed(Side::May, &ground.facts).unwrap();
        let simple_may = simple.closed(Side::May, &ground.facts).unwrap();
        for values in &nest.values {
            if !holds(ground.condition(), values) {
                continue;
            }
            let (Some(meant), Some(raw), Some(short)) =
                (nest.bytes_at(values), bytes_of(&lmad, values), bytes_of(&simple, values))
            else {
                continue;
            };
            let context = || format!("at {values:?}: {}\n{}\n{}", nest.text(), draw::text(&lmad), draw::text(&simple));
            assert_eq!(raw, meant, "built {}", context());
            assert_eq!(short, meant, "simplified {}", context());
            for estimate in [&may, &simple_may].into_iter().flatten() {
                let Some(over) = bytes_of(estimate, values) else { continue };
                assert!(meant.is_subset(&over), "{} estimated {}", draw::text(estimate), context());
                assert!(estimate.mark() == Mark::Over || over == meant, "{}", context());
            }
            let Some(ends) = simple.ends(&ground.facts) else { continue };
            let value = |e: &model::loop_ast::Expr| e.evaluate(&values.0, &Default::default());
            // A power with a negative exponent has no value, which takes the original.
            let (Some(from), Some(to)) = (value(&ends.low), value(&ends.high)) else { continue };
            if let Some((low, high)) = meant.ends() {
                assert!(from <= low && high <= to, "ends {}", context());
            }
        }
        true
    });
    let sum = |k: usize| built.iter().map(|b| b[k]).sum::<usize>();
    println!("{} nests, {} monotonic, {} regular in the end", sum(0), sum(1), sum(2));
    assert!(sum(1) * 2 > sum(0) && sum(2) * 4 > sum(1));
}

/// More descriptors than a region holds.
#[test]
fn regions_of_many_descriptors_are_estimates_on_their_side() {
    for_all_lanes(pairs() / 100, |seed, _, _: &mut ()| {
        let mut rng = Rng(seed);
        let count = 2 + rng.below(30);
        let facts = Facts::new();
        let all: Vec<Lmad> = (0..count).map(|_| draw::scattered(&mut rng)).collect();
        let values = Values::default();
        let Some(sets) = all.iter().map(|lmad| bytes_of(lmad, &values)).collect::<Option<Vec<Bytes>>>() else {
            return false;
        };
        let meant = sets.iter().fold(Bytes::default(), |sum, set| sum.union(set));
        for side in [Side::May, Side::Must] {
            let mut ground = Ground::proved(facts.clone());
            let mut region = Region::nothing(side);
            all.iter().for_each(|lmad| region.add(lmad, &mut ground));
            region.simplify(&mut ground);
            assert!(region.parts().len() <= model::lmad::MAX_DESCRIPTORS && !region.is_all());
            let parts = region.parts().iter().map(|part| bytes_of(part, &values).expect("few bytes"));
            let have = parts.fold(Bytes::default(), |sum, set| sum.union(&set));
            let right = match region.mark() {
                Mark::Exact => have == meant,
                Mark::Over => side == Side::May && meant.is_subset(&have),
                Mark::Under => side == Side::Must && have.is_subset(&meant),
            };
            assert!(right, "{side:?}: {:?}", region.parts().iter().map(draw::text).collect::<Vec<_>>());
        }
        true
    });
}
