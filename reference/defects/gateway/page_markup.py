"""Gateways that write what strangers say into their pages as markup."""

from __future__ import annotations

from collections.abc import Callable
from html import escape, unescape
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
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
        "redirect-uri-quoted-as-markup (AUTHZ-23): The error page for an unregistered redirect URI quotes "
        "it.",
        around=meddling(telling("redirect_uri")),
    ),
)
