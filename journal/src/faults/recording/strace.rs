//! The text that `strace` writes, as calls. Not here: what they mean (`follow`).

use std::collections::HashMap;

use super::error::RecordingError;

/// The calls that change files or tell others something. A question mark is for calls that some
/// processors do not have.
pub(super) const TRACED: &str = "trace=openat,?open,?creat,close,write,writev,pwrite64,pwritev,\
    pwritev2,fsync,fdatasync,?rename,renameat,?renameat2,?link,linkat,?unlink,unlinkat,?mkdir,\
    mkdirat,ftruncate,fallocate,sendto,sendmsg";

/// Most bytes of a call that are recorded.
pub(super) const LONGEST_WRITE: &str = "16777216";

/// A call that has succeeded, or during which the program was ended.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<String>,
    /// `None` if the program was ended before the call.
    pub(super) result: Option<i64>,
    /// The lines of its begin and of its end.
    pub(super) begun: usize,
    pub(super) ended: usize,
}

/// Returns the calls of a trace, in the order of their ends. The first line has the number `from`.
pub(super) fn calls(trace: &str, from: usize) -> Result<Vec<Call<'_>>, RecordingError> {
    let mut calls = Vec::new();
    let mut open: HashMap<&str, (&str, usize)> = HashMap::new();
    let mut last = from;
    for (number, line) in (from..).zip(trace.lines()) {
        last = number;
        let (process, text) = line.split_once(' ').unwrap_or((line, ""));
        let text = text.trim_start();
        if let Some((begin, _)) = text.split_once(" <unfinished ...>") {
            open.insert(process, (begin, number));
        } else if let Some((_, end)) = text.split_once(" resumed>") {
            let (begin, begun) =
                open.remove(process).ok_or_else(|| RecordingError::new("no begin", line))?;
            calls.extend(call(begin, end, begun, number)?);
        } else if text.contains('(') {
            calls.extend(call(text, "", number, number)?);
        }
    }
    let mut ended: Vec<_> = open.into_values().collect();
    ended.sort_unstable_by_key(|(_, begun)| *begun);
    for (begin, begun) in ended {
        calls.extend(call(begin, ") = ?", begun, last)?);
    }
    Ok(calls)
}

/// Returns the call with this text. `None` if it has failed.
fn call<'a>(
    begin: &'a str,
    end: &str,
    begun: usize,
    ended: usize,
) -> Result<Option<Call<'a>>, RecordingError> {
    let whole = format!("{begin}{end}");
    let invalid = || RecordingError::new("not a call", &whole);
    let (name, _) = begin.split_once('(').ok_or_else(invalid)?;
    let (head, result) = whole.rsplit_once(" = ").ok_or_else(invalid)?;
    let arguments = head.trim_end().strip_suffix(')').ok_or_else(invalid)?;
    let result = result.split(' ').next().unwrap_or_default();
    let result = if result == "?" { None } else { Some(result.parse().map_err(|_| invalid())?) };
    if whole.contains("\"...") {
        return Err(RecordingError::new("longer than what is recorded", name));
    }
    let arguments = split(&arguments[name.len() + 1..]);
    let has_failed = result.is_some_and(|result: i64| result < 0);
    Ok((!has_failed).then_some(Call { name, arguments, result, begun, ended }))
}

/// Splits at the commas that are in no bracket. Strings are in hexadecimal, so they have none.
fn split(arguments: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = arguments.split(|character| {
        depth += i32::from("[{".contains(character)) - i32::from("]}".contains(character));
        character == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).collect()
}

impl Call<'_> {
    pub(super) fn number(&self, index: usize) -> Result<i64, RecordingError> {
        let number = self.arguments.get(index).and_then(|argument| argument.parse().ok());
        number.ok_or_else(|| self.error("not a number"))
    }

    pub(super) fn has(&self, index: usize, flag: &str) -> bool {
        self.arguments.get(index).is_some_and(|argument| argument.contains(flag))
    }

    /// The bytes of all strings of an argument, one after the other.
    pub(super) fn bytes(&self, index: usize) -> Result<Vec<u8>, RecordingError> {
        let argument = self.arguments.get(index).ok_or_else(|| self.error("no such argument"))?;
        let strings = argument.split('"').skip(1).step_by(2);
        let digits = strings.flat_map(|string| string.split("\\x").skip(1));
        let bytes = digits.map(|digits| u8::from_str_radix(digits, 16));
        bytes.collect::<Result<_, _>>().map_err(|_| self.error("not hexadecimal"))
    }

    pub(super) fn error(&self, reason: &'static str) -> RecordingError {
        RecordingError::new(reason, &format!("{}({})", self.name, self.arguments.join(", ")))
    }
}
