"""A browser without a screen: keeps cookies as browsers do, and follows nothing by itself."""
import http.cookiejar
import http.cookies
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request

from .http import Answer


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    def __init__(self):
        self.cookies = http.cookiejar.CookieJar()
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies), _Stay(), urllib.request.HTTPSHandler(context=trusting))

    def open(self, url, method="GET", body=None, headers=None):
        request = urllib.request.Request(url, body, headers or {}, method=method)
        try:
            response = self.opener.open(request, timeout=20)
        except urllib.error.HTTPError as e:
            response = e
        with response:
            return Answer(response.status, response.headers.items(), response.read())

    def get(self, url, headers=None):
        return self.open(url, headers=headers)

    def post(self, url, document=None, headers=None):
        return self.open(url, "POST", json.dumps(document).encode(), {"Content-Type": "application/json", **(headers or {})})

    def post_form(self, url, fields, headers=None):
        return self.open(url, "POST", urllib.parse.urlencode(fields).encode(),
                         {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})})

    @staticmethod
    def form_action(answer):
        return re.search(r'<form[^>]*action="([^"]*)"', answer.text).group(1)

    def cookie(self, name):
        return next((c for c in self.cookies if c.name == name), None)

    def set_cookie(self, name, value):
        """Changes the value of a cookie it has."""
        self.cookie(name).value = value

    def copy_cookies_from(self, other):
        for cookie in other.cookies:
            self.cookies.set_cookie(cookie)


def set_cookies(answer):
    """Name -> Morsel of the cookies an answer sets."""
    cookies = {}
    for line in answer.headers("set-cookie"):
        cookies.update(http.cookies.SimpleCookie(line))
    return cookies


def removes(morsel):
    """Whether a Set-Cookie takes the cookie away."""
    return not morsel.value or morsel["max-age"] == "0" or "1970" in morsel["expires"]
