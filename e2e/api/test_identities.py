"""Client certificates and the users behind unix sockets as identities."""
import grp
import http.client
import json
import os
import pwd
import shutil
import ssl
import tempfile

import pytest

from support import http as wire
from support.certificates import Authority
from support.portcullis import CORP, Portcullis
from support.process import free_port
from support.tenants import document, role, rule, tenant
from support.tokens import bearer, token

STATE = ("POST", "/api/tenant/t1/state", {"reason": "changed"})
AUTHORIZATIONS = ("GET", "/api/tenant/t1/authorizations")
HOLD = ("POST", "/api/tenant/t1/project/foo/autohold", {"job": "unit", "reason": "r", "count": 1})
HOLDER = role("holder", autohold=True)


def permitted(answer):
    assert answer.status == 200, answer
    return {name for name, granted in answer.json["permissions"].items() if granted}


# ---------------------------------------------------------------- client certificates

CERTIFICATES = document(
    rule("by-name", iss="client-certificate", preferred_username="alice"), rule("by-group", iss="client-certificate", groups="devs"),
    rule("root", iss="corp", preferred_username="root"), HOLDER,
    tenant("t1", {"by-name": "holder", "by-group": "read", "root": "admin"}))


@pytest.fixture(scope="module")
def authority(work):
    return Authority(os.path.join(work, "certificates"), "authority")


@pytest.fixture(scope="module")
def tls_files(authority):
    certificate, key = authority.sign("server", "/CN=server", "serverAuth", "IP:127.0.0.1")
    return {"server.crt": open(certificate).read(), "server.key": open(key).read(), "ca.crt": open(authority.certificate).read()}


def with_certificates(work, name, files, *authenticators):
    port = free_port()
    listener = {"name": "tls", "tcp": f"127.0.0.1:{port}", "serves": ["api", "web"],
                "tls": {"certificate": "server.crt", "key": "server.key", "clientCA": "ca.crt"}}
    server = Portcullis(work, name, CERTIFICATES, [CORP, *authenticators], [listener], files)
    server.tls_port = port
    return server


@pytest.fixture(scope="module")
def certified(work, tls_files):
    with with_certificates(work, "certificates", tls_files, {"name": "certs", "driver": "ClientCertificate", "realm": "certs"}) as server:
        yield server


def show(server, authority, pair, method, path, body=None, headers=None):
    return wire.call(server.tls_port, method, path, body, headers, tls=wire.trusting(*pair, authority=authority.certificate))


def test_a_certificate_is_somebody(certified, authority):
    alice = authority.sign("alice", "/O=devs/O=ops/CN=alice", "clientAuth")
    assert permitted(show(certified, authority, alice, *AUTHORIZATIONS)) == {"read", "autohold"}
    answer = show(certified, authority, alice, *HOLD)
    assert answer.status == 200 and answer.json is True, answer
    refused = show(certified, authority, alice, *STATE)
    assert refused.status == 403 and refused.code, refused
    details = refused.json["error"]["details"]
    assert details["permission"] in ("tenant-state", "set-tenant-state") and set(details["rules"]) == {"by-name", "by-group"}, details


def test_organizations_are_groups_each_of_them(certified, authority):
    for name, subject in (("first", "/O=devs/O=ops/CN=carol"), ("last", "/O=ops/O=devs/CN=carol")):
        pair = authority.sign(name, subject, "clientAuth")
        assert permitted(show(certified, authority, pair, *AUTHORIZATIONS)) == {"read"}, subject


@pytest.mark.parametrize("subject", ["/O=ops/CN=carol", "/O=devs2/CN=carol", "/OU=devs/CN=carol", "/CN=devs", "/CN=Alice", "/CN=alice,O=devs", "/O=alice/CN=x"])
def test_others_may_nothing(certified, authority, subject):
    pair = authority.sign("other", subject, "clientAuth")
    for request in (AUTHORIZATIONS, ("GET", "/api/tenant/t1/status"), HOLD):
        assert show(certified, authority, pair, *request).status == 403, (subject, request)


def test_a_certificate_of_somebody_else_or_none_does_not_get_in(certified, authority, work):
    stranger = Authority(os.path.join(work, "strangers"), "stranger").sign("alice", "/O=devs/CN=alice", "clientAuth")
    ended = authority.sign("ended", "/O=devs/CN=alice", "clientAuth", days=-1)
    for pair in (stranger, ended, (None, None)):
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            show(certified, authority, pair, *AUTHORIZATIONS)


def test_a_token_is_believed_besides_a_certificate(certified, authority):
    pair = authority.sign("carol", "/O=nobody/CN=carol", "clientAuth")
    assert show(certified, authority, pair, *STATE, bearer(token("root"))).status == 200
    assert show(certified, authority, pair, *AUTHORIZATIONS, None, bearer("not-a-token")).status == 401


def test_on_another_listener_nobody_is_known_by_a_certificate(certified):
    answer = certified.call(*AUTHORIZATIONS)
    assert answer.status == 401 and answer.code == "missing_token", answer


def test_without_an_authenticator_a_certificate_is_nobody(work, tls_files, authority):
    pair = authority.sign("alice", "/O=devs/CN=alice", "clientAuth")
    with with_certificates(work, "certificates-unused", tls_files) as server:
        answer = show(server, authority, pair, *AUTHORIZATIONS)
        assert answer.status == 401 and answer.code == "missing_token", answer
        assert show(server, authority, pair, *HOLD).status == 401
        assert show(server, authority, pair, *STATE, bearer(token("root"))).status == 200


# ---------------------------------------------------------------- unix sockets

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


def account(uid):
    user = pwd.getpwuid(uid)
    return uid, user.pw_gid, user.pw_name, grp.getgrgid(user.pw_gid).gr_name


NOBODY, DAEMON = (account(pwd.getpwnam(name).pw_uid) for name in ("nobody", "daemon"))
PEERS = document(
    rule("by-name", iss="unix-socket", preferred_username=NOBODY[2]), rule("by-group", iss="unix-socket", groups=DAEMON[3]),
    rule("by-subject", iss="unix-socket", sub=NOBODY[2]), rule("root", iss="corp", preferred_username="root"), HOLDER,
    tenant("t1", {"by-name": "read", "by-subject": "holder", "by-group": "read", "root": "admin"}), tenant("t2", {"root": "admin"}))


@pytest.fixture(scope="module")
def place():
    """A folder that everybody may enter, with a program that everybody may start."""
    folder = tempfile.mkdtemp(prefix="portcullis-e2e-")
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def with_socket(work, place, name, authenticators, user=None):
    path = os.path.join(place, f"{name}.sock")
    listener = {"name": "local", "unix": {"path": path, "mode": "0666"}, "serves": ["api", "web"]}
    server = Portcullis(place if user is not None else work, name, PEERS, [CORP, *authenticators], [listener], user=user)
    server.socket = path
    return server


def as_user(who, address, *request):
    """The answer to a request made by another user: a process of our own that gives its rights away."""
    if who is None:
        return wire.call(address, *request)
    uid, gid, *_ = who
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(receive)
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            answer = wire.call(address, *request)
            os.write(send, json.dumps([answer.status, answer.fields, answer.text]).encode())
            status = 0
        except BaseException as e:
            os.write(send, json.dumps([0, [], f"{type(e).__name__}: {e}"]).encode())
        finally:
            os._exit(status)
    os.close(send)
    with os.fdopen(receive, "rb") as f:
        status, fields, text = json.loads(f.read())
    os.waitpid(child, 0)
    return wire.Answer(status, fields, text.encode())


@pytest.fixture(scope="module")
def local(work, place):
    with with_socket(work, place, "peers", [{"name": "local", "driver": "UnixSocket"}]) as server:
        yield server


@pytest.fixture(scope="module")
def unconfigured(work, place):
    with with_socket(work, place, "peers-unconfigured", []) as server:
        yield server


@pytest.mark.parametrize("configured", [True, False], ids=["with an authenticator", "without"])
def test_the_servers_own_user_is_admin_of_everything(local, unconfigured, configured):
    server = local if configured else unconfigured
    for name in ("t1", "t2"):
        answer = wire.call(server.socket, "POST", f"/api/tenant/{name}/state", {"reason": "by its own user"})
        assert answer.status == 200 and answer.json["reason"] == "by its own user", answer
        assert wire.call(server.socket, "GET", f"/api/tenant/{name}/authorizations").json["zuul"]["admin"] is True
    root = wire.call(server.socket, "GET", "/api/authorizations")
    assert root.status == 200 and root.json["zuul"] == {"admin": True, "scope": ["*"]}, root
    # The same request over TCP is nobody's.
    assert server.call("POST", "/api/tenant/t1/state", {}).status == 401


@needs_root
def test_another_user_is_somebody_by_name_subject_and_group(local):
    assert permitted(as_user(NOBODY, local.socket, *AUTHORIZATIONS)) == {"read", "autohold"}
    assert as_user(NOBODY, local.socket, *HOLD).status == 200
    assert as_user(NOBODY, local.socket, *STATE).status == 403
    assert permitted(as_user(DAEMON, local.socket, *AUTHORIZATIONS)) == {"read"}
    assert as_user(DAEMON, local.socket, *HOLD).status == 403
    assert as_user(NOBODY, local.socket, "POST", "/api/tenant/t2/state", {}).status == 403


@needs_root
def test_without_an_authenticator_another_user_is_nobody(unconfigured):
    answer = as_user(NOBODY, unconfigured.socket, *AUTHORIZATIONS)
    assert answer.status == 401 and answer.code == "missing_token", answer
    assert as_user(NOBODY, unconfigured.socket, *HOLD).status == 401
    assert as_user(NOBODY, unconfigured.socket, *STATE, bearer(token("root"))).status == 200


@needs_root
def test_a_user_without_a_name_is_its_number(local):
    unnamed = next(uid for uid in range(54321, 54421) if uid not in {u.pw_uid for u in pwd.getpwall()})
    answer = as_user((unnamed, unnamed), local.socket, *AUTHORIZATIONS)
    assert answer.status == 403 and answer.code, answer


@needs_root
def test_a_server_that_runs_as_somebody_else(place, work, monkeypatch):
    program = os.path.join(place, "portcullis")
    shutil.copy(os.environ["PORTCULLIS"], program)
    os.chmod(program, 0o755)
    monkeypatch.setenv("PORTCULLIS", program)
    # It makes its socket in its own folder, which the others may enter.
    sockets = os.path.join(place, "sockets")
    os.makedirs(sockets)
    os.chown(sockets, NOBODY[0], NOBODY[1])
    with with_socket(work, sockets, "as-nobody", [], user=NOBODY[0]) as server:
        for who in (None, NOBODY):
            answer = as_user(who, server.socket, *STATE)
            assert answer.status == 200, (who, str(answer))
        assert as_user(DAEMON, server.socket, *STATE).status == 401
