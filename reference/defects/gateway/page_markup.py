"""Gateways that insert untrusted text into their pages without escaping it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
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
    """The approve page also contains this text about the user, as `write` returns it."""

    def page(facts: ApprovePageFacts) -> str:
        shown = escape(facts.person.preferred_username)
        return approve_page(facts).replace(
            f"<strong>{shown}</strong>", f"<strong>{shown}</strong> {written.format(write(facts.person))}", 1
        )

    return page


def quoting_parameter(name: str) -> Callable[[Asked, Answered, Gateway], Answered]:
    """Error pages of the authorization endpoint contain this parameter unescaped."""

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        html = answered.header("content-type").startswith("text/html")
        if answered.status < 400 or not html or not asked.path.endswith("/oauth2/auth"):
            return answered
        said = dict(parse_qsl(asked.query)).get(name, "")
        body = answered.body.decode().replace("</main>", f"<p>{name}: {unescape(said)}</p></main>")
        return Answered(status=answered.status, headers=answered.headers, body=body.encode())

    return change


def naming_the_agent(where: Callable[[Asked], bool]) -> Callable[[Asked, Answered, Gateway], Answered]:
    """Error pages at these paths contain the name of the agent of the last authorization request."""
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
    """Errors are shown on pages instead of redirects; those at these paths contain the agent's name."""
    return {"redirects_error": lambda _: False, "around": altering_answers(naming_the_agent(where))}


DEFECTS = (
    defect(
        "client-name-as-markup (AUTHZ-23): The approve page contains the agent's name unescaped.",
        approve_page=named_raw,
    ),
    defect(
        "client-name-in-the-title (AUTHZ-23): The approve page escapes the agent's name, except in its "
        "title.",
        approve_page=named_in_the_title,
    ),
    defect(
        "client-name-in-single-quotes (AUTHZ-23): The approve page has the agent's name in an attribute in "
        "single quotes, and does not escape quotes.",
        approve_page=named_in_an_attribute(lambda name: f"'{escape(name, quote=False)}'"),
    ),
    defect(
        "client-name-in-double-quotes (AUTHZ-23): The approve page has the agent's name in an attribute in "
        "double quotes, and does not escape quotes.",
        approve_page=named_in_an_attribute(lambda name: f'"{escape(name, quote=False)}"'),
    ),
    defect(
        "user-name-as-markup (AUTHZ-23): The approve page contains the user's name from the merchant "
        "unescaped.",
        approve_page=user_raw(lambda person: person.preferred_username, "{}"),
    ),
    defect(
        "user-address-as-markup (AUTHZ-23): The approve page escapes the user's name, but not the e-mail "
        "address.",
        approve_page=user_raw(lambda person: person.email or "", "({})"),
    ),
    defect(
        "user-login-in-an-attribute (AUTHZ-23): The approve page has the user's login in an attribute in "
        "double quotes, and does not escape quotes.",
        approve_page=user_raw(lambda person: escape(person.login_id, quote=False), '<i title="{}">*</i>'),
    ),
    defect(
        "unknown-client-quoted-as-markup (AUTHZ-23): The error page for an unknown client contains its "
        "client_id unescaped.",
        around=altering_answers(quoting_parameter("client_id")),
    ),
    defect(
        "client-name-as-markup-while-pending (AUTHZ-23): The page for a Pending agent contains the agent's "
        "name unescaped.",
        pending_page=lambda agent: pending_page(agent).replace(escape(agent.name), agent.name),
    ),
    defect(
        "client-name-as-markup-after-a-mistake (AUTHZ-23): The error page for an invalid request of a known "
        "agent contains the agent's name unescaped.",
        **errors_on_pages(lambda asked: asked.path.endswith("/oauth2/auth")),
    ),
    defect(
        "client-name-as-markup-after-a-no (AUTHZ-23): The page after the user has declined contains the "
        "agent's name unescaped.",
        **errors_on_pages(lambda asked: asked.path.endswith("/decision")),
    ),
    defect(
        "client-name-as-markup-without-a-sign-in (AUTHZ-23): The error page after a failed sign-in at the "
        "merchant contains the agent's name unescaped.",
        **errors_on_pages(lambda asked: asked.path.endswith("/callback")),
    ),
    defect(
        "redirect-uri-quoted-as-markup (AUTHZ-23): The error page for an unregistered redirect URI contains "
        "it unescaped.",
        around=altering_answers(quoting_parameter("redirect_uri")),
    ),
)
