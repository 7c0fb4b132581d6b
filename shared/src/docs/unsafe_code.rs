//! The invariants on which the unsafe code relies.
//!
//! | id | invariant | established by |
//! |----|-----------|----------------|
//! | M1 | Only one writer at a time may write a slot. A single writer may while its sequence is granted and not published. One of several writers may while its sequence is granted, claimed by this writer and not sealed, once the event one lap before is sealed. Granted are the sequences below that of each reader plus the capacity. | `Shared::grant`, with the proof of P4. Alone: `Writer::write_next` and `publish_all` write what `known_room` allows, before `Writing::publish`. There is one writer (M6), and it needs `&mut Writer`. Beside others: `Claiming::claim` swaps the counter from the first of its sequences, so no other writer has them, after it has found the stamps of a lap before (P11). `MultiWriter` writes these slots, and then seals them, also if the program panics in between. A repair seals what a dead writer has claimed, and nothing that a living one may have (P10). |
//! | M2 | A slot is read only by readers, from the moment when its sequence is published until the reader releases it. What is skipped is not read. | `Reading::poll`, by which alone a reader learns what it may read. A `Batch` borrows its reader mutably, its slices borrow the batch, and it releases what is consumed when it is dropped, or through `&mut self`. A batch that is forgotten releases nothing. With several writers, a poll returns what is stamped as published, up to the first sequence that is not. |
//! | M3 | A seat is freed only after its process has stopped using it, because it has left or has ended: a reader has stopped reading, and what a writer had claimed is sealed. A seat is taken by one reader or writer. | `Segment::open` and `create_or_join` hold the pipe of a seat before they take the seat, and take it under the lock of the folder, if nobody holds its pipe. `Reader` and `MultiWriter` have the pipe, and their drops give up the seat before the pipe. So nobody else holds the pipe of a seat that is taken, and the kernel closes the pipe after the last thread of the process has ended. `Pipes` and `clear_the_dead` read the tenure, then find that nobody holds the pipe, and then clear that tenure only. The seat of a writer is cleared by `Shared::repair`, once its claim is sealed. |
//! | M4 | The memory is mapped as long as anything refers to it, and the file has as many bytes. A forked child cannot access it. Words are changed by atomic operations only. | `Memory`, which each end keeps by an `Arc`. `fork`, which maps memory without access in its place in a child. `Header::read` compares the size of the file with its header. `Directory::make_file` reserves the bytes. That nobody shortens the file or writes to it in another way is the trust that the first paragraph of the crate asks for; the folder and the directory are closed to other users. |
//! | M5 | The bytes of a slot are an event, whatever they are, and a slot is aligned. | The bound `Event: Pod`. `Header::check` compares size and layout with those of the program. Slots begin on a page, and `Segment::create` and `open` refuse an event without bytes or with a larger alignment (`is_event`). |
//! | M6 | One process writes to a segment with one writer, by one `Writer`. | `Segment::create` holds the lock of the folder, refuses a segment of which any writer's pipe is held, and holds the pipe `writer`. `Writer` has it, and closes it last. `create_or_join` joins a segment with seats for writers only, and refuses another one as `create` does. |
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
//! | has recorded a claim, and not made it (beside other writers) | a record of what others claim, or nobody | the watches of the others, which free the seat once no living writer is about to claim the same |
//! | has made a claim, or writes its event (beside others) | a sequence at which readers stop, and whose slot is not written again | the watches of the others, which skip it and wake all; or the next process that joins or opens |
//! | has sealed an event, and not woken anybody (beside others) | readers and writers that sleep | their own watches, which wake them when they see the pipe closed |
//! | repairs what another one left | sequences that are skipped, and a seat that is taken | each other watch, which repairs on its own: a skip is a swap, and the seat is freed last |
//! | has given up the seat of a writer, as the last one, and not closed the segment | an open segment without writers | the next `create_or_join`, which goes on; readers learn from the pipes that the writers are gone |
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
//!
//! With several writers, two more points delay others. A writer that is stopped between its claim and
//! its publication delays readers, and the writers that need its slot one lap later. A writer that is
//! stopped between its record and its claim delays the repair of that sequence if its owner is dead.
