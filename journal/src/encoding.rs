//! How events become bytes.

use bytemuck::{AnyBitPattern, NoUninit};

use crate::error::BoxError;

/// How events of type `E` become bytes, and the reverse.
///
/// [`Plain`] serves types of plain data. For other types, implement this trait for a type of your
/// own. The journal stores the length of each event, and a checksum over all events of a batch.
///
/// ```
/// use lapwing_journal::{Encoding, Options, error::BoxError};
///
/// #[derive(Default)]
/// struct Line { text: String }
///
/// enum Utf8 {}
///
/// impl Encoding<Line> for Utf8 {
///     fn encode(line: &Line, bytes: &mut Vec<u8>) {
///         bytes.extend_from_slice(line.text.as_bytes());
///     }
///     fn decode(bytes: &[u8], line: &mut Line) -> Result<(), BoxError> {
///         line.text.clear();
///         line.text.push_str(std::str::from_utf8(bytes)?);
///         Ok(())
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let journal = Options::new().open_with::<Line, Utf8>(folder.path())?;
/// journal.writer().write(&[Line { text: "seven".into() }], 0)?;
/// journal.read(0)?.for_each(Line::default(), |sequence, line| {
///     assert_eq!((sequence, line.text.as_str()), (0, "seven"));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Encoding<E>: 'static {
    /// Bytes of an event, if all events have the same number. Otherwise 0, and each event is stored
    /// with its length.
    const EVENT_BYTES: usize = 0;

    /// Appends the bytes of `event`.
    fn encode(event: &E, bytes: &mut Vec<u8>);

    /// Changes `event` to what was encoded as `bytes`.
    ///
    /// # Errors
    ///
    /// The reason why `bytes` are not a valid event. The checksum was right, so it is usually an
    /// encoding that has changed: see [`Options::schema`](crate::Options::schema).
    fn decode(bytes: &[u8], event: &mut E) -> Result<(), BoxError>;

    /// Returns the bytes of all `events` without a copy, if they are the events themselves.
    ///
    /// ```
    /// use lapwing_journal::{Encoding, Plain};
    ///
    /// assert_eq!(<Plain as Encoding<u16>>::as_bytes(&[1_u16.to_le()]), Some([1, 0].as_slice()));
    /// ```
    fn as_bytes(events: &[E]) -> Option<&[u8]> {
        let _ = events;
        None
    }
}

/// The encoding of plain data: an event is stored as it is in memory.
///
/// It serves each type that is [`NoUninit`](bytemuck::NoUninit) and
/// [`AnyBitPattern`](bytemuck::AnyBitPattern), for instance with `derive(Pod)`. Another processor
/// may store numbers in another order, so such a journal belongs to one kind of processor.
#[derive(Debug)]
pub enum Plain {}

impl<E: NoUninit + AnyBitPattern> Encoding<E> for Plain {
    const EVENT_BYTES: usize = size_of::<E>();

    fn encode(event: &E, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(bytemuck::bytes_of(event));
    }

    fn decode(bytes: &[u8], event: &mut E) -> Result<(), BoxError> {
        let read = bytemuck::try_pod_read_unaligned(bytes);
        *event = read.map_err(|error| BoxError::from(error.to_string()))?;
        Ok(())
    }

    fn as_bytes(events: &[E]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(events))
    }
}
