//! Examples of the commands that say what is permitted, what was decided, and why.

use super::OfCommand;

pub(super) const EXAMPLES: &[OfCommand] = &[
    (
        "can-i",
        &[
            (
                "Check whether a user may read a secret",
                "portcullis can-i get secrets/db -n shop --as zoe --as-group developers",
            ),
            (
                "Show which authorizer decides, and why",
                "portcullis can-i list pods -n shop --as zoe --explain",
            ),
            (
                "Check whether a caller may enqueue changes over the REST API",
                "portcullis can-i enqueue --tenant example --claims claims.json",
            ),
        ],
    ),
    (
        "who-can",
        &[
            (
                "List who may enqueue changes",
                "portcullis who-can enqueue --tenant example",
            ),
            (
                "List who may do so for one project",
                "portcullis who-can enqueue --tenant example --param project=org/site",
            ),
        ],
    ),
    (
        "access-matrix",
        &[
            (
                "Show the permissions of every rule of a tenant",
                "portcullis access-matrix --tenant example",
            ),
            (
                "Show those at the root of the API",
                "portcullis access-matrix --root",
            ),
        ],
    ),
    (
        "graph path",
        &[(
            "Show how a secret leads to a node",
            "portcullis graph path Secret:shop/creds Node:n1 --profile node --objects objects",
        )],
    ),
    (
        "graph neighbors",
        &[(
            "Show what a pod is related to",
            "portcullis graph neighbors Pod:shop/web --profile node --objects objects",
        )],
    ),
    (
        "graph export",
        &[
            (
                "Draw the graph with Graphviz",
                "portcullis graph export -o dot --profile node --objects objects | dot -Tsvg",
            ),
            (
                "Write it as JSON",
                "portcullis graph export -o json --profile node --objects objects",
            ),
        ],
    ),
    (
        "graph check",
        &[
            (
                "Summarize a built-in profile",
                "portcullis graph check gardener",
            ),
            (
                "Validate a profile of your own",
                "portcullis graph check profile.yaml",
            ),
        ],
    ),
    (
        "graph list",
        &[(
            "List the profiles of the configuration and the built-in ones",
            "portcullis graph list",
        )],
    ),
    (
        "decisions list",
        &[
            (
                "List the denials of the last hour",
                "portcullis decisions list --verdict deny --since 1h",
            ),
            (
                "Print decisions as they are made",
                "portcullis decisions list --watch",
            ),
            (
                "List those of a running server, as JSON",
                "portcullis decisions list --server https://gate.example --namespace shop -o json",
            ),
        ],
    ),
    (
        "decisions export",
        &[(
            "Write the decisions of the last week to a file",
            "portcullis decisions export --since 7d > week.jsonl",
        )],
    ),
    (
        "explain",
        &[
            (
                "Explain a decision; the beginning of its id is enough",
                "portcullis explain 01JD8QZ1",
            ),
            (
                "Explain the newest denial",
                "portcullis explain --last --verdict deny",
            ),
            (
                "Write a test that expects the newest decision about an object",
                "portcullis explain --last --door kubernetes --as-test",
            ),
        ],
    ),
    (
        "replay",
        &[
            (
                "Show what other policies would have decided",
                "portcullis replay --policies policies --since 24h",
            ),
            (
                "Evaluate an exported file with another configuration",
                "portcullis replay -c portcullis.yaml --file decisions.jsonl",
            ),
        ],
    ),
];
