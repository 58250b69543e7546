"""Users sign in through a real Chromium, on pages made by scripts."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

import pytest

Answer = tuple[int, dict[str, str], str]

BY_SCRIPT = """<title>Sign in</title><main></main><script>
const main = document.querySelector('main');
const show = (html) => setTimeout(() => { main.innerHTML = html; }, 80);
const send = (path, body) => fetch(path, {method: 'POST', body: new URLSearchParams(body)})
  .then((answer) => answer.json());
const value = (name) => document.querySelector(`[name=${name}]`).value;
const steps = {
  async next() { await send('/who', {login: value('login')});
    show(`<input type=password name=pw aria-label="Password" oninput="go.disabled = !this.value">
      <button type=button aria-label="Show"></button>
      <button id=go disabled onclick="steps.enter()">Sign in</button>`); },
  async enter() { await send('/enter', {pw: value('pw')});
    show(`<label><input type=checkbox required name=sure style="opacity: 0"> I know</label>
      <button onclick="steps.end('no')">No, thanks</button>
      <button onclick="steps.end('yes')">Allow access</button>`); },
  async end(said) { location.href = (await send('/end', {said})).to; },
};
show(`<label>E-mail <input name=login type=email></label><input type=password style="display: none">
  <button onclick="steps.next()">Next</button>`);
</script>"""


def by_script(site: Any, fragment: str = "") -> dict[str, str]:
    """A sign-in that is one page for the server; what the user said is kept."""
    said: dict[str, str] = {}

    def take(_: BaseHTTPRequestHandler, body: str) -> Answer:
        said.update({name: values[0] for name, values in parse_qs(body).items()})
        end = "code=c1" if said.get("said") == "yes" else "error=access_denied"
        return (
            200,
            {"Content-Type": "application/json"},
            json.dumps({"to": f"{site.callback}?{end}{fragment}"}),
        )

    site.pages |= {"/auth": BY_SCRIPT, "/who": take, "/enter": take, "/end": take}
    return said


def test_pages_made_by_script_are_filled_in_and_pressed(site: Any, harness: Any) -> None:
    said = by_script(site, "#_=_")

    landing = harness.sign_in(f"{site.origin}/auth?state=1")

    assert landing.redirected_to == f"{site.callback}?code=c1#_=_", landing.outcome()
    assert said == {"login": harness.user.login, "pw": harness.user.password.reveal(), "said": "yes"}
    assert (landing.acts, landing.declined) == (3, False)
    assert set(landing.acted_on) == {f"{site.origin}/auth"}
    # Every octet came over the wire, and each request once.
    assert [
        f"{each.request.method} {each.request.url.removeprefix(site.origin)}" for each in harness.recorded
    ] == [
        "GET /auth?state=1",
        "POST /who",
        "POST /enter",
        "POST /end",
    ]
    assert site.asked == [
        f"{each.request.method} {each.request.url.removeprefix(site.origin)}" for each in harness.recorded
    ]


def test_user_who_declines_presses_no(site: Any, harness: Any) -> None:
    said = by_script(site)

    landing = harness.sign_in(f"{site.origin}/auth", approve=False)

    assert landing.redirected_to == f"{site.callback}?error=access_denied"
    assert (said["said"], landing.declined) == ("no", True)


IN_STEPS = """<title>Sign in</title><main></main><script>
const main = document.querySelector('main');
main.innerHTML = '<input name=login type=email oninput="enter(this.value)"><button>Next</button>';
const enter = (login) => { if (!login.includes('@merchant.example')) return;
  main.innerHTML = `<form action=/done method=post><input type=hidden name=user value="${login}">
    <input type=password name=pw><button>Sign in</button></form>`; };
</script>"""


def test_page_that_changes_while_it_is_filled_in_is_read_again(site: Any, harness: Any) -> None:
    """The button that was to be pressed is gone when the user has typed."""
    done: list[dict[str, list[str]]] = []

    def take(_: BaseHTTPRequestHandler, body: str) -> Answer:
        done.append(parse_qs(body))
        return 303, {"Location": f"{site.callback}?code=c3"}, ""

    site.pages |= {"/auth": IN_STEPS, "/done": take}

    landing = harness.sign_in(f"{site.origin}/auth")

    assert landing.redirected_to == f"{site.callback}?code=c3", landing.outcome()
    assert done == [{"user": [harness.user.login], "pw": [harness.user.password.reveal()]}]


ELSEWHERE = {
    "web component": """<x-form></x-form><script>
customElements.define('x-form', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = `<form action=/done method=post>
    <input name=user><input name=pw type=password><button>Log in</button></form>`; } });</script>""",
    "frame": "<title>Portal</title><iframe src=/inner width=600 height=400></iframe>",
    "no script": """<form action=/done method=post><input name=user><input type=password name=pw>
<input type=submit value=Go></form>""",
    "without a button": """<script>1</script><form action=/done method=post onsubmit="this.user.value = said">
<input type=hidden name=user><input type=password name=pw></form>
<script>said = 'alice' + '@merchant.example'</script>""",
    "question in a box": """<form action=/done method=post onsubmit="return confirm('Sure?')">
<input name=user><input type=password name=pw><button>Sign in</button></form>""",
    "window of its own": """<button onclick="window.open('/inner', 'x', 'width=500')">Sign in</button>""",
    "by a hint": """<script>location.href = '/hinted'</script>""",
}


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_forms_are_found_wherever_users_see_them(kind: str, site: Any, harness: Any) -> None:
    done: list[dict[str, list[str]]] = []

    def take(_: BaseHTTPRequestHandler, body: str) -> Answer:
        done.append(parse_qs(body))
        return 303, {"Location": f"{site.callback}?code=c2"}, ""

    site.pages |= {
        "/auth": f"<!doctype html>{ELSEWHERE[kind]}",
        "/inner": f"<!doctype html>{ELSEWHERE['no script'].replace('<form', '<form target=_top')}",
        "/hinted": "<input name=who><button type=button>Zurück</button>"
        "<button type=button onclick=\"location.href='/done'\">Weiter</button>",
        "/done": take,
    }

    landing = harness.sign_in(f"{site.origin}/auth")

    assert landing.redirected_to == f"{site.callback}?code=c2", landing.outcome()
    if kind != "by a hint":
        assert done == [{"user": [harness.user.login], "pw": [harness.user.password.reveal()]}]
