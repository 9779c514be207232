//! Fixed slices of the campaign: original against optimized.

use fuzz::campaign::{Campaign, Summary, find_plugin};
use fuzz::generate::Family;

fn optimized(mut campaign: Campaign) -> Summary {
    let plugin = find_plugin(None).expect("the plugin is built");
    campaign.batch = if campaign.broad { 10 } else { 20 };
    campaign.jobs = 2;
    campaign.reductions = 1;
    campaign.keep = std::env::temp_dir().join("loopwright-fuzz");
    campaign.optimize(&plugin, &["early", "late"], campaign.broad);
    let summary = campaign.run();
    assert!(summary.failures.is_empty(), "{summary}");
    // A check that never holds would pass everything else.
    assert!(summary.tally.fast > 0, "no fast path ran:\n{summary}");
    assert!(summary.tally.original > 0, "no original ran:\n{summary}");
    summary
}

#[test]
fn generated_kernels_compute_the_same_when_optimized() {
    optimized(Campaign::new(1, 0..40));
}

#[test]
fn bytes_end_up_the_same_when_optimized() {
    optimized(Campaign::new(3, 0..50).of(Family::Bytes).broadly());
}

#[test]
fn effects_are_the_same_when_optimized() {
    optimized(Campaign::new(4, 0..50).of(Family::Effects).broadly());
}

#[test]
fn extreme_arguments_give_the_same_when_optimized() {
    let summary = optimized(Campaign::new(2, 0..40).of(Family::Extremes));
    assert!(summary.runs >= 800, "{summary}");
}
