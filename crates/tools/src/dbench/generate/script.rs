//! The loadfile as it is written: each verb adds one line (a few, where they belong together) and
//! keeps the books that make its status right.

use std::fmt::Write;

use super::super::loadfile::MAX_TEXT_BYTES;
use super::MAX_ITERATIONS;
use super::applications::APPLICATIONS;

/// What every path begins with.
const ROOT: &str = r"\clients\client1";

/// The folder all work happens in.
const WORK: &str = r"\clients\client1\~dmtmp";

/// How many folders are in it: the applications' and that of the seeds.
const FOLDERS: usize = APPLICATIONS.len() + 1;

/// Handle numbers go round in this range, wide enough that none is open twice.
const HANDLES: std::ops::Range<u32> = 9_000..13_814;

/// No iteration has more text than this, in bytes; they have 206,000 on average.
pub(super) const ITERATION_BYTES: usize = 220_000;

const _: () = assert!(
    MAX_ITERATIONS as u64 * ITERATION_BYTES as u64 + (1 << 20) < MAX_TEXT_BYTES,
    "the longest generated loadfile, set-up included, can be read back"
);

/// A file's name and whether it is there, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct File(usize);

/// A file that is open, until it is given to [`Script::close`].
#[derive(Debug)]
pub(super) struct Handle {
    number: u32,
    file: File,
    /// It was read or written.
    used: bool,
}

impl Handle {
    pub(super) fn file(&self) -> File {
        self.file
    }
}

#[derive(Debug)]
struct FileState {
    path: String,
    /// Its length in bytes if it exists.
    size: Option<u64>,
}

/// How many lines of each kind there are since the set-up: what the bookkeeping between the bursts
/// balances.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) lines: u64,
    pub(super) found: u64,
    pub(super) missing: u64,
    pub(super) directories: u64,
    pub(super) listed: u64,
    pub(super) unlisted: u64,
    pub(super) volume: u64,
    pub(super) failed_opens: u64,
    pub(super) idle_handles: u64,
    pub(super) handle_queries: u64,
    pub(super) times_set: u64,
}

/// Adds one line.
macro_rules! line {
    ($script:ident, $($line:tt)*) => {{
        $script.tally.lines += 1;
        writeln!($script.text, $($line)*).expect("a String takes everything")
    }};
}

/// A loadfile under way.
#[derive(Debug)]
pub(super) struct Script {
    text: String,
    files: Vec<FileState>,
    next_handle: u32,
    pub(super) tally: Tally,
}

impl Script {
    pub(super) fn new(iterations: u32) -> Script {
        let text = String::with_capacity(iterations as usize * ITERATION_BYTES);
        Script {
            text,
            files: Vec::new(),
            next_handle: HANDLES.start,
            tally: Tally::default(),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// A name in an application's folder; the file is not there yet.
    pub(super) fn file(&mut self, folder: &str, name: &str) -> File {
        self.files.push(FileState {
            path: format!(r"{WORK}\{folder}\{name}"),
            size: None,
        });
        File(self.files.len() - 1)
    }

    /// A file's length, zero if it is not there.
    pub(super) fn size(&self, file: File) -> u64 {
        self.files[file.0].size.unwrap_or(0)
    }

    fn exists(&self, file: File) -> bool {
        self.files[file.0].size.is_some()
    }

    /// A remark that replay skips.
    pub(super) fn comment(&mut self, text: &str) {
        writeln!(self.text, "# {text}").expect("a String takes everything");
    }

    /// Clears the tree, as the first and as the last line.
    pub(super) fn delete_tree(&mut self) {
        line!(self, r#"Deltree "{ROOT}" NT_STATUS_OK"#);
        self.files.iter_mut().for_each(|file| file.size = None);
    }

    /// The folder above all clients.
    pub(super) fn make_clients(&mut self) {
        line!(self, r#"Mkdir "\clients" NT_STATUS_OK"#);
    }

    /// Makes the client's own folder (`None`), the work folder (`""`) or one in it, and looks at
    /// it.
    ///
    /// The look comes after, so that it finds the same in every pass: dbench leaves folders where
    /// they are.
    pub(super) fn make_directory(&mut self, folder: Option<&str>) {
        let path = folder_path(folder);
        let number = self.take_handle();
        line!(self, r#"NTCreateX "{path}" 0x1 0x2 {number} NT_STATUS_OK"#);
        line!(self, "Close {number} NT_STATUS_OK");
        line!(self, r#"QUERY_PATH_INFORMATION "{path}" 1004 NT_STATUS_OK"#);
    }

    /// Asks for a folder that is there.
    pub(super) fn query_directory(&mut self, folder: &str) {
        let path = folder_path(Some(folder));
        self.tally.directories += 1;
        line!(self, r#"QUERY_PATH_INFORMATION "{path}" 1004 NT_STATUS_OK"#);
    }

    /// Asks for a name in a folder that was never made.
    pub(super) fn query_without_folder(&mut self, folder: &str, name: &str) {
        self.tally.missing += 1;
        line!(
            self,
            r#"QUERY_PATH_INFORMATION "{WORK}\{folder}\LOST\{name}" 1004 NT_STATUS_OBJECT_PATH_NOT_FOUND"#
        );
    }

    /// Asks for a name, there or not. `level` tells the question apart for a server; a filesystem
    /// sees the same.
    pub(super) fn query(&mut self, file: File, level: u32) {
        let status = if self.exists(file) {
            self.tally.found += 1;
            "NT_STATUS_OK"
        } else {
            self.tally.missing += 1;
            "NT_STATUS_OBJECT_NAME_NOT_FOUND"
        };
        let path = &self.files[file.0].path;
        line!(self, r#"QUERY_PATH_INFORMATION "{path}" {level} {status}"#);
    }

    /// Lists the work folder.
    pub(super) fn list_work(&mut self) {
        self.list(WORK, FOLDERS);
    }

    /// Lists an application's folder.
    pub(super) fn list_folder(&mut self, folder: &str) {
        let path = folder_path(Some(folder));
        let is_inside = |file: &&FileState| file.path.starts_with(&path) && file.size.is_some();
        self.list(&path, self.files.iter().filter(is_inside).count());
    }

    fn list(&mut self, path: &str, entries: usize) {
        let count = entries + 2; // a server lists `.` and `..` as well
        self.tally.listed += 1;
        line!(
            self,
            r#"FIND_FIRST "{path}\*" 260 1366 {count} NT_STATUS_OK"#
        );
    }

    /// Looks in the work folder, which has only folders, for files of a kind.
    pub(super) fn list_nothing(&mut self, extension: &str) {
        self.tally.unlisted += 1;
        line!(
            self,
            r#"FIND_FIRST "{WORK}\<.{extension}" 260 1366 0 NT_STATUS_NO_SUCH_FILE"#
        );
    }

    /// Asks how much room there is.
    pub(super) fn query_volume(&mut self, level: u32) {
        self.tally.volume += 1;
        line!(self, "QUERY_FS_INFORMATION {level} NT_STATUS_OK");
    }

    /// Opens a file that is there.
    pub(super) fn open(&mut self, file: File) -> Handle {
        assert!(
            self.exists(file),
            "the books say that {} is there",
            self.files[file.0].path
        );
        self.open_with(file, 1)
    }

    /// Tries to open a file that is not there.
    pub(super) fn open_missing(&mut self, file: File) {
        assert!(
            !self.exists(file),
            "the books say that {} is not there",
            self.files[file.0].path
        );
        let number = self.take_handle();
        self.tally.failed_opens += 1;
        let path = &self.files[file.0].path;
        line!(
            self,
            r#"NTCreateX "{path}" 0x40 0x1 {number} NT_STATUS_OBJECT_NAME_NOT_FOUND"#
        );
    }

    /// Makes a file that is not there.
    pub(super) fn create(&mut self, file: File) -> Handle {
        assert!(
            !self.exists(file),
            "the books say that {} is not there",
            self.files[file.0].path
        );
        self.files[file.0].size = Some(0);
        self.open_with(file, 2)
    }

    fn open_with(&mut self, file: File, disposition: u32) -> Handle {
        let number = self.take_handle();
        let path = &self.files[file.0].path;
        line!(
            self,
            r#"NTCreateX "{path}" 0x40 0x{disposition} {number} NT_STATUS_OK"#
        );
        Handle {
            number,
            file,
            used: false,
        }
    }

    fn take_handle(&mut self) -> u32 {
        let number = self.next_handle;
        self.next_handle = if number + 1 == HANDLES.end {
            HANDLES.start
        } else {
            number + 1
        };
        number
    }

    pub(super) fn close(&mut self, handle: Handle) {
        self.tally.idle_handles += u64::from(!handle.used);
        line!(self, "Close {} NT_STATUS_OK", handle.number);
    }

    /// Reads what must be there.
    pub(super) fn read(&mut self, handle: &mut Handle, offset: u64, size: u64) {
        assert!(offset + size <= self.size(handle.file), "no read is short");
        handle.used = true;
        line!(
            self,
            "ReadX {} {offset} {size} {size} NT_STATUS_OK",
            handle.number
        );
    }

    pub(super) fn write(&mut self, handle: &mut Handle, offset: u64, size: u64) {
        handle.used = true;
        let end = (offset + size).max(self.size(handle.file));
        self.files[handle.file.0].size = Some(end);
        line!(
            self,
            "WriteX {} {offset} {size} {size} NT_STATUS_OK",
            handle.number
        );
    }

    /// Lengthens a file to `size` by writing its last byte, and looks at the result.
    pub(super) fn extend(&mut self, handle: &mut Handle, size: u64) {
        self.write(handle, size - 1, 1);
        self.query_handle(handle);
    }

    pub(super) fn query_handle(&mut self, handle: &Handle) {
        self.tally.handle_queries += 1;
        line!(
            self,
            "QUERY_FILE_INFORMATION {} 258 NT_STATUS_OK",
            handle.number
        );
    }

    pub(super) fn set_times(&mut self, handle: &Handle) {
        self.tally.times_set += 1;
        line!(
            self,
            "SET_FILE_INFORMATION {} 1004 NT_STATUS_OK",
            handle.number
        );
    }

    pub(super) fn flush(&mut self, handle: &Handle) {
        line!(self, "Flush {} NT_STATUS_OK", handle.number);
    }

    /// Locks the byte by which office programs mark a file as in use, far behind its end, and gives
    /// it back.
    pub(super) fn lock_and_unlock(&mut self, handle: &Handle) {
        for op in ["LockX", "UnlockX"] {
            line!(self, "{op} {} 2147483538 1 NT_STATUS_OK", handle.number);
        }
    }

    /// Renames a file that is there to a name that is not.
    pub(super) fn rename(&mut self, from: File, to: File) {
        assert!(
            self.exists(from) && !self.exists(to),
            "the books say that nothing is replaced"
        );
        self.files[to.0].size = self.files[from.0].size.take();
        let (old, new) = (&self.files[from.0].path, &self.files[to.0].path);
        line!(self, r#"Rename "{old}" "{new}" NT_STATUS_OK"#);
    }

    pub(super) fn unlink(&mut self, file: File) {
        assert!(
            self.exists(file),
            "the books say that {} is there",
            self.files[file.0].path
        );
        self.files[file.0].size = None;
        let path = &self.files[file.0].path;
        line!(self, r#"Unlink "{path}" 0x6 NT_STATUS_OK"#);
    }
}

fn folder_path(folder: Option<&str>) -> String {
    match folder {
        None => ROOT.into(),
        Some("") => WORK.into(),
        Some(folder) => format!(r"{WORK}\{folder}"),
    }
}
