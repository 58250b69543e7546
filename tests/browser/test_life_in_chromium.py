"""The life of a Project in a real browser, from the Console to the playground and back."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

for _name in ("playwright.sync_api", "axe_playwright_python"):
    pytest.importorskip(_name, reason=f"{_name} is not installed here; make browser runs these tests")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NARROW = 360
INDICATOR = "https://api.merchant.example/boots"
_EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLOURS = ["color-contrast", "link-in-text-block"]
_AXE = """async (asked) => (await axe.run(document, {runOnly: asked}))
    .violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.html).slice(0, 3)}`)"""
_WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that has the project: the browser's own environment has a browser alone."""
    if importlib.util.find_spec("uvicorn") is not None:
        return sys.executable
    place = Path(os.environ.get("GATEPROOF_PYTHON") or ROOT / ".venv" / "bin" / "python")
    if not place.exists():
        pytest.skip(f"the project is not installed in {place.parents[1].name}: make browser installs it")
    return str(place)


@pytest.fixture(scope="module")
def world(python: str) -> Iterator[dict[str, Any]]:
    """The world of `gateproof serve`, with a list of what must not reach a browser."""
    process = subprocess.Popen(
        [python, str(HERE / "served_world.py")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the world did not start"
    yield json.loads(line)
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()


@dataclass(kw_only=True)
class Surfer:
    """A browser in which everything is written down that came, was said, or was asked for."""

    context: Any
    facts: dict[str, Any]
    axe: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    looked: int = 0

    def tab(self) -> Any:
        return self.context.new_page()

    def look(self, tab: Any, name: str) -> None:
        """Light and dark, wide and narrow: nothing that axe minds, and nothing to scroll sideways."""
        self.looked += 1
        tab.evaluate(self.axe)
        for scheme, asked in (("light", _EVERYTHING), ("dark", _COLOURS)):
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate(_AXE, asked) == [], f"{name}, {scheme}"
            self._picture(tab, f"{name}-{scheme}")
        size = tab.viewport_size
        tab.set_viewport_size({"width": NARROW, "height": size["height"]})
        assert tab.evaluate(_WIDTH) <= NARROW, name
        self._picture(tab, f"{name}-narrow")
        tab.set_viewport_size(size)

    def _picture(self, tab: Any, name: str) -> None:
        """For somebody who wants to see them: SCREENSHOTS names a folder."""
        if folder := os.environ.get("SCREENSHOTS"):
            tab.screenshot(path=f"{folder}/{self.looked:02}-{name}.png", full_page=True)


Surf = Callable[..., Surfer]


@pytest.fixture
def surf(chromium: Any, axe: str, world: dict[str, Any]) -> Iterator[Surf]:
    opened: list[Surfer] = []

    def begin(*, script: bool = True, recorded: bool = False) -> Surfer:
        # Playwright sends loopback through the proxy too, which a browser by itself would not.
        through = {"proxy": {"server": world["proxy_url"]}} if recorded else {}
        context = chromium.new_context(ignore_https_errors=True, java_script_enabled=script, **through)
        context.set_default_timeout(15_000)
        surfer = Surfer(context=context, facts=world, axe=axe)
        context.on("console", lambda message: surfer.said.append(message.text))
        context.on("weberror", lambda error: surfer.said.append(str(error.error)))
        context.on("request", lambda request: surfer.asked.append(request.url))
        opened.append(surfer)
        return surfer

    yield begin
    for surfer in opened:
        surfer.context.close()


def sign_in(surfer: Surfer, tab: Any) -> None:
    tab.goto(surfer.facts["console_url"])
    tab.get_by_label("Name").fill(surfer.facts["operator"]["name"])
    tab.get_by_label("Password").fill(surfer.facts["operator"]["password"])
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url("**/projects")


def create_project(tab: Any, name: str) -> None:
    tab.get_by_role("link", name="New Project").click()
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Hold new agents").check()
    tab.get_by_role("button", name="Create the Project").click()


def values(tab: Any) -> dict[str, str]:
    """The names and values of the lists on the page."""
    names, found = tab.locator("dt").all_text_contents(), tab.locator("dd").all_text_contents()
    return dict(zip(names, found, strict=True))


def make_steps(tab: Any, first: int, last: int) -> None:
    for step in range(first, last + 1):
        tab.get_by_role("button", name=f"Make step {step}").click()
        tab.get_by_role("button", name=f"Make step {step}").wait_for(state="detached")


def go_to_the_merchant(surfer: Surfer, tab: Any) -> None:
    """The fake merchant's form is as untidy as its seed made it, so its fields are found by their names."""
    tab.get_by_role("link", name="Sign in at the gateway").click()
    user = surfer.facts["users"][0]
    tab.locator("input[name=username]").fill(user["login"])
    tab.locator("input[name=password]").fill(user["password"])
    tab.locator("input[name=password]").press("Enter")


def assert_silent_and_at_home(surfer: Surfer) -> None:
    """No word on the browser's console, and no request to anybody but this world."""
    assert surfer.said == []
    names = ("base_url", "core_url", "console_url", "playground_url", "merchant_url", "service_url")
    home = {urlsplit(surfer.facts[name])[:2] for name in names}
    assert {urlsplit(url)[:2] for url in surfer.asked} <= home


def received(facts: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Every octet that came from any server of the world, one text a connection."""
    files = sorted(Path(facts["received_folder"]).iterdir())
    return [(file.name, file.read_bytes()) for file in files]


def leaks(python: str, canaries: list[list[str]], texts: list[tuple[str, bytes]]) -> list[list[str]]:
    encoded = [[name, base64.b64encode(octets).decode()] for name, octets in texts]
    done = subprocess.run(
        [python, str(HERE / "leak_scan.py")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=json.dumps([canaries, encoded]),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def make_a_project(surfer: Surfer, tab: Any) -> tuple[dict[str, str], dict[str, str]]:
    """A Project that holds agents, with a Resource, its metadata file and a Proxy client, in the Console."""
    tab.goto(surfer.facts["console_url"])
    sign_in(surfer, tab)
    create_project(tab, "Boots <b>& more</b>")
    tab.get_by_role("link", name="New Resource").click()
    tab.get_by_label("Resource indicator").fill(INDICATOR)
    tab.get_by_label("Scopes").fill("orders:read")
    tab.get_by_role("button", name="Create the Resource").click()
    tab.get_by_role("heading", name="Protected resource metadata").wait_for()
    resource = values(tab)
    server = resource["Authorization server"]
    assert server == f"{surfer.facts['base_url']}/{resource['Resource ID']}"
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Download the metadata file").click()
    metadata = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert metadata["authorization_servers"] == [server]
    tab.get_by_role("link", name="Boots").click()
    tab.get_by_role("link", name="Proxy clients").click()
    tab.get_by_role("button", name="Generate a Proxy client").click()
    tab.get_by_role("heading", name="Copy the secret now").wait_for()
    proxy = values(tab)
    tab.reload()
    tab.get_by_text("Nothing was generated").wait_for()
    assert proxy["Client secret"] not in tab.content()
    assert tab.get_by_role("row").count() == 2
    return resource, proxy


def walk_until_pending(surfer: Surfer, tab: Any, resource: dict[str, str], proxy: dict[str, str]) -> None:
    """The playground with that Resource, up to a user who is told to wait."""
    tab.goto(surfer.facts["playground_url"])
    tab.get_by_label("One that you made in the Console").check()
    tab.get_by_label("Resource ID").fill(resource["Resource ID"])
    tab.get_by_label("Resource indicator").fill(INDICATOR)
    tab.get_by_label("Scopes").fill("orders:read")
    tab.get_by_label("Proxy client ID").fill(proxy["Client ID"])
    tab.get_by_label("Proxy client secret").fill(proxy["Client secret"])
    tab.get_by_role("button", name="Begin").click()
    make_steps(tab, 1, 4)
    go_to_the_merchant(surfer, tab)
    tab.get_by_role("heading", name="The agent is waiting").wait_for()
    assert tab.url.startswith(surfer.facts["base_url"])


def approve_the_agent(tab: Any) -> None:
    tab.get_by_role("link", name="Agents").click()
    tab.get_by_role("link", name="Agents (1 Pending)").wait_for()
    tab.get_by_role("button", name="Approve").click()


def walk_to_the_end(surfer: Surfer, tab: Any) -> None:
    place = surfer.facts["playground_url"]
    tab.goto(f"{place}/walk")
    tab.get_by_role("button", name="Make a fresh authorization request").click()
    tab.get_by_role("link", name="Sign in at the gateway").click()
    tab.get_by_role("button", name="Approve").click()
    tab.wait_for_url(f"{place}/walk#step-6")
    make_steps(tab, 6, 9)
    tab.get_by_text("ord_").first.wait_for()


def revoke_the_proxy_client(tab: Any) -> None:
    tab.get_by_role("link", name="Events").click()
    tab.get_by_text("provisioning succeeded").wait_for()
    tab.get_by_role("link", name="Proxy clients").click()
    tab.get_by_role("link", name="Revoke").click()
    tab.get_by_role("button", name="Revoke it").click()
    tab.get_by_text("The Proxy client was revoked.").wait_for()


def test_whole_life_of_a_project(surf: Surf, world: dict[str, Any], python: str) -> None:
    surfer = surf(recorded=True)
    console, walk = surfer.tab(), surfer.tab()
    resource, proxy = make_a_project(surfer, console)
    walk_until_pending(surfer, walk, resource, proxy)
    approve_the_agent(console)
    walk_to_the_end(surfer, walk)
    revoke_the_proxy_client(console)
    walk.get_by_role("button", name="Redeem again").click()
    make_steps(walk, 7, 7)
    assert "401 invalid_client" in walk.get_by_role("alert").text_content()
    assert_silent_and_at_home(surfer)

    surfer.context.close()
    texts = received(world)
    told = [json.loads(line) for line in Path(world["told_file"]).read_text(encoding="utf-8").splitlines()]
    assert {kind for kind, _ in told} == {"Proxy token", "merchant token", "merchant refresh token"}
    canaries = [["Proxy client secret", proxy["Client secret"]], *told]
    ports = {urlsplit(world[name]).port: name for name in ("console_url", "playground_url", "base_url")}
    # The scan sees what is there, once: the answer in which the Console shows the secret.
    ((place, kind, _),) = leaks(python, canaries, texts)
    assert (kind, ports[int(place.partition("-")[0])]) == ("Proxy client secret", "console_url")
    secret = proxy["Client secret"].encode()
    assert dict(texts)[place].count(secret) == 1
    assert leaks(python, canaries, [(name, octets.replace(secret, b"")) for name, octets in texts]) == []
    played = [each for each in texts if each[0].startswith(f"{urlsplit(world['playground_url']).port}-")]
    assert b"The service redeems" in b"".join(octets for _, octets in played)
    assert leaks(python, [["Proxy client ID", proxy["Client ID"]]], played) == []


def test_pages_of_the_console_can_be_looked_at(surf: Surf, world: dict[str, Any]) -> None:
    surfer = surf()
    tab = surfer.tab()
    console, project = world["console_url"], f"/projects/{world['project']['id']}"
    tab.goto(console)
    surfer.look(tab, "sign-in")
    sign_in(surfer, tab)
    pages = {
        "projects": "/projects",
        "new-project": "/projects/new",
        "project": project,
        "new-resource": f"{project}/resources/new",
        "resource": f"{project}/resources/{world['resource']['id']}",
        "revoke": f"{project}/proxy-clients/{world['proxy_clients'][0]['id']}/revoke",
        "proxy-clients": f"{project}/proxy-clients",
    }
    for name, path in pages.items():
        tab.goto(f"{console}{path}")
        surfer.look(tab, name)
    tab.get_by_role("button", name="Generate a Proxy client").click()
    tab.get_by_role("heading", name="Copy the secret now").wait_for()
    surfer.look(tab, "proxy-client-secret")
    tab.get_by_role("link", name="I have copied it").click()
    assert_silent_and_at_home(surfer)


def test_pages_of_a_walk_can_be_looked_at(surf: Surf, world: dict[str, Any]) -> None:
    """With those of the gateway on the way, and those of the Console that a held agent fills."""
    surfer = surf()
    walk, console = surfer.tab(), surfer.tab()
    walk.goto(world["playground_url"])
    surfer.look(walk, "playground")
    walk.get_by_label("One thing at most").select_option("unapproved-agent")
    walk.get_by_role("button", name="Begin").click()
    make_steps(walk, 1, 4)
    surfer.look(walk, "walk-at-the-user")
    go_to_the_merchant(surfer, walk)
    walk.get_by_role("heading", name="The agent is waiting").wait_for()
    surfer.look(walk, "gateway-pending")
    sign_in(surfer, console)
    console.get_by_role("link", name="showcase hold").click()
    console.get_by_role("link", name="Agents").click()
    console.get_by_role("heading", name="Agents").wait_for()
    surfer.look(console, "agents")
    console.get_by_role("button", name="Approve Playground agent").first.click()
    walk.goto(f"{world['playground_url']}/walk")
    walk.get_by_role("button", name="Make a fresh authorization request").click()
    walk.get_by_role("link", name="Sign in at the gateway").click()
    walk.get_by_role("heading", name="Approve this agent?").wait_for()
    surfer.look(walk, "gateway-approve")
    walk.get_by_role("button", name="Approve").click()
    make_steps(walk, 6, 6)
    surfer.look(walk, "walk-with-tokens")
    make_steps(walk, 7, 9)
    surfer.look(walk, "walk-done")
    console.get_by_role("link", name="Events").click()
    console.get_by_role("heading", name="Provisioning events").wait_for()
    surfer.look(console, "events")
    assert_silent_and_at_home(surfer)


@pytest.mark.parametrize(
    ("fault", "refused_at", "said"),
    [
        ("wrong-verifier", 6, "invalid_grant"),
        ("tampered-id-token", 6, "no key of the core signed these claims"),
        ("wrong-resource", 8, "404 resource_not_found"),
    ],
)
def test_fault_is_seen_where_it_was_put(
    surf: Surf, world: dict[str, Any], fault: str, refused_at: int, said: str
) -> None:
    surfer = surf(script=False)
    tab = surfer.tab()
    tab.goto(world["playground_url"])
    tab.get_by_label("One thing at most").select_option(fault)
    tab.get_by_role("button", name="Begin").click()
    make_steps(tab, 1, 4)
    go_to_the_merchant(surfer, tab)
    tab.get_by_role("button", name="Approve").click()
    make_steps(tab, 6, refused_at)
    assert said in tab.get_by_role("alert").text_content()
    assert tab.get_by_role("button", name=f"Make step {refused_at}").count() == 0
    assert_silent_and_at_home(surfer)


def test_console_needs_no_script(surf: Surf) -> None:
    surfer = surf(script=False)
    tab = surfer.tab()
    sign_in(surfer, tab)
    create_project(tab, "Scriptless")
    tab.get_by_role("link", name="Proxy clients").click()
    tab.get_by_role("button", name="Generate a Proxy client").click()
    tab.get_by_role("link", name="I have copied it").click()
    tab.get_by_role("link", name="Revoke").click()
    tab.get_by_role("button", name="Revoke it").click()
    assert tab.get_by_role("status").text_content() == "The Proxy client was revoked."
    tab.get_by_role("button", name="Sign out").click()
    tab.wait_for_url("**/sign-in")
    tab.goto(f"{surfer.facts['console_url']}/projects")
    assert tab.url == f"{surfer.facts['console_url']}/sign-in"
    assert_silent_and_at_home(surfer)


def test_console_can_be_used_by_keyboard(surf: Surf) -> None:
    surfer = surf()
    tab = surfer.tab()
    sign_in(surfer, tab)
    # A key that comes before the next page is there is that of the page before.
    tab.get_by_role("link", name="New Project").wait_for()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('main') !== null")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.evaluate(outline) == "solid"
