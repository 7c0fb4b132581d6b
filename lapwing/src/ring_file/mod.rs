//! The file of an observable ring. It holds the words that monitors read, while the ring uses them, and
//! a description of the ring. Not here: what another process does with it (`observe`).
//!
//! ```text
//! header         64 bytes (format)
//! words          from byte 4096 on, mapped by both processes (layout); between them lies what only
//!                the process of the ring uses
//! description    the names, the graph, and where each word lies (format)
//! ```

// Other systems read no such files, and write none.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod folder;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod format;
mod layout;

#[cfg(not(target_os = "linux"))]
mod absent;
// I19: maps the file.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use absent::{Draft, OwnFile, check_owner, holds_lock, is_closed, open, stat_of};
pub(crate) use folder::{file_names, folder, named_folder, parts_of};
pub(crate) use format::{Description, Header, MAX_DESCRIPTION, Malformed, Offsets, Stage, VERSION};
pub(crate) use layout::{MonitorWords, end_of_words};
#[cfg(target_os = "linux")]
pub(crate) use linux::{Draft, OwnFile, check_owner, holds_lock, is_closed, open, stat_of};
