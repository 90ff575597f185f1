//! One client: its files, its paths, and what each op does to the kernel.
//!
//! Every function here makes exactly the calls that dbench 4.00 makes for the op, in its order, with its flags and
//! sizes; the test against the original compares them call by call.

use std::ffi::{CStr, CString};

use kernmark_engine::calls::Calls;
use kernmark_engine::tool::WorkError;
use kernmark_sys::buffer::Buffer;
use kernmark_sys::call::{
    Fd, O_CREAT, O_DIRECTORY, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC, OPENDIR, entries,
};
use kernmark_sys::errno::Errno;

use super::loadfile::{Disposition, Loadfile, PathId, Slot};
use super::options::Options;

/// The attribute in which a Samba server keeps DOS attributes, and its size in bytes.
const ATTRIBUTE: &CStr = c"user.DosAttrib";
const ATTRIBUTE_BYTES: usize = 44;
/// What the C library's `readdir` asks for at once.
const DIRECTORY_BYTES: usize = 32 << 10;

/// A path of the loadfile as this client uses it.
#[derive(Debug)]
struct ClientPath {
    whole: CString,
    parent: CString,
    /// Last component, for the case-insensitive search.
    name: Vec<u8>,
}

/// An open file, or the place where one should be.
#[derive(Debug, Clone, Copy)]
struct OpenFile {
    /// Negative where the open failed or the slot is free.
    fd: Fd,
    /// Index of the path that it was opened by.
    path: usize,
    directory: bool,
}

const CLOSED: Fd = -1;

/// A client of the replay.
#[derive(Debug)]
pub(super) struct Client {
    paths: Vec<ClientPath>,
    base: CString,
    slots: Vec<OpenFile>,
    /// The numbers that the loadfile gives the open handles, for messages.
    handles: Vec<i32>,
    /// `<base>/clients/client<id>` and `<base>/clients`.
    tree: CString,
    parent_of_tree: CString,
    zeros: Buffer,
    read_into: Buffer,
    directory: Vec<Buffer>,
    /// Path in the making while a tree is walked.
    walk: Vec<u8>,
}

/// How an op's main call went.
pub(super) type Called = Result<(), Errno>;

fn c_string(bytes: Vec<u8>) -> Result<CString, WorkError> {
    CString::new(bytes)
        .map_err(|_| WorkError("the directory's name contains a zero byte".to_owned()))
}

fn split(whole: &[u8]) -> (&[u8], &[u8]) {
    match whole.iter().rposition(|byte| *byte == b'/') {
        Some(0) => (b"/", &whole[1..]),
        Some(at) => (&whole[..at], &whole[at + 1..]),
        None => (b".", whole),
    }
}

impl Client {
    /// Client number `id` of `loadfile` in `base`; all that it will need is allocated now.
    pub(super) fn new(
        loadfile: &Loadfile,
        base: &[u8],
        id: u32,
        longest: usize,
    ) -> Result<Self, WorkError> {
        let no_memory =
            |errno: Errno| WorkError(format!("no memory for client {id}'s buffers: {errno}"));
        let paths = loadfile
            .paths
            .for_client(base, id)
            .into_iter()
            .map(|whole| {
                let (parent, name) = split(&whole);
                Ok(ClientPath {
                    parent: c_string(parent.to_vec())?,
                    name: name.to_vec(),
                    whole: c_string(whole)?,
                })
            });
        let root = [base, b"/clients"].concat();
        let tree = [&root[..], format!("/client{id}").as_bytes()].concat();
        let free = OpenFile {
            fd: CLOSED,
            path: 0,
            directory: false,
        };
        Ok(Self {
            paths: paths.collect::<Result<_, WorkError>>()?,
            base: c_string(base.to_vec())?,
            slots: vec![free; loadfile.slots],
            handles: vec![0; loadfile.slots],
            tree: c_string(tree)?,
            parent_of_tree: c_string(root)?,
            zeros: Buffer::zeroed(longest).map_err(no_memory)?,
            read_into: Buffer::zeroed(longest).map_err(no_memory)?,
            directory: vec![Buffer::zeroed(DIRECTORY_BYTES).map_err(no_memory)?],
            walk: Vec::with_capacity(4096),
        })
    }

    /// The path as this client uses it.
    pub(super) fn path(&self, id: PathId) -> std::borrow::Cow<'_, str> {
        self.paths[id.index()].whole.to_string_lossy()
    }

    /// The loadfile's number of the handle in `slot`.
    pub(super) fn handle(&self, slot: Slot) -> i32 {
        self.handles[slot.index()]
    }

    /// The descriptor in `slot`; `None` where its open failed.
    #[inline]
    pub(super) fn fd(&self, slot: Slot) -> Option<Fd> {
        Some(self.slots[slot.index()].fd).filter(|fd| *fd >= 0)
    }

    /// As a server looks a name up: a stat, and, since names differ in case there, a scan of the parent if it fails.
    #[inline]
    fn resolve(&mut self, calls: &mut Calls<'_>, options: &Options, path: PathId) -> Called {
        let path = &self.paths[path.index()];
        let found = calls.stat(&path.whole);
        if found.is_ok() {
            if options.xattr {
                let mut value = [0; ATTRIBUTE_BYTES];
                calls.getxattr(&path.whole, ATTRIBUTE, &mut value).ok();
            }
        } else if options.resolve {
            scan(calls, &path.parent, &mut self.directory[0], |name| {
                name.eq_ignore_ascii_case(&path.name)
            });
        }
        found.map(drop)
    }

    /// `QUERY_PATH_INFORMATION`.
    #[inline]
    pub(super) fn query_path(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        path: PathId,
    ) -> Called {
        self.resolve(calls, options, path)
    }

    /// `NTCreateX`. The descriptor goes into `slot`, or is closed again where none is wanted.
    pub(super) fn create(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        create: &Create,
    ) -> Called {
        self.resolve(calls, options, create.path).ok();
        let path = &self.paths[create.path.index()].whole;
        let opened = if create.directory {
            if !(options.stat_check && calls.stat(path).is_ok()) {
                calls.mkdir(path, 0o700).ok();
            }
            calls.open(path, O_RDONLY | O_DIRECTORY, 0)
        } else {
            let sync = if options.sync { O_SYNC } else { 0 };
            let flags = match create.disposition {
                Disposition::Open => 0,
                Disposition::Create => O_CREAT,
                Disposition::Truncate => O_CREAT | O_TRUNC,
            };
            if options.stat_check && create.disposition != Disposition::Open {
                calls.stat(path).ok();
            }
            match calls.open(path, O_RDWR | sync | flags, 0o600) {
                Err(Errno::ISDIR) => calls.open(path, O_RDONLY | O_DIRECTORY, 0),
                opened => opened,
            }
        };
        if let Some(slot) = create.slot {
            self.handles[slot.index()] = create.handle;
            self.slots[slot.index()] = OpenFile {
                fd: CLOSED,
                path: create.path.index(),
                directory: false,
            };
        }
        let fd = opened?;
        let directory = calls.fstat(fd).is_ok_and(|stat| stat.is_dir());
        if options.xattr && !directory {
            mark(calls, fd);
        }
        match create.slot {
            Some(slot) => {
                self.slots[slot.index()] = OpenFile {
                    fd,
                    path: create.path.index(),
                    directory,
                }
            }
            None => drop(calls.close(fd)),
        }
        Ok(())
    }

    /// `Close`.
    #[inline]
    pub(super) fn close(&mut self, calls: &mut Calls<'_>, slot: Slot, fd: Fd) -> Called {
        self.slots[slot.index()].fd = CLOSED;
        calls.close(fd)
    }

    /// `WriteX`; returns the bytes written.
    #[inline]
    pub(super) fn write(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        fd: Fd,
        offset: u64,
        size: u32,
    ) -> Result<usize, Errno> {
        if options.one_byte_write_fix && size == 1 && self.is_pointless(calls, fd, offset)? {
            return Ok(1);
        }
        let written = calls.pwrite(fd, &self.zeros[..size as usize], offset)?;
        if options.fsync {
            calls.fsync(fd).ok();
        }
        Ok(written)
    }

    /// Would writing one zero byte change nothing? Past the end the file is lengthened without a write.
    fn is_pointless(&mut self, calls: &mut Calls<'_>, fd: Fd, offset: u64) -> Result<bool, Errno> {
        let size = u64::try_from(calls.fstat(fd)?.size).unwrap_or(0);
        if size > offset {
            let byte = &mut self.read_into[..1];
            return Ok(calls.pread(fd, byte, offset)? == 1 && byte[0] == self.zeros[0]);
        }
        calls.ftruncate(fd, offset + 1)?;
        Ok(true)
    }

    /// `ReadX`; returns the bytes read.
    #[inline]
    pub(super) fn read(
        &mut self,
        calls: &mut Calls<'_>,
        fd: Fd,
        offset: u64,
        size: u32,
    ) -> Result<usize, Errno> {
        calls.pread(fd, &mut self.read_into[..size as usize], offset)
    }

    /// `Unlink`.
    pub(super) fn unlink(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        path: PathId,
    ) -> Called {
        self.resolve(calls, options, path).ok();
        let path = &self.paths[path.index()];
        calls.unlink(&path.whole)?;
        sync_parent(calls, options, &path.parent);
        Ok(())
    }

    /// `Rename`.
    pub(super) fn rename(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        from: PathId,
        to: PathId,
    ) -> Called {
        self.resolve(calls, options, from).ok();
        self.resolve(calls, options, to).ok();
        let (from, to) = (&self.paths[from.index()], &self.paths[to.index()]);
        if options.stat_check {
            calls.stat(&from.whole)?;
        }
        calls.rename(&from.whole, &to.whole)?;
        sync_parent(calls, options, &to.parent);
        Ok(())
    }

    /// `Rmdir`.
    pub(super) fn rmdir(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        path: PathId,
    ) -> Called {
        self.resolve(calls, options, path).ok();
        let path = &self.paths[path.index()];
        if options.stat_check && !calls.stat(&path.whole)?.is_dir() {
            return Err(Errno::NOTDIR);
        }
        calls.rmdir(&path.whole)?;
        sync_parent(calls, options, &path.parent);
        Ok(())
    }

    /// `Mkdir`. That it exists already is as good as made.
    pub(super) fn mkdir(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        path: PathId,
    ) -> Called {
        self.resolve(calls, options, path).ok();
        let path = &self.paths[path.index()];
        if options.stat_check && calls.stat(&path.whole).is_ok() {
            return Ok(());
        }
        match calls.mkdir(&path.whole, 0o777) {
            Err(Errno::EXIST) => Ok(()),
            made => made,
        }
    }

    /// `QUERY_FILE_INFORMATION`.
    #[inline]
    pub(super) fn query_file(calls: &mut Calls<'_>, options: &Options, fd: Fd) -> Called {
        let stat = calls.fstat(fd);
        if options.xattr {
            read_mark(calls, fd);
        }
        stat.map(drop)
    }

    /// `QUERY_FS_INFORMATION`.
    #[inline]
    pub(super) fn query_fs(&self, calls: &mut Calls<'_>) -> Called {
        calls.statfs(&self.base)
    }

    /// `SET_FILE_INFORMATION`: by the path that the handle was opened by, which may be gone by now.
    pub(super) fn set_file(
        &self,
        calls: &mut Calls<'_>,
        options: &Options,
        slot: Slot,
        fd: Fd,
    ) -> Called {
        let file = self.slots[slot.index()];
        if options.xattr {
            read_mark(calls, fd);
        }
        let stat = calls.fstat(fd)?;
        let set = calls.utime(
            &self.paths[file.path].whole,
            stat.access.wrapping_sub(10),
            stat.modification.wrapping_sub(12),
        );
        if options.xattr && !file.directory {
            mark(calls, fd);
        }
        // A file renamed or removed meanwhile has no such path; the original does not look.
        match set {
            Err(Errno::NOENT) => Ok(()),
            set => set,
        }
    }

    /// `FIND_FIRST`: the lookup of the pattern, which no file has as its name, and then the directory itself.
    pub(super) fn find(
        &mut self,
        calls: &mut Calls<'_>,
        options: &Options,
        pattern: PathId,
        wildcard: bool,
        most: u32,
    ) -> Called {
        let found = self.resolve(calls, options, pattern);
        if wildcard {
            let parent = &self.paths[pattern.index()].parent;
            let mut left = most;
            if most > 0 {
                scan(calls, parent, &mut self.directory[0], |_| {
                    left -= 1;
                    left == 0
                });
            }
        }
        found
    }

    /// `LockX`; the original's offsets and lengths are 32 bits.
    pub(super) fn lock(calls: &mut Calls<'_>, fd: Fd, offset: u64, length: u64) -> Called {
        calls.lock_range(fd, low_half(offset), low_half(length))
    }

    /// `UnlockX`.
    pub(super) fn unlock(calls: &mut Calls<'_>, fd: Fd, offset: u64, length: u64) -> Called {
        calls.unlock_range(fd, low_half(offset), low_half(length))
    }

    /// `Deltree` of a path of the loadfile.
    pub(super) fn deltree(&mut self, calls: &mut Calls<'_>, path: PathId) -> Called {
        let mut walk = std::mem::take(&mut self.walk);
        walk.clear();
        walk.extend_from_slice(self.paths[path.index()].whole.as_bytes());
        let removed = remove_files(calls, &mut walk, &mut self.directory, 0);
        self.walk = walk;
        removed
    }

    /// The clean-up at the end of a client's life: its files, and the parent if nobody else is in it.
    pub(super) fn clean_up(&mut self, calls: &mut Calls<'_>) -> Called {
        let mut walk = std::mem::take(&mut self.walk);
        walk.clear();
        walk.extend_from_slice(self.tree.as_bytes());
        let removed = remove_files(calls, &mut walk, &mut self.directory, 0);
        self.walk = walk;
        calls.rmdir(&self.parent_of_tree).ok();
        removed
    }

    /// Closes what the loadfile leaves open at its end.
    pub(super) fn close_left(&mut self, calls: &mut Calls<'_>, left: &[Slot]) {
        for slot in left {
            if let Some(fd) = self.fd(*slot) {
                self.close(calls, *slot, fd).ok();
            }
        }
    }
}

/// Arguments of an `NTCreateX`.
pub(super) struct Create {
    pub(super) path: PathId,
    pub(super) slot: Option<Slot>,
    pub(super) disposition: Disposition,
    pub(super) directory: bool,
    pub(super) handle: i32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the original's own 32 bits"
)]
const fn low_half(number: u64) -> u32 {
    number as u32
}

/// opendir, readdir until `found` or the end, closedir. A directory that cannot be opened costs just the open.
fn scan(
    calls: &mut Calls<'_>,
    directory: &CStr,
    buffer: &mut Buffer,
    mut found: impl FnMut(&[u8]) -> bool,
) {
    let Ok(fd) = calls.open(directory, OPENDIR, 0) else {
        return;
    };
    calls.fstat(fd).ok();
    while let Ok(filled @ 1..) = calls.getdents(fd, buffer) {
        if entries(&buffer[..filled]).any(&mut found) {
            break;
        }
    }
    calls.close(fd).ok();
}

/// Reads the DOS attribute of an open file.
fn read_mark(calls: &mut Calls<'_>, fd: Fd) {
    let mut value = [0; ATTRIBUTE_BYTES];
    calls.fgetxattr(fd, ATTRIBUTE, &mut value).ok();
}

/// Reads and sets it, with the time as a Samba server does.
fn mark(calls: &mut Calls<'_>, fd: Fd) {
    read_mark(calls, fd);
    let mut value = [0; ATTRIBUTE_BYTES];
    let now = calls.now();
    value[..8].copy_from_slice(&(now / 1_000_000_000).to_ne_bytes());
    value[8..16].copy_from_slice(&(now % 1_000_000_000 / 1_000).to_ne_bytes());
    calls.fsetxattr(fd, ATTRIBUTE, &value).ok();
}

fn sync_parent(calls: &mut Calls<'_>, options: &Options, parent: &CStr) {
    if options.sync_dir
        && let Ok(fd) = calls.open(parent, O_RDONLY, 0)
    {
        calls.fdatasync(fd).ok();
        calls.close(fd).ok();
    }
}

/// Removes the files below `path`, and no directory, as the original does: each entry is asked for by stat, files are
/// unlinked, directories walked, their parents open meanwhile.
fn remove_files(
    calls: &mut Calls<'_>,
    path: &mut Vec<u8>,
    buffers: &mut Vec<Buffer>,
    depth: usize,
) -> Called {
    if depth == buffers.len() {
        // Deeper than ever before; kept for the next time.
        buffers.push(Buffer::zeroed(DIRECTORY_BYTES)?);
    }
    let Ok(fd) = with_c_str(path, |path| calls.open(path, OPENDIR, 0)) else {
        return Ok(());
    };
    calls.fstat(fd).ok();
    let mut result = Ok(());
    let mut buffer = std::mem::replace(&mut buffers[depth], Buffer::empty());
    while let Ok(filled @ 1..) = calls.getdents(fd, &mut buffer) {
        for name in entries(&buffer[..filled]).filter(|name| !matches!(*name, b"." | b"..")) {
            let length = path.len();
            path.push(b'/');
            path.extend_from_slice(name);
            let removed = match with_c_str(path, |path| calls.stat(path)) {
                Ok(stat) if stat.is_dir() => remove_files(calls, path, buffers, depth + 1),
                _ => with_c_str(path, |path| calls.unlink(path)),
            };
            path.truncate(length);
            if result.is_ok() {
                result = removed;
            }
        }
    }
    buffers[depth] = buffer;
    calls.close(fd).ok();
    result
}

/// Lends `path` as a C string without allocating.
fn with_c_str<R>(
    path: &mut Vec<u8>,
    call: impl FnOnce(&CStr) -> Result<R, Errno>,
) -> Result<R, Errno> {
    path.push(0);
    let result = CStr::from_bytes_with_nul(path).map_or(Err(Errno::INVAL), call);
    path.pop();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_as_the_original_does() {
        assert_eq!(
            split(b"/t/clients/client0"),
            (&b"/t/clients"[..], &b"client0"[..])
        );
        assert_eq!(split(b"/clients"), (&b"/"[..], &b"clients"[..]));
        assert_eq!(split(b"./x"), (&b"."[..], &b"x"[..]));
        assert_eq!(split(b"x"), (&b"."[..], &b"x"[..]));
    }
}
