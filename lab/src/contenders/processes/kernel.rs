//! The plain ways: a stream socket or a named pipe for each reader, with events of a fixed size. A
//! writer makes one system call for each event and reader, or for each batch. A reader receives as
//! many bytes as there are, and sleeps in the kernel while there are none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::pipe::fcntl_setpipe_size;

use super::{Inlet, Outlet, Setup, Transport, Way};

/// The largest pipe that the system gives to any user, in bytes.
const LARGEST_PIPE: usize = 1 << 20;
/// Bytes that a reader receives at once, at most.
const AT_ONCE: usize = 1 << 16;

/// A socket for each reader.
pub(super) struct Socket;

/// A pipe for each reader.
pub(super) struct Pipe;

/// A listener for each reader, and then a stream to each.
pub(super) struct Sockets<const N: usize> {
    listeners: Vec<UnixListener>,
    _paths: Paths,
    streams: Streams<UnixStream, N>,
}

/// The path of the pipe to each reader, and then the pipes.
pub(super) struct Pipes<const N: usize> {
    paths: Paths,
    streams: Streams<File, N>,
}

/// The names of sockets or pipes, which are removed when it is dropped.
struct Paths(Vec<PathBuf>);

/// A stream of bytes to each reader.
struct Streams<W, const N: usize> {
    streams: Vec<W>,
    together: Vec<[u64; N]>,
}

/// The end of a reader, and the bytes of an event that has not arrived as a whole.
pub(super) struct ReadEnd<R, const N: usize> {
    stream: R,
    events: Vec<[u64; N]>,
    filled: usize,
}

fn path(setup: &Setup, way: Way, reader: usize) -> PathBuf {
    setup.folder.join(format!("{}-{reader}", way.name()))
}

impl Paths {
    fn of(setup: &Setup, way: Way) -> Self {
        Self((0..setup.readers).map(|reader| path(setup, way, reader)).collect())
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        for path in &self.0 {
            // An error means that it was never there.
            let _gone = fs::remove_file(path);
        }
    }
}

impl<const N: usize> Transport<N> for Socket {
    type Outlet = Sockets<N>;
    type Inlet = ReadEnd<UnixStream, N>;

    fn create(setup: &Setup, way: Way) -> io::Result<Sockets<N>> {
        let paths = Paths::of(setup, way);
        let listeners = paths.0.iter().map(UnixListener::bind).collect::<io::Result<_>>()?;
        Ok(Sockets { listeners, _paths: paths, streams: Streams::new() })
    }

    fn open(setup: &Setup, way: Way, reader: usize) -> io::Result<Self::Inlet> {
        UnixStream::connect(path(setup, way, reader)).map(ReadEnd::new)
    }
}

impl<const N: usize> Transport<N> for Pipe {
    type Outlet = Pipes<N>;
    type Inlet = ReadEnd<File, N>;

    fn create(setup: &Setup, way: Way) -> io::Result<Pipes<N>> {
        let paths = Paths::of(setup, way);
        for path in &paths.0 {
            mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        }
        Ok(Pipes { paths, streams: Streams::new() })
    }

    fn open(setup: &Setup, way: Way, reader: usize) -> io::Result<Self::Inlet> {
        // Also for writing, so that the call does not wait for the writer.
        let pipe = open_pipe(&path(setup, way, reader), true)?;
        let bytes = setup.slots * size_of::<[u64; N]>();
        fcntl_setpipe_size(&pipe, bytes.min(LARGEST_PIPE))?;
        Ok(ReadEnd::new(pipe))
    }
}

fn open_pipe(path: &Path, reads: bool) -> io::Result<File> {
    OpenOptions::new().read(reads).write(true).open(path)
}

impl<W: Write, const N: usize> Streams<W, N> {
    const fn new() -> Self {
        Self { streams: Vec::new(), together: Vec::new() }
    }

    fn write(&mut self, numbers: Range<u64>) -> io::Result<()> {
        self.together.clear();
        self.together.extend(numbers.map(|number| [number; N]));
        let bytes = bytemuck::cast_slice(&self.together);
        self.streams.iter_mut().try_for_each(|stream| stream.write_all(bytes))
    }

    #[inline]
    fn write_one(&mut self, number: u64) -> io::Result<()> {
        let event = [number; N];
        let bytes = bytemuck::bytes_of(&event);
        self.streams.iter_mut().try_for_each(|stream| stream.write_all(bytes))
    }
}

impl<const N: usize> Outlet for Sockets<N> {
    fn connect(&mut self) -> io::Result<()> {
        for listener in &self.listeners {
            self.streams.streams.push(listener.accept()?.0);
        }
        Ok(())
    }

    fn send(&mut self, number: u64) -> io::Result<()> {
        self.streams.write_one(number)
    }

    fn send_all(&mut self, numbers: Range<u64>) -> io::Result<()> {
        self.streams.write(numbers)
    }
}

impl<const N: usize> Outlet for Pipes<N> {
    fn connect(&mut self) -> io::Result<()> {
        for path in &self.paths.0 {
            self.streams.streams.push(open_pipe(path, false)?);
        }
        Ok(())
    }

    fn send(&mut self, number: u64) -> io::Result<()> {
        self.streams.write_one(number)
    }

    fn send_all(&mut self, numbers: Range<u64>) -> io::Result<()> {
        self.streams.write(numbers)
    }
}

impl<R: Read, const N: usize> ReadEnd<R, N> {
    fn new(stream: R) -> Self {
        let events = vec![[0; N]; AT_ONCE / size_of::<[u64; N]>()];
        Self { stream, events, filled: 0 }
    }
}

impl<R: Read, const N: usize> Inlet<N> for ReadEnd<R, N> {
    fn receive(&mut self, take: impl FnMut(&[u64; N])) -> io::Result<()> {
        let size = size_of::<[u64; N]>();
        while self.filled < size {
            let room = &mut bytemuck::cast_slice_mut(&mut self.events)[self.filled..];
            match self.stream.read(room)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.filled += count,
            }
        }
        let whole = self.filled / size;
        self.events[..whole].iter().for_each(take);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.events);
        bytes.copy_within(whole * size..self.filled, 0);
        self.filled -= whole * size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that returns seven bytes at a time.
    struct Drops(Vec<u8>);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(7).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn events_that_arrive_in_parts_are_put_together() {
        let sent = (0..10).map(|number| [number; 8]).collect::<Vec<_>>();
        let mut end = ReadEnd::new(Drops(bytemuck::cast_slice(&sent).to_vec()));
        let mut received = Vec::new();
        while received.len() < sent.len() {
            end.receive(|event: &[u64; 8]| received.push(*event)).unwrap();
        }
        assert_eq!(received, sent);
        let kind = end.receive(|_| {}).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::UnexpectedEof);
    }
}
