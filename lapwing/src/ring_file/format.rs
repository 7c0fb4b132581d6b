//! The header of a ring's file, and the description of the ring, as bytes. Numbers are little-endian. A
//! text is its length in four bytes, then UTF-8; a list is its length in four bytes, then its entries.

use std::str;

/// The first bytes of the file of a ring.
const MAGIC: [u8; 8] = *b"LAPWRING";

/// The version of the file. It changes with the order of the words, their meaning, and the description.
pub(crate) const VERSION: u32 = 1;

/// Most bytes of a description: enough for thousands of stages.
pub(crate) const MAX_DESCRIPTION: usize = 1 << 20;

/// What a file says about its ring before its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: u32,
    /// The process that made the ring.
    pub(crate) pid: u32,
    /// When this process began, in clock ticks since the machine started: a later process may have its
    /// number.
    pub(crate) began: u64,
    /// When the ring was made, in nanoseconds since 1970.
    pub(crate) made_at: u64,
    /// Where the description begins, which is where the words end.
    pub(crate) description: u64,
    /// Bytes of the description.
    pub(crate) description_bytes: u32,
    /// Whether the process has let go of the ring.
    pub(crate) is_closed: bool,
}

/// Why bytes are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// The file does not begin as that of a ring.
    NoRing,
    /// The ring is not complete yet.
    NotReady,
    /// It has another version.
    Version(u32),
    /// It ends early, or has numbers that no ring has.
    Damaged,
}

impl Header {
    /// Number of bytes.
    pub(crate) const BYTES: usize = 64;
    /// Number of bytes of the magic, which are written last.
    pub(crate) const MAGIC_BYTES: usize = MAGIC.len();
    /// Where the byte lies that says whether the process has let go of the ring.
    pub(crate) const CLOSED_AT: u64 = 44;

    /// Returns the header as bytes.
    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.pid.to_le_bytes());
        bytes.extend(self.began.to_le_bytes());
        bytes.extend(self.made_at.to_le_bytes());
        bytes.extend(self.description.to_le_bytes());
        bytes.extend(self.description_bytes.to_le_bytes());
        bytes.push(u8::from(self.is_closed));
        bytes.resize(Self::BYTES, 0);
        bytes.try_into().expect("as many bytes")
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// [`Malformed`], of any kind.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.iter().take(MAGIC.len()).all(|&byte| byte == 0) {
            return Err(Malformed::NotReady);
        }
        let mut bytes = Bytes(bytes);
        if bytes.array() != Some(MAGIC) {
            return Err(Malformed::NoRing);
        }
        let version = bytes.number().ok_or(Malformed::Damaged)?;
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        let mut rest = || {
            Some(Self {
                version,
                pid: bytes.number()?,
                began: bytes.long()?,
                made_at: bytes.long()?,
                description: bytes.long()?,
                description_bytes: bytes.number()?,
                is_closed: bytes.array::<1>()? != [0],
            })
        };
        rest().ok_or(Malformed::Damaged)
    }
}

/// A ring as it is made: its names and its graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) ring: String,
    pub(crate) capacity: u64,
    pub(crate) is_multi: bool,
    /// Upstream stages first.
    pub(crate) stages: Vec<Stage>,
    pub(crate) dynamic_stages: u32,
    /// The stage that the dynamic stages follow.
    pub(crate) last_writer: Option<u32>,
    pub(crate) offsets: Offsets,
}

/// Where its words lie: offsets in bytes from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offsets {
    /// The words of the protocol. In the file, a ring with one producer has 0 in place of the stamps.
    pub(crate) protocol: lapwing_core::Offsets,
    /// The number of producers that wait, and the number of dropped events.
    pub(crate) waiting_producers: u64,
    pub(crate) dropped: u64,
    /// Of each stage, acknowledgement, worker and dynamic stage.
    pub(crate) activities: Vec<u64>,
    /// Of each dynamic stage.
    pub(crate) names: Vec<u64>,
}

/// A stage of such a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) name: String,
    /// Names of its threads; none for a poller.
    pub(crate) threads: Vec<String>,
    /// Number of workers that it has room for; 0 for a stage that is no group.
    pub(crate) workers: u32,
    /// Whether another party acknowledges its events.
    pub(crate) is_acknowledged: bool,
    /// The stages directly upstream, by their indices.
    pub(crate) upstream: Vec<u32>,
}

impl Description {
    /// Returns the description as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_text(&mut bytes, &self.ring);
        bytes.extend(self.capacity.to_le_bytes());
        bytes.push(u8::from(self.is_multi));
        put_number(&mut bytes, self.stages.len());
        for stage in &self.stages {
            put_text(&mut bytes, &stage.name);
            put_number(&mut bytes, stage.threads.len());
            stage.threads.iter().for_each(|thread| put_text(&mut bytes, thread));
            bytes.extend(stage.workers.to_le_bytes());
            bytes.push(u8::from(stage.is_acknowledged));
            put_number(&mut bytes, stage.upstream.len());
            stage.upstream.iter().for_each(|index| bytes.extend(index.to_le_bytes()));
        }
        bytes.extend(self.dynamic_stages.to_le_bytes());
        bytes.push(u8::from(self.last_writer.is_some()));
        bytes.extend(self.last_writer.unwrap_or(0).to_le_bytes());
        self.offsets.encode(&mut bytes);
        bytes
    }

    /// Reads a description. `None` if the bytes end early or are no text where one must be.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        Some(Self {
            ring: bytes.text()?,
            capacity: bytes.long()?,
            is_multi: bytes.flag()?,
            stages: bytes.list(Bytes::stage)?,
            dynamic_stages: bytes.number()?,
            last_writer: match (bytes.flag()?, bytes.number()?) {
                (true, stage) => Some(stage),
                (false, _) => None,
            },
            offsets: Offsets::decode(&mut bytes)?,
        })
    }
}

impl Offsets {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let lapwing_core::Offsets { cursor, life, stamps, sequences } = &self.protocol;
        let stamps = &stamps.unwrap_or(0);
        for offset in [cursor, life, stamps, &self.waiting_producers, &self.dropped] {
            bytes.extend(offset.to_le_bytes());
        }
        for offsets in [sequences, &self.activities, &self.names] {
            put_number(bytes, offsets.len());
            offsets.iter().for_each(|offset| bytes.extend(offset.to_le_bytes()));
        }
    }

    fn decode(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (cursor, life) = (bytes.long()?, bytes.long()?);
        let stamps = Some(bytes.long()?).filter(|&stamps| stamps != 0);
        let (waiting_producers, dropped) = (bytes.long()?, bytes.long()?);
        let sequences = bytes.list(Bytes::long)?;
        Some(Self {
            protocol: lapwing_core::Offsets { cursor, life, stamps, sequences },
            waiting_producers,
            dropped,
            activities: bytes.list(Bytes::long)?,
            names: bytes.list(Bytes::long)?,
        })
    }
}

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    // A ring has far fewer stages, and names are shorter.
    bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len());
    bytes.extend(text.as_bytes());
}

/// The bytes that are still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        self.array::<1>().map(|byte| byte != [0])
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        str::from_utf8(self.take(length)?).ok().map(str::to_owned)
    }

    /// Reads a list, of which each entry takes at least a byte.
    fn list<T>(&mut self, mut entry: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| entry(self)).collect()
    }

    fn stage(&mut self) -> Option<Stage> {
        Some(Stage {
            name: self.text()?,
            threads: self.list(Self::text)?,
            workers: self.number()?,
            is_acknowledged: self.flag()?,
            upstream: self.list(Self::number)?,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn description() -> Description {
        let stage = |name: &str, threads: &[&str], upstream: &[u32]| Stage {
            name: name.to_owned(),
            threads: threads.iter().map(|&thread| thread.to_owned()).collect(),
            workers: 3,
            is_acknowledged: true,
            upstream: upstream.into(),
        };
        Description {
            ring: "ördérs".to_owned(),
            capacity: 1 << 20,
            is_multi: true,
            stages: vec![stage("a", &[], &[]), stage("b", &["b-0", "b-1"], &[0])],
            dynamic_stages: 4,
            last_writer: Some(1),
            offsets: Offsets {
                protocol: lapwing_core::Offsets {
                    cursor: 4096,
                    life: 4224,
                    stamps: None,
                    sequences: vec![1, 2, 3],
                },
                waiting_producers: 1 << 40,
                dropped: u64::MAX,
                activities: vec![4],
                names: Vec::new(),
            },
        }
    }

    fn header() -> Header {
        Header {
            version: VERSION,
            pid: 4711,
            began: 1 << 40,
            made_at: 1 << 60,
            description: 8192,
            description_bytes: 77,
            is_closed: false,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let none = Description { last_writer: None, stages: Vec::new(), ..description() };
        for description in [description(), none] {
            assert_eq!(Description::decode(&description.encode()), Some(description));
        }
        for is_closed in [false, true] {
            let header = Header { is_closed, ..header() };
            let bytes = header.encode();
            assert_eq!(bytes[Header::CLOSED_AT as usize], u8::from(is_closed));
            assert_eq!(Header::decode(&bytes), Ok(header));
        }
    }

    #[test]
    fn a_header_or_a_description_that_is_cut_anywhere_is_refused() {
        let (bytes, used) = (header().encode(), Header::CLOSED_AT as usize + 1);
        for end in 0..used {
            assert!(Header::decode(&bytes[..end]).is_err(), "{end}");
        }
        let bytes = description().encode();
        for end in 0..bytes.len() {
            assert_eq!(Description::decode(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn another_version_and_other_files_are_told_apart() {
        let of_version = Header { version: 2, ..header() }.encode();
        assert_eq!(Header::decode(&of_version), Err(Malformed::Version(2)));
        assert_eq!(Header::decode(&[0; 64]), Err(Malformed::NotReady));
        assert_eq!(Header::decode(b"#!/bin/sh\n"), Err(Malformed::NoRing));
    }

    /// A length of four billion took as much memory.
    #[test]
    fn a_long_list_of_nothing_takes_no_memory() {
        let mut bytes = Vec::new();
        put_text(&mut bytes, "ring");
        bytes.extend([0; 9]);
        bytes.extend(u32::MAX.to_le_bytes());
        assert_eq!(Description::decode(&bytes), None);
    }
}
