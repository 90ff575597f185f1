//! The set-up part: folders and the 56 files that everything else works on.

use super::applications::APPLICATIONS;
use super::desk::Office;
use super::script::{File, Script};

/// The size of most documents, in bytes.
pub(super) const DOCUMENT_BYTES: u64 = 260_096;

/// The size of the index of the seeds, in bytes.
pub(super) const INDEX_BYTES: u64 = 327_680;

/// The size of the large seeds, in bytes.
pub(super) const LARGE_BYTES: u64 = 1_048_576;

/// The size of the largest seed and of what is printed from it, in bytes.
pub(super) const LARGEST_BYTES: u64 = 1_867_776;

/// How many large seeds there are.
pub(super) const LARGE_SEEDS: usize = 6;

/// The folder of the seeds.
pub(super) const SEED_FOLDER: &str = "SEED";

/// The largest transfer that an SMB client of that time makes, in bytes.
pub(super) const TRANSFER_BYTES: u64 = 65_536;

impl Office {
    /// Makes the folders and files.
    pub(super) fn set_up(&mut self) {
        let script = &mut self.script;
        script.delete_tree();
        script.make_clients();
        script.make_directory(None);
        let folders = APPLICATIONS.iter().map(|application| application.folder);
        for folder in ["", SEED_FOLDER].into_iter().chain(folders) {
            script.make_directory(Some(folder));
            script.query_volume(1);
            script.query_volume(259);
        }
        script.list_work();
        for desk in &self.desks {
            for &document in &desk.documents {
                lay_down(script, document, DOCUMENT_BYTES);
            }
        }
        lay_down(script, self.seeds.index, INDEX_BYTES);
        for large in self.seeds.large {
            lay_down(script, large, LARGE_BYTES);
        }
        lay_down(script, self.seeds.largest, LARGEST_BYTES);
        self.begin_balance();
    }
}

fn lay_down(script: &mut Script, file: File, size: u64) {
    let mut handle = script.create(file);
    script.write_growing(&mut handle, size);
    script.close(handle);
}
