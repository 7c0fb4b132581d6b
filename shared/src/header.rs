//! The header of a segment, which is written once: what the segment is, for which machine, and what its
//! events look like.
//!
//! It has 4,096 bytes. Numbers have the byte order of the machine.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::error::Difference;
use crate::event::{Event, hash};
use crate::limits::{MAX_CAPACITY, MAX_SEATS};
use crate::memory::{PAGE, Shape};

/// The first bytes of a segment.
pub(crate) const MAGIC: [u8; 8] = *b"LAPWSHAR";

/// The version of the layout and of the protocol.
pub(crate) const VERSION: u32 = 2;

/// Reads as another number on a machine with the other byte order.
pub(crate) const BYTE_ORDER: u32 = 0x0102_0304;

/// Where its fields lie.
pub(crate) const MAGIC_AT: usize = 0;
pub(crate) const VERSION_AT: usize = 8;
pub(crate) const BYTE_ORDER_AT: usize = 12;
pub(crate) const BOOT_AT: usize = 16;
pub(crate) const CAPACITY_AT: usize = 32;
pub(crate) const SEATS_AT: usize = 40;
pub(crate) const WRITERS_AT: usize = 48;
pub(crate) const EVENT_BYTES_AT: usize = 56;
pub(crate) const LAYOUT_HASH_AT: usize = 64;
pub(crate) const LAYOUT_BYTES_AT: usize = 72;
pub(crate) const LAYOUT_AT: usize = 80;

/// Most bytes of a layout's description that the header keeps. A longer one is compared by its hash.
pub(crate) const MAX_LAYOUT: usize = PAGE - LAYOUT_AT;

/// What a segment says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The boot of the machine, as the kernel numbers it; zeros if it does not say.
    pub(crate) boot: [u8; 16],
    pub(crate) shape: Shape,
    pub(crate) layout_hash: u64,
    /// The description, cut to [`MAX_LAYOUT`] bytes.
    pub(crate) layout: String,
}

impl Header {
    /// The header of a segment of events `T`.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn of<T: Event>(shape: Shape) -> io::Result<Self> {
        let (mut layout, shape) = (T::layout(), Shape { event: size_of::<T>(), ..shape });
        let layout_hash = hash(&layout);
        layout.truncate(MAX_LAYOUT); // it is ASCII
        Ok(Self { boot: boot()?, shape, layout_hash, layout })
    }

    /// Returns the header as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; PAGE];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(MAGIC_AT, &MAGIC);
        put(VERSION_AT, &VERSION.to_ne_bytes());
        put(BYTE_ORDER_AT, &BYTE_ORDER.to_ne_bytes());
        put(BOOT_AT, &self.boot);
        put(CAPACITY_AT, &(self.shape.capacity as u64).to_ne_bytes());
        put(SEATS_AT, &(self.shape.seats as u64).to_ne_bytes());
        put(WRITERS_AT, &(self.shape.writers as u64).to_ne_bytes());
        put(EVENT_BYTES_AT, &(self.shape.event as u64).to_ne_bytes());
        put(LAYOUT_HASH_AT, &self.layout_hash.to_ne_bytes());
        put(LAYOUT_BYTES_AT, &(self.layout.len() as u64).to_ne_bytes());
        put(LAYOUT_AT, self.layout.as_bytes());
        bytes
    }

    /// Reads the header of a file, and checks that this machine and this version can use it.
    ///
    /// # Errors
    ///
    /// What differs, or what the system says.
    pub(crate) fn read(file: &File) -> io::Result<Result<Self, Difference>> {
        let bytes = file.metadata()?.len();
        if bytes < PAGE as u64 {
            return Ok(Err(Difference::Bytes { expected: PAGE as u64, found: bytes }));
        }
        let mut page = vec![0; PAGE];
        file.read_exact_at(&mut page, 0)?;
        Ok(Self::decode(&page).and_then(|header| header.check_bytes(bytes)))
    }

    fn decode(page: &[u8]) -> Result<Self, Difference> {
        if page[..MAGIC.len()] != MAGIC {
            return Err(Difference::NoSegment);
        }
        let number = |at| u32::from_ne_bytes(array(page, at));
        let long = |at| u64::from_ne_bytes(array(page, at));
        if number(BYTE_ORDER_AT) != BYTE_ORDER {
            return Err(Difference::ByteOrder);
        }
        if number(VERSION_AT) != VERSION {
            return Err(Difference::Version { expected: VERSION, found: number(VERSION_AT) });
        }
        let size = |at| usize::try_from(long(at)).map_err(|_| Difference::NoSegment);
        let shape = Shape {
            capacity: size(CAPACITY_AT)?,
            seats: size(SEATS_AT)?,
            writers: size(WRITERS_AT)?,
            event: size(EVENT_BYTES_AT)?,
        };
        let is_possible = shape.capacity.is_power_of_two()
            && shape.capacity <= MAX_CAPACITY
            && (1..=MAX_SEATS).contains(&shape.seats)
            && shape.writers <= MAX_SEATS
            && shape.event > 0;
        let layout = page[LAYOUT_AT..].get(..size(LAYOUT_BYTES_AT)?).filter(|_| is_possible);
        let layout = layout.ok_or(Difference::NoSegment)?;
        let layout = String::from_utf8_lossy(layout).into_owned();
        Ok(Self { boot: array(page, BOOT_AT), shape, layout_hash: long(LAYOUT_HASH_AT), layout })
    }

    fn check_bytes(self, found: u64) -> Result<Self, Difference> {
        let expected = self.shape.bytes().ok_or(Difference::NoSegment)? as u64;
        if found == expected { Ok(self) } else { Err(Difference::Bytes { expected, found }) }
    }

    /// Checks that the segment is what `program` asks for.
    ///
    /// # Errors
    ///
    /// What differs.
    pub(crate) fn check_all(&self, program: &Self) -> Result<(), Difference> {
        let (asked, found) = (program.shape, self.shape);
        self.check(program)?;
        if asked.writers != found.writers {
            let (program, segment) = (asked.writers, found.writers);
            return Err(Difference::Writers { program, segment });
        }
        if asked.capacity != found.capacity {
            let (program, segment) = (asked.capacity, found.capacity);
            return Err(Difference::Capacity { program, segment });
        }
        if asked.seats != found.seats {
            let (program, segment) = (asked.seats, found.seats);
            return Err(Difference::Seats { program, segment });
        }
        Ok(())
    }

    /// Checks that the segment is of the same boot as `program`, and that its events have the same
    /// layout.
    ///
    /// # Errors
    ///
    /// What differs.
    pub(crate) fn check(&self, program: &Self) -> Result<(), Difference> {
        let unknown = [0; 16];
        if self.boot != program.boot && ![self.boot, program.boot].contains(&unknown) {
            return Err(Difference::Boot);
        }
        if (self.layout_hash, self.shape.event) != (program.layout_hash, program.shape.event) {
            let (program, segment) = (program.layout.clone(), self.layout.clone());
            return Err(Difference::Layout { program, segment });
        }
        Ok(())
    }
}

fn array<const N: usize>(page: &[u8], at: usize) -> [u8; N] {
    page[at..at + N].try_into().expect("a page has as many bytes")
}

/// Returns the number of this boot of the machine; zeros where the system does not say it.
fn boot() -> io::Result<[u8; 16]> {
    let text = match std::fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    Ok(u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes())
}
