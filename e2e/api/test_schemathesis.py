"""schemathesis: requests made up from /openapi.json, good and bad; every answer must be one that the description announces."""
import os
import re
import sys

import pytest

from support import process
from support.portcullis import CORP, Portcullis
from support.process import free_port
from support.provider import Provider
from support.tenants import api_root, document, rule, tenant
from support.tokens import token

SEED = int(os.environ.get("SCHEMATHESIS_SEED", "20261116"))
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "50"))
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
# Never ends by itself.
STREAM = "/api/v1/decisions/stream"
TENANTS = document(
    rule("root", preferred_username="root"), rule("everybody", iss="corp"),
    tenant("t1", {"root": "admin", "everybody": "read"}), api_root({"root": "admin", "everybody": "read"}))


@pytest.fixture(scope="module")
def server(work):
    """People can sign in here, so that this part of the description is met too."""
    port = free_port()
    provider = Provider(work, [f"http://127.0.0.1:{port}/auth/callback"], "provider-schemathesis")
    sso = {"name": "sso", "driver": "OpenIDConnect", "issuer": provider.issuer, "clientId": "portcullis", "realm": "sso"}
    try:
        with Portcullis(work, "schemathesis", TENANTS, [CORP, sso], port=port) as server:
            yield server
    finally:
        provider.stop()


@pytest.fixture(scope="module")
def description(server):
    answer = server.call("GET", "/openapi.json")
    assert answer.status == 200 and "json" in answer.header("content-type"), answer
    return answer.json


def operations(description):
    for path, item in description["paths"].items():
        for method in ("get", "post", "put", "patch", "delete"):
            if method in item:
                yield method, path, item[method]


def lasting():
    """Credentials that outlive the run."""
    return {"admin": token("root", lifetime=3600), "reader": token("bob", lifetime=3600), "nobody": None}


def test_the_description_is_whole(description):
    assert description["openapi"].startswith("3.1."), description["openapi"]
    names = [operation.get("operationId") for _, _, operation in operations(description)]
    assert len(names) >= 12 and all(names) and len(set(names)) == len(names), names
    paths = set(description["paths"])
    for path in ("/api/info", "/api/tenants", "/api/authorizations", STREAM):
        assert path in paths, sorted(paths)
    for method, path, operation in operations(description):
        statuses = set(operation["responses"])
        needs_somebody = operation.get("security", description.get("security", []))
        if needs_somebody and {} not in needs_somebody:
            assert "401" in statuses, f"{method} {path} needs somebody, and announces no 401"
    for server in description.get("servers", []):
        assert server["url"].startswith("/"), f"it names the address of one server: {server}"


def run(server, description, work, name, credential, checks, exists):
    """A run as this caller. With `exists` all requests concern a tenant and a project that do."""
    folder = os.path.join(work, f"schemathesis-{name}")
    os.makedirs(folder, exist_ok=True)
    assert any(path.startswith("/api/tenant/{tenant}/project/{project}/") for path in description["paths"]), "other names in the paths"
    with open(os.path.join(folder, "schemathesis.toml"), "w") as f:
        f.write('[parameters]\n"path.tenant" = "t1"\n"path.project" = "foo"\n' if exists else "")
    # Something to be found under the small numbers that are tried first.
    for _ in range(10):
        placed = server.call("POST", "/api/tenant/t1/project/foo/autohold", {"job": "unit", "reason": "to be found"}, token("root"))
        assert placed.status == 200, placed
    left_out = [op["operationId"] for _, path, op in operations(description) if path == STREAM]
    command = [
        os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", os.path.join(folder, "schemathesis.toml"), "run",
        f"{server.url}/openapi.json", "--checks", ",".join(checks), "--phases", "examples,coverage,fuzzing",
        "--max-examples", str(EXAMPLES), "--seed", str(SEED), "--generation-database", "none", "--workers", "1",
        "--request-timeout", "10", "--continue-on-failure", "--no-color", "--suppress-health-check", "all", "--max-redirects", "0",
        "--report", "junit,ndjson", "--report-dir", folder,
    ]
    for operation in left_out:
        command += ["--exclude-operation-id", operation]
    if credential:
        command += ["--header", f"Authorization: Bearer {credential}"]
    done = process.run(command, 170, {"COLUMNS": "160"}, folder)
    with open(os.path.join(folder, "output.txt"), "w") as f:
        f.write(done.stdout + done.stderr)
    print(f"schemathesis as {name}: seed {SEED}, {EXAMPLES} examples an operation, output in {folder}")
    server.check_health()
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-2000:]
    generated = re.search(r"([\d,]+) generated", done.stdout)
    assert generated, f"how many requests? {done.stdout[-1500:]}"
    count = int(generated.group(1).replace(",", ""))
    tested = len(list(operations(description))) - len(left_out)
    assert count >= 3 * tested, f"{count} requests for {tested} operations"


@pytest.mark.parametrize("who, exists, more", [
    # Whether authentication can be left out is asked where it succeeds otherwise.
    ("admin", True, ["ignored_auth"]),
    ("admin", False, []),
    ("reader", True, []),
    ("nobody", True, []),
], ids=["an admin", "an admin and tenants that don't exist", "a reader", "nobody"])
def test_every_answer_is_announced(server, description, work, who, exists, more):
    name = who if exists else f"{who}-elsewhere"
    run(server, description, work, name, lasting()[who], CHECKS + more, exists)
