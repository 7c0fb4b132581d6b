//! Parses one line of a message file into an order message.
//!
//! A line has six fields separated by commas: time, type, order id, size, price, direction. There
//! is no header.
//!
//! ```
//! use exchange::flows::lobster::message::{Kind, Message, Side};
//!
//! let message = Message::parse(b"34200.004241176,1,16113575,18,5853300,1")?;
//! assert_eq!(message.time_ns, 34_200_004_241_176);
//! assert_eq!((message.kind, message.side), (Kind::Add, Side::Buy));
//! assert_eq!((message.order_id, message.size, message.price), (16_113_575, 18, 5_853_300));
//!
//! let error = Message::parse(b"34200.004241176,1,16113575,18,5853300,2").unwrap_err();
//! assert_eq!(error.to_string(), "direction must be 1 (buy) or -1 (sell): found \"2\"");
//! # Ok::<(), exchange::flows::lobster::message::MessageError>(())
//! ```

use std::error::Error;
use std::fmt;
use std::iter;
use std::str::FromStr;

/// Maximum length of a line, in bytes without the line end. A valid line has about 40.
pub const MAX_LINE_BYTES: usize = 4096;

const FIELDS: usize = 6;
const SECONDS_PER_DAY: u64 = 86_400;
const NS_PER_SECOND: u64 = 1_000_000_000;
/// Number of decimal digits of a nanosecond.
const NS_DIGITS: usize = 9;
/// Maximum length of a field's text in an error, in characters.
const EXCERPT_CHARS: usize = 24;

/// The kind of an order message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 1: a new limit order.
    Add,
    /// 2: a partial cancellation of a resting order.
    Cancel,
    /// 3: the deletion of a resting order.
    Delete,
    /// 4: the execution of a visible resting order, in part or whole.
    Execute,
    /// 5: the execution of a hidden order.
    ExecuteHidden,
    /// 6: a cross trade, for instance of an auction.
    Cross,
    /// 7: a halt or resumption of trading.
    Halt,
}

/// The direction of the limit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// 1: a bid.
    Buy,
    /// -1: an ask.
    Sell,
}

/// One order message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Nanoseconds after midnight.
    pub time_ns: u64,
    /// The kind of event.
    pub kind: Kind,
    /// The order concerned. It has no meaning for hidden executions, crosses and halts.
    pub order_id: i64,
    /// Number of shares, at least 1, except in a halt.
    pub size: u32,
    /// Dollars x 10000, at least 1. In a halt, its phase: -1, 0 or 1.
    pub price: i64,
    /// The direction of the limit order, also in an execution.
    pub side: Side,
}

impl Message {
    /// Parses one line without its line end.
    ///
    /// # Errors
    ///
    /// [`MessageError`] names the first error. The type is checked first, because it determines the
    /// allowed values of the other fields.
    pub fn parse(line: &[u8]) -> Result<Self, MessageError> {
        let [time, kind, order_id, size, price, side] = fields_of(text_of(line)?)?;
        let kind = field("type", "1 to 7", kind, kind_of(kind))?;
        let (least_size, least_price) = if kind == Kind::Halt { (0, -1) } else { (1, 1) };

        Ok(Self {
            time_ns: field(
                "time",
                "seconds after midnight, less than 86400",
                time,
                nanoseconds_of(time),
            )?,
            kind,
            order_id: field(
                "order id",
                "a whole number of 64 bits",
                order_id,
                number_of(order_id),
            )?,
            size: field(
                "size",
                "a whole number of shares, 1 (in a halt 0) to 4294967295",
                size,
                number_of(size).filter(|&size| size >= least_size),
            )?,
            price: field(
                "price",
                "a whole number, dollars x 10000, at least 1 (in a halt -1)",
                price,
                number_of(price).filter(|&price| price >= least_price),
            )?,
            side: field("direction", "1 (buy) or -1 (sell)", side, side_of(side))?,
        })
    }
}

/// Returns the line as text, if its length and encoding are valid.
fn text_of(line: &[u8]) -> Result<&str, MessageError> {
    if line.is_empty() {
        return Err(MessageError::Blank);
    }
    if line.len() > MAX_LINE_BYTES {
        return Err(MessageError::TooLong);
    }
    str::from_utf8(line).map_err(|error| MessageError::NotUtf8 { valid_bytes: error.valid_up_to() })
}

/// Splits the line into exactly six fields, without copying.
fn fields_of(text: &str) -> Result<[&str; FIELDS], MessageError> {
    let found = text.split(',').count();
    if found != FIELDS {
        return Err(MessageError::FieldCount { found });
    }
    let mut fields = text.split(',');
    Ok(std::array::from_fn(|_| fields.next().unwrap_or_default()))
}

/// Returns the value of a field, or an error with its text.
fn field<T>(
    name: &'static str,
    allowed: &'static str,
    found: &str,
    value: Option<T>,
) -> Result<T, MessageError> {
    value.ok_or_else(|| MessageError::Field { name, allowed, found: excerpt(found) })
}

fn kind_of(text: &str) -> Option<Kind> {
    Some(match text {
        "1" => Kind::Add,
        "2" => Kind::Cancel,
        "3" => Kind::Delete,
        "4" => Kind::Execute,
        "5" => Kind::ExecuteHidden,
        "6" => Kind::Cross,
        "7" => Kind::Halt,
        _ => return None,
    })
}

fn side_of(text: &str) -> Option<Side> {
    match text {
        "1" => Some(Side::Buy),
        "-1" => Some(Side::Sell),
        _ => None,
    }
}

/// Parses a number without a sign `+`, which `str::parse` would accept.
fn number_of<T: FromStr>(text: &str) -> Option<T> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// Parses `34200.5` to nanoseconds without a float. Some recordings contain a few times with more
/// than nine decimals, which come from floats. They are rounded to the nanosecond.
fn nanoseconds_of(text: &str) -> Option<u64> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let seconds: u64 = number_of(seconds).filter(|&seconds| seconds < SECONDS_PER_DAY)?;
    let decimals = decimals.as_bytes();
    if decimals.is_empty() || !decimals.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = decimals.iter().chain(iter::repeat(&b'0')).take(NS_DIGITS);
    let fraction_ns = digits.fold(0, |ns, digit| ns * 10 + u64::from(digit - b'0'));
    let rounds_up = decimals.get(NS_DIGITS).is_some_and(|&digit| digit >= b'5');
    Some(seconds * NS_PER_SECOND + fraction_ns + u64::from(rounds_up))
}

/// Returns the beginning of a field, cut to a printable length.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The error of [`Message::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// The line is empty.
    Blank,
    /// The line has more than [`MAX_LINE_BYTES`] bytes.
    TooLong,
    /// The line is not UTF-8.
    NotUtf8 {
        /// Number of valid bytes before the first invalid one.
        valid_bytes: usize,
    },
    /// The line does not have six fields.
    FieldCount {
        /// Number of fields found.
        found: usize,
    },
    /// A field has an invalid value.
    Field {
        /// The name of the field.
        name: &'static str,
        /// The allowed values.
        allowed: &'static str,
        /// The text found; a long text is cut.
        found: String,
    },
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("the line is empty"),
            Self::TooLong => write!(f, "the line has more than {MAX_LINE_BYTES} bytes"),
            Self::NotUtf8 { valid_bytes } => {
                write!(
                    f,
                    "the line is not UTF-8 text: the first bad byte is number {}",
                    valid_bytes + 1
                )
            }
            Self::FieldCount { found } => {
                write!(f, "the line must have {FIELDS} fields separated by commas: found {found}")
            }
            // `{:?}` escapes control characters, which could otherwise control the terminal.
            Self::Field { name, allowed, found } => {
                write!(f, "{name} must be {allowed}: found {found:?}")
            }
        }
    }
}

impl Error for MessageError {}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "34200.004241176,1,16113575,18,5853300,1";

    /// Returns `GOOD` with field `index` replaced.
    fn with_field(index: usize, value: &str) -> String {
        let mut fields: Vec<&str> = GOOD.split(',').collect();
        fields[index] = value;
        fields.join(",")
    }

    /// Returns the field that the parser rejects, and the text that the error contains.
    fn refused(line: &str) -> (&'static str, String) {
        match Message::parse(line.as_bytes()) {
            Err(MessageError::Field { name, found, .. }) => (name, found),
            other => panic!("a bad field must be rejected: line={line:?}, got {other:?}"),
        }
    }

    #[test]
    fn parse_reads_every_field_of_a_good_line() {
        let expected = Message {
            time_ns: 34_200_004_241_176,
            kind: Kind::Add,
            order_id: 16_113_575,
            size: 18,
            price: 5_853_300,
            side: Side::Buy,
        };
        assert_eq!(Message::parse(GOOD.as_bytes()), Ok(expected));
    }

    #[test]
    fn parse_knows_the_seven_types_and_both_directions() {
        use Kind::{Add, Cancel, Cross, Delete, Execute, ExecuteHidden, Halt};
        for (number, kind) in (1..).zip([Add, Cancel, Delete, Execute, ExecuteHidden, Cross, Halt])
        {
            let line = with_field(1, &number.to_string());
            assert_eq!(Message::parse(line.as_bytes()).map(|message| message.kind), Ok(kind));
        }
        let sell = with_field(5, "-1");
        assert_eq!(Message::parse(sell.as_bytes()).map(|message| message.side), Ok(Side::Sell));
    }

    #[test]
    fn time_is_exact_to_the_nanosecond_whatever_the_number_of_decimals() {
        for (text, time_ns) in [
            ("34200", 34_200_000_000_000),
            ("34200.5", 34_200_500_000_000),
            ("34200.00426064", 34_200_004_260_640),
            ("0.000000001", 1),
            ("35821.088778456004", 35_821_088_778_456),
            ("35821.0887784559996", 35_821_088_778_456),
            ("86399.999999999", 86_399_999_999_999),
        ] {
            let line = with_field(0, text);
            assert_eq!(Message::parse(line.as_bytes()).map(|message| message.time_ns), Ok(time_ns));
        }
    }

    #[test]
    fn a_bad_field_is_refused_by_name() {
        let bad_values: [(usize, &str, &[&str]); FIELDS] = [
            (0, "time", &["", "-1", "+1", "86400", "34200.", ".5", "1.+5", "1.-5", "1e3", "9:30"]),
            (1, "type", &["", "0", "8", "01", "1.0", "new"]),
            (2, "order id", &["", "x", "+1", "1.5", "9223372036854775808"]),
            (3, "size", &["", "0", "-5", "+5", "1.5", " 18", "4294967296"]),
            (4, "price", &["", "0", "-1", "585.33", "9223372036854775808"]),
            (5, "direction", &["", "0", "2", "-", "+1", "buy", "1 "]),
        ];
        for (index, name, values) in bad_values {
            for value in values {
                assert_eq!(refused(&with_field(index, value)), (name, (*value).to_owned()));
            }
        }
    }

    #[test]
    fn a_halt_may_have_no_size_and_its_phase_as_price() {
        for phase in ["-1", "0", "1"] {
            let line = format!("36023.5,7,0,0,{phase},-1");
            assert!(Message::parse(line.as_bytes()).is_ok(), "phase={phase}");
        }
        assert_eq!(refused("36023.5,7,0,0,-2,-1").0, "price");
    }

    #[test]
    fn a_line_that_is_no_message_says_what_it_is() {
        let too_long = [b'1'; MAX_LINE_BYTES + 1];
        for (line, error, text) in [
            (&b""[..], MessageError::Blank, "the line is empty"),
            (&too_long, MessageError::TooLong, "the line has more than 4096 bytes"),
            (
                b"34200,1,\xff\xfe",
                MessageError::NotUtf8 { valid_bytes: 8 },
                "the line is not UTF-8 text: the first bad byte is number 9",
            ),
            (
                b"1,2,3",
                MessageError::FieldCount { found: 3 },
                "the line must have 6 fields separated by commas: found 3",
            ),
            (
                b"34200,1,2,3,4,1,7",
                MessageError::FieldCount { found: 7 },
                "the line must have 6 fields separated by commas: found 7",
            ),
        ] {
            assert_eq!(Message::parse(line), Err(error.clone()));
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn an_error_repeats_a_field_cut_and_escaped() {
        let line = with_field(4, &"\u{1b}é".repeat(100));
        let text = Message::parse(line.as_bytes()).unwrap_err().to_string();
        assert!(text.ends_with("é...\""), "{text}");
        assert!(!text.contains('\u{1b}'), "an escape sequence must not reach the terminal");
    }
}
