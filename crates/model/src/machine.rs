//! Placeholder.
use serde::{Deserialize, Serialize};
/// Facts of a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {}
/// Facts of what is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {}
