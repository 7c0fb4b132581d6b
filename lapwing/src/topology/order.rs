//! The order of stages that depend on each other by name: each stage comes after those that it
//! depends on. Not here: what the names stand for (`graph`).

/// Stages of which each depends on the next one, and the last on the first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cycle(pub(super) Vec<usize>);

/// Returns the stages in an order in which each one comes after those of its `upstream`. Keeps the
/// given order as far as possible.
///
/// # Errors
///
/// A circle of stages, if there is one.
pub(super) fn order(upstream: &[Vec<usize>]) -> Result<Vec<usize>, Cycle> {
    let mut order: Vec<usize> = Vec::with_capacity(upstream.len());
    let mut is_placed = vec![false; upstream.len()];
    while order.len() < upstream.len() {
        let is_next =
            |&stage: &usize| !is_placed[stage] && upstream[stage].iter().all(|&up| is_placed[up]);
        let Some(next) = (0..upstream.len()).find(is_next) else {
            return Err(find_cycle(upstream, &is_placed));
        };
        is_placed[next] = true;
        order.push(next);
    }
    Ok(order)
}

/// A circle among the stages that cannot be placed. Each of these depends on another one, so a walk
/// along such dependencies comes back to a stage that it has passed.
fn find_cycle(upstream: &[Vec<usize>], is_placed: &[bool]) -> Cycle {
    let is_left = |&stage: &usize| !is_placed[stage];
    let mut walk = Vec::new();
    let mut next = (0..upstream.len()).find(is_left);
    while let Some(stage) = next {
        if let Some(begin) = walk.iter().position(|&passed| passed == stage) {
            walk.drain(..begin);
            break;
        }
        walk.push(stage);
        next = upstream[stage].iter().copied().find(is_left);
    }
    Cycle(walk)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn stages_in_a_valid_order_keep_it() {
        let upstream = [vec![], vec![], vec![0], vec![1], vec![2, 3]];
        assert_eq!(order(&upstream), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(order(&[]), Ok(vec![]));
    }

    #[test]
    fn a_stage_waits_for_those_that_are_listed_after_it() {
        assert_eq!(order(&[vec![2], vec![], vec![3], vec![]]), Ok(vec![1, 3, 2, 0]));
    }

    #[test]
    fn a_circle_is_found_wherever_it_begins() {
        assert_eq!(order(&[vec![0]]), Err(Cycle(vec![0])));
        let behind_it = [vec![1], vec![2], vec![1], vec![]];
        assert_eq!(order(&behind_it), Err(Cycle(vec![1, 2])));
        let long = [vec![1], vec![2], vec![3], vec![0]];
        assert_eq!(order(&long), Err(Cycle(vec![0, 1, 2, 3])));
    }
}
