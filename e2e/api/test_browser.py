"""Signing in with a real browser, and the documentation pages as it shows them."""
import json
import os
import re
import shutil

import pytest

from support.process import Process
from support.provider import ACCOUNTS
from support.signin import AUTHORIZATIONS, HOLD, Site

pytestmark = pytest.mark.skipif(not shutil.which("chromium"), reason="there is no chromium; scripts/setup installs it")
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def seen(work):
    """What the browser saw; the screenshots are in the folder above the logs."""
    folder = os.path.dirname(work)
    with Site(work, "browser") as site:
        settings = {"chromium": shutil.which("chromium"), "url": site.url, "issuer": site.provider.issuer, "user": "alice",
                    "password": ACCOUNTS["alice"]["password"], "folder": folder, "report": os.path.join(work, "browser-report.json"),
                    "private": AUTHORIZATIONS, "hold": HOLD}
        file = os.path.join(work, "browser.json")
        with open(file, "w") as f:
            json.dump(settings, f)
        browser = Process([os.environ["NODE"], os.path.join(HERE, "browser.mjs"), file], os.path.join(work, "browser.log"))
        try:
            code = browser.child.wait(80)
        finally:
            browser.stop()
        assert code == 0, browser.log()
        with open(settings["report"]) as f:
            report = json.load(f)
        report["url"], report["issuer"], report["folder"] = site.url, site.provider.issuer, folder
        return report


def luminance(colour):
    numbers = [float(n) for n in re.findall(r"[\d.]+", colour)[:3]]
    parts = [n / 255 for n in numbers]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(page):
    low, high = sorted((luminance(page["colour"]), luminance(page["background"])))
    return (high + 0.05) / (low + 0.05)


def test_a_person_signs_in_by_clicking_and_lands_in_the_documentation(seen):
    assert "stopped" not in seen, (seen["stopped"], seen["steps"], seen["errors"], seen["failed"])
    assert seen["steps"][0][1].startswith(seen["issuer"] + "/interaction/"), seen["steps"]
    assert seen["steps"][1][1].startswith(seen["url"] + "/docs"), seen["steps"]
    assert seen["session"]["status"] == 200 and seen["session"]["body"]["user"] == "alice", seen["session"]
    assert seen["private"]["status"] == 200 and seen["hold"] == {"status": 200, "body": True}, (seen["private"], seen["hold"])


def test_scripts_do_not_see_the_session(seen):
    session = [c for c in seen["cookies"] if c["httpOnly"] and c["sameSite"] == "Lax" and c["path"] == "/" and not c["secure"]]
    assert len(seen["cookies"]) == 1 and len(session) == 1, seen["cookies"]
    assert session[0]["name"] not in seen["light"]["cookies"]


def test_another_site_can_not_sign_anybody_out(seen):
    assert seen["forged"] in (401, 403) and seen["still"]["status"] == 200 and seen["still"]["body"]["user"] == "alice", (seen["forged"], seen["still"])


def test_signing_out_takes_the_cookie_away(seen):
    assert seen["left"] == [], seen["left"]


def test_nothing_is_asked_of_other_hosts(seen):
    assert seen["requests"] and seen["foreign"] == []


def test_the_console_stays_empty(seen):
    assert seen["errors"] == [] and seen["failed"] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_documentation_can_be_read(seen, scheme):
    page = seen[scheme]
    assert page["title"] and page["language"] and page["headings"] and page["text"] > 500, page
    assert page["wider"] <= 0 and page["unnamed"] == [] and page["broken"] == [], page
    assert contrast(page) >= 4.5, (page["colour"], page["background"])
    light = luminance(page["background"])
    assert light > 0.5 if scheme == "light" else light < 0.2, f"{scheme}: the background is {page['background']}"
    assert os.path.getsize(os.path.join(seen["folder"], f"docs-{scheme}.png")) > 5000


def test_the_documentation_fits_a_telephone(seen):
    assert seen["narrow"]["wider"] <= 0, f"{seen['narrow']['wider']} pixels too wide"


def test_links_of_the_documentation_lead_somewhere(seen):
    assert [link for link in seen["links"] if link[1] >= 400] == []
