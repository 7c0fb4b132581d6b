//! The contents of a file of a simulated disk: what programs read, and what survives a power cut.

use super::crash::Loss;
use super::random::Random;

/// A disk writes a sector as a whole.
const SECTOR: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Contents {
    seen: Vec<u8>,
    durable: Vec<u8>,
    /// Writes that are not durable, in order.
    unsynced: Vec<Write>,
}

#[derive(Debug)]
struct Write {
    offset: usize,
    bytes: Vec<u8>,
}

impl Contents {
    /// Adds zeros, unless the file is that long.
    pub(super) fn extend(&mut self, length: usize) {
        let zeros = vec![0; length.saturating_sub(self.seen.len())];
        self.write(self.seen.len(), zeros);
    }

    pub(super) fn read(&self) -> &[u8] {
        &self.seen
    }

    pub(super) fn write(&mut self, offset: usize, bytes: Vec<u8>) {
        put(&mut self.seen, offset, &bytes);
        self.unsynced.push(Write { offset, bytes });
    }

    pub(super) fn damage(&mut self, offset: usize) {
        self.seen[offset] ^= 0x55;
        if let Some(byte) = self.durable.get_mut(offset) {
            *byte ^= 0x55;
        }
    }

    pub(super) fn sync(&mut self) {
        for write in self.unsynced.drain(..) {
            put(&mut self.durable, write.offset, &write.bytes);
        }
    }

    /// Some sectors are written. The others are lost, although programs go on to read them.
    pub(super) fn fail_sync(&mut self, random: &mut Random) {
        self.keep(Loss::Sectors, random);
    }

    pub(super) fn cut_power(&mut self, loss: Loss, random: &mut Random) {
        self.keep(loss, random);
        self.seen = self.durable.clone();
    }

    /// Writes what is kept of the unsynced writes to the disk, and forgets the rest.
    fn keep(&mut self, loss: Loss, random: &mut Random) {
        let count = self.unsynced.len();
        let torn = random.below(count + 1);
        for (index, write) in std::mem::take(&mut self.unsynced).iter().enumerate() {
            let kept_sectors = random.below(write.bytes.len() / SECTOR + 2);
            for (number, sector) in write.sectors().enumerate() {
                let is_kept = match loss {
                    Loss::All => false,
                    Loss::Torn => index < torn || (index == torn && number < kept_sectors),
                    Loss::Sectors | Loss::Ordered => random.coin(),
                    Loss::None => true,
                };
                if is_kept {
                    put(&mut self.durable, sector.0, sector.1);
                }
            }
        }
    }
}

impl Write {
    /// The parts of the write that are in one sector each, with their offsets.
    fn sectors(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let (mut at, mut left) = (self.offset, self.bytes.as_slice());
        std::iter::from_fn(move || {
            let length = left.len().min(SECTOR - at % SECTOR);
            let (sector, rest) = left.split_at(length);
            let begin = at;
            (at, left) = (at + length, rest);
            (length > 0).then_some((begin, sector))
        })
    }
}

/// Writes `bytes` at `offset`. What lies between the end and `offset` becomes zero.
fn put(contents: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if contents.len() < end {
        contents.resize(end, 0);
    }
    contents[offset..end].copy_from_slice(bytes);
}
