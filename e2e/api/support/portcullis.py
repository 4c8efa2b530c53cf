"""The program under test, started with a configuration of its own."""
import itertools
import json
import os
import shutil

from . import http, tokens
from .process import Process, free_port

CORP = {"name": "corp", "driver": "HS256", "issuer": "corp", "audience": "portal", "realm": "R1", "secretFile": "corp.key"}
NUMBERS = itertools.count(1)


def program():
    return os.environ["PORTCULLIS"]


class Portcullis:
    """`portcullis serve` in a folder of its own, where its log stays."""

    def __init__(self, work, name, tenants, authenticators=(CORP,), listeners=(), files=None, user=None, port=None):
        self.folder = os.path.join(work, f"{next(NUMBERS):02}-{name}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.port = port or free_port()
        self.user = user
        self.configuration = {
            "listeners": [{"name": "main", "tcp": f"127.0.0.1:{self.port}", "serves": ["api", "ci", "web", "health", "metrics"]}, *listeners],
            "tenants": {"file": "tenants.yaml"},
            "authenticators": list(authenticators),
        }
        for file, content in {"corp.key": tokens.SECRET, "tenants.yaml": tenants, **(files or {})}.items():
            self.write(file, content)
        self.write("portcullis.yaml", json.dumps(self.configuration, indent=1))
        os.makedirs(os.path.join(self.folder, "data"))
        if user is not None:
            for path in (self.folder, *(os.path.join(self.folder, n) for n in os.listdir(self.folder))):
                os.chown(path, user, user)
        self.process = None
        self.start()

    def start(self):
        log = os.path.join(self.folder, "log.txt")
        arguments = [program(), "serve", "--config", os.path.join(self.folder, "portcullis.yaml"), "--data-dir", os.path.join(self.folder, "data")]
        self.process = Process(arguments, log, user=self.user, folder=self.folder)
        self.process.wait_for(self.ready, "Portcullis ready")

    def ready(self):
        try:
            return http.call(self.port, "GET", "/readyz", timeout=2).status == 200
        except OSError:
            return False

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def call(self, method, path, body=None, token=None, headers=None):
        return http.call(self.port, method, path, body, {**(tokens.bearer(token) if token else {}), **(headers or {})})

    def check_health(self):
        """Still there, and nothing in it panicked."""
        assert self.process.alive(), f"Portcullis ended with {self.process.child.returncode}:\n{self.process.log()[-2000:]}"
        assert "panicked" not in self.process.log(), f"Portcullis panicked: {self.process.log_path}"

    def stop(self):
        if self.process:
            self.process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.check_health()
        finally:
            self.stop()
