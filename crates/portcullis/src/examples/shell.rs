//! Examples of the program itself, and of the commands that set up a shell.

use super::OfCommand;

pub(super) const EXAMPLES: &[OfCommand] = &[
    (
        "",
        &[
            (
                "Create a folder to start from, and run its tests",
                "portcullis init demo && cd demo && portcullis test",
            ),
            (
                "Evaluate a manifest with the policies of this folder",
                "portcullis eval tests/pods/web.yaml",
            ),
            (
                "List the latest denials, and explain the newest one",
                "portcullis decisions list --verdict deny && portcullis explain --last --verdict deny",
            ),
        ],
    ),
    (
        "completions",
        &[
            (
                "Complete command lines in this bash, and in every new one",
                "source <(portcullis completions bash)",
            ),
            (
                "Install them for fish",
                "portcullis completions fish > ~/.config/fish/completions/portcullis.fish",
            ),
        ],
    ),
    (
        "man",
        &[
            ("Read the manual", "portcullis man | man -l -"),
            (
                "Install it, a page for each command",
                "portcullis man --dir /usr/local/share/man/man1",
            ),
        ],
    ),
    (
        "version",
        &[
            ("Print the version", "portcullis version"),
            (
                "Print it with the commit, for programs",
                "portcullis version -o json",
            ),
        ],
    ),
];
