"""Gateways that write what strangers say into their pages as markup."""

from __future__ import annotations

from collections.abc import Callable
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page, pending_page
from gateproof.reference.gateway.records import Person


def named_raw(facts: ApprovePageFacts) -> str:
    return approve_page(facts).replace(escape(facts.agent.name), facts.agent.name)


def named_in_the_title(facts: ApprovePageFacts) -> str:
    return approve_page(facts).replace("<title>", f"<title>{facts.agent.name}: ", 1)


def named_in_an_attribute(write: Callable[[str], str]) -> Callable[[ApprovePageFacts], str]:
    return lambda facts: approve_page(facts).replace("<main>", f"<main title={write(facts.agent.name)}>", 1)


def user_raw(write: Callable[[Person], str], written: str) -> Callable[[ApprovePageFacts], str]:
    """The page names the user by this text, as the merchant said it."""

    def page(facts: ApprovePageFacts) -> str:
        shown = escape(facts.person.preferred_username)
        return approve_page(facts).replace(
            f"<strong>{shown}</strong>", f"<strong>{shown}</strong> {written.format(write(facts.person))}", 1
        )

    return page


def telling(name: str) -> Callable[[Asked, Answered, Gateway], Answered]:
    """Error pages of the authorization endpoint quote this parameter."""

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        html = answered.header("content-type").startswith("text/html")
        if answered.status < 400 or not html or not asked.path.endswith("/oauth2/auth"):
            return answered
        said = dict(parse_qsl(asked.query)).get(name, "")
        body = answered.body.decode().replace("</main>", f"<p>{name}: {unescape(said)}</p></main>")
        return Answered(status=answered.status, headers=answered.headers, body=body.encode())

    return change


def naming_the_agent(where: Callable[[Asked], bool]) -> Callable[[Asked, Answered, Gateway], Answered]:
    """Error pages here quote the name of the agent of the last authorization request."""
    name = ""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        nonlocal name
        if asked.path.endswith("/oauth2/auth"):
            agent = gateway.store.agents.get(dict(parse_qsl(asked.query)).get("client_id", ""))
            name = agent.name if agent is not None else ""
        html = answered.header("content-type").startswith("text/html")
        if answered.status < 400 or not html or not where(asked):
            return answered
        body = answered.body.decode().replace("</main>", f"<p>It was {name}.</p></main>")
        return Answered(
            status=answered.status, headers=answered.headers, body=body.encode("utf-8", "replace")
        )

    return change


def errors_on_pages(where: Callable[[Asked], bool]) -> dict[str, Any]:
    """What goes wrong is told on pages, and those here name the agent."""
    return {"is_told_to_the_agent": lambda _: False, "around": meddling(naming_the_agent(where))}


DEFECTS = (
    defect(
        "client-name-as-markup (AUTHZ-23): The approve page shows the agent's name as it was registered.",
        approve_page=named_raw,
    ),
    defect(
        "client-name-in-the-title (AUTHZ-23): The approve page escapes the agent's name, but not in its "
        "title.",
        approve_page=named_in_the_title,
    ),
    defect(
        "client-name-in-single-quotes (AUTHZ-23): An attribute in single quotes holds the name, with < and "
        "> escaped.",
        approve_page=named_in_an_attribute(lambda name: f"'{escape(name, quote=False)}'"),
    ),
    defect(
        "client-name-in-double-quotes (AUTHZ-23): An attribute in double quotes holds the name, with < and "
        "> escaped.",
        approve_page=named_in_an_attribute(lambda name: f'"{escape(name, quote=False)}"'),
    ),
    defect(
        "user-name-as-markup (AUTHZ-23): The approve page shows the user's name as the merchant said it.",
        approve_page=user_raw(lambda person: person.preferred_username, "{}"),
    ),
    defect(
        "user-address-as-markup (AUTHZ-23): The approve page escapes the user's name, and not the address.",
        approve_page=user_raw(lambda person: person.email or "", "({})"),
    ),
    defect(
        "user-login-in-an-attribute (AUTHZ-23): An attribute in double quotes holds the user's login, with "
        "< and > escaped.",
        approve_page=user_raw(lambda person: escape(person.login_id, quote=False), '<i title="{}">*</i>'),
    ),
    defect(
        "unknown-client-quoted-as-markup (AUTHZ-23): The error page for an unknown client quotes its "
        "client_id.",
        around=meddling(telling("client_id")),
    ),
    defect(
        "client-name-as-markup-while-pending (AUTHZ-23): The page for a Pending agent shows its name as it "
        "was registered.",
        pending_page=lambda agent: pending_page(agent).replace(escape(agent.name), agent.name),
    ),
    defect(
        "client-name-as-markup-after-a-mistake (AUTHZ-23): The error page for a wrong request of a known "
        "agent shows its name as it was registered.",
        **errors_on_pages(lambda asked: asked.path.endswith("/oauth2/auth")),
    ),
    defect(
        "client-name-as-markup-after-a-no (AUTHZ-23): The page after a refusal shows the agent's name as it "
        "was registered.",
        **errors_on_pages(lambda asked: asked.path.endswith("/decision")),
    ),
    defect(
        "client-name-as-markup-without-a-sign-in (AUTHZ-23): The page for a user whom the merchant did not "
        "sign in shows the agent's name as it was registered.",
        **errors_on_pages(lambda asked: asked.path.endswith("/callback")),
    ),
    defect(
        "redirect-uri-quoted-as-markup (AUTHZ-23): The error page for an unregistered redirect URI quotes "
        "it.",
        around=meddling(telling("redirect_uri")),
    ),
)
