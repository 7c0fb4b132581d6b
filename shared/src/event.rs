//! What an event is: plain data, and a description of its layout that programs of any language can
//! compare.
//!
//! ```text
//! u8, i2, f4       an unsigned integer, an integer or a float of so many bytes
//! [4 u8]           an array
//! {16 0:u8 8:f4}   a struct: its bytes, and the offset of each field
//! ```

use std::fmt::Write;

use bytemuck::Pod;

/// An event of a segment: plain data whose layout is known.
///
/// Numbers of a fixed size and arrays are events. For a struct with named fields, derive
/// `bytemuck::Pod`, which checks that it has no padding and that any bytes are a value of it, and
/// name its fields in [`event!`](macro@crate::event):
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use lapwing_shared::Event;
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C)]
/// struct Trade {
///     price: i64,
///     symbol: [u8; 4],
///     quantity: u32,
/// }
///
/// lapwing_shared::event!(Trade { price, symbol, quantity });
///
/// assert_eq!(Trade::layout(), "{16 0:i8 8:[4 u1] 12:u4}");
/// ```
///
/// The numbers in this text are bytes: `u4` is an `u32`. [`docs::layout`](crate::docs::layout)
/// explains it. [`Segment::open`](crate::Segment::open) compares the text, so it refuses a segment
/// whose events have a field at another offset, of another size, or of another kind of number. It
/// does not compare names: a field may be renamed, and two fields of one type that change places
/// are not noticed.
///
/// A field that is missing in the list does not compile:
///
/// ```compile_fail,E0027
/// use bytemuck::{Pod, Zeroable};
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C)]
/// struct Trade {
///     price: i64,
///     quantity: u64,
/// }
///
/// lapwing_shared::event!(Trade { price });
/// ```
pub trait Event: Pod {
    /// Appends the description of its layout to `text`.
    ///
    /// ```
    /// use lapwing_shared::Event;
    ///
    /// let mut text = String::from("price: ");
    /// i64::describe(&mut text);
    /// assert_eq!(text, "price: i8");
    /// ```
    fn describe(text: &mut String);

    /// Returns the description of its layout.
    ///
    /// ```
    /// use lapwing_shared::Event;
    ///
    /// assert_eq!(<[f64; 3]>::layout(), "[3 f8]");
    /// ```
    #[must_use]
    fn layout() -> String {
        let mut text = String::new();
        Self::describe(&mut text);
        text
    }
}

macro_rules! number {
    ($kind:literal: $($number:ty),*) => {$(
        impl Event for $number {
            fn describe(text: &mut String) {
                _ = write!(text, "{}{}", $kind, size_of::<$number>());
            }
        }
    )*};
}

number!('u': u8, u16, u32, u64, u128);
number!('i': i8, i16, i32, i64, i128);
number!('f': f32, f64);

impl<T: Event, const N: usize> Event for [T; N]
where
    [T; N]: Pod,
{
    fn describe(text: &mut String) {
        _ = write!(text, "[{N} ");
        T::describe(text);
        text.push(']');
    }
}

/// Implements [`Event`] for a struct, whose fields it lists.
///
/// [`Event`] has an example.
#[macro_export]
macro_rules! event {
    ($event:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::Event for $event {
            fn describe(text: &mut ::std::string::String) {
                // Does not compile unless the list has each field.
                let $event { $($field: _),+ } = <Self as $crate::__private::Zeroable>::zeroed();
                let mut list = $crate::__private::Fields::of::<Self>(text);
                $(list.field(::std::mem::offset_of!(Self, $field), |event: &Self| &event.$field);)+
            }
        }
    };
}

/// The description of a struct, which [`event!`](macro@crate::event) writes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Fields<'a>(&'a mut String);

impl<'a> Fields<'a> {
    #[must_use]
    pub fn of<T>(text: &'a mut String) -> Self {
        _ = write!(text, "{{{}", size_of::<T>());
        Self(text)
    }

    /// Appends a field. `_type` only says which type it has.
    pub fn field<T, F: Event>(&mut self, offset: usize, _type: fn(&T) -> &F) {
        _ = write!(self.0, " {offset}:");
        F::describe(self.0);
    }
}

impl Drop for Fields<'_> {
    fn drop(&mut self) {
        self.0.push('}');
    }
}

/// Returns a number that two layouts share only if they are the same, except by chance: FNV-1a of
/// 64 bits (Fowler, Noll and Vo).
pub(crate) fn hash(layout: &str) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    layout.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Level {
        price: f64,
        quantity: u64,
    }

    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Book {
        sequence: u32,
        flags: [u8; 4],
        levels: [Level; 2],
    }

    crate::event!(Level { price, quantity });
    crate::event!(Book { sequence, flags, levels });

    #[test]
    fn a_layout_has_sizes_offsets_and_kinds() {
        let layout = Book::layout();
        assert_eq!(layout, "{40 0:u4 4:[4 u1] 8:[2 {16 0:f8 8:u8}]}");
        assert_ne!(hash(&layout), hash(&layout.replace("f8", "u8")));
    }

    /// The published test vectors of FNV-1a.
    #[test]
    fn the_hash_is_that_of_other_programs() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
