//! System calls that workloads time, by kernel number.
//!
//! `std` would turn `stat` into statx, retry EINTR and set CLOEXEC; rustix uses other numbers than the C library for
//! `fstat` and `unlink`. Here each function is one kernel entry with the arguments given and nothing added. On
//! x86-64 the entry is one `syscall` instruction in line; elsewhere the C library's `syscall` function makes it. Where
//! an architecture lacks a call (arm64 has no `unlink`), its `at` form is used, as the C library does there.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the kernel's calling convention: every argument is sign-extended into a register, every result comes back in one"
)]

use std::ffi::CStr;

use crate::errno::Errno;

/// A file descriptor's number. Plain, because a replayed loadfile opens and closes by number and must not close on drop.
pub type Fd = i32;

/// "Relative to the working directory" for the `at` calls.
pub const AT_FDCWD: Fd = libc::AT_FDCWD;

/// O_RDONLY.
pub const O_RDONLY: i32 = libc::O_RDONLY;
/// O_RDWR.
pub const O_RDWR: i32 = libc::O_RDWR;
/// O_CREAT.
pub const O_CREAT: i32 = libc::O_CREAT;
/// O_TRUNC.
pub const O_TRUNC: i32 = libc::O_TRUNC;
/// O_EXCL.
pub const O_EXCL: i32 = libc::O_EXCL;
/// O_NOFOLLOW.
pub const O_NOFOLLOW: i32 = libc::O_NOFOLLOW;
/// O_SYNC.
pub const O_SYNC: i32 = libc::O_SYNC;
/// O_DIRECTORY.
pub const O_DIRECTORY: i32 = libc::O_DIRECTORY;
/// The flags with which the C library's `opendir` opens.
pub const OPENDIR: i32 = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_DIRECTORY;

/// One kernel entry.
///
/// # Safety
/// The arguments must be valid for call `number`: pointers alive and of the length the call expects.
#[inline]
#[cfg(target_arch = "x86_64")]
unsafe fn enter(number: libc::c_long, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the x86-64 system call convention: number in rax, arguments in these registers, rcx and r11 clobbered;
    // what the call does with memory is the caller's promise.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// One kernel entry through the C library.
///
/// # Safety
/// As above.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
unsafe fn enter(number: libc::c_long, args: [usize; 6]) -> isize {
    // SAFETY: the caller's promise; unused arguments are ignored by the kernel.
    let result =
        unsafe { libc::syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]) };
    if result == -1 {
        -(Errno::last().0 as isize)
    } else {
        result as isize
    }
}

#[inline]
const fn result(value: isize) -> Result<usize, Errno> {
    if value < 0 {
        Err(Errno(-value as i32))
    } else {
        Ok(value as usize)
    }
}

/// Makes a call; each argument is widened as the kernel's calling convention wants it.
macro_rules! call {
    ($number:expr $(, $arg:expr)* $(,)?) => {{
        let given = [$($arg as usize),*];
        let mut args = [0_usize; 6];
        args[..given.len()].copy_from_slice(&given);
        result(enter($number, args))
    }};
}

/// What `stat` tells, as far as anyone here asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// File type and permission bits.
    pub mode: u32,
    /// Size in bytes.
    pub size: i64,
    /// Last access, in seconds since 1970.
    pub access: i64,
    /// Last modification, in seconds since 1970.
    pub modification: i64,
}

impl Stat {
    /// Is it a directory?
    pub const fn is_dir(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFDIR
    }
}

/// Room for the kernel's structure.
type Raw = std::mem::MaybeUninit<libc::stat>;

#[inline]
const fn told(raw: &Raw) -> Stat {
    // SAFETY: called after the kernel reported success, that is after it filled the whole structure.
    let raw = unsafe { raw.assume_init_ref() };
    Stat {
        mode: raw.st_mode,
        size: raw.st_size,
        access: raw.st_atime,
        modification: raw.st_mtime,
    }
}

/// newfstatat of a path, following symbolic links: the C library's `stat`.
#[inline]
pub fn stat(path: &CStr) -> Result<Stat, Errno> {
    let mut raw = Raw::uninit();
    // SAFETY: the path is NUL-terminated and the structure is the kernel's own for this call.
    unsafe {
        call!(
            libc::SYS_newfstatat,
            AT_FDCWD,
            path.as_ptr(),
            raw.as_mut_ptr(),
            0
        )
    }?;
    Ok(told(&raw))
}

/// newfstatat of a path, not following a symbolic link at its end: `lstat`.
#[inline]
pub fn lstat(path: &CStr) -> Result<Stat, Errno> {
    let mut raw = Raw::uninit();
    // SAFETY: as in `stat`.
    unsafe {
        call!(
            libc::SYS_newfstatat,
            AT_FDCWD,
            path.as_ptr(),
            raw.as_mut_ptr(),
            libc::AT_SYMLINK_NOFOLLOW,
        )
    }?;
    Ok(told(&raw))
}

/// newfstatat with an empty path: the C library's `fstat` since 2.33.
#[inline]
pub fn fstat(fd: Fd) -> Result<Stat, Errno> {
    let mut raw = Raw::uninit();
    // SAFETY: as in `stat`; the empty string is static.
    unsafe {
        call!(
            libc::SYS_newfstatat,
            fd,
            c"".as_ptr(),
            raw.as_mut_ptr(),
            libc::AT_EMPTY_PATH,
        )
    }?;
    Ok(told(&raw))
}

/// openat relative to the working directory: the C library's `open`.
#[inline]
pub fn open(path: &CStr, flags: i32, mode: u32) -> Result<Fd, Errno> {
    // SAFETY: the path is NUL-terminated.
    unsafe { call!(libc::SYS_openat, AT_FDCWD, path.as_ptr(), flags, mode) }.map(|fd| fd as Fd)
}

/// close. The descriptor is gone even when an error is returned.
#[inline]
pub fn close(fd: Fd) -> Result<(), Errno> {
    // SAFETY: closing a number touches no memory; who owns it is the caller's affair, as with the kernel.
    unsafe { call!(libc::SYS_close, fd) }.map(drop)
}

/// pread64.
#[inline]
pub fn pread(fd: Fd, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
    // SAFETY: the buffer is valid for its length.
    unsafe {
        call!(
            libc::SYS_pread64,
            fd,
            buffer.as_mut_ptr(),
            buffer.len(),
            offset
        )
    }
}

/// pwrite64.
#[inline]
pub fn pwrite(fd: Fd, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
    // SAFETY: the buffer is valid for its length.
    unsafe {
        call!(
            libc::SYS_pwrite64,
            fd,
            buffer.as_ptr(),
            buffer.len(),
            offset
        )
    }
}

/// fsync.
#[inline]
pub fn fsync(fd: Fd) -> Result<(), Errno> {
    // SAFETY: no memory is passed.
    unsafe { call!(libc::SYS_fsync, fd) }.map(drop)
}

/// fdatasync.
#[inline]
pub fn fdatasync(fd: Fd) -> Result<(), Errno> {
    // SAFETY: no memory is passed.
    unsafe { call!(libc::SYS_fdatasync, fd) }.map(drop)
}

/// ftruncate.
#[inline]
pub fn ftruncate(fd: Fd, length: u64) -> Result<(), Errno> {
    // SAFETY: no memory is passed.
    unsafe { call!(libc::SYS_ftruncate, fd, length) }.map(drop)
}

/// unlink.
#[inline]
pub fn unlink(path: &CStr) -> Result<(), Errno> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the path is NUL-terminated.
    return unsafe { call!(libc::SYS_unlink, path.as_ptr()) }.map(drop);
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the path is NUL-terminated.
    return unsafe { call!(libc::SYS_unlinkat, AT_FDCWD, path.as_ptr(), 0) }.map(drop);
}

/// rmdir.
#[inline]
pub fn rmdir(path: &CStr) -> Result<(), Errno> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the path is NUL-terminated.
    return unsafe { call!(libc::SYS_rmdir, path.as_ptr()) }.map(drop);
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the path is NUL-terminated.
    return unsafe {
        call!(
            libc::SYS_unlinkat,
            AT_FDCWD,
            path.as_ptr(),
            libc::AT_REMOVEDIR
        )
    }
    .map(drop);
}

/// mkdir.
#[inline]
pub fn mkdir(path: &CStr, mode: u32) -> Result<(), Errno> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the path is NUL-terminated.
    return unsafe { call!(libc::SYS_mkdir, path.as_ptr(), mode) }.map(drop);
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the path is NUL-terminated.
    return unsafe { call!(libc::SYS_mkdirat, AT_FDCWD, path.as_ptr(), mode) }.map(drop);
}

/// rename.
#[inline]
pub fn rename(old: &CStr, new: &CStr) -> Result<(), Errno> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: both paths are NUL-terminated.
    return unsafe { call!(libc::SYS_rename, old.as_ptr(), new.as_ptr()) }.map(drop);
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: both paths are NUL-terminated.
    return unsafe {
        call!(
            libc::SYS_renameat2,
            AT_FDCWD,
            old.as_ptr(),
            AT_FDCWD,
            new.as_ptr(),
            0
        )
    }
    .map(drop);
}

/// utimensat with whole seconds: what the C library's `utime` makes.
#[inline]
pub fn utime(path: &CStr, access: i64, modification: i64) -> Result<(), Errno> {
    let times = [access, modification].map(|tv_sec| libc::timespec { tv_sec, tv_nsec: 0 });
    // SAFETY: the path is NUL-terminated and two timespecs are what the call reads.
    unsafe {
        call!(
            libc::SYS_utimensat,
            AT_FDCWD,
            path.as_ptr(),
            times.as_ptr(),
            0
        )
    }
    .map(drop)
}

/// statfs, its figures thrown away: what a `statvfs` costs.
#[inline]
pub fn statfs(path: &CStr) -> Result<(), Errno> {
    let mut raw = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path is NUL-terminated and the structure is the kernel's own for this call.
    unsafe { call!(libc::SYS_statfs, path.as_ptr(), raw.as_mut_ptr()) }.map(drop)
}

/// getdents64; returns the bytes filled, 0 at the end. [`entries`] reads them.
#[inline]
pub fn getdents(fd: Fd, buffer: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the buffer is valid for its length.
    unsafe { call!(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len()) }
}

/// The names in what [`getdents`] filled; stops at the first entry that is malformed.
#[inline]
pub fn entries(filled: &[u8]) -> impl Iterator<Item = &[u8]> {
    // struct linux_dirent64: ino u64, off i64, reclen u16, type u8, name NUL-terminated and padded.
    const NAME: usize = 19;
    let mut rest = filled;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*rest.get(16)?, *rest.get(17)?]));
        let entry = rest.get(..length).filter(|entry| entry.len() > NAME)?;
        rest = &rest[length..];
        let name = &entry[NAME..];
        let end = name
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(name.len());
        Some(&name[..end])
    })
}

/// F_SETLKW of a write lock on `length` bytes from `start`: waits for it.
#[inline]
pub fn lock_range(fd: Fd, start: u32, length: u32) -> Result<(), Errno> {
    set_lock(fd, libc::F_WRLCK, start, length)
}

/// F_SETLKW of an unlock.
#[inline]
pub fn unlock_range(fd: Fd, start: u32, length: u32) -> Result<(), Errno> {
    set_lock(fd, libc::F_UNLCK, start, length)
}

#[inline]
fn set_lock(fd: Fd, kind: i32, start: u32, length: u32) -> Result<(), Errno> {
    let lock = libc::flock {
        l_type: kind as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: i64::from(start),
        l_len: i64::from(length),
        l_pid: 0,
    };
    // SAFETY: the structure is the kernel's own for this command.
    unsafe { call!(libc::SYS_fcntl, fd, libc::F_SETLKW, &raw const lock) }.map(drop)
}

/// getxattr.
#[inline]
pub fn getxattr(path: &CStr, name: &CStr, buffer: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: both strings are NUL-terminated and the buffer is valid for its length.
    unsafe {
        call!(
            libc::SYS_getxattr,
            path.as_ptr(),
            name.as_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
        )
    }
}

/// fgetxattr.
#[inline]
pub fn fgetxattr(fd: Fd, name: &CStr, buffer: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the name is NUL-terminated and the buffer is valid for its length.
    unsafe {
        call!(
            libc::SYS_fgetxattr,
            fd,
            name.as_ptr(),
            buffer.as_mut_ptr(),
            buffer.len()
        )
    }
}

/// fsetxattr, creating or replacing.
#[inline]
pub fn fsetxattr(fd: Fd, name: &CStr, value: &[u8]) -> Result<(), Errno> {
    // SAFETY: the name is NUL-terminated and the value is valid for its length.
    unsafe {
        call!(
            libc::SYS_fsetxattr,
            fd,
            name.as_ptr(),
            value.as_ptr(),
            value.len(),
            0
        )
    }
    .map(drop)
}

/// kill with signal 0: does that process exist? What the original dbench asks before each line.
#[inline]
pub fn process_exists(pid: i32) -> bool {
    // SAFETY: no memory is passed, and signal 0 is delivered to nobody.
    unsafe { call!(libc::SYS_kill, pid, 0) }.is_ok()
}

/// getppid: the cheapest call that does something.
#[inline]
pub fn getppid() -> i32 {
    // SAFETY: no memory is passed; the call cannot fail.
    unsafe { call!(libc::SYS_getppid) }.unwrap_or(0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    fn path(path: &std::path::Path) -> CString {
        CString::new(path.as_os_str().as_bytes()).unwrap()
    }

    #[test]
    fn the_calls_do_to_a_file_what_their_names_say() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (path(&dir.path().join("a")), path(&dir.path().join("b")));
        assert_eq!(stat(&a), Err(Errno::NOENT));
        let fd = open(&a, O_RDWR | O_CREAT, 0o600).unwrap();
        assert_eq!(pwrite(fd, b"kernmark", 4), Ok(8));
        assert_eq!(fstat(fd).unwrap().size, 12);
        let mut buffer = [1; 16];
        assert_eq!(pread(fd, &mut buffer, 2), Ok(10));
        assert_eq!(&buffer[..10], b"\0\0kernmark");
        assert_eq!(ftruncate(fd, 5), Ok(()));
        assert_eq!(fsync(fd), Ok(()));
        assert_eq!(fdatasync(fd), Ok(()));
        assert_eq!(lock_range(fd, 2_147_483_538, 1), Ok(()));
        assert_eq!(unlock_range(fd, 2_147_483_538, 1), Ok(()));
        assert_eq!(utime(&a, 1_000_000_000, 1_000_000_002), Ok(()));
        assert_eq!(close(fd), Ok(()));
        assert_eq!(close(fd), Err(Errno(libc::EBADF)));
        assert_eq!(rename(&a, &b), Ok(()));
        let seen = std::fs::metadata(dir.path().join("b")).unwrap();
        assert_eq!(seen.len(), 5);
        assert_eq!(std::os::unix::fs::MetadataExt::mtime(&seen), 1_000_000_002);
        assert_eq!(mkdir(&a, 0o700), Ok(()));
        assert!(stat(&a).unwrap().is_dir() && lstat(&a).unwrap().is_dir());
        assert_eq!(rmdir(&a), Ok(()));
        assert_eq!(statfs(&path(dir.path())), Ok(()));
        let fd = open(&path(dir.path()), OPENDIR, 0).unwrap();
        let mut buffer = [0; 1024];
        let filled = getdents(fd, &mut buffer).unwrap();
        let mut names: Vec<&[u8]> = entries(&buffer[..filled]).collect();
        names.sort_unstable();
        assert_eq!(names, [&b"."[..], b"..", b"b"]);
        assert_eq!(getdents(fd, &mut buffer), Ok(0));
        assert_eq!(close(fd), Ok(()));
        assert_eq!(unlink(&b), Ok(()));
        assert_eq!(unlink(&b), Err(Errno::NOENT));
    }

    #[test]
    fn malformed_directory_entries_end_the_reading() {
        assert_eq!(entries(&[]).count(), 0);
        assert_eq!(entries(&[0; 64]).count(), 0);
        assert_eq!(entries(&[255; 64]).count(), 0);
    }
}
