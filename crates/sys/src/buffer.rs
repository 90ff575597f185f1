//! Memory for I/O: whole pages, of its own mapping, touched before it is timed.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::errno::Errno;

/// A page-aligned buffer, zero at first. Each worker makes its own after it was forked, so that no page is shared and
/// no copy-on-write is timed.
#[derive(Debug)]
pub struct Buffer {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is owned by the value alone.
unsafe impl Send for Buffer {}

impl Buffer {
    /// No bytes and no mapping; stands in for a buffer that is lent out.
    pub const fn empty() -> Self {
        Self {
            base: NonNull::dangling(),
            length: 0,
        }
    }

    /// `length` zero bytes, every page present.
    pub fn zeroed(length: usize) -> Result<Self, Errno> {
        let length = length.max(1);
        // SAFETY: a new private mapping disturbs no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let base = NonNull::new(base.cast()).ok_or(Errno(libc::ENOMEM))?;
        let mut buffer = Self { base, length };
        // Written, not read: a read would map the shared zero page and leave the fault to the measured loop.
        for page in buffer.chunks_mut(4096) {
            // SAFETY: one byte within the page just borrowed; volatile, so that the store is not dropped as useless.
            unsafe { std::ptr::write_volatile(page.as_mut_ptr(), 0) };
        }
        Ok(buffer)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is alive, initialised (zero pages) and of this length.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.length) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.length == 0 {
            return;
        }
        // SAFETY: made with this length; nobody holds a reference any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_page_aligned_and_zero() {
        let mut buffer = Buffer::zeroed(10_000).unwrap();
        assert_eq!(buffer.as_ptr().align_offset(4096), 0);
        assert!(buffer.len() == 10_000 && buffer.iter().all(|byte| *byte == 0));
        buffer[9_999] = 1;
        assert_eq!(Buffer::zeroed(0).unwrap().len(), 1);
        assert!(Buffer::empty().is_empty());
    }
}
