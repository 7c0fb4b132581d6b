//! Finds the readable frames, and decides whether what follows them is damage. It changes nothing.

use lapwing::Sequence;

use super::evidence::{self, Evidence};
use crate::closed;
use crate::error::{Damage, Defect, OpenError};
use crate::format::closed::ClosedEnd;
use crate::format::frame::FrameHeader;
use crate::format::name;
use crate::format::segment::{self, NoHeader, SegmentHeader};
use crate::segments::folder::{damage, open_segment, segments};
use crate::segments::walker::Walker;
use crate::storage::{Storage, file_error};

/// What the segments of a journal hold.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The first sequences of the segments with the readable frames, in order.
    pub(crate) segments: Vec<Sequence>,
    /// Those of the other segments: after the readable frames, or without a readable header.
    pub(crate) others: Vec<Sequence>,
    /// The header of the segment in which the readable frames end.
    pub(crate) last: SegmentHeader,
    /// Where in that segment the readable frames end.
    pub(crate) offset: u64,
    /// The sequence after the readable frames.
    pub(crate) end: Sequence,
    /// The events below it were synced: a frame says so.
    pub(crate) synced: Sequence,
    /// Whether the last readable frame, if there is one, is the mark of a clean close.
    pub(crate) is_marked: bool,
    /// What follows the readable frames.
    pub(crate) rest: Evidence,
}

/// Reads all frames and calls `visit` with each. `None` means that there is no segment.
///
/// # Errors
///
/// [`OpenError::Damaged`] if synced events are unreadable.
pub(crate) fn survey(
    storage: &dyn Storage,
    visit: &mut dyn FnMut(Sequence, u64, &FrameHeader),
) -> Result<Option<Survey>, OpenError> {
    // Read first: if the journal is open elsewhere, it may be closed with more events meanwhile.
    let closed = closed::read(storage)?;
    let segments = segments(storage)?;
    let Some(&oldest) = segments.first() else {
        check_closed_end(storage, &closed, None)?;
        return Ok(None);
    };
    let mut survey = begin(storage, oldest)?;
    let headers = headers(storage, &segments, survey.last.journal)?;
    for (index, header) in headers.iter().enumerate() {
        if header.first > survey.end {
            break;
        }
        // One that begins inside of another has nothing that is not there.
        if header.first == survey.end {
            walk(storage, *header, &headers[index + 1..], &mut survey, visit)?;
        }
    }
    let is_other = |first: &Sequence| survey.segments.binary_search(first).is_err();
    survey.others = segments.into_iter().filter(is_other).collect();
    let Survey { last, offset, end, others, .. } = &survey;
    survey.rest = evidence::after(storage, last, *offset, *end, others)?;
    survey.check(storage)?;
    check_closed_end(storage, &closed, Some(&survey))?;
    check_length(storage, &survey)?;
    Ok(Some(survey))
}

/// The survey before the first frame. The oldest segment was synced before it got its name, so its
/// header must be readable.
fn begin(storage: &dyn Storage, oldest: Sequence) -> Result<Survey, OpenError> {
    let (_, header) = open_segment(storage, oldest)?;
    let Some(last) = header else {
        return Err(damage(storage, oldest, 0, oldest, Defect::Header).into());
    };
    Ok(Survey {
        segments: Vec::new(),
        others: Vec::new(),
        last,
        offset: segment::LENGTH as u64,
        end: oldest,
        synced: oldest,
        is_marked: true,
        rest: Evidence::default(),
    })
}

/// The headers that are readable, in order.
fn headers(
    storage: &dyn Storage,
    segments: &[Sequence],
    journal: u128,
) -> Result<Vec<SegmentHeader>, OpenError> {
    let mut headers = Vec::new();
    for &first in segments {
        let (_, header) = open_segment(storage, first)?;
        if header.is_some_and(|header| header.journal != journal) {
            return Err(damage(storage, first, 0, first, Defect::OtherJournal).into());
        }
        headers.extend(header);
    }
    Ok(headers)
}

/// Reads the frames of one segment, up to where a `later` one begins.
fn walk(
    storage: &dyn Storage,
    header: SegmentHeader,
    later: &[SegmentHeader],
    survey: &mut Survey,
    visit: &mut dyn FnMut(Sequence, u64, &FrameHeader),
) -> Result<(), OpenError> {
    let (file, _) = open_segment(storage, header.first)?;
    let later = later.iter().map(|later| later.first).collect();
    let mut walker = Walker::new(file, header, later);
    let name = name::segment(header.first);
    while let Some(frame) = walker.next().map_err(file_error(storage, "read a segment", &name))? {
        survey.synced = survey.synced.max(frame.header.synced);
        survey.is_marked = frame.header.count == 0;
        visit(header.first, frame.offset, &frame.header);
    }
    survey.segments.push(header.first);
    (survey.last, survey.offset, survey.end) = (header, walker.offset(), walker.expected());
    Ok(())
}

impl Survey {
    /// Fails if an event at or after the end was synced.
    fn check(&self, storage: &dyn Storage) -> Result<(), OpenError> {
        let synced = self.rest.synced;
        if synced <= self.end {
            return Ok(());
        }
        let defect = Defect::Synced { synced };
        let (segment, offset) = self.unreadable();
        Err(damage(storage, segment, offset, self.end, defect).into())
    }

    /// Where the next event should be: in the segment that begins with it, if there is one. Then
    /// its header is unreadable.
    fn unreadable(&self) -> (Sequence, u64) {
        match self.others.binary_search(&self.end) {
            Ok(_) => (self.end, 0),
            Err(_) => (self.last.first, self.offset),
        }
    }

    /// The oldest event that is kept.
    pub(crate) fn oldest(&self) -> Sequence {
        self.segments[0]
    }

    /// The bytes after the readable frames that are cut.
    pub(crate) fn cut_bytes(&self) -> u64 {
        self.rest.used_until.saturating_sub(self.offset) + self.rest.later_bytes
    }

    /// Whether anything follows the readable frames.
    pub(crate) fn is_cut(&self) -> bool {
        self.rest.used_until > 0 || self.others.last().is_some_and(|&last| last >= self.end)
    }
}

/// Compares the segments with where the journal was closed.
fn check_closed_end(
    storage: &dyn Storage,
    bytes: &[u8],
    survey: Option<&Survey>,
) -> Result<(), OpenError> {
    let file = storage.path().join(name::CLOSED);
    let end = survey.map_or(0, |survey| survey.end);
    let in_file = |defect| Damage { file: file.clone(), offset: 0, sequence: end, defect };
    let closed = match ClosedEnd::decode(bytes) {
        Ok(None) => return Ok(()),
        Ok(Some(closed)) => closed,
        Err(NoHeader::Unreadable) => return Err(in_file(Defect::ClosedFile).into()),
        Err(NoHeader::Version(version)) => return Err(OpenError::Version { file, version }),
    };
    let missing = Defect::Closed { end: closed.end };
    match survey {
        None => Err(in_file(missing).into()),
        Some(survey) if survey.last.journal != closed.journal => {
            Err(in_file(Defect::OtherJournal).into())
        }
        Some(survey) if survey.end < closed.end => {
            let (segment, offset) = survey.unreadable();
            Err(damage(storage, segment, offset, end, missing).into())
        }
        Some(_) => Ok(()),
    }
}

/// Compares the segments with what the caller knows to be synced.
///
/// # Errors
///
/// [`OpenError::Damaged`] if the readable frames end before `synced`.
pub(crate) fn check_synced_to(
    storage: &dyn Storage,
    synced: Sequence,
    survey: Option<&Survey>,
) -> Result<(), OpenError> {
    let defect = Defect::Synced { synced };
    match survey {
        None if synced > 0 => {
            let file = storage.path().to_owned();
            Err(Damage { file, offset: 0, sequence: 0, defect }.into())
        }
        Some(survey) if survey.end < synced => {
            let (segment, offset) = survey.unreadable();
            Err(damage(storage, segment, offset, survey.end, defect).into())
        }
        _ => Ok(()),
    }
}

/// A segment got its length, and a sync, before it got its name.
fn check_length(storage: &dyn Storage, survey: &Survey) -> Result<(), OpenError> {
    let first = survey.last.first;
    let (file, _) = open_segment(storage, first)?;
    let length = file.bytes().map_err(file_error(storage, "read a segment", &name::segment(first)));
    let (length, bytes) = (length?, survey.last.bytes);
    if length >= bytes {
        return Ok(());
    }
    let defect = Defect::Shortened { bytes };
    Err(damage(storage, first, survey.offset.min(length), survey.end, defect).into())
}
