//! The segment, word by word: version 2.
//!
//! A segment with the name `ticks` is the directory `ticks.segment` in its folder. In it are
//!
//! - `memory`, the file that all processes map,
//! - `writer`, a named pipe that the writing process holds open for reading; with several
//!   writers, `writer-0`, `writer-1` and so on, one for each seat of a writer,
//! - `seat-0`, `seat-1` and so on, a named pipe for each seat of a reader, which the reader on that
//!   seat holds open for reading.
//!
//! To find out whether a pipe is held, a process opens it with `O_WRONLY | O_NONBLOCK`, which fails
//! with `ENXIO` if nobody has it open for reading. Once it is open, `poll` reports `POLLERR` as
//! soon as its holder ends. A byte in a pipe tells its holder that a process is about to join, or
//! has taken over. Whoever makes, opens or removes a segment holds a lock (`flock`) on the folder.
//!
//! # The layout of an event
//!
//! `layout` describes an event as text, and `layout_hash` is the FNV-1a hash of it, of 64 bits. The
//! text is one of
//!
//! - `uN`, `iN` or `fN`: an unsigned integer, an integer or a float of `N` *bytes*,
//! - `[N T]`: an array of `N` values of the layout `T`,
//! - `{N O:T O:T}`: a struct of `N` bytes, with the offset `O` and the layout `T` of each field.
//!
//! # The file `memory`
//!
//! Numbers have the byte order of the machine. Offsets and sizes are in bytes. The header is
//! written before the segment appears, and does not change.
//!
//! | offset | size | word | value |
//! |---|---|---|---|
//! | 0 | 8 | `magic` | `LAPWSHAR` |
//! | 8 | 4 | `version` | 2 |
//! | 12 | 4 | `byte_order` | 0x01020304 |
//! | 16 | 16 | `boot` | the number of this boot, from `/proc/sys/kernel/random/boot_id` |
//! | 32 | 8 | `capacity` | number of slots, a power of two |
//! | 40 | 8 | `seats` | number of seats of readers |
//! | 48 | 8 | `writers` | number of seats of writers; 0 if there is one writer, which needs none |
//! | 56 | 8 | `event_bytes` | size of an event |
//! | 64 | 8 | `layout_hash` | the hash of the layout |
//! | 72 | 8 | `layout_bytes` | length of the text that follows, at most 4016 |
//! | 80 | | `layout` | the layout of an event, cut to that length |
//!
//! From offset 4096 on lie the words that change, each on cache lines of its own:
//!
//! | offset | size | word | value | stored by |
//! |---|---|---|---|---|
//! | 4096 | 8 | `published` | with one writer: number of published events, which is the sequence of the next one | the writer |
//! | 4224 | 8 | `claimed` | with several writers: number of claimed sequences | writers |
//! | 4352 | 8 | `granted` | writers check the seats again before they write at or above this sequence | writers |
//! | 4480 | 4 | `events` | futex of readers that wait for an event: epoch times 4, plus 1 if any waits, plus 2 once it is woken | any |
//! | 4608 | 4 | `slots` | futex of writers that wait for a slot, in the same form | any |
//! | 4736 | 4 | `closed` | odd once the segment is closed; a writer that joins others adds 2 | writers, or one that replaces the segment |
//! | 4740 | 4 | `takeovers` | how often a process has taken the segment over, or joined its writers | writers |
//! | 4744 | 4 | `writer_pid` | the process that was the last to become a writer | writers |
//! | 4748 | 4 | `writer_fences` | with one writer: 1 if its process is registered for `membarrier`, else 0 | the writer |
//!
//! From offset 4864 on lie the seats of readers, and then those of writers. Each seat has 256 bytes.
//! Offsets are from the start of a seat; `first` and `count` are those of a writer:
//!
//! | offset | size | word | value | stored by |
//! |---|---|---|---|---|
//! | 0 | 8 | `sequence` | sequence of the first event that its reader has not released | the reader |
//! | 0 | 8 | `first` | the first sequence of the last claim of this writer, or of the next one | the writer |
//! | 8 | 8 | `count` | number of sequences of that claim; 0 if there is none | the writer |
//! | 128 | 8 | `tenure` | odd while a process has the seat; one more with each change | that process, or one that clears the seat |
//! | 136 | 4 | `pid` | the process | that process |
//! | 140 | 4 | `fences` | 1 if the process is registered for `membarrier`, else 0 | that process |
//!
//! With several writers, a stamp of 8 bytes for each slot follows the last seat. It is 2 (*n* + 1)
//! once the event with the sequence *n* is published, and one more if that sequence is skipped,
//! because its writer died or panicked before it was published. A smaller stamp belongs to an earlier
//! lap.
//!
//! The slots begin at the next multiple of 4096. The event with sequence `n` is in slot `n %
//! capacity`, at `event_bytes` times that number. The file ends at the next multiple of 4096 after
//! the last slot.
