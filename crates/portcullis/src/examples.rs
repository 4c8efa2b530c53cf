//! Examples of every command, which its help and its manual page show.
//!
//! Each is a line as it is typed, with what it does. A command of commands has none of its own: its help shows the
//! first example of each of them.

/// What it does, and the line.
pub(crate) type Example = (&'static str, &'static str);

/// Commands with their examples, by the name of the command without the program's.
pub(crate) const EXAMPLES: &[(&str, &[Example])] = &[
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
    (
        "job submit",
        &[("Submit a job", "portcullis job submit job.yaml")],
    ),
    (
        "job list",
        &[(
            "List the jobs that wait for a runner",
            "portcullis job list --status pending",
        )],
    ),
    (
        "job show",
        &[("Show a job as YAML", "portcullis job show 7 -o yaml")],
    ),
    (
        "job why",
        &[("Explain what a job waits for", "portcullis job why 7")],
    ),
    (
        "job trace",
        &[("Print the log of a job", "portcullis job trace 7")],
    ),
    (
        "job retry",
        &[("Run a failed job again", "portcullis job retry 7")],
    ),
    ("job cancel", &[("Cancel a job", "portcullis job cancel 7")]),
    (
        "pipeline submit",
        &[
            (
                "Submit the jobs of a CI file",
                "portcullis pipeline submit .gitlab-ci.yml --project org/site --ref main",
            ),
            (
                "Submit a pipeline in JSON",
                "portcullis pipeline submit pipeline.json",
            ),
        ],
    ),
    (
        "pipeline show",
        &[("Show a pipeline and its jobs", "portcullis pipeline show 3")],
    ),
    (
        "pipeline enqueue",
        &[(
            "Run a pipeline again for a change",
            "portcullis pipeline enqueue --tenant example --project org/site --pipeline check --change 12,1",
        )],
    ),
    (
        "pipeline dequeue",
        &[(
            "Cancel a pipeline of a branch",
            "portcullis pipeline dequeue --tenant example --project org/site --pipeline check --ref refs/heads/main",
        )],
    ),
    (
        "pipeline promote",
        &[(
            "Move two changes to the front",
            "portcullis pipeline promote --tenant example --pipeline gate --change 12,1 --change 13,2",
        )],
    ),
    (
        "controller add",
        &[
            (
                "Add a webhook for the jobs of a group",
                "portcullis controller add budget --group org --url https://budget.example/admit",
            ),
            (
                "Add a controller that pulls, asked about one project",
                "portcullis controller add review --project org/site --pull",
            ),
        ],
    ),
    (
        "controller list",
        &[("List the controllers", "portcullis controller list")],
    ),
    (
        "controller show",
        &[(
            "Show a controller as JSON",
            "portcullis controller show 2 -o json",
        )],
    ),
    (
        "controller test",
        &[(
            "Ask a controller about a job that does not exist",
            "portcullis controller test 2",
        )],
    ),
    (
        "controller pause",
        &[("Stop asking a controller", "portcullis controller pause 2")],
    ),
    (
        "controller resume",
        &[("Ask it again", "portcullis controller resume 2")],
    ),
    (
        "controller delete",
        &[("Delete a controller", "portcullis controller delete 2")],
    ),
    (
        "controller answer",
        &[(
            "Deny a job for a controller that pulls",
            "portcullis controller answer 2 7 denied --reason 'The budget is spent' --secret-file review.secret",
        )],
    ),
    (
        "delivery list",
        &[(
            "List what was sent about a job",
            "portcullis delivery list --job 7",
        )],
    ),
    (
        "delivery redeliver",
        &[("Send a delivery again", "portcullis delivery redeliver 31")],
    ),
    (
        "runner list",
        &[("List the runners", "portcullis runner list")],
    ),
    (
        "runner matrix",
        &[(
            "Show which runners may take a job, and why not",
            "portcullis runner matrix --job 7",
        )],
    ),
    (
        "runner pause",
        &[("Give a runner no more jobs", "portcullis runner pause 4")],
    ),
    (
        "runner resume",
        &[("Give it jobs again", "portcullis runner resume 4")],
    ),
    (
        "autohold list",
        &[(
            "List the holds of a tenant",
            "portcullis autohold list --tenant example",
        )],
    ),
    (
        "autohold show",
        &[(
            "Show one hold",
            "portcullis autohold show 7 --tenant example",
        )],
    ),
    (
        "autohold place",
        &[(
            "Hold the nodes of the next failing run",
            "portcullis autohold place --tenant example --project org/site --job unit --reason 'zoe debugs' --for 2h",
        )],
    ),
    (
        "autohold release",
        &[(
            "Give the nodes back",
            "portcullis autohold release 7 --tenant example",
        )],
    ),
    (
        "tenant list",
        &[(
            "List the tenants that you may see",
            "portcullis tenant list",
        )],
    ),
    (
        "tenant show",
        &[(
            "Show whether a tenant is paused",
            "portcullis tenant show example",
        )],
    ),
    (
        "tenant pause",
        &[
            (
                "Pause new pipelines for two hours",
                "portcullis tenant pause example --for 2h --reason 'Incident 42'",
            ),
            (
                "Discard them instead",
                "portcullis tenant pause example --discard",
            ),
        ],
    ),
    (
        "tenant resume",
        &[("Resume everything", "portcullis tenant resume example")],
    ),
    (
        "serve",
        &[
            ("Run the server with ./portcullis.yaml", "portcullis serve"),
            (
                "Run it with another configuration and data directory",
                "portcullis serve -c gate.yaml --data-dir /var/lib/portcullis",
            ),
            (
                "Run the demonstration, with everything to try",
                "portcullis serve --demo",
            ),
            ("Log what is decided in detail", "portcullis serve -v"),
        ],
    ),
    (
        "health",
        &[
            (
                "Check the server that ./portcullis.yaml describes",
                "portcullis health",
            ),
            (
                "Check whether another one runs, ready or not",
                "portcullis health --url http://127.0.0.1:9090 --live",
            ),
        ],
    ),
    (
        "login",
        &[
            (
                "Sign in with a browser",
                "portcullis login --server https://gate.example",
            ),
            (
                "Sign in from a machine without a browser",
                "portcullis login --server https://gate.example --device",
            ),
            (
                "Keep a token that was issued elsewhere",
                "portcullis token create | portcullis login --server https://gate.example --token-stdin",
            ),
        ],
    ),
    (
        "logout",
        &[
            ("Sign out of the current context", "portcullis logout"),
            ("Sign out of all", "portcullis logout --all"),
        ],
    ),
    (
        "whoami",
        &[
            (
                "Show who you are on the current server",
                "portcullis whoami",
            ),
            (
                "Ask another one",
                "portcullis whoami --context gate.example",
            ),
        ],
    ),
    (
        "context list",
        &[(
            "List the servers that you have signed in to",
            "portcullis context list",
        )],
    ),
    (
        "context use",
        &[(
            "Choose the server of the next commands",
            "portcullis context use gate.example",
        )],
    ),
    (
        "context delete",
        &[("Forget a server", "portcullis context delete gate.example")],
    ),
    (
        "generate webhooks",
        &[
            (
                "Register the Service `portcullis` in the namespace `portcullis`",
                "portcullis generate webhooks --service portcullis/portcullis --ca ca.crt | kubectl apply -f -",
            ),
            (
                "Judge one namespace only, to begin with",
                "portcullis generate webhooks --service portcullis/portcullis --ca ca.crt -n shop",
            ),
            (
                "Register a server outside of the cluster",
                "portcullis generate webhooks --url https://gate.example:8443 --ca ca.crt",
            ),
        ],
    ),
    (
        "generate authorization",
        &[(
            "Write the files for the control plane's disk",
            "portcullis generate authorization --url https://gate.example:8443 --ca ca.crt --write authorization",
        )],
    ),
    (
        "generate rbac",
        &[(
            "Permit what the configuration reads of its cluster",
            "portcullis generate rbac --service-account portcullis/portcullis | kubectl apply -f -",
        )],
    ),
    (
        "doctor",
        &[
            (
                "Check everything that can be seen from here",
                "portcullis doctor",
            ),
            (
                "Check the installed configuration and a certain cluster",
                "portcullis doctor -c /etc/portcullis/portcullis.yaml --kubeconfig admin.kubeconfig",
            ),
        ],
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
    (
        "demo",
        &[
            (
                "Send examples to a server that was started to try it",
                "portcullis demo --server http://127.0.0.1:8080",
            ),
            (
                "Send them until stopped, and print each",
                "portcullis demo --follow --rate 2/s",
            ),
        ],
    ),
    (
        "token create",
        &[
            (
                "Create a token for the REST API, and use it",
                "PORTCULLIS_TOKEN=$(portcullis token create --subject zoe) portcullis tenant list",
            ),
            (
                "Create one for a tenant's admin that expires after an hour",
                "portcullis token create --subject zoe --tenant example --expires-in 1h",
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

/// The examples of a command; for a command of commands the first one of each.
pub(crate) fn of(name: &str) -> Vec<Example> {
    let own = EXAMPLES.iter().find(|(command, _)| *command == name);
    if let Some((_, own)) = own {
        return own.to_vec();
    }
    let below = EXAMPLES.iter().filter(|(command, _)| {
        let rest = command.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(' '))
    });
    below.filter_map(|(_, all)| all.first().copied()).collect()
}
