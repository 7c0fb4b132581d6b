//! The invariants on which the unsafe code relies.
//!
//! | id | invariant | established by |
//! |----|-----------|----------------|
//! | M1 | A slot is written only by the writer, while its sequence is granted and not published. Granted are the sequences below that of each reader plus the capacity. | `Writing::look`, with the proof of P4. `Writer::write_next` and `publish_all` write what `known_room` allows, before `Writing::publish`. There is one writer (M6), and it needs `&mut Writer`. |
//! | M2 | A slot is read only by readers, from the moment when its sequence is published until the reader releases it. | `Reading::poll`, by which alone a reader learns what it may read. A `Batch` borrows its reader mutably, its slices borrow the batch, and it releases what is consumed when it is dropped, or through `&mut self`. A batch that is forgotten releases nothing. |
//! | M3 | A seat is free only once its reader reads no more: it has left, or its process has ended. A seat is taken by one reader. | `Segment::open` holds the pipe of a seat before it takes the seat, and takes it under the lock of the folder, if nobody holds its pipe. `Reader` has the pipe, and its drop gives up the seat before the pipe. So nobody but its reader holds the pipe of a seat that is taken, and the kernel closes the pipe after the last thread of the process has ended. `ReadersWatch` and `clear_the_dead` read the tenure, then find that nobody holds the pipe, and then clear that tenure only. |
//! | M4 | The memory is mapped as long as anything refers to it, and the file has as many bytes. A forked child cannot access it. Words are changed by atomic operations only. | `Memory`, which each end keeps by an `Arc`. `fork`, which maps memory without access in its place in a child. `Header::read` compares the size of the file with its header. `Directory::make_file` reserves the bytes. That nobody shortens the file or writes to it in another way is the trust that the first paragraph of the crate asks for; the folder and the directory are closed to other users. |
//! | M5 | The bytes of a slot are an event, whatever they are, and a slot is aligned. | The bound `Event: Pod`. `Header::check` compares size and layout with those of the program. Slots begin on a page, and `Segment::create` and `open` refuse an event without bytes or with a larger alignment (`is_event`). |
//! | M6 | One process writes to a segment, by one `Writer`. | `Segment::create` holds the lock of the folder, refuses a segment whose pipe `writer` is held, and holds that pipe. `Writer` has it, and closes it last. |
//! | M7 | Calls of the system get memory and descriptors that are valid. | `fork` and `signals`, at each call. |
//!
//! # What each death leaves
//!
//! | killed while it | leaves | mended by |
//! |---|---|---|
//! | makes a segment | a directory with another name | the next `create` of that name removes it |
//! | has renamed the segment | a segment whose writer is gone | as any dead writer |
//! | writes an event | bytes in a slot that is not published | the next writer writes there again |
//! | has published, and not woken readers | readers that sleep | their own watch, which wakes them when it sees the pipe of the writer closed, even if another writer goes on |
//! | has stored a limit, and not looked again | a limit that is no grant | the next writer, which looks for itself |
//! | has held the pipe of a seat, and not told the writer | nothing | the kernel, which closes the pipe |
//! | has told the writer, and not taken the seat | a pipe that the writer watches | the watch of the writer |
//! | has taken a seat | a seat that is taken | the watch of the writer, which has been told before, or the next `open` |
//! | has released or left, and not woken the writer | a writer that sleeps | its watch, which wakes it when it sees the pipe of the reader closed |
//! | wakes | nothing | the kernel, which changes the word and wakes in one call |
//! | removes a segment | a directory with another name | the next `create` of that name removes it |
//! | holds the lock of the folder | nothing | the kernel, which releases it |
//!
//! The kernel closes the pipe after it has freed the memory of the process. For a process with
//! little memory that takes less than a millisecond; one with a gigabyte of its own took 85 ms on an
//! EPYC.
//!
//! # What a stop leaves
//!
//! A stopped process keeps its seat or its segment. At three points it also delays others until it
//! continues or dies: a reader that is stopped between releasing or leaving and waking leaves the
//! writer asleep; a writer that is stopped between publishing and waking leaves its readers asleep;
//! and a process that is stopped inside of `create`, `open` or a drop holds the lock of the folder.
