"""HTTP as the suite speaks it: one request at a time, nothing followed, nothing kept but what is asked for."""
import http.client
import json
import re
import socket
import ssl


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.fields, self.body = status, headers, body

    def header(self, name):
        """The value of a header; None if it isn't there."""
        return next((v for k, v in self.fields if k.lower() == name.lower()), None)

    def headers(self, name):
        return [v for k, v in self.fields if k.lower() == name.lower()]

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise AssertionError(f"not JSON: {self}") from None

    @property
    def code(self):
        """The code of an error, whose form is checked."""
        assert self.status >= 400, f"not an error: {self}"
        document = self.json
        assert isinstance(document, dict) and document.get("request_id"), f"an error without request_id: {self}"
        error = document.get("error")
        assert isinstance(error, dict) and error.get("code") and error.get("message"), f"an error without code and message: {self}"
        return error["code"]

    def words(self):
        """What a person reads of an answer: the message of an error, or the text of a page."""
        if "json" in (self.header("content-type") or ""):
            return self.json["error"]["message"]
        page = re.sub(r"(?s)<(style|script|head).*?</\1>", " ", self.text)
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)).strip()

    def __str__(self):
        return f"{self.status} {self.text[:400]!r}"


class _Unix(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(address, method, path, body=None, headers=None, tls=None, timeout=20):
    """`address` is a port of 127.0.0.1 or the path of a socket; a body that is no bytes is sent as JSON."""
    if isinstance(address, str):
        connection = _Unix(address, timeout)
    elif tls is not None:
        connection = http.client.HTTPSConnection("127.0.0.1", address, timeout=timeout, context=tls)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", address, timeout=timeout)
    headers = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


def trusting(certificate=None, key=None, authority=None):
    """TLS of a client: with this certificate, believing this authority (or, without one, anybody)."""
    context = ssl.create_default_context(cafile=authority)
    if authority is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate, key)
    return context
