//! A fixed slice of the campaign: original against optimized.

use fuzz::campaign::{Campaign, find_plugin};

#[test]
fn generated_kernels_compute_the_same_when_optimized() {
    let plugin = find_plugin(None).expect("the plugin is built");
    let keep = std::env::temp_dir().join("loopwright-fuzz");
    let mut campaign = Campaign::new(1, 0..40);
    campaign.batch = 20;
    campaign.jobs = 2;
    campaign.reductions = 1;
    campaign.keep = keep;
    campaign.optimize(&plugin, &["early", "late"], false);
    let summary = campaign.run();
    assert!(summary.failures.is_empty(), "{summary}");
    // A check that never holds would pass everything else.
    assert!(summary.tally.fast > 0, "no fast path ran:\n{summary}");
    assert!(summary.tally.original > 0, "no original ran:\n{summary}");
}
