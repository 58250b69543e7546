"""The pages of the Console and the playground, as people see and use them."""

from __future__ import annotations

from typing import Any

import pytest


def test_pages_of_the_console_can_be_looked_at(surf: Any, world: dict[str, Any]) -> None:
    surfer = surf()
    tab = surfer.tab()
    console, project = world["console_url"], f"/projects/{world['project']['id']}"
    tab.goto(console)
    surfer.look(tab, "sign-in")
    surfer.sign_in(tab)
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
    surfer.assert_silent_and_at_home()


def test_pages_of_a_walk_can_be_looked_at(surf: Any, world: dict[str, Any]) -> None:
    """With those of the gateway on the way, and those of the Console that a held agent fills."""
    surfer = surf()
    walk, console = surfer.tab(), surfer.tab()
    walk.goto(world["playground_url"])
    surfer.look(walk, "playground")
    walk.get_by_label("One thing at most").select_option("unapproved-agent")
    walk.get_by_role("button", name="Begin").click()
    surfer.make_steps(walk, 1, 4)
    surfer.look(walk, "walk-at-the-user")
    surfer.go_to_the_merchant(walk)
    walk.get_by_role("heading", name="The agent is waiting").wait_for()
    surfer.look(walk, "gateway-pending")
    surfer.sign_in(console)
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
    surfer.make_steps(walk, 6, 6)
    surfer.look(walk, "walk-with-tokens")
    surfer.make_steps(walk, 7, 9)
    surfer.look(walk, "walk-done")
    console.get_by_role("link", name="Events").click()
    console.get_by_role("heading", name="Provisioning events").wait_for()
    surfer.look(console, "events")
    surfer.assert_silent_and_at_home()


@pytest.mark.parametrize(
    ("fault", "refused_at", "said"),
    [
        ("wrong-verifier", 6, "invalid_grant"),
        ("tampered-id-token", 6, "no key of the core signed these claims"),
        ("wrong-resource", 8, "404 resource_not_found"),
    ],
)
def test_fault_is_seen_where_it_was_put(
    surf: Any, world: dict[str, Any], fault: str, refused_at: int, said: str
) -> None:
    surfer = surf(script=False)
    tab = surfer.tab()
    tab.goto(world["playground_url"])
    tab.get_by_label("One thing at most").select_option(fault)
    tab.get_by_role("button", name="Begin").click()
    surfer.make_steps(tab, 1, 4)
    surfer.go_to_the_merchant(tab)
    tab.get_by_role("button", name="Approve").click()
    surfer.make_steps(tab, 6, refused_at)
    assert said in tab.get_by_role("alert").text_content()
    assert tab.get_by_role("button", name=f"Make step {refused_at}").count() == 0
    surfer.assert_silent_and_at_home()


def test_console_needs_no_script(surf: Any) -> None:
    surfer = surf(script=False)
    tab = surfer.tab()
    surfer.sign_in(tab)
    surfer.create_project(tab, "Scriptless")
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
    surfer.assert_silent_and_at_home()


def test_console_can_be_used_by_keyboard(surf: Any) -> None:
    surfer = surf()
    tab = surfer.tab()
    surfer.sign_in(tab)
    # A key that comes before the next page is there is that of the page before.
    tab.get_by_role("link", name="New Project").wait_for()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('main') !== null")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.evaluate(outline) == "solid"
