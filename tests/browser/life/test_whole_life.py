"""The whole life of a Project in a real browser, from the Console to the playground and back."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
INDICATOR = "https://api.merchant.example/boots"


def values(tab: Any) -> dict[str, str]:
    """The names and values of the lists on the page."""
    names, found = tab.locator("dt").all_text_contents(), tab.locator("dd").all_text_contents()
    return dict(zip(names, found, strict=True))


def received(facts: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Every octet that came from any server of the world, one text a connection."""
    files = sorted(Path(facts["received_folder"]).iterdir())
    return [(file.name, file.read_bytes()) for file in files]


def leaks(canaries: list[list[str]], texts: list[tuple[str, bytes]]) -> list[list[str]]:
    encoded = [[name, base64.b64encode(octets).decode()] for name, octets in texts]
    done = subprocess.run(
        [sys.executable, str(HERE / "leak_scan.py")],
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


def make_a_project(surfer: Any, tab: Any) -> tuple[dict[str, str], dict[str, str]]:
    """A Project that holds agents, with a Resource, its metadata file and a Proxy client, in the Console."""
    tab.goto(surfer.facts["console_url"])
    surfer.sign_in(tab)
    surfer.create_project(tab, "Boots <b>& more</b>")
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


def walk_until_pending(surfer: Any, tab: Any, resource: dict[str, str], proxy: dict[str, str]) -> None:
    """The playground with that Resource, up to a user who is told to wait."""
    tab.goto(surfer.facts["playground_url"])
    tab.get_by_label("One that you made in the Console").check()
    tab.get_by_label("Resource ID").fill(resource["Resource ID"])
    tab.get_by_label("Resource indicator").fill(INDICATOR)
    tab.get_by_label("Scopes").fill("orders:read")
    tab.get_by_label("Proxy client ID").fill(proxy["Client ID"])
    tab.get_by_label("Proxy client secret").fill(proxy["Client secret"])
    tab.get_by_role("button", name="Begin").click()
    surfer.make_steps(tab, 1, 4)
    surfer.go_to_the_merchant(tab)
    tab.get_by_role("heading", name="The agent is waiting").wait_for()
    assert tab.url.startswith(surfer.facts["base_url"])


def approve_the_agent(tab: Any) -> None:
    tab.get_by_role("link", name="Agents").click()
    tab.get_by_role("link", name="Agents (1 Pending)").wait_for()
    tab.get_by_role("button", name="Approve").click()


def walk_to_the_end(surfer: Any, tab: Any) -> None:
    place = surfer.facts["playground_url"]
    tab.goto(f"{place}/walk")
    tab.get_by_role("button", name="Make a fresh authorization request").click()
    tab.get_by_role("link", name="Sign in at the gateway").click()
    tab.get_by_role("button", name="Approve").click()
    tab.wait_for_url(f"{place}/walk#step-6")
    surfer.make_steps(tab, 6, 9)
    tab.get_by_text("ord_").first.wait_for()


def revoke_the_proxy_client(tab: Any) -> None:
    tab.get_by_role("link", name="Events").click()
    tab.get_by_text("provisioning succeeded").wait_for()
    tab.get_by_role("link", name="Proxy clients").click()
    tab.get_by_role("link", name="Revoke").click()
    tab.get_by_role("button", name="Revoke it").click()
    tab.get_by_text("The Proxy client was revoked.").wait_for()


def test_whole_life_of_a_project(surf: Any, world: dict[str, Any]) -> None:
    surfer = surf(recorded=True)
    console, walk = surfer.tab(), surfer.tab()
    resource, proxy = make_a_project(surfer, console)
    walk_until_pending(surfer, walk, resource, proxy)
    approve_the_agent(console)
    walk_to_the_end(surfer, walk)
    revoke_the_proxy_client(console)
    walk.get_by_role("button", name="Redeem again").click()
    surfer.make_steps(walk, 7, 7)
    assert "401 invalid_client" in walk.get_by_role("alert").text_content()
    surfer.assert_silent_and_at_home()

    surfer.context.close()
    texts = received(world)
    told = [json.loads(line) for line in Path(world["told_file"]).read_text(encoding="utf-8").splitlines()]
    assert {kind for kind, _ in told} == {"Proxy token", "merchant token", "merchant refresh token"}
    canaries = [["Proxy client secret", proxy["Client secret"]], *told]
    ports = {urlsplit(world[name]).port: name for name in ("console_url", "playground_url", "base_url")}
    # The scan sees what is there, once: the answer in which the Console shows the secret.
    ((place, kind, _),) = leaks(canaries, texts)
    assert (kind, ports[int(place.partition("-")[0])]) == ("Proxy client secret", "console_url")
    secret = proxy["Client secret"].encode()
    assert dict(texts)[place].count(secret) == 1
    assert leaks(canaries, [(name, octets.replace(secret, b"")) for name, octets in texts]) == []
    played = [each for each in texts if each[0].startswith(f"{urlsplit(world['playground_url']).port}-")]
    assert b"The service redeems" in b"".join(octets for _, octets in played)
    assert leaks([["Proxy client ID", proxy["Client ID"]]], played) == []
