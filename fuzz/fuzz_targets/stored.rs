//! Histograms and series as a store keeps them: whatever the bytes, no panic; what decodes survives being kept again.
#![no_main]

use kernmark_model::histogram::Histogram;
use kernmark_model::series;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(histogram) = Histogram::from_bytes(bytes) {
        assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Ok(histogram));
    }
    if let Ok(values) = series::from_bytes(bytes) {
        assert_eq!(series::from_bytes(&series::to_bytes(&values)), Ok(values));
    }
});
