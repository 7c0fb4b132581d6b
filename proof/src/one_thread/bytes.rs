//! How bytes become a script. A fuzzer changes bytes, so each choice takes one byte, and a short
//! input is a short script.

use arbitrary::{Arbitrary, Result, Unstructured};

use super::script::{Script, Start, Step};

/// Largest number of stages and of steps.
const STAGES: usize = 5;
const STEPS: usize = 200;

impl<'a> Arbitrary<'a> for Script {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let capacity = 1 << (byte(bytes)? % 13);
        let producers = 1 + byte(bytes)? as usize % 3;
        let first = if byte(bytes)? < 192 { 0 } else { u64::from(bytes.arbitrary::<u32>()?) };
        let max_batch = match byte(bytes)? {
            0..128 => usize::MAX,
            other => 1 + other as usize % 4,
        };
        let stages = 1 + byte(bytes)? as usize % STAGES;
        let graph = (0..stages).map(|stage| upstream(bytes, stage)).collect::<Result<_>>()?;
        let mut steps = Vec::new();
        while !bytes.is_empty() && steps.len() < STEPS {
            steps.push(step(bytes)?);
        }
        Ok(Self { capacity, producers, first, graph, max_batch, steps })
    }
}

/// A byte; 0 at the end of the bytes.
fn byte(bytes: &mut Unstructured<'_>) -> Result<u8> {
    bytes.arbitrary()
}

/// A set of stages before `stage`.
fn upstream(bytes: &mut Unstructured<'_>, stage: usize) -> Result<Vec<usize>> {
    let set = byte(bytes)?;
    Ok((0..stage).filter(|bit| set >> bit & 1 == 1).collect())
}

fn step(bytes: &mut Unstructured<'_>) -> Result<Step> {
    let kind = byte(bytes)?;
    let mut next = || byte(bytes).map(usize::from);
    Ok(match kind % 32 {
        0..8 => Step::Publish { producer: next()?, count: next()? },
        8..10 => Step::Abandon { producer: next()?, count: next()? },
        10..13 => Step::UpTo { producer: next()?, count: next()? },
        13..16 => {
            let abandon = next()?;
            Step::Crossed {
                counts: [next()?, next()?],
                abandon: [abandon & 1 == 1, abandon & 2 == 2],
            }
        }
        16..27 => Step::Poll { consumer: next()?, max: next()?, finish: next()? },
        27 => Step::Leave { consumer: next()? },
        28..31 => {
            let start = match next()? {
                0..64 => Start::Now,
                64..128 => Start::Oldest,
                back => Start::Back(back - 128),
            };
            Step::Join { start }
        }
        _ => Step::Close,
    })
}
