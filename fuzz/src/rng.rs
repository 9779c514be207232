//! SplitMix64: the same numbers for the same seed on every machine and with every version of every library.

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Seeds that differ in one bit give unrelated numbers.
    pub fn new(seed: u64, stream: u64) -> Rng {
        let mut rng = Rng(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        rng.draw();
        rng
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `low ..= high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        assert!(low <= high, "an empty range has no members");
        low + (self.draw() % (high - low + 1) as u64) as i64
    }

    pub fn below(&mut self, count: usize) -> usize {
        self.within(0, count as i64 - 1) as usize
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.draw() % 100 < chance
    }

    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    /// An index of `weights`, each as likely as its weight.
    pub fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut left = self.draw() % weights.iter().sum::<u64>();
        for (k, weight) in weights.iter().enumerate() {
            if left < *weight {
                return k;
            }
            left -= weight;
        }
        unreachable!("left is below the sum of the weights")
    }
}
