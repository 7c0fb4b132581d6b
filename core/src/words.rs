//! Where the shared words of a ring lie: in private memory, or in a mapping, where another process sees
//! them. Not here: the mapping (`mapping`), and how another process reads the words (`view`).

use std::fmt;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{self, NonNull};
// The standard library's in a model too: no model depends on how long memory lives.
use std::sync::Arc;

use crate::error::MemoryError;
use crate::mapping::{Mapping, Word};
use crate::memory::{PerSlot, Reserved};
use crate::padded::Padded;

/// Places the words of one ring.
#[derive(Debug, Default)]
pub struct Words(Option<Mapped>);

/// A mapping, and where the next words lie in it.
#[derive(Debug)]
struct Mapped {
    mapping: Arc<Mapping>,
    next: usize,
}

impl Words {
    /// Places words in private memory.
    #[must_use]
    pub fn private() -> Self {
        Self(None)
    }

    /// Places words one after another in `mapping`, from the offset `start` on.
    #[must_use]
    pub fn mapped(mapping: Mapping, start: usize) -> Self {
        Self(Some(Mapped { mapping: Arc::new(mapping), next: start }))
    }

    /// Returns the number of bytes that `count` values of `T`, placed together, take in a mapping.
    /// `None` if no memory has as many.
    #[must_use]
    pub fn bytes_of<T>(count: usize) -> Option<usize> {
        size_of::<T>().checked_mul(count)?.checked_next_multiple_of(align_of::<Padded<()>>())
    }

    /// Returns the offset of `word` in the mapping. `None` if it lies elsewhere.
    #[must_use]
    pub fn offset_of<T: ?Sized>(&self, word: &T) -> Option<usize> {
        self.0.as_ref()?.mapping.offset_of(ptr::from_ref(word).addr())
    }

    /// Places a value.
    ///
    /// # Panics
    ///
    /// If the mapping has no space for it.
    pub fn place<T: Send + Sync + 'static>(&mut self, value: T) -> Placed<T> {
        let reserved = self.reserve(1).expect("memory for a few cache lines");
        let mut value = Some(value);
        let memory = reserved.fill(|_| value.take().expect("one value"));
        Placed { at: NonNull::from(&memory[0]), keeper: Arc::new(memory) }
    }

    /// Reserves space for a value for each slot.
    ///
    /// # Errors
    ///
    /// Those of [`Reserved::reserve`].
    ///
    /// # Panics
    ///
    /// If the mapping has no space for them.
    pub fn reserve<T>(&mut self, capacity: usize) -> Result<Reserved<T>, MemoryError> {
        let Some(Mapped { mapping, next }) = &mut self.0 else {
            return Reserved::reserve(capacity);
        };
        let reserved = Reserved::mapped(mapping, *next, capacity)?;
        *next += Self::bytes_of::<T>(capacity).expect("the mapping has space for the values");
        Ok(reserved)
    }
}

/// What keeps memory: its values are dropped and it is freed with the last reference.
trait Keeper: Send + Sync {}

impl<T: Send + Sync> Keeper for PerSlot<T> {}

impl Keeper for Mapping {}

/// A value that this and its clones keep in memory.
pub struct Placed<T: ?Sized> {
    at: NonNull<T>,
    keeper: Arc<dyn Keeper>,
}

// SAFETY: I19: it is a shared reference to a `T`, and keeps it.
unsafe impl<T: Send + Sync + ?Sized> Send for Placed<T> {}
// SAFETY: I19: as above.
unsafe impl<T: Send + Sync + ?Sized> Sync for Placed<T> {}

impl<T: RefUnwindSafe + ?Sized> UnwindSafe for Placed<T> {}
impl<T: RefUnwindSafe + ?Sized> RefUnwindSafe for Placed<T> {}

impl<T: Send + Sync + 'static> Placed<T> {
    /// Places a value in private memory.
    #[must_use]
    pub fn alone(value: T) -> Self {
        Words::private().place(value)
    }
}

impl<T: Word> Placed<T> {
    /// Returns the word at `offset` of `mapping`, which another process keeps. `None` if the mapping
    /// ends before, or if no such word can lie there.
    #[must_use]
    pub fn observed(mapping: &Arc<Mapping>, offset: usize) -> Option<Self> {
        let at = mapping.at(offset, size_of::<T>())?.cast::<T>();
        at.is_aligned().then(|| Self { at, keeper: Arc::<Mapping>::clone(mapping) })
    }
}

impl<T: Word> Placed<[T]> {
    /// Returns `count` words from `offset` of `mapping` on, which another process keeps. `None` if the
    /// mapping ends before, or if no such words can lie there.
    #[must_use]
    pub fn all_observed(mapping: &Arc<Mapping>, offset: usize, count: usize) -> Option<Self> {
        let first = mapping.at(offset, size_of::<T>().checked_mul(count)?)?.cast::<T>();
        let keeper = Arc::<Mapping>::clone(mapping);
        first.is_aligned().then(|| Self { at: NonNull::slice_from_raw_parts(first, count), keeper })
    }
}

impl<T: ?Sized> Placed<T> {
    /// Returns a part of the value, which keeps all of it.
    #[must_use]
    pub fn part<U: ?Sized>(&self, part: impl FnOnce(&T) -> &U) -> Placed<U> {
        Placed { at: NonNull::from(part(self)), keeper: Arc::clone(&self.keeper) }
    }

    /// Whether both are the same value.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.at.as_ptr(), other.at.as_ptr())
    }
}

impl<T: ?Sized> Deref for Placed<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: I19: the keeper holds the value where it was placed.
        unsafe { self.at.as_ref() }
    }
}

impl<T: ?Sized> Clone for Placed<T> {
    fn clone(&self) -> Self {
        Self { at: self.at, keeper: Arc::clone(&self.keeper) }
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    /// A value that says when it is dropped.
    struct Whole {
        part: Box<AtomicU64>,
        drops: Arc<AtomicU64>,
    }

    impl Drop for Whole {
        fn drop(&mut self) {
            self.drops.fetch_add(self.part.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    #[test]
    fn miri_a_part_keeps_the_whole_until_the_last_of_them_goes() {
        let drops = Arc::new(AtomicU64::new(0));
        let whole = Placed::alone(Whole { part: Box::default(), drops: Arc::clone(&drops) });
        assert!((&raw const *whole).addr().is_multiple_of(align_of::<Whole>()));
        let (part, twin) = (whole.part(|whole| &*whole.part), whole.clone());
        assert!(twin.ptr_eq(&whole));
        drop((whole, twin));
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        thread::spawn(move || part.store(7, Ordering::Relaxed)).join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 7);
    }

    /// Two values, and one word for each of three slots, in a file.
    #[cfg(all(target_os = "linux", not(any(miri, lapwing_shuttle))))]
    #[test]
    fn words_follow_each_other_in_a_mapping_and_an_observer_reads_them() {
        let path = std::env::temp_dir().join(format!("lapwing-words-{}", std::process::id()));
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path);
        let file = file.unwrap();
        std::fs::remove_file(&path).unwrap();
        file.set_len(4096 + 3 * 128).unwrap();
        // SAFETY: I19: the file has as many bytes, and only this test has it.
        let mapping = unsafe { Mapping::shared(&file, 4096 + 3 * 128) };
        let mut words = Words::mapped(mapping.unwrap(), 4096);
        let first = words.place(Padded(AtomicU64::new(1)));
        let slots = words.reserve(4).unwrap().fill(|slot| AtomicU64::new(10 + slot as u64));
        let last = words.place(Padded([2, 3].map(AtomicU64::new)));
        assert_eq!(words.offset_of(&*first), Some(4096));
        assert_eq!(words.offset_of(&slots[3]), Some(4096 + 128 + 24));
        assert_eq!(words.offset_of(&last[1]), Some(4096 + 256 + 8));
        assert_eq!(words.offset_of(&7), None);

        let mapping = Arc::new(Mapping::observed(&file, 4096 + 3 * 128).unwrap());
        let seen = Placed::<AtomicU64>::observed(&mapping, 4096 + 256 + 8).unwrap();
        let all = Placed::<[AtomicU64]>::all_observed(&mapping, 4096 + 128, 4).unwrap();
        let values = || (seen.load(Ordering::Acquire), all[3].load(Ordering::Acquire));
        assert_eq!(values(), (3, 13));
        last[1].store(4, Ordering::Release);
        assert_eq!(values(), (4, 13));
        seen.store(9, Ordering::Relaxed); // to a copy of the page
        assert_eq!((last[1].load(Ordering::Relaxed), values().0), (4, 9));

        for offset in [4096 + 3 * 128, 4097, usize::MAX] {
            assert!(Placed::<AtomicU64>::observed(&mapping, offset).is_none(), "{offset}");
        }
        assert!(Placed::<[AtomicU64]>::all_observed(&mapping, 4096, usize::MAX).is_none());
    }
}
