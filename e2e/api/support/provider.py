"""An OpenID Connect provider as a process of its own (../provider.mjs), and what the suite does with it by hand."""
import base64
import hashlib
import json
import os
import secrets
import urllib.parse

from . import http
from .browser import Browser
from .process import Process, free_port

HERE = os.path.dirname(os.path.abspath(__file__))
ACCOUNTS = {
    "alice": {"password": "wonderland", "claims": {"preferred_username": "alice", "groups": ["devs", "holders"], "email": "alice@example.org"}},
    "bob": {"password": "builder", "claims": {"preferred_username": "bob", "groups": ["devs"], "email": "bob@example.org"}},
    "eve": {"password": "eavesdrop", "claims": {"preferred_username": "eve", "groups": [], "email": "eve@example.org"}},
}
SECRET = "the-secret-of-a-confidential-client-0123456789"
ROBOT = "the-secret-of-a-robot-0123456789abcdef"


class Provider:
    """`callbacks` are the redirect URIs that its clients may name."""

    def __init__(self, work, callbacks, name="provider", **settings):
        self.port = free_port()
        self.log = os.path.join(work, f"{name}.log")
        self.file = os.path.join(work, f"{name}.json")
        web = {"redirect_uris": callbacks, "grant_types": ["authorization_code"], "response_types": ["code"]}
        self.settings = {
            "port": self.port,
            "claimsInIdToken": True,
            "accounts": ACCOUNTS,
            "robots": {"robot": {"groups": ["devs"], "preferred_username": "robot"}},
            "clients": [
                {"client_id": "portcullis", "token_endpoint_auth_method": "none", **web, "grant_types": ["authorization_code", "password"]},
                {"client_id": "elsewhere", "token_endpoint_auth_method": "none", **web},
                {"client_id": "confidential", "client_secret": SECRET, **web},
                {"client_id": "robot", "client_secret": ROBOT, "grant_types": ["client_credentials"], "redirect_uris": [], "response_types": []},
            ],
            **settings,
        }
        self.process = None
        self.start()

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, **settings):
        """Starts it, with new keys."""
        self.settings.update(settings)
        with open(self.file, "w") as f:
            json.dump(self.settings, f)
        open(self.log, "w").close()
        self.process = Process([os.environ["NODE"], os.path.join(HERE, "../provider.mjs"), self.file], self.log)
        self.process.wait_for(lambda: "listening" in self.process.log(), "the provider")

    def stop(self):
        self.process.stop()

    def document(self):
        answer = http.call(self.port, "GET", "/.well-known/openid-configuration")
        assert answer.status == 200, answer
        return answer.json

    def tokens(self, client, callback, user):
        """ID token and access token of a client for a person, got without Portcullis."""
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        ask = {"response_type": "code", "client_id": client, "redirect_uri": callback, "scope": "openid profile email", "state": "s",
               "nonce": "n", "code_challenge": challenge, "code_challenge_method": "S256"}
        browser = Browser()
        at = self.sign_in(browser, f"{self.document()['authorization_endpoint']}?{urllib.parse.urlencode(ask)}", user, callback)
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(at).query)["code"][0]
        return self.token({"grant_type": "authorization_code", "code": code, "redirect_uri": callback, "client_id": client, "code_verifier": verifier})

    def robot_token(self):
        return self.token({"grant_type": "client_credentials", "client_id": "robot", "client_secret": ROBOT}, basic=("robot", ROBOT))["access_token"]

    def token(self, said, basic=None):
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if basic:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(basic).encode()).decode()
            said = {k: v for k, v in said.items() if not k.startswith("client_")}
        answer = http.call(self.port, "POST", "/token", urllib.parse.urlencode(said).encode(), headers)
        assert answer.status == 200, f"the provider's token endpoint: {answer}\n{self.process.log()}"
        return answer.json

    def sign_in(self, browser, url, user, callback):
        """Goes through the provider's pages from `url`; the address it sends the browser back to, not yet opened."""
        for _ in range(12):
            if url.startswith(callback):
                return url
            assert url.startswith(self.issuer + "/"), f"sent to {url}"
            answer = browser.get(url)
            if answer.status == 200:
                action = urllib.parse.urljoin(url, browser.form_action(answer))
                said = {"login": user, "password": ACCOUNTS[user]["password"]} if 'name="login"' in answer.text else {}
                answer = browser.post_form(action, said)
            assert answer.status in (302, 303), f"the provider at {url}: {answer}\n{self.process.log()}"
            url = urllib.parse.urljoin(url, answer.header("location"))
        raise AssertionError(f"no end of redirects: {url}")
