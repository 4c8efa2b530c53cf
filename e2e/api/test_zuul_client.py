"""The real zuul-client, as people run it: what it prints, what it exits with, and what the server made of it."""
import json
import os
import re
import sys

import prettytable
import pytest

from support import process
from support.portcullis import Portcullis
from support.provider import ACCOUNTS
from support.signin import Site
from support.tenants import api_root, document, rule, tenant
from support.tokens import token

NORMAL = {"trigger_queue_discarding": False, "trigger_queue_paused": False, "result_queue_paused": False}
STATES = {
    "pause-trigger": {**NORMAL, "trigger_queue_paused": True},
    "pause-result": {**NORMAL, "trigger_queue_paused": True, "result_queue_paused": True},
    "discard-trigger": {**NORMAL, "trigger_queue_discarding": True},
    "normal": NORMAL,
}
TENANTS = document(
    rule("root", preferred_username="root"), rule("everybody", iss="corp"),
    tenant("t1", {"root": "admin", "everybody": "read"}), tenant("t2", {"root": "admin"}), tenant("open", {"root": "admin"}, anonymous=True),
    api_root({"everybody": "read"}))


@pytest.fixture(scope="module")
def server(work):
    with Portcullis(work, "zuul-client", TENANTS) as server:
        yield server


class Run:
    def __init__(self, server, *arguments, user="root", credential=None, bare=False):
        head = [] if bare else ["--zuul-url", server.url]
        credential = credential or (token(user) if user and not bare else None)
        if credential:
            head += ["--auth-token", credential]
        home = {"HOME": server.folder, "XDG_CONFIG_HOME": os.path.join(server.folder, "config"), "COLUMNS": "200"}
        done = process.run([os.path.join(os.path.dirname(sys.executable), "zuul-client"), *head, *arguments], 60, home)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return f"exit code {self.code}\n{self.out}\n{self.err}"


def done(server, *arguments, **more):
    """What a command printed that went well and complained about nothing."""
    run = Run(server, *arguments, **more)
    assert run.code == 0 and run.err == "", str(run)
    return run.out


def refused(server, *arguments, **more):
    """What a person is told of a command that failed: the last line."""
    run = Run(server, *arguments, **more)
    assert run.code == 1 and run.out == "", str(run)
    assert "ZuulRESTException: " in run.err, f"failed for another reason than the answer: {run}"
    return run.err.strip().splitlines()[-1].split("ZuulRESTException: ", 1)[1]


def holds(server, tenant="t1"):
    answer = server.call("GET", f"/api/tenant/{tenant}/autohold", token=token("root"))
    assert answer.status == 200, answer
    return answer.json


@pytest.fixture
def no_holds(server):
    for hold in holds(server):
        assert server.call("DELETE", f"/api/tenant/t1/autohold/{hold['id']}", token=token("root")).status == 204


def table(*rows):
    made = prettytable.PrettyTable(field_names=["ID", "Tenant", "Project", "Job", "Ref Filter", "Max Count", "Reason"])
    for row in rows:
        made.add_row(row)
    return str(made) + "\n"


def place(server, *arguments):
    """Places an autohold with the client; what the server keeps of it."""
    before = {hold["id"] for hold in holds(server)}
    assert done(server, "autohold", "--tenant", "t1", *arguments) == ""
    new = [hold for hold in holds(server) if hold["id"] not in before]
    assert len(new) == 1, new
    return new[0]


def test_an_autohold_from_its_beginning_to_its_end(server, no_holds):
    assert done(server, "autohold-list", "--tenant", "t1") == "No autohold requests found\n"

    hold = place(server, "--project", "org/p", "--job", "unit", "--reason", "look at it", "--count", "2", "--node-hold-expiration", "3600")
    # The filter `.*` is Zuul's for every ref.
    wanted = {"tenant": "t1", "project": "org/p", "job": "unit", "ref_filter": ".*", "max_count": 2, "current_count": 0, "reason": "look at it",
              "node_expiration": 3600, "expired": None, "nodes": []}
    assert {key: hold.get(key, "absent") for key in wanted} == wanted

    assert done(server, "autohold-list", "--tenant", "t1") == table([hold["id"], "t1", "org/p", "unit", ".*", 2, "look at it"])
    assert done(server, "autohold-info", "--tenant", "t1", str(hold["id"])) == (
        f"ID: {hold['id']}\nTenant: t1\nProject: org/p\nJob: unit\nRef Filter: .*\nMax Count: 2\nCurrent Count: 0\n"
        "Node Expiration: 3600\nRequest Expiration: N/A\nReason: look at it\nHeld Nodes:\n\n")

    assert done(server, "autohold-delete", "--tenant", "t1", str(hold["id"])) == ""
    assert done(server, "autohold-list", "--tenant", "t1") == "No autohold requests found\n"
    assert "404" in refused(server, "autohold-info", "--tenant", "t1", str(hold["id"]))
    assert "404" in refused(server, "autohold-delete", "--tenant", "t1", str(hold["id"]))


def test_the_json_format(server, no_holds):
    hold = place(server, "--project", "foo", "--job", "unit", "--reason", "why \"not\" – é")
    assert hold["max_count"] == 1 and hold["reason"] == "why \"not\" – é"
    assert done(server, "--format", "json", "autohold-list", "--tenant", "t1") == json.dumps([hold], sort_keys=True, indent=2) + "\n"
    assert done(server, "--format", "JSON", "autohold-info", "--tenant", "t1", str(hold["id"])) == json.dumps(hold, sort_keys=True, indent=2) + "\n"


@pytest.mark.parametrize("option, value", [("--ref", "refs/heads/main"), ("--change", "12")])
def test_an_autohold_for_a_ref_or_a_change(server, no_holds, option, value):
    hold = place(server, "--project", "foo", "--job", "unit", "--reason", "once", option, value)
    assert value in hold["ref_filter"]
    assert done(server, "autohold-list", "--tenant", "t1") == table([hold["id"], "t1", "foo", "unit", hold["ref_filter"], 1, "once"])


def test_several_autoholds_are_listed_and_tenants_are_kept_apart(server, no_holds):
    kept = [place(server, "--project", project, "--job", "unit", "--reason", project) for project in ("org/p", "org/q", "foo")]
    listed = json.loads(done(server, "--format", "json", "autohold-list", "--tenant", "t1"))
    assert sorted(h["project"] for h in listed) == ["foo", "org/p", "org/q"]
    assert done(server, "autohold-list", "--tenant", "t2") == "No autohold requests found\n"
    assert "404" in refused(server, "autohold-delete", "--tenant", "t2", str(kept[0]["id"]))
    assert len(holds(server)) == 3


def test_reading_needs_no_token_where_anybody_may_read(server):
    assert done(server, "autohold-list", "--tenant", "open", user=None) == "No autohold requests found\n"
    assert "Unauthorized" in refused(server, "autohold-list", "--tenant", "t1", user=None)


def state(server, tenant):
    """Saying nothing changes nothing, and answers what is."""
    answer = server.call("POST", f"/api/tenant/{tenant}/state", {}, token=token("root"))
    assert answer.status == 200, answer
    return {key: answer.json[key] for key in (*NORMAL, "reason")}


@pytest.mark.parametrize("name", STATES)
def test_manage_events(server, name):
    assert done(server, "manage-events", "--tenant", "t1", name, "--reason", f"because of {name}") == ""
    assert state(server, "t1") == {**STATES[name], "reason": f"because of {name}"}
    assert {k: v for k, v in state(server, "t2").items() if k != "reason"} == NORMAL
    assert done(server, "manage-events", "--tenant", "t1", "normal") == ""
    assert {k: v for k, v in state(server, "t1").items() if k != "reason"} == NORMAL


def test_manage_events_of_all_tenants(server):
    assert done(server, "manage-events", "--all-tenants", "pause-trigger", "--reason", "incident") == ""
    assert [state(server, t) for t in ("t1", "t2", "open")] == [{**STATES["pause-trigger"], "reason": "incident"}] * 3
    assert done(server, "manage-events", "--all-tenants", "normal") == ""
    assert [{k: v for k, v in state(server, t).items() if k != "reason"} for t in ("t1", "t2", "open")] == [NORMAL] * 3


QUEUE = [
    (["enqueue", "--pipeline", "check", "--project", "org/p", "--change", "1,1"],
     "project/org/p/enqueue", {"pipeline": "check", "change": "1,1"}),
    (["enqueue-ref", "--pipeline", "post", "--project", "org/p", "--ref", "refs/heads/main"],
     "project/org/p/enqueue", {"pipeline": "post", "ref": "refs/heads/main", "oldrev": None, "newrev": None}),
    (["enqueue-ref", "--pipeline", "post", "--project", "foo", "--ref", "refs/heads/main", "--oldrev", "0" * 40, "--newrev", "1" * 40],
     "project/foo/enqueue", {"pipeline": "post", "ref": "refs/heads/main", "oldrev": "0" * 40, "newrev": "1" * 40}),
    (["dequeue", "--pipeline", "check", "--project", "org/p", "--change", "1,1"],
     "project/org/p/dequeue", {"pipeline": "check", "change": "1,1"}),
    (["dequeue", "--pipeline", "post", "--project", "org/p", "--ref", "refs/heads/main"],
     "project/org/p/dequeue", {"pipeline": "post", "ref": "refs/heads/main"}),
    (["promote", "--pipeline", "gate", "--changes", "1,1", "2,1"], "promote", {"pipeline": "gate", "changes": ["1,1", "2,1"]}),
]


@pytest.mark.parametrize("command, path, body", QUEUE, ids=[" ".join(q[0][:1] + q[0][-2:])[:40] for q in QUEUE])
def test_nothing_is_known_that_could_be_queued(server, command, path, body):
    verb, *options = command
    assert "404" in refused(server, verb, "--tenant", "t1", *options)
    # zuul-client doesn't show the words, but whoever asks otherwise gets them.
    answer = server.call("POST", f"/api/tenant/t1/{path}", body, token=token("root"))
    assert answer.status == 404 and answer.code, answer
    words = answer.words()
    assert body["pipeline"] in words and len(words.split()) >= 4, words


def submit(server, pipeline, project="org/p", **where):
    """A pipeline of two jobs; gives its number."""
    jobs = [{"name": name, "stage": stage, "script": ["true"], "tags": ["none-such"]} for name, stage in (("unit", "test"), ("push", "deploy"))]
    body = {"project": project, "name": pipeline, "ref": "refs/heads/topic", "ref_protected": False, "source": "push",
            "user": {"id": 1, "username": "root"}, "jobs": jobs, **where}
    answer = server.call("POST", "/api/v1/pipelines", body, token=token("root"))
    assert answer.status == 201, answer
    return answer.json["id"]


def pipeline(server, number):
    answer = server.call("GET", f"/api/v1/pipelines/{number}", token=token("root"))
    assert answer.status == 200, answer
    return answer.json


def queued(server, name):
    """The numbers of what is not finished in a pipeline, as the status of the tenant has it."""
    answer = server.call("GET", "/api/tenant/t1/status", token=token("root"))
    assert answer.status == 200, answer
    queues = [queue for entry in answer.json["pipelines"] if entry["name"] == name for queue in entry["change_queues"]]
    return [item["pipeline"] for queue in queues for item in queue["heads"][0]]


WHERE = [(["--change", "7,1"], {"change": "7,1"}, "enqueue"), (["--ref", "refs/heads/main"], {"ref": "refs/heads/main"}, "enqueue-ref")]


@pytest.mark.parametrize("flags, where, verb", WHERE, ids=["change", "ref"])
def test_enqueue_runs_the_newest_definition_again(server, flags, where, verb):
    name = f"run-{verb}"
    target = ["--tenant", "t1", "--project", "org/p", "--pipeline", name]
    first = submit(server, name, **where)
    assert done(server, verb, *target, *flags) == ""
    again = [number for number in queued(server, name) if number != first]
    assert len(again) == 1
    before, after = pipeline(server, first), pipeline(server, again[0])
    assert [job["name"] for job in after["jobs"]] == ["unit", "push"]
    assert (after["ref"], after["change"]) == (before["ref"], before["change"])
    assert [job["status"] for job in before["jobs"]] == ["pending", "created"]


@pytest.mark.parametrize("flags, where, verb", WHERE, ids=["change", "ref"])
def test_dequeue_cancels_what_is_live(server, flags, where, verb):
    name = f"cancel-{verb}"
    target = ["--tenant", "t1", "--project", "org/p", "--pipeline", name]
    gone, stays = submit(server, name, **where), submit(server, name, ref="refs/heads/other")
    assert done(server, "dequeue", *target, *flags) == ""
    assert {job["status"] for job in pipeline(server, gone)["jobs"]} == {"canceled"}
    assert pipeline(server, gone)["status"] == "canceled"
    assert [job["status"] for job in pipeline(server, stays)["jobs"]] == ["pending", "created"]
    assert queued(server, name) == [stays]
    assert "404" in refused(server, "dequeue", *target, *flags), "nothing is live any more"


def test_promote_finds_changes_of_all_projects(server):
    for number, project in enumerate(("org/p", "org/q"), 1):
        submit(server, "promoted", project, change=f"{number},1")
    assert done(server, "promote", "--tenant", "t1", "--pipeline", "promoted", "--changes", "2,1", "1,1") == ""
    assert done(server, "promote", "--tenant", "t1", "--pipeline", "promoted", "--changes", "2,1", "9,9") == ""
    assert "404" in refused(server, "promote", "--tenant", "t1", "--pipeline", "promoted", "--changes", "9,9")


def test_a_paused_tenant_holds_back_new_pipelines(server):
    assert done(server, "manage-events", "--tenant", "t1", "pause-trigger", "--reason", "incident 42") == ""
    try:
        held = submit(server, "paused", change="1,1")
        job = pipeline(server, held)["jobs"][0]
        assert job["status"] == "created"
        shown = server.call("GET", f"/api/v1/jobs/{job['id']}", token=token("root")).json
        items = [(item["name"], item["by"], item["detail"]) for item in shown["prerequisites"]["items"]]
        assert items == [("tenant", "t1", "new pipelines are paused: incident 42")]
        status = server.call("GET", "/api/tenant/t1/status", token=token("root")).json
        assert status["trigger_event_queue"]["length"] == 1
    finally:
        done(server, "manage-events", "--tenant", "t1", "normal")
    process.until(lambda: pipeline(server, held)["jobs"][0]["status"] == "pending", 10, "the pipeline goes on")


def test_a_tenant_that_discards_takes_no_pipelines(server):
    submit(server, "discarded", change="1,1")
    assert done(server, "manage-events", "--tenant", "t1", "discard-trigger", "--reason", "release") == ""
    try:
        body = {"project": "org/p", "name": "unit", "ref": "main", "ref_protected": False, "user": {"id": 1, "username": "root"}, "script": ["true"]}
        answer = server.call("POST", "/api/v1/jobs", body, token=token("root"))
        assert answer.status == 409 and answer.code == "discarding" and "release" in answer.words(), answer
        assert "409" in refused(server, "enqueue", "--tenant", "t1", "--project", "org/p", "--pipeline", "discarded", "--change", "1,1")
    finally:
        done(server, "manage-events", "--tenant", "t1", "normal")


VERBS = {
    "autohold": ["--project", "foo", "--job", "unit", "--reason", "r"],
    "autohold-delete": ["1"],
    "enqueue": ["--pipeline", "check", "--project", "foo", "--change", "1,1"],
    "enqueue-ref": ["--pipeline", "check", "--project", "foo", "--ref", "refs/heads/main"],
    "dequeue": ["--pipeline", "check", "--project", "foo", "--change", "1,1"],
    "promote": ["--pipeline", "check", "--changes", "1,1"],
    "manage-events": ["pause-trigger"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_refusals_reach_the_person(server, verb):
    before = (holds(server), state(server, "t1"))
    for who, credential, expected in (("a reader", token("bob"), "Insufficient privileges to perform the action"),
                                      ("an expired token", token("root", age=700), "Unauthorized - your token might be invalid or expired"),
                                      ("a forged token", token("root")[:-6] + "AAAAAA", "Unauthorized - your token might be invalid or expired")):
        said = refused(server, verb, "--tenant", "t1", *VERBS[verb], credential=credential)
        assert expected in said, f"{who}: {said}"
    assert (holds(server), state(server, "t1")) == before, "a refused call changed something"


def test_all_tenants_is_refused_at_the_first_that_refuses(server):
    assert "Insufficient privileges" in refused(server, "manage-events", "--all-tenants", "pause-trigger", user="bob")
    assert {k: v for k, v in state(server, "t1").items() if k != "reason"} == NORMAL


def test_the_configuration_file(server, no_holds):
    hold = place(server, "--project", "org/p", "--job", "unit", "--reason", "from a file")
    section = f"[here]\nurl = {server.url}\ntenant = t1\nverify_ssl = false\n"
    path = os.path.join(server.folder, "client.conf")
    with open(path, "w") as f:
        f.write(f"{section}auth_token = {token('root')}\n\n{section.replace('here', 'reader')}auth_token = {token('bob')}\n")
    expected = table([hold["id"], "t1", "org/p", "unit", ".*", 1, "from a file"])
    assert done(server, "-c", path, "--use-config", "here", "autohold-list", bare=True) == expected
    assert "Insufficient privileges" in refused(server, "-c", path, "--use-config", "reader", "autohold-delete", str(hold["id"]), bare=True)
    # The option wins over the file, and the file is found where people have it.
    os.makedirs(os.path.join(server.folder, "config/zuul"), exist_ok=True)
    os.replace(path, os.path.join(server.folder, "config/zuul/client.conf"))
    assert done(server, "--use-config", "reader", "autohold-delete", str(hold["id"]), credential=token("root"), bare=True) == ""
    assert done(server, "--use-config", "here", "autohold-list", bare=True) == "No autohold requests found\n"


def test_info_says_what_the_client_looks_for(server):
    info = server.call("GET", "/api/info").json["info"]
    assert "tenant" not in info or info["tenant"] is None, info
    auth = info["capabilities"]["auth"]
    assert auth["realms"]["R1"]["driver"] == "HS256" and auth["default_realm"] == "R1", auth
    assert server.call("GET", "/api/tenant/t1/info").json["info"]["tenant"] == "t1"
    names = [t["name"] for t in server.call("GET", "/api/tenants", token=token("root")).json]
    assert sorted(names) == ["open", "t1", "t2"]
    assert re.match(r"^Zuul-client version: ", done(server, "--version", bare=True))


def test_a_name_and_a_password_of_the_provider(work):
    """The client asks /info for the realm, the provider for a token, and uses that."""
    with Site(work, "zuul-password") as site:
        credentials = ["--username", "alice", "--password", ACCOUNTS["alice"]["password"]]
        place = ["autohold", "--tenant", "t1", "--project", "foo", "--job", "unit", "--reason", "by password"]
        assert done(site.server, *credentials, *place, user=None) == ""
        listed = json.loads(done(site.server, "--format", "json", *credentials, "autohold-list", "--tenant", "t1", user=None))
        assert [hold["reason"] for hold in listed] == ["by password"]
        bob = ["--username", "bob", "--password", ACCOUNTS["bob"]["password"]]
        assert "Insufficient privileges" in refused(site.server, *bob, *place, user=None)
        wrong = Run(site.server, "--username", "alice", "--password", "wrong", *place, user=None)
        assert wrong.code == 1, str(wrong)
