#!/usr/bin/env python3
"""A webhook controller in one file: denies jobs outside working hours, unless they are for a protected ref.

  CONTROLLER_SECRET=whsec_... python3 controller.py [PORT]

The secret is the one that `portcullis controller add` printed. Deliveries are signed as Standard Webhooks 1.0.0
describes; what isn't signed with the secret, or was signed long ago, is rejected. Standard library only.
"""
import base64, hashlib, hmac, json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["CONTROLLER_SECRET"].removeprefix("whsec_"))
TOLERANCE = 300  # seconds
HOURS = range(8, 18)


def is_signed(headers, body):
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    digest = hmac.new(KEY, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    wanted = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(wanted, given) for given in headers.get("webhook-signature", "").split())


def verdict(job, hour):
    if job["ref_protected"] or hour in HOURS:
        return {"id": job["id"], "admission": "accepted"}
    return {"id": job["id"], "admission": "denied", "reason": f"{job['ref']} runs from 8 to 18 only"}


class Controller(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_signed(self.headers, body):
            return self.answer(401, {"error": "invalid signature"})
        self.answer(200, [verdict(job, time.localtime().tm_hour) for job in json.loads(body)])

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    ThreadingHTTPServer(("127.0.0.1", port), Controller).serve_forever()
