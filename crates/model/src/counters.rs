//! Placeholder.
use serde::{Deserialize, Serialize};
/// Raw counters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {}
