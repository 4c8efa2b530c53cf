//! States as people see them: an icon, a word and a colour, of which the word alone says everything.

/// A state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Badge {
    /// The colour.
    pub(crate) class: &'static str,
    /// The icon.
    pub(crate) icon: &'static str,
    /// The word of the API, with spaces.
    pub(crate) word: String,
}

impl Badge {
    fn new((class, icon): (&'static str, &'static str), word: &str) -> Self {
        Self {
            class,
            icon,
            word: word.replace('_', " "),
        }
    }

    /// Of a job or a pipeline.
    pub(crate) fn job(status: &str) -> Self {
        let look = match status {
            "created" => ("waiting", "○"),
            "preparing" => ("changed", "◔"),
            "pending" => ("changed", "◑"),
            "running" => ("active", "▶"),
            "success" => ("good", "✓"),
            "failed" => ("bad", "✕"),
            "canceled" => ("waiting", "⊘"),
            _ => ("waiting", "»"),
        };
        Self::new(look, status)
    }

    /// Of a prerequisite, an admission, a verdict or a delivery.
    pub(crate) fn step(state: &str) -> Self {
        let look = match state {
            "met" | "accepted" | "done" => ("good", "✓"),
            // The answer is yet to come.
            "delivered" => ("active", "→"),
            "denied" | "failed" | "timeout" | "error" | "no_runner" => ("bad", "✕"),
            "waiting" => ("changed", "◔"),
            _ => ("waiting", "»"),
        };
        Self::new(look, state)
    }

    /// Of a controller.
    pub(crate) fn controller(state: &str) -> Self {
        let look = match state {
            "enabled" => ("good", "✓"),
            "suspended" => ("bad", "✕"),
            "dry_run" => ("changed", "◔"),
            _ => ("waiting", "⊘"),
        };
        Self::new(look, state)
    }

    /// Of the breaker of a controller's calls. Its words are hard to understand without its name.
    pub(crate) fn breaker(state: &str) -> Self {
        match state {
            "closed" => Self::new(("good", "✓"), "breaker closed"),
            "open" => Self::new(("bad", "✕"), "breaker open"),
            _ => Self::new(("changed", "◔"), "breaker probing"),
        }
    }

    /// Of a runner.
    pub(crate) fn runner(paused: bool) -> Self {
        match paused {
            true => Self::new(("changed", "‖"), "paused"),
            false => Self::new(("good", "✓"), "active"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_differ_by_more_than_colour() {
        let states = [
            "created",
            "preparing",
            "pending",
            "running",
            "success",
            "failed",
            "canceled",
            "skipped",
        ];
        let mut icons: Vec<&str> = states.map(|state| Badge::job(state).icon).to_vec();
        icons.sort_unstable();
        icons.dedup();
        assert_eq!(icons.len(), states.len());
    }

    #[test]
    fn words_are_those_of_the_api_with_spaces() {
        assert_eq!(Badge::controller("dry_run").word, "dry run");
        assert_eq!(Badge::step("no_runner").class, "bad");
    }
}
