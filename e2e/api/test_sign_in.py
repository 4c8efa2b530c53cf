"""Signing in with OpenID Connect at a real provider, request by request, and everything that can go wrong on the way."""
import re
import time
import urllib.parse

import pytest

from support.browser import Browser, set_cookies
from support.process import until
from support.provider import SECRET
from support.signin import AUTHORIZATIONS, HOLD, HOLD_BODY, Session, Site, confidential, session_cookies
from support.tokens import claims_of, token

# What no page and no error may show a person.
INNARDS = re.compile(r"panicked|RUST_BACKTRACE|\.rs:\d|Traceback|Some\(|Err\(|eyJ[\w-]{20}")


@pytest.fixture(scope="module")
def site(work):
    with Site(work, "sign-in", tls=True) as site:
        yield site


def refused(answer, statuses=range(400, 500)):
    """A refusal in plain words that signs nobody in."""
    assert answer.status in statuses, answer
    words = answer.words()
    assert len(words.split()) >= 4 and not INNARDS.search(answer.text), f"not in plain words: {words!r}"
    assert not session_cookies(answer), f"a refusal sets cookies: {answer.headers('set-cookie')}"
    return words


def granted(answer):
    return {name for name, grant in answer.json["permissions"].items() if grant}


def query(url):
    return {name: values[0] for name, values in urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).items()}


def changed(url, **values):
    """The address with other values in its query; None takes one away."""
    parts = urllib.parse.urlsplit(url)
    said = {**query(url), **values}
    return urllib.parse.urlunsplit(parts._replace(query=urllib.parse.urlencode({k: v for k, v in said.items() if v is not None})))


# ---------------------------------------------------------------- how it should go

def test_the_way_to_the_provider(site):
    browser, seen = Browser(), []
    for _ in range(2):
        answer = site.begin(browser)
        assert answer.status in (302, 303), answer
        location = answer.header("location")
        assert location.startswith(site.provider.document()["authorization_endpoint"] + "?"), location
        said = query(location)
        assert said["response_type"] == "code" and said["client_id"] == "portcullis" and said["redirect_uri"] == site.callback, said
        assert set(said["scope"].split()) == {"openid", "profile", "email"}, said
        assert said["code_challenge_method"] == "S256" and re.fullmatch(r"[\w-]{43}", said["code_challenge"]), said
        assert len(said["state"]) >= 16 and len(said["nonce"]) >= 16, said
        assert "no-store" in (answer.header("cache-control") or ""), answer.fields
        seen += [said["state"], said["nonce"], said["code_challenge"]]
        cookies = set_cookies(answer)
        assert cookies, "no cookie that ties the answer to this browser"
        for cookie in cookies.values():
            assert cookie["httponly"] and cookie["samesite"].lower() == "lax" and not cookie["domain"], cookie.OutputString()
            assert not cookie["secure"], "Secure without TLS: the browser would not send it"
    assert len(set(seen)) == 6, "state, nonce and challenge are used again"


def test_signing_in_and_out(site):
    session = site.sign_in("alice")
    assert session.answer.header("location") in ("/docs", f"{site.url}/docs")
    cookie = session.morsel
    assert cookie["httponly"] and cookie["samesite"].lower() == "lax" and cookie["path"] == "/", cookie.OutputString()
    assert not cookie["domain"] and not cookie["secure"] and not session.name.startswith("__"), cookie.OutputString()
    assert len(session.value) < 3800, "browsers drop cookies of 4096 bytes"

    about = session.about()
    assert about.status == 200 and "no-store" in (about.header("cache-control") or ""), about.fields
    assert {"user", "realm", "expires", "csrf"} <= set(about.json), about
    assert about.json["user"] == "alice" and about.json["realm"] == "sso", about
    assert len(about.json["csrf"]) >= 16

    allowed = session.browser.get(site.url + AUTHORIZATIONS)
    assert allowed.status == 200 and granted(allowed) == {"read", "autohold"}, allowed
    assert session.browser.get(f"{site.url}/docs").status == 200

    out = session.browser.post(f"{site.url}/auth/logout", headers={"X-CSRF-Token": about.json["csrf"]})
    assert out.status in (200, 204, 303), out
    assert session.name in set_cookies(out), "the cookie isn't taken away"
    assert not session.signed_in()


def test_signing_out_with_a_form(site):
    session = site.sign_in("alice")
    out = session.browser.post_form(f"{site.url}/auth/logout", {"csrf": session.csrf()})
    assert out.status in (200, 204, 303), out
    assert not session.signed_in()


def test_over_tls_the_cookies_are_for_tls_alone(site):
    base = f"https://127.0.0.1:{site.tls_port}"
    browser = Browser()
    first = site.begin(browser, base=base)
    assert query(first.header("location"))["redirect_uri"] == f"{base}/auth/callback", first.header("location")
    for name, cookie in set_cookies(first).items():
        assert cookie["secure"] and cookie["httponly"], cookie.OutputString()
    session = site.sign_in("alice", base=base)
    cookie = session.morsel
    assert session.name.startswith("__Host-") and cookie["secure"] and cookie["httponly"] and cookie["path"] == "/", cookie.OutputString()
    assert cookie["samesite"].lower() == "lax" and not cookie["domain"], cookie.OutputString()
    assert session.about().json["user"] == "alice" and session.signed_in()


def test_what_people_may_do_is_decided_by_their_claims(site):
    assert granted(site.sign_in("bob").browser.get(site.url + AUTHORIZATIONS)) == {"read"}
    eve = site.sign_in("eve")
    answer = eve.browser.get(site.url + AUTHORIZATIONS)
    assert answer.status == 403 and answer.code, answer
    bob = site.sign_in("bob")
    answer = bob.browser.post(site.url + HOLD, HOLD_BODY, {"X-CSRF-Token": bob.csrf()})
    assert answer.status == 403 and answer.code != "csrf" and answer.json["error"]["details"]["permission"] == "autohold", answer


def test_two_people_at_once(site):
    alice, bob = site.sign_in("alice"), site.sign_in("bob")
    assert [s.about().json["user"] for s in (alice, bob)] == ["alice", "bob"]
    answer = alice.browser.post(site.url + HOLD, HOLD_BODY, {"X-CSRF-Token": bob.csrf()})
    assert answer.status == 403 and answer.code == "csrf", answer
    assert bob.browser.post(f"{site.url}/auth/logout", headers={"X-CSRF-Token": bob.csrf()}).status < 400
    assert alice.signed_in() and not bob.signed_in()


def test_a_session_outlives_a_restart_of_the_server(work, site):
    session = site.sign_in("alice")
    site.server.stop()
    site.server.start()
    assert session.signed_in()


def test_a_confidential_client(work):
    with confidential(work, "confidential") as site:
        assert site.sign_in("alice").about().json["user"] == "alice"


def test_a_wrong_client_secret(work):
    with confidential(work, "wrong-secret", secret="not-" + SECRET) as site:
        browser = Browser()
        words = refused(browser.get(site.to_callback(browser, "alice")), range(400, 600))
        assert SECRET not in words and SECRET not in site.server.process.log()


def test_a_provider_that_says_little_in_its_id_tokens(work):
    """Then who it is comes from the provider's page about them, or is the subject alone."""
    with Site(work, "few-claims", claimsInIdToken=False) as site:
        assert site.sign_in("alice").about().json["user"] == "alice"


def test_a_provider_that_signs_with_es256(work):
    with Site(work, "es256", algorithm="ES256") as site:
        assert site.sign_in("alice").signed_in()


# ---------------------------------------------------------------- CSRF

@pytest.mark.parametrize("headers", [{}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "wrong"}, {"Origin": "https://evil.example"}, {"X-CSRF-Token": "é".encode().decode("latin-1")}],
                         ids=["none", "empty", "wrong", "from elsewhere", "not ASCII"])
def test_a_change_with_a_cookie_needs_the_csrf_token(site, headers):
    session = site.sign_in("alice")
    for path in (HOLD, "/auth/logout"):
        answer = session.browser.post(site.url + path, HOLD_BODY, headers)
        assert answer.status == 403 and answer.code == "csrf", (path, str(answer))
    assert session.signed_in()
    answer = session.browser.post(site.url + HOLD, HOLD_BODY, {"X-CSRF-Token": session.csrf()})
    assert answer.status == 200 and answer.json is True, answer


def test_an_autohold_is_deleted_with_the_csrf_token_only(site):
    session = site.sign_in("alice")
    csrf = {"X-CSRF-Token": session.csrf()}
    assert session.browser.post(site.url + HOLD, HOLD_BODY, csrf).status == 200
    hold = session.browser.get(f"{site.url}/api/tenant/t1/autohold").json[-1]["id"]
    target = f"{site.url}/api/tenant/t1/autohold/{hold}"
    answer = session.browser.open(target, "DELETE")
    assert answer.status == 403 and answer.code == "csrf", answer
    assert session.browser.open(target, "DELETE", headers=csrf).status == 204


def test_a_bearer_token_needs_no_csrf_token(site):
    assert site.server.call("POST", HOLD, HOLD_BODY, token("root")).status == 200


def test_signing_out_is_no_link(site):
    session = site.sign_in("alice")
    assert session.browser.get(f"{site.url}/auth/logout").status == 405
    assert session.signed_in()


def test_reading_with_a_cookie_can_not_be_done_from_another_site(site):
    session = site.sign_in("alice")
    answer = session.browser.get(site.url + AUTHORIZATIONS, {"Origin": "https://evil.example"})
    assert answer.header("access-control-allow-credentials") is None, answer.fields


# ---------------------------------------------------------------- cookies that are not ours

def spoilt(value):
    yield "empty", ""
    yield "cut short", value[:-8]
    yield "cut in half", value[:len(value) // 2]
    yield "longer", value + "AAAA"
    yield "twice", value + value
    yield "garbage", "garbage"
    yield "dots", "...."
    yield "very long", "A" * 8000
    for at in sorted({0, 1, 7, len(value) // 4, len(value) // 2, 3 * len(value) // 4, len(value) - 7}):
        yield f"changed at {at}", value[:at] + ("A" if value[at] != "A" else "B") + value[at + 1:]


def test_a_tampered_cookie_is_nobody(site):
    session = site.sign_in("alice")
    value = session.value
    for title, wrong in spoilt(value):
        session.browser.set_cookie(session.name, wrong)
        assert not session.signed_in(), title
        answer = session.browser.post(site.url + HOLD, HOLD_BODY, {"X-CSRF-Token": "x" * 43})
        assert answer.status in (401, 403), (title, str(answer))
    session.browser.set_cookie(session.name, value)
    assert session.signed_in(), "the right cookie, put back"


def test_the_cookie_of_another_server_is_nobody(work, site):
    with Site(work, "other-server", provider=site.provider) as other:
        # Same provider and client, other keys. Its own address is no callback of the provider's, so only the cookie is tried.
        session = site.sign_in("alice")
        visitor = Session(session.browser, other.url, session.answer)
        assert not visitor.signed_in()
        assert session.signed_in()


def test_the_cookie_for_signing_in_opens_nothing(site):
    browser = Browser()
    first = site.begin(browser)
    session = site.sign_in("alice")
    for cookie in set_cookies(first).values():
        session.browser.set_cookie(session.name, cookie.value)
        assert not session.signed_in(), "the cookie of signing in passes for a session"


# ---------------------------------------------------------------- callbacks that are not ours

def test_a_callback_works_once(site):
    browser = Browser()
    url = site.to_callback(browser, "alice")
    kept = Browser()
    kept.copy_cookies_from(browser)
    assert browser.get(url).status == 303
    words = refused(browser.get(url))
    assert re.search(r"again|once more|sign", words, re.I), f"doesn't say what to do: {words}"
    # With the cookies of before, it is the provider who knows that the code was used.
    refused(kept.get(url), range(400, 600))


def test_a_callback_without_the_cookie_of_its_beginning(site):
    refused(Browser().get(site.to_callback(Browser(), "alice")))


@pytest.mark.parametrize("values", [
    {"state": "x" * 43}, {"state": None}, {"state": ""}, {"code": None}, {"code": "wrong"}, {"code": "A" * 4000}, {"code": None, "state": None, "iss": None},
    {"iss": "https://evil.example"}, {"code": None, "error": "access_denied", "error_description": "<script>alert(1)</script>"},
    {"code": None, "error": "<b>x</b>", "state": None},
], ids=lambda values: " ".join(f"{k}={str(v)[:20]}" for k, v in values.items()))
def test_a_callback_that_was_changed(site, values):
    browser = Browser()
    answer = browser.get(changed(site.to_callback(browser, "alice"), **values))
    # Without a code, or with a wrong one, it is the provider's answer that is bad.
    refused(answer, range(400, 600) if set(values) == {"code"} else range(400, 500))
    for html in ("<script>alert", "<b>x"):
        assert html not in answer.text, "what the address says is shown unescaped"


def test_a_callback_of_one_beginning_with_the_cookie_of_another(site):
    alice, bob = Browser(), Browser()
    url = site.to_callback(alice, "alice")
    site.to_callback(bob, "bob")
    refused(bob.get(url))


def test_somebody_who_goes_away_at_the_provider(site):
    browser = Browser()
    page = site.begin(browser)
    entry = browser.get(page.header("location"))
    where = urllib.parse.urljoin(site.provider.issuer, entry.header("location"))
    url = where + "/abort"
    for _ in range(4):
        answer = browser.get(url)
        assert answer.status in (302, 303), answer
        url = urllib.parse.urljoin(url, answer.header("location"))
        if url.startswith(site.callback):
            break
    assert query(url)["error"] == "access_denied", url
    refused(browser.get(url))


RETURNS = ["https://evil.example/", "//evil.example/", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "javascript:alert(1)",
           "http:evil.example", "https:/evil.example", "/docs\r\nSet-Cookie: evil=1", "evil.example", "@evil.example", ".evil.example", "/auth/login?return_to=/docs", "x" * 5000, ""]


@pytest.mark.parametrize("return_to", RETURNS, ids=[ascii(r)[:40] for r in RETURNS])
def test_nobody_is_sent_elsewhere_after_signing_in(site, return_to):
    browser = Browser()
    first = site.begin(browser, return_to)
    if first.status not in (302, 303):
        refused(first)
        return
    answer = browser.get(site.provider.sign_in(browser, first.header("location"), "alice", site.callback))
    assert answer.status == 303, answer
    location = answer.header("location")
    assert "evil" not in set_cookies(answer)
    # Browsers drop tabs and line ends and read \ as /.
    seen = urllib.parse.urljoin(site.url + "/auth/callback", re.sub(r"[\t\r\n]", "", location).replace("\\", "/"))
    parts = urllib.parse.urlsplit(seen)
    assert (parts.scheme, parts.netloc) == ("http", f"127.0.0.1:{site.port}"), f"sent to {location!r}"


@pytest.mark.parametrize("return_to", ["/", "/docs", "/docs?q=a%20b&c=d", "/a/b#c"])
def test_a_page_of_ours_is_returned_to(site, return_to):
    location = site.sign_in("alice", return_to).answer.header("location")
    assert location.removeprefix(site.url) == return_to


# ---------------------------------------------------------------- the provider's tokens as bearer tokens

def may(site, credential):
    return site.server.call("GET", AUTHORIZATIONS, token=credential)


def test_tokens_of_the_provider_as_bearer_tokens(site):
    got = site.provider.tokens("portcullis", site.callback, "alice")
    answer = may(site, got["id_token"])
    assert answer.status == 200 and granted(answer) == {"read", "autohold"}, answer
    robot = site.provider.robot_token()
    assert claims_of(robot)["aud"] == "portcullis"
    answer = may(site, robot)
    assert answer.status == 200 and granted(answer) == {"read"}, answer

    answer = may(site, got["access_token"])
    assert answer.status == 401 and answer.code == "undecodable", answer
    answer = may(site, site.provider.tokens("elsewhere", site.callback, "alice")["id_token"])
    assert answer.status == 401 and answer.code == "wrong_audience", answer
    head, body, signature = got["id_token"].split(".")
    answer = may(site, f"{head}.{body}.{'A' * len(signature)}")
    assert answer.status == 401 and answer.code == "bad_signature", answer
    # Signing in gave the browser a session; what it holds is no bearer token.
    assert may(site, site.sign_in("alice").value).status == 401


# ---------------------------------------------------------------- the provider changes, or is away

def test_new_keys_of_the_provider_are_picked_up(work):
    with Site(work, "rotation") as site:
        before = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
        assert may(site, before).status == 200
        session = site.sign_in("alice")
        site.provider.stop()
        site.provider.start()
        after = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
        began = time.monotonic()
        until(lambda: may(site, after).status == 200, 30, "a token of the new keys is believed")
        print(f"new keys were picked up after {time.monotonic() - began:.1f} s")
        assert site.sign_in("bob").signed_in(), "signing in with the new keys"
        assert session.signed_in(), "a session from before"


def test_while_the_provider_is_away(work):
    with Site(work, "away") as site:
        credential = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
        assert may(site, credential).status == 200
        session = site.sign_in("alice")
        browser = Browser()
        pending = site.to_callback(browser, "bob")
        site.provider.stop()

        # Who is signed in stays so, and the other realms go on.
        assert session.signed_in() and may(site, token("root")).status == 200
        assert site.server.call("GET", "/readyz").status == 200
        assert site.server.call("POST", HOLD, HOLD_BODY, token("root")).status == 200
        # The keys are known still.
        assert may(site, credential).status == 200
        began = time.monotonic()
        refused(browser.get(pending), range(500, 600))
        took = time.monotonic() - began
        assert took < 15, f"a person waits {took:.0f} s for the error"
        # Where the provider's addresses are remembered, the way there is still shown.
        answer = site.begin(Browser())
        if answer.status not in (302, 303):
            refused(answer, range(500, 600))

        site.provider.start()
        # Its keys are others now; they aren't asked for at every token that nobody knows the key of.
        fresh = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
        until(lambda: may(site, fresh).status == 200, 30, "a token after the provider is back")
        assert site.sign_in("bob").signed_in()


def test_starting_while_the_provider_is_away(work):
    with Site(work, "starts-alone") as site:
        credential = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
        site.provider.stop()
        site.server.stop()
        site.server.start()
        assert may(site, token("root")).status == 200
        words = refused(site.begin(Browser()), range(500, 600))
        assert re.search(r"sso|provider|sign", words, re.I), words
        answer = may(site, credential)
        assert answer.status in (401, 503), answer
        site.provider.start()
        fresh = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
        until(lambda: may(site, fresh).status == 200, 30, "its tokens are believed once it is there")
        until(lambda: site.begin(Browser()).status in (302, 303), 30, "signing in once it is there")
        assert site.sign_in("alice").signed_in()


def test_nothing_secret_is_in_the_log(site):
    session = site.sign_in("alice")
    credential = site.provider.tokens("portcullis", site.callback, "alice")["id_token"]
    assert may(site, credential).status == 200
    log = site.server.process.log()
    for what, secret in (("the cookie", session.value), ("a token", credential), ("the CSRF token", session.csrf())):
        assert secret not in log and secret[:24] not in log, f"{what} is in the log"
