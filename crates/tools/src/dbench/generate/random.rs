//! Chance that comes out the same on every machine.

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): 64 bits
/// of state.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is above zero. (The bias of the remainder is below 2^-40 for
    /// the limits here.)
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Any element, of at least one.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.index(last + 1));
        }
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("below a usize")
    }
}

/// Draws from a fixed stock in random order and begins again when it is empty: the shares come out
/// exactly.
#[derive(Debug)]
pub(super) struct Bag<T> {
    stock: Vec<T>,
    left: Vec<T>,
}

impl<T: Copy> Bag<T> {
    /// Each element as often as the number beside it says.
    pub(super) fn of(stock: &[(T, usize)]) -> Bag<T> {
        let stock = stock
            .iter()
            .flat_map(|&(element, times)| std::iter::repeat_n(element, times))
            .collect();
        Bag {
            stock,
            left: Vec::new(),
        }
    }

    pub(super) fn draw(&mut self, random: &mut Random) -> T {
        if self.left.is_empty() {
            self.left.clone_from(&self.stock);
            random.shuffle(&mut self.left);
        }
        self.left.pop().expect("a bag is never made empty")
    }
}
