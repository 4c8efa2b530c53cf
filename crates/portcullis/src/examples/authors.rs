//! Examples of the commands with which policies are written and tried.

use super::OfCommand;

pub(super) const EXAMPLES: &[OfCommand] = &[
    (
        "init",
        &[
            (
                "Create a folder with policies for Kubernetes",
                "portcullis init demo",
            ),
            (
                "Create one for CI jobs",
                "portcullis init demo-ci --template ci",
            ),
        ],
    ),
    (
        "check",
        &[
            ("Validate ./portcullis.yaml", "portcullis check"),
            (
                "Take warnings for errors, in a CI job",
                "portcullis check --strict -c portcullis.yaml",
            ),
        ],
    ),
    (
        "eval",
        &[
            (
                "Evaluate manifests with the configuration of this folder",
                "portcullis eval tests/pods",
            ),
            (
                "Evaluate one with a folder of policies",
                "portcullis eval tests/pods/web.yaml --policies policies",
            ),
            (
                "Evaluate an object as another user creates it",
                "portcullis eval tests/pods/web.yaml --as zoe --as-group developers",
            ),
            (
                "Evaluate what another program prints",
                "cat tests/pods/*.yaml | portcullis eval -",
            ),
            (
                "Evaluate them again whenever a manifest or a policy changes",
                "portcullis eval tests/pods --watch",
            ),
            (
                "Write a report that code hosts show as findings",
                "portcullis eval tests/pods --report sarif=findings.sarif",
            ),
        ],
    ),
    (
        "test",
        &[
            ("Run the tests of this folder", "portcullis test"),
            (
                "Report which lines of policies ran",
                "portcullis test --coverage",
            ),
            (
                "Run the tests whose name contains a text",
                "portcullis test --filter latest",
            ),
            (
                "Run them again whenever a test or a policy changes",
                "portcullis test --watch",
            ),
            (
                "Write what came into the cases that fail",
                "portcullis test --update",
            ),
            (
                "Write a test file for existing manifests",
                "portcullis test --scaffold tests/pods > tests/more.test.yaml",
            ),
        ],
    ),
    (
        "lint",
        &[
            ("Check the policies of this folder", "portcullis lint"),
            (
                "Annotate a pull request on GitHub",
                "portcullis lint policies -o github",
            ),
        ],
    ),
    (
        "plugins",
        &[
            ("List the plug-ins", "portcullis plugins"),
            (
                "Print the schemas of their configurations",
                "portcullis plugins -o json",
            ),
        ],
    ),
    (
        "schema",
        &[(
            "Write the JSON Schema of the configuration, for editors",
            "portcullis schema > portcullis.schema.json",
        )],
    ),
    (
        "playground",
        &[
            ("Try policies in a browser", "portcullis playground"),
            (
                "Begin with a policy of a folder",
                "portcullis playground --policies policies --policy image-tags",
            ),
            (
                "Print the link only, on a fixed port",
                "portcullis playground --no-open --port 8787",
            ),
        ],
    ),
];
