"""`portcullis login` with a real provider: in a browser over loopback, with a code, renewed, denied, expired, revoked."""
import json
import os
import re
import subprocess
import urllib.parse

import pytest

from support.browser import Browser
from support.portcullis import program
from support.process import end_with_parent, until
from support.signin import Site
from support.tokens import token

CLIENT = {
    "client_id": "terminal", "application_type": "native", "token_endpoint_auth_method": "none", "redirect_uris": ["http://127.0.0.1/callback"],
    "response_types": ["code"], "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
}


def site_of(work, name, **settings):
    return Site(work, name, client="terminal", clients=[CLIENT], **settings)


@pytest.fixture(scope="module")
def site(work):
    with site_of(work, "terminal") as site:
        yield site


class Terminal:
    """A person's terminal: a home of its own."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.folder}
        self.file = os.path.join(self.folder, ".config/portcullis/config.yaml")

    def start(self, *arguments, **more):
        return subprocess.Popen([program(), *arguments], env=self.environment, cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent(), **more)

    def run(self, *arguments, said=""):
        child = self.start(*arguments)
        out, err = child.communicate(said, timeout=60)
        return child.returncode, out, err

    def context(self):
        with open(self.file) as f:
            return f.read()

    def whoami(self):
        code, out, err = self.run("whoami", "-o", "json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture
def terminal(tmp_path):
    return Terminal(tmp_path)


def lines_until(child, wanted):
    """What the program says, up to a line that has this."""
    said = ""
    while line := child.stderr.readline():
        said += line
        if found := re.search(wanted, line):
            return found, said
    raise AssertionError(f"not said: {wanted}\n{said}")


def fields(html):
    tags = re.findall(r"<input[^>]*>", html)
    named = ((re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)) for tag in tags)
    return {name.group(1): value.group(1) if value else "" for name, value in named if name}


def go_through(site, browser, url, user, ends):
    """Follows redirects and fills in forms, until the address fits or a page has no form."""
    for _ in range(20):
        if ends(url):
            return url
        answer = browser.get(url)
        while answer.status == 200:
            if "<form" not in answer.text:
                return url
            action = urllib.parse.urljoin(url, browser.form_action(answer).replace("&#38;", "&").replace("&amp;", "&"))
            said = fields(answer.text)
            if "login" in said:
                said = {"login": user, "password": site.provider.settings["accounts"][user]["password"]}
            answer = browser.post_form(action, said)
            url = action
        assert answer.status in (302, 303), f"{url}: {answer}\n{site.provider.process.log()}"
        url = urllib.parse.urljoin(url, answer.header("location"))
    raise AssertionError(f"no end: {url}")


def sign_in_with_browser(site, terminal, user="alice", change=lambda url: url):
    child = terminal.start("login", "--server", site.url, "--web", "--no-browser", "--timeout", "60s")
    found, _ = lines_until(child, r"^\s+(http://\S+)")
    back = re.escape("http://127.0.0.1:")
    at = go_through(site, Browser(), found.group(1), user, lambda url: re.match(back + r"\d+/callback", url))
    answer = Browser().get(change(at))
    out, err = child.communicate(timeout=60)
    return child.returncode, answer, err


def secrets_of(text):
    """Tokens in the file of contexts."""
    return [value for value in re.findall(r"oken: (\S+)", text) if len(value) > 20]


def test_a_browser_on_this_machine(site, terminal):
    code, page, err = sign_in_with_browser(site, terminal)
    assert code == 0 and page.status == 200, (code, str(page), err)
    assert "signed in" in page.text and "<" not in page.text, page.text
    assert "alice" in err, err
    assert oct(os.stat(terminal.file).st_mode & 0o777) == "0o600"
    me = terminal.whoami()
    assert me["user"] == "alice" and me["tenants"][0]["name"] == "t1" and me["expires_at"], me
    assert "autohold" in me["tenants"][0]["permissions"], me
    code, out, err = terminal.run("context", "list", "-o", "json")
    assert code == 0 and json.loads(out)[0]["current"] and json.loads(out)[0]["signed_in"], (out, err)
    # Nothing that was printed has a token in it.
    for secret in secrets_of(terminal.context()):
        assert secret not in out and secret not in err
    code, out, err = terminal.run("tenant", "list", "-v")
    assert code == 0 and "t1" in out, err
    for secret in secrets_of(terminal.context()):
        assert secret not in out + err


def test_a_token_of_a_context_goes_to_its_server_only(site, terminal, work):
    assert sign_in_with_browser(site, terminal)[0] == 0
    assert terminal.run("whoami", "--server", site.url + "/")[0] == 0
    with site_of(work, "terminal-other", provider=site.provider) as other:
        code, _, err = terminal.run("whoami", "--server", other.url)
        assert code == 4 and "not signed in" in err, err
        assert terminal.run("tenant", "list", "--server", other.url)[0] == 0
        assert "eyJ" not in other.server.process.log()


def test_a_code_on_another_machine(site, terminal):
    child = terminal.start("login", "--server", site.url, "--device", "--no-browser")
    address, _ = lines_until(child, r"^\s+(http://\S+)")
    code, _ = lines_until(child, r"^\s+([A-Z]{4}-[A-Z]{4}|[A-Z]{8})$")
    lines_until(child, "Only enter a code that you asked for yourself")
    url = f"{address.group(1)}?user_code={code.group(1)}"
    go_through(site, Browser(), url, "bob", lambda url: False)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert terminal.whoami()["user"] == "bob"


def test_denied(site, terminal):
    child = terminal.start("login", "--server", site.url, "--web", "--no-browser")
    found, _ = lines_until(child, r"^\s+(http://\S+)")
    browser, url = Browser(), found.group(1)
    answer = browser.get(url)
    page = urllib.parse.urljoin(url, answer.header("location"))
    url = page + "/abort"
    while not re.match(r"http://127.0.0.1:\d+/callback", url):
        answer = browser.get(url)
        assert answer.status in (302, 303), answer
        url = urllib.parse.urljoin(url, answer.header("location"))
    assert Browser().get(url).status == 400
    out, err = child.communicate(timeout=60)
    assert child.returncode == 4 and not os.path.exists(terminal.file), err


@pytest.mark.parametrize("change", [
    lambda url: re.sub(r"state=[^&]*", "state=" + "x" * 43, url), lambda url: re.sub(r"state=[^&]*&?", "", url),
    lambda url: re.sub(r"code=[^&]*", "code=wrong", url), lambda url: re.sub(r"iss=[^&]*", "iss=https%3A%2F%2Fevil.example", url),
], ids=["wrong state", "no state", "wrong code", "wrong issuer"])
def test_an_answer_that_was_changed(site, terminal, change):
    code, page, err = sign_in_with_browser(site, terminal, change=change)
    assert code == 4 and page.status == 400, (code, str(page), err)
    assert not os.path.exists(terminal.file)
    assert not re.search(r"panicked|eyJ", err), err


def test_nobody_comes_back(site, terminal):
    code, _, err = terminal.run("login", "--server", site.url, "--web", "--no-browser", "--timeout", "1s")
    assert code == 4 and "in time" in err, err


def test_a_code_that_expires(work, terminal):
    with site_of(work, "terminal-expires", deviceCodeTTL=2) as site:
        code, _, err = terminal.run("login", "--server", site.url, "--device", "--no-browser")
        assert code == 4 and "expired" in err, err


def test_tokens_are_renewed_and_revoked(work, terminal):
    with site_of(work, "terminal-renews", ttl={"IdToken": 30, "AccessToken": 30}) as site:
        assert sign_in_with_browser(site, terminal)[0] == 0
        before = terminal.context()
        assert "refreshToken" in before, before
        # It expires within a minute, so that every command renews it.
        assert terminal.whoami()["user"] == "alice"
        after = terminal.context()
        assert set(secrets_of(before)).isdisjoint(secrets_of(after)) or before != after
        assert oct(os.stat(terminal.file).st_mode & 0o777) == "0o600"
        # Several at once renew it once: the provider takes a refresh token back when it is used twice.
        children = [terminal.start("whoami") for _ in range(4)]
        assert [child.wait(60) for child in children] == [0] * 4, [child.stderr.read() for child in children]
        code, _, err = terminal.run("logout")
        assert code == 0 and "has no way" not in err, err
        assert not secrets_of(terminal.context())
        code, _, err = terminal.run("whoami")
        assert code == 4 and "not signed in" in err, err


def test_a_token_from_elsewhere(site, terminal):
    code, _, err = terminal.run("login", "--server", site.url, "--token-stdin", said=token("root") + "\n")
    assert code == 0, err
    assert terminal.whoami()["tenants"][0]["admin"] is True
    code, _, err = terminal.run("login", "--server", site.url, "--token-stdin", said="nonsense\n")
    assert code == 4, err
    assert terminal.whoami()["tenants"][0]["admin"] is True, "a token that is not accepted was kept"
    os.chmod(terminal.file, 0o644)
    code, _, err = terminal.run("whoami")
    assert code == 3 and "chmod 600" in err, err
