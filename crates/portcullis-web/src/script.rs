//! The scripts of pages: which there are, and what a page without them says.
//!
//! Their sources are in `scripts/`, and `scripts/build-web` of the repository builds them. Without them this crate is
//! built as well; a page that names one then says what it lacks.
//!
//! A page names the scripts it wants where it makes its frame, and the layout does the rest:
//!
//! ```ignore
//! let frame = request.frame("Playground").with_script(Script::Editor);
//! ```

/// A script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// Light, dark, or as the system has it. On every page, and before anything is drawn.
    Theme,
    /// Keeps elements with `data-live` or `data-live-stream` up to date.
    Live,
    /// Makes buttons with `data-copy="#id"` copy that element's text.
    Copy,
    /// Editors in place of `textarea[data-editor]`, and links that share what is in them.
    Editor,
}

impl Script {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: &[Self] = &[Self::Theme, Self::Live, Self::Copy, Self::Editor];

    /// The name of the file that is built.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Theme => "theme.js",
            Self::Live => "live.js",
            Self::Copy => "copy.js",
            Self::Editor => "editor.js",
        }
    }

    /// What a page says that lacks it; nothing if it isn't missed.
    pub(crate) fn missing(self) -> Option<&'static str> {
        match self {
            Self::Theme | Self::Copy => None,
            Self::Live => Some(
                "This program was built without live updates: reload the page to see what is new.",
            ),
            Self::Editor => {
                Some("This program was built without the editor: the fields are plain text.")
            }
        }
    }
}
