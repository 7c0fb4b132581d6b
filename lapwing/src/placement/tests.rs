//! Tests of the spread of stages and workers. `tests/placement.rs` tests the placement of a whole
//! ring.

use super::spread::{Unit, spread};

#[test]
fn stages_are_contiguous_and_balanced() {
    let stages = |count, threads| spread(&vec![Unit::Stage; count], threads);
    assert_eq!(stages(5, 2), [0, 0, 0, 1, 1]);
    assert_eq!(stages(4, 3), [0, 0, 1, 2]);
    assert_eq!(stages(3, 1), [0, 0, 0]);
    assert_eq!(stages(3, usize::MAX), [0, 1, 2]);
    assert_eq!(stages(0, 2), []);
}

#[test]
fn workers_are_apart_and_stages_fill_up() {
    use Unit::{Stage, Worker};
    assert_eq!(spread(&[Stage, Worker, Worker, Stage, Stage], 3), [0, 0, 1, 1, 2]);
    assert_eq!(spread(&[Worker; 5], 2), [0, 1, 0, 1, 0]);
    assert_eq!(spread(&[Stage, Worker, Worker, Worker], 2), [1, 0, 1, 0]);
}

#[test]
fn no_thread_has_two_more_than_another_and_none_is_idle() {
    for (workers, stages, threads) in
        (0..6).flat_map(|w| (0..6).flat_map(move |s| (1..7).map(move |t| (w, s, t))))
    {
        let mut units = vec![Unit::Worker; workers];
        units.extend(vec![Unit::Stage; stages]);
        let places = spread(&units, threads);
        let used = threads.min(units.len());
        let loads = (0..used).map(|at| places.iter().filter(|&&place| place == at).count());
        let loads: Vec<_> = loads.collect();
        assert!(loads.iter().max() <= loads.iter().min().map(|least| least + 1).as_ref());
        assert!(loads.iter().all(|&load| load > 0), "{workers} {stages} {threads}");
    }
}
