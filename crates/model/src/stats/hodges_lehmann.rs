//! Order statistics of pairs: Walsh averages of one sample, differences of two.
//!
//! Both sets hold of the order of n² values, and only a few of their order statistics are wanted. They are found by
//! bisection over the floating-point numbers themselves: how many pairs are at most v is counted on the sorted
//! samples in one pass, so nothing of size n² is ever stored, and the answer is one of the pairs, bit for bit.

/// The Walsh averages (d_i + d_j)/2, i <= j, of one sample (Walsh, Annals of Mathematical Statistics 20, 1949).
#[derive(Clone, Debug)]
pub struct WalshAverages {
    sorted: Vec<f64>,
}

impl WalshAverages {
    /// Of finite values; their order does not matter.
    pub fn new(differences: &[f64]) -> Self {
        Self {
            sorted: sorted(differences),
        }
    }

    /// How many there are: n (n + 1) / 2.
    pub fn count(&self) -> usize {
        let n = self.sorted.len();
        n * (n + 1) / 2
    }

    /// Their median, the Hodges-Lehmann estimate (Annals of Mathematical Statistics 34, 1963); `None` without values.
    pub fn median(&self) -> Option<f64> {
        median_of(self.count(), |k| self.smallest(k))
    }

    /// The k-th smallest, k from 1 to `count`; `None` outside.
    pub fn smallest(&self, k: usize) -> Option<f64> {
        kth_smallest(k, self.count(), |bound| self.at_most(bound))
    }

    fn at_most(&self, bound: f64) -> usize {
        let mut end = self.sorted.len();
        let mut count = 0;
        for (i, first) in self.sorted.iter().enumerate() {
            while end > i && (first + self.sorted[end - 1]) / 2.0 > bound {
                end -= 1;
            }
            if end <= i {
                break;
            }
            count += end - i;
        }
        count
    }
}

/// All differences y_j - x_i between two samples.
#[derive(Clone, Debug)]
pub struct PairDifferences {
    from: Vec<f64>,
    to: Vec<f64>,
}

impl PairDifferences {
    /// Differences `to` minus `from`, of finite values.
    pub fn new(from: &[f64], to: &[f64]) -> Self {
        Self {
            from: sorted(from),
            to: sorted(to),
        }
    }

    /// How many there are: n m.
    pub fn count(&self) -> usize {
        self.from.len() * self.to.len()
    }

    /// Their median, the Hodges-Lehmann shift of two samples; `None` if either is empty.
    pub fn median(&self) -> Option<f64> {
        median_of(self.count(), |k| self.smallest(k))
    }

    /// The k-th smallest, k from 1 to `count`; `None` outside.
    pub fn smallest(&self, k: usize) -> Option<f64> {
        kth_smallest(k, self.count(), |bound| self.at_most(bound))
    }

    fn at_most(&self, bound: f64) -> usize {
        let mut end = 0;
        let mut count = 0;
        for from in &self.from {
            while end < self.to.len() && self.to[end] - from <= bound {
                end += 1;
            }
            count += end;
        }
        count
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn median_of(count: usize, smallest: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let lower = smallest(count.div_ceil(2))?;
    if count % 2 == 1 {
        return Some(lower);
    }
    Some((lower + smallest(count / 2 + 1)?) / 2.0)
}

fn kth_smallest(k: usize, count: usize, at_most: impl Fn(f64) -> usize) -> Option<f64> {
    if k == 0 || k > count {
        return None;
    }
    let (mut low, mut high) = (order_key(f64::NEG_INFINITY), order_key(f64::INFINITY));
    while low < high {
        let middle = low + (high - low) / 2;
        if at_most(from_order_key(middle)) >= k {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Adding zero turns -0 into 0, which compares equal and comes first in key order.
    Some(from_order_key(low) + 0.0)
}

const SIGN: u64 = 1 << 63;

/// Maps the floats onto integers in the same order.
fn order_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn from_order_key(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_walsh(d: &[f64]) -> Vec<f64> {
        let mut all = Vec::new();
        for i in 0..d.len() {
            for j in i..d.len() {
                all.push((d[i] + d[j]) / 2.0);
            }
        }
        sorted(&all)
    }

    fn all_differences(x: &[f64], y: &[f64]) -> Vec<f64> {
        sorted(
            &x.iter()
                .flat_map(|a| y.iter().map(move |b| b - a))
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(WalshAverages::new(&[]).median(), None);
        assert_eq!(PairDifferences::new(&[1.0], &[]).median(), None);
        assert_eq!(WalshAverages::new(&[1.0]).smallest(2), None);
        assert_eq!(WalshAverages::new(&[1.0]).smallest(0), None);
    }

    #[test]
    fn zero_comes_back_without_a_sign() {
        let median = WalshAverages::new(&[-0.0, 0.0, -0.0]).median().unwrap();
        assert!(median == 0.0 && median.is_sign_positive());
    }

    proptest! {
        #[test]
        fn order_statistics_equal_those_of_the_sorted_pairs(
            x in prop::collection::vec(-5_i32..5, 1..12),
            y in prop::collection::vec(-1e3_f64..1e3, 1..12),
        ) {
            // Small integers bring ties, floats bring rounding.
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            for sample in [&x, &y] {
                let walsh = WalshAverages::new(sample);
                let expected = all_walsh(sample);
                prop_assert_eq!(walsh.count(), expected.len());
                for (i, value) in expected.iter().enumerate() {
                    prop_assert_eq!(walsh.smallest(i + 1), Some(*value));
                }
            }
            let pairs = PairDifferences::new(&x, &y);
            let expected = all_differences(&x, &y);
            prop_assert_eq!(pairs.count(), expected.len());
            for (i, value) in expected.iter().enumerate() {
                prop_assert_eq!(pairs.smallest(i + 1), Some(*value));
            }
        }
    }
}
