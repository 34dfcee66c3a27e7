//! The allocator of the program: mimalloc, which takes large bodies without a trip to the kernel each.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{c_int, c_long};

use libmimalloc_sys as mi;

/// What every block of at least this size is aligned to.
const ALIGNED: usize = 16;
/// Milliseconds after which freed pages are given back: streams that begin together free what they began with.
const GIVE_BACK_AFTER: c_long = 100;
/// The allocator's name for that time.
const PURGE_DELAY: c_int = 15;

/// Mimalloc. Asked for an alignment, even one that all blocks have, it takes a detour for sizes that are no power of two and wastes some
/// bytes; so it is asked only where the alignment is an unusual one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mimalloc;

/// Whether every block for `layout` has its alignment.
const fn is_usual(layout: Layout) -> bool {
    layout.align() <= ALIGNED && layout.align() <= layout.size()
}

#[expect(unsafe_code, reason = "an allocator is an unsafe trait")]
// SAFETY: the library's calls do what the trait asks for; none unwinds. A block of at least `ALIGNED` bytes is aligned to as much, a
// smaller one to the greatest power of two that is not beyond its size, as C asks of `malloc`.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size is allowed, and alignments are powers of two.
        unsafe { if is_usual(layout) { mi::mi_malloc(layout.size()) } else { mi::mi_malloc_aligned(layout.size(), layout.align()) }.cast() }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { if is_usual(layout) { mi::mi_zalloc(layout.size()) } else { mi::mi_zalloc_aligned(layout.size(), layout.align()) }.cast() }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller gives back a block of this allocator.
        unsafe { mi::mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let usual = layout.align() <= ALIGNED && layout.align() <= size;
        // SAFETY: the caller gives a block of this allocator, and the alignment is a power of two.
        unsafe {
            if usual { mi::mi_realloc(block.cast(), size) } else { mi::mi_realloc_aligned(block.cast(), size, layout.align()) }.cast()
        }
    }
}

/// Keeps the process on small pages: with huge ones, thousands of idle streams would each hold memory they never touch.
#[expect(unsafe_code, reason = "std has no call for it")]
pub(crate) fn use_little_memory() {
    // SAFETY: the calls change a flag of the process and an option of the allocator and touch no other memory.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
        mi::mi_option_set(PURGE_DELAY, GIVE_BACK_AFTER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "an allocator is asked directly")]
    fn blocks_are_aligned_and_keep_what_is_in_them() {
        for align in (0..=12).map(|bits| 1_usize << bits) {
            for size in (1..=200).chain([255, 1024, 1025, 15_152, 70_000]) {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: blocks are read and written within their size and freed once.
                unsafe {
                    let block = Mimalloc.alloc(layout);
                    assert_eq!(block.align_offset(align), 0, "{layout:?}");
                    block.write_bytes(7, size);
                    let grown = Mimalloc.realloc(block, layout, size * 3);
                    assert_eq!(grown.align_offset(align), 0, "{layout:?} grown");
                    assert!(std::slice::from_raw_parts(grown, size).iter().all(|byte| *byte == 7), "{layout:?} grown");
                    Mimalloc.dealloc(grown, Layout::from_size_align(size * 3, align).unwrap());
                    let zeroed = Mimalloc.alloc_zeroed(layout);
                    assert_eq!(zeroed.align_offset(align), 0, "{layout:?} zeroed");
                    assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0), "{layout:?} zeroed");
                    Mimalloc.dealloc(zeroed, layout);
                }
            }
        }
    }
}
