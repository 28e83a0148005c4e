//! Random draws from a seed that is stored with the plan, so that an order can be drawn again.

/// SplitMix64 (Steele, Lea, Flood 2014): enough for shuffling, never for secrets.
#[derive(Debug, Clone)]
pub struct Draw(u64);

impl Draw {
    /// The draws of one seed.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each equally likely (Lemire's multiplication; its bias is below 2⁻⁴⁰ for the bounds used here).
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.bits() as u128 * bound as u128) >> 64) as usize
    }

    /// Puts `items` in random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A fair coin.
    pub const fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }
}
