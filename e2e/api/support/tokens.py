"""Tokens of an issuer that shares a secret with the server (HS256)."""
import base64
import hashlib
import hmac
import json
import time

SECRET = "a-secret-of-the-suite-0123456789abcdef"


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims_of(token):
    """What a token says, unverified."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def token(user, age=0, lifetime=600, **claims):
    now = int(time.time()) - age
    said = {"iss": "corp", "aud": "portal", "sub": user, "preferred_username": user, "iat": now, "exp": now + lifetime, **claims}
    text = encoded(b'{"alg":"HS256","typ":"JWT"}') + "." + encoded(json.dumps(said).encode())
    return text + "." + encoded(hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).digest())


def bearer(token):
    return {"Authorization": f"Bearer {token}"}
