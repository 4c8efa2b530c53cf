"""Portcullis with people who sign in at a provider, and what signing in takes."""
import urllib.parse

from .browser import Browser, removes, set_cookies
from .portcullis import CORP, Portcullis
from .process import free_port
from .provider import SECRET, Provider
from .tenants import document, role, rule, tenant

TENANTS = document(
    rule("holders", groups="holders"), rule("devs", groups="devs"), rule("root", iss="corp", preferred_username="root"),
    role("holder", autohold=True), tenant("t1", {"holders": "holder", "devs": "read", "root": "admin"}))
AUTHORIZATIONS = "/api/tenant/t1/authorizations"
HOLD = "/api/tenant/t1/project/foo/autohold"
HOLD_BODY = {"job": "unit", "reason": "by cookie", "count": 1}


class Site:
    """A provider and a Portcullis that sends people there; with `tls` also a listener that speaks it."""

    def __init__(self, work, name, client="portcullis", secret=None, tls=False, provider=None, port=None, **settings):
        self.port = port or free_port()
        self.tls_port = free_port() if tls else None
        self.callback = f"http://127.0.0.1:{self.port}/auth/callback"
        self.callbacks = [self.callback] + ([f"https://127.0.0.1:{self.tls_port}/auth/callback"] if tls else [])
        self.own_provider = provider is None
        self.provider = provider or Provider(work, self.callbacks, f"provider-{name}", **settings)
        sso = {"name": "sso", "driver": "OpenIDConnect", "issuer": self.provider.issuer, "clientId": client, "audience": client,
               "realm": "sso", "scope": "openid profile email", "default": True}
        files = {}
        if secret:
            sso["clientSecretFile"] = "client.key"
            files["client.key"] = secret
        listeners = [{"name": "tls", "tcp": f"127.0.0.1:{self.tls_port}", "tls": {"development": True}, "serves": ["api", "web"]}] if tls else []
        try:
            self.server = Portcullis(work, name, TENANTS, [sso, CORP], listeners, files, port=self.port)
        except BaseException:
            self.provider.stop()
            raise

    @property
    def url(self):
        return self.server.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.server.__exit__()
        finally:
            if self.own_provider:
                self.provider.stop()

    def begin(self, browser, return_to="/docs", base=None):
        """The first answer of signing in."""
        return browser.get(f"{base or self.url}/auth/login?{urllib.parse.urlencode({'return_to': return_to})}")

    def to_callback(self, browser, user, return_to="/docs", base=None):
        """Signs in up to the address that the provider sends the browser back to."""
        answer = self.begin(browser, return_to, base)
        assert answer.status in (302, 303), answer
        return self.provider.sign_in(browser, answer.header("location"), user, f"{base or self.url}/auth/callback")

    def sign_in(self, user, return_to="/docs", base=None):
        """A browser that is signed in, as a `Session`."""
        browser = Browser()
        answer = browser.get(self.to_callback(browser, user, return_to, base))
        assert answer.status == 303, f"{answer}\n{self.server.process.log()[-2000:]}"
        return Session(browser, base or self.url, answer)


class Session:
    """A browser that is signed in, and the name of the cookie that says so."""

    def __init__(self, browser, url, answer):
        self.browser, self.url, self.answer = browser, url, answer
        new = session_cookies(answer)
        assert len(new) == 1, f"cookies of the callback: {answer.headers('set-cookie')}"
        self.name, self.morsel = next(iter(new.items()))

    @property
    def value(self):
        return self.browser.cookie(self.name).value

    def about(self):
        return self.browser.get(f"{self.url}/auth/session")

    def csrf(self):
        answer = self.about()
        assert answer.status == 200, answer
        return answer.json["csrf"]

    def signed_in(self):
        """Whether a private page opens, and whether the session says so too."""
        opens = self.browser.get(self.url + AUTHORIZATIONS).status
        assert opens in (200, 401), opens
        about = self.about()
        assert about.status in (200, 401), about
        knows = about.status == 200 and bool(about.json.get("user"))
        assert knows == (opens == 200), f"{AUTHORIZATIONS} is {opens}, and the session says {about}"
        return knows


def session_cookies(answer):
    return {name: morsel for name, morsel in set_cookies(answer).items() if not removes(morsel)}


def confidential(work, name, secret=SECRET):
    return Site(work, name, client="confidential", secret=secret)
