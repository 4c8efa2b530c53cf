//! Examples of the commands for CI jobs, their controllers and runners, and for tenants.

use super::OfCommand;

pub(super) const EXAMPLES: &[OfCommand] = &[
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
];
