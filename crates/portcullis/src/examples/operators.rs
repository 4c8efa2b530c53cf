//! Examples of the commands that run the server, sign in to it, and connect a cluster.

use super::OfCommand;

pub(super) const EXAMPLES: &[OfCommand] = &[
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
];
