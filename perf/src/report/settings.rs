//! The name of a row's setting: the wait of its threads. The name includes the placement if rows of
//! Lapwing differ in it or do not have the default.

/// Lapwing's default placement.
pub(crate) const DEFAULT_PLACEMENT: &str = "own";

/// The format of the setting names of one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    names_placement: bool,
}

impl Settings {
    /// Returns the format for rows with these `placements`. A row without a placement is not of
    /// Lapwing.
    pub(crate) fn of<'a>(placements: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let is_chosen = |placement: &str| placement != DEFAULT_PLACEMENT;
        Self { names_placement: placements.into_iter().flatten().any(is_chosen) }
    }

    /// Returns the setting name of a row with this `wait` and `placement`.
    pub(crate) fn name(self, wait: &str, placement: Option<&str>) -> String {
        match placement.filter(|_| self.names_placement) {
            Some(placement) => setting(wait, Some(placement)),
            None => wait.to_owned(),
        }
    }

    /// Returns the explanation of the names, if they contain more than the wait.
    pub(crate) fn note(self) -> Option<String> {
        let note = "after a wait of lapwing: own is a thread for each consumer, auto is as many \
            threads as there are CPUs without those of the producers, and a number is the number \
            of threads";
        self.names_placement.then(|| note.to_owned())
    }
}

/// Returns a wait and a placement, if there is one, for one cell.
pub(crate) fn setting(wait: &str, placement: Option<&str>) -> String {
    placement.map_or_else(|| wait.to_owned(), |placement| format!("{wait} {placement}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_is_named_where_one_is_not_the_default() {
        let default = Settings::of([Some("own"), None]);
        assert_eq!(default.name("adaptive", Some("own")), "adaptive");
        assert_eq!(default.note(), None);

        let several = Settings::of([Some("own"), None, Some("1")]);
        assert_eq!(several.name("adaptive", Some("own")), "adaptive own");
        assert_eq!(several.name("adaptive", Some("1")), "adaptive 1");
        assert_eq!(several.name("park", None), "park");
        assert!(several.note().is_some());
    }
}
