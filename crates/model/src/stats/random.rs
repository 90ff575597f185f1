//! A small seeded generator, so that every simulated or resampled number can be had again from its seed.

/// xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47, 2021),
/// its state filled by SplitMix64 from one seed, as its authors advise.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
    /// The second value of the last polar pair.
    spare_normal: Option<f64>,
}

/// One step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Random {
    /// A generator whose whole sequence follows from `seed`; every seed is good, zero too.
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        let state = std::array::from_fn(|_| split_mix(&mut mixer));
        Self {
            state,
            spare_normal: None,
        }
    }

    /// The generator of stream `stream` under `seed`: trials and cells get their own, so that adding one does not
    /// move the others.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut mixer = seed;
        let mixed = split_mix(&mut mixer);
        Self::new(mixed ^ stream.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let output = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        let t2 = s2 ^ s0;
        let t3 = s3 ^ s1;
        self.state = [s0 ^ t3, s1 ^ t2, t2 ^ (s1 << 17), t3.rotate_left(45)];
        output
    }

    /// Uniform in [0, 1), all 53 bits of it.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0..`bound`, without the bias of a remainder; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = bound as u64;
        if wide == 0 {
            return 0;
        }
        // The last, incomplete run of residues is drawn again.
        let limit = u64::MAX - u64::MAX % wide;
        loop {
            let bits = self.next_u64();
            if bits < limit {
                return usize::try_from(bits % wide).expect("below a bound that was a usize");
            }
        }
    }

    /// Standard normal (Marsaglia and Bray's polar method, SIAM Review 6, 1964).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let stretch = (-2.0 * square.ln() / square).sqrt();
                self.spare_normal = Some(y * stretch);
                return x * stretch;
            }
        }
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_its_published_sequence() {
        // The reference output for seed 1234567, as printed in Rosetta Code's "Pseudo-random numbers/Splitmix64".
        let mut state = 1_234_567;
        let drawn: Vec<u64> = (0..3).map(|_| split_mix(&mut state)).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn xoshiro_gives_its_published_sequence() {
        // The reference output for state 1, 2, 3, 4, the test vector that the `rand_xoshiro` crate carries.
        let mut random = Random {
            state: [1, 2, 3, 4],
            spare_normal: None,
        };
        let drawn: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(7);
        let n = 200_000;
        let (mut sum, mut square, mut exponential, mut uniform) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            let z = random.normal();
            sum += z;
            square += z * z;
            exponential += random.exponential();
            uniform += random.uniform();
        }
        let n = f64::from(n);
        // Five standard errors of each mean.
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        assert!((square / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((exponential / n - 1.0).abs() < 5.0 / n.sqrt());
        assert!((uniform / n - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt());
    }

    #[test]
    fn below_reaches_every_value_and_no_other() {
        let mut random = Random::new(1);
        let mut seen = [0; 6];
        for _ in 0..6_000 {
            seen[random.below(6)] += 1;
        }
        assert!(
            seen.iter().all(|&count| (850..1150).contains(&count)),
            "{seen:?}"
        );
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        assert_eq!(
            Random::stream(5, 1).next_u64(),
            Random::stream(5, 1).next_u64()
        );
        assert_ne!(
            Random::stream(5, 1).next_u64(),
            Random::stream(5, 2).next_u64()
        );
        assert_ne!(
            Random::stream(5, 1).next_u64(),
            Random::stream(6, 1).next_u64()
        );
    }
}
