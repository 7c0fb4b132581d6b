//! The bare exchange in other languages. A missing compiler is not an error; the row says so.

use std::sync::Arc;

use crate::foreign::{CppRival, JavaRival, Rival};

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Cpp,
    Java,
}

impl Language {
    pub(super) const ALL: [Self; 2] = [Self::Cpp, Self::Java];

    /// Returns the name in a report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cpp => "bare-cpp",
            Self::Java => "bare-java",
        }
    }

    /// Compiles the program.
    ///
    /// # Errors
    ///
    /// The missing tool, in a few words.
    pub(super) fn compile(self) -> Result<Rival, String> {
        let program = match self {
            Self::Cpp => CppRival::Bare.build(),
            Self::Java => JavaRival::Bare.build(),
        };
        let program = program.map_err(|error| error.to_string())?;
        Ok(Rival::new(Arc::new(program), &[]))
    }
}
