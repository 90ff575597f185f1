//! What several tests begin with.

use kernmark_model::fixtures;
use kernmark_store::Store;
use tempfile::TempDir;

/// A store of all fixtures, in a folder that is removed with the first value.
pub(crate) fn full() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = Store::open(&folder.path().join("store.db")).expect("a new store");
    store
        .insert_runs(fixtures::all().into_iter().map(Ok))
        .expect("fixtures can be stored");
    (folder, store)
}
