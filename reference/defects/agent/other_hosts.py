"""Agents that bring credentials to strangers, or do not look whom they talk to."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy import authorization, discovery, exchange, operation
from gateproof.reference.agent.policy.authorization import Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.wire import Answer, Failed, Outgoing, may_ask, redirected
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import marker

# OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which Python has no name.
_NO_CHECK_TIME = 0x200000
_WELL_KNOWN = ".well-known"


def follows(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """A redirect is followed with all that was sent."""
    url = redirected(asked, answer)
    return replace(asked, url=url) if url else None


def follows_reading(asked: Outgoing, answer: Answer) -> Outgoing | None:
    return follows(asked, answer) if asked.method == "GET" else None


def follows_posting(asked: Outgoing, answer: Answer) -> Outgoing | None:
    return follows(asked, answer) if asked.method == "POST" else None


def follows_found(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """As a library does that follows a 302 with a GET and all headers, and no 307."""
    return follows(replace(asked, method="GET", body=b""), answer) if answer.status == 302 else None


def any_issuer(query: Query, endpoints: Endpoints) -> str:
    return authorization.code_in({**query, "iss": ()}, endpoints)


def where_the_redirect_says(facts: ExchangeFacts) -> Outgoing:
    named = facts.query.get("token_endpoint", ())
    return replace(exchange.token_request(facts), url=named[0] if named else facts.endpoints.token)


def last_server() -> dict[str, Any]:
    """The user authorizes at the first gateway that is named, and the code goes to the last one."""
    servers: list[str] = []

    def first(metadata: Mapping[str, Any]) -> str:
        servers[:] = metadata["authorization_servers"]
        return discovery.authorization_server(metadata)

    def at_the_last(facts: ExchangeFacts) -> Outgoing:
        trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        with urlopen(discovery.discovery_url(servers[-1]), context=trust, timeout=10) as answer:  # noqa: S310
            endpoint = json.load(answer)["token_endpoint"]
        return replace(exchange.token_request(facts), url=endpoint)

    return {"authorization_server": first, "token_request": at_the_last}


def follows_on_one_host(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """A redirect to the same host is followed with the token, whatever port and scheme it names."""
    url = redirected(asked, answer)
    same = url is not None and urlsplit(url).hostname == urlsplit(asked.url).hostname
    return replace(asked, url=url) if url and same and asked.method == "GET" else None


def exchanges_on_one_host() -> dict[str, Any]:
    """The same for the exchange: where a redirect to the same host has sent it may be asked."""
    named: set[str] = set()

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        url = redirected(asked, answer)
        if asked.method != "POST" or url is None or urlsplit(url).hostname != urlsplit(asked.url).hostname:
            return None
        named.add(url)
        return replace(asked, url=url)

    return {"followed": followed, "may_ask": lambda url: may_ask(url) or url in named}


def as_its_server(server: str, document: Mapping[str, Any]) -> Endpoints:
    """Endpoints have to be as well protected as their authorization server, and no better."""
    found = discovery.endpoints(server, document)
    if urlsplit(found.token).scheme != urlsplit(server).scheme:
        raise Failed("the token endpoint is not protected as its server is")
    return found


def trusting(change: Callable[[ssl.SSLContext], None], where: Callable[[str], bool]) -> dict[str, Any]:
    """Certificates are looked at less closely at these addresses."""

    def trusted(url: str, trust: ssl.SSLContext) -> ssl.SSLContext:
        if not where(url):
            return trust
        lax = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        change(lax)
        return lax

    return {"trusted": trusted}


def about_us_once_it_worked(metadata: Mapping[str, Any], service_url: str) -> bool:
    """Whose metadata they are is looked at by an install that has worked before."""
    return not marker("tokens.json").exists() or discovery.is_about(metadata, service_url)


def been_here(_url: str) -> bool:
    """A run before this one got a token."""
    return marker("tokens.json").exists()


def asking_with_the_token(challenges: Sequence[str], service_url: str) -> str:
    """What the service's host is asked for is asked for with the token, whatever port and scheme it has."""
    url, kept = discovery.metadata_url(challenges, service_url), marker("tokens.json")
    if kept.exists() and urlsplit(url).hostname == urlsplit(service_url).hostname:
        tokens = json.loads(kept.read_text()).get(service_url, {})
        trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        urlopen(Request(url, headers=operation.bearer(tokens)), context=trust, timeout=10).close()  # noqa: S310
    return url


def refreshed_wherever(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """A refresh is sent on with all that is in it, and a code is not."""

    def following(asked: Outgoing) -> Answer:
        answer = ask(asked)
        further = follows_posting(asked, answer)
        return ask(further) if further else answer

    return refreshed(following, endpoints, client, kept)


def anybody(context: ssl.SSLContext) -> None:
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE


def any_host(context: ssl.SSLContext) -> None:
    context.check_hostname = False


def any_time(context: ssl.SSLContext) -> None:
    context.verify_flags |= _NO_CHECK_TIME


DEFECTS = (
    defect(
        "redirects-followed (AGENT-13 AGENT-18): Redirects are followed, with all that was sent.",
        followed=follows,
    ),
    defect(
        "redirects-followed-with-the-token (AGENT-13 AGENT-18): The service may send the token anywhere.",
        followed=follows_reading,
    ),
    defect(
        "redirects-followed-by-302-alone (AGENT-13 AGENT-18): The service may send the token anywhere by a "
        "302, and by nothing else.",
        followed=follows_found,
    ),
    defect(
        "redirects-followed-with-the-code (AGENT-13): The token endpoint may send the code anywhere.",
        followed=follows_posting,
    ),
    defect(
        "redirects-followed-with-the-refresh-token (AGENT-13): The token endpoint may send the refresh "
        "token anywhere.",
        renewed=refreshed_wherever,
        worth_keeping=dict,
    ),
    defect(
        "later-plain-http-taken (AGENT-13): Once there is a token, an endpoint in plain HTTP is as good as "
        "any.",
        may_ask=lambda url: may_ask(url) or been_here(url),
    ),
    defect(
        "plain-http-taken (AGENT-13): An endpoint in plain HTTP is as good as any.", may_ask=lambda _: True
    ),
    defect(
        "one-client-for-all (AGENT-13): The client of one gateway is shown to every other, whoever's "
        "metadata name it.",
        client_of=lambda _: "every gateway",
        is_about=lambda *_: True,
    ),
    defect(
        "token-endpoint-by-redirect (AGENT-13): The redirect says where the code goes.",
        code_in=any_issuer,
        token_request=where_the_redirect_says,
    ),
    defect(
        "redirects-followed-on-one-host (AGENT-13 AGENT-18): A redirect to another port of the service's "
        "host is followed, also into the clear.",
        followed=follows_on_one_host,
        may_ask=lambda url: may_ask(url) or url.endswith("/orders"),
    ),
    defect(
        "exchange-redirected-on-one-host (AGENT-13): The token endpoint may send the code to another port "
        "of its host, also into the clear.",
        **exchanges_on_one_host(),
    ),
    defect(
        "http-where-the-server-has-none-better (AGENT-13 AGENT-19): An authorization server in plain HTTP "
        "may have its endpoints there.",
        endpoints=as_its_server,
        may_ask=lambda _: True,
        may_open=lambda _: True,
    ),
    defect(
        "http-where-the-server-has-none-better-by-hand (AGENT-13 AGENT-19): The same, with an address that "
        "is printed and not opened.",
        endpoints=as_its_server,
        may_ask=lambda _: True,
        may_open=lambda _: True,
        open_browser=lambda _command, url, say: open_browser(None, url, say),
    ),
    defect(
        "token-goes-with-the-metadata (AGENT-13 AGENT-18): A kept token goes along when the metadata are "
        "asked for at the service's host, also in the clear.",
        metadata_url=asking_with_the_token,
        may_ask=lambda url: may_ask(url) or _WELL_KNOWN in url,
    ),
    defect(
        "metadata-of-anybody (AGENT-13): Whose metadata they are is not looked at.",
        is_about=lambda *_: True,
    ),
    defect(
        "metadata-of-anybody-at-first (AGENT-13): Whose metadata they are is looked at from the second "
        "run on.",
        is_about=about_us_once_it_worked,
    ),
    defect(
        "one-client-kept (AGENT-13): The install has one client, whichever gateway the service names.",
        client_of=lambda _: "the gateway",
    ),
    defect("code-to-the-last-gateway (AGENT-13): Two gateways are mixed up.", **last_server()),
    defect(
        "certificates-not-verified (AGENT-16): No certificate is verified.",
        **trusting(anybody, lambda _: True),
    ),
    defect(
        "host-names-not-verified (AGENT-16): A certificate may be anybody's.",
        **trusting(any_host, lambda _: True),
    ),
    defect("dates-not-verified (AGENT-16): A certificate may be old.", **trusting(any_time, lambda _: True)),
    defect(
        "service-not-verified (AGENT-16): The service's certificate is not verified.",
        **trusting(anybody, lambda url: url.endswith("/orders")),
    ),
    defect(
        "documents-not-verified (AGENT-16): Whoever serves a document may show any certificate.",
        **trusting(anybody, lambda url: _WELL_KNOWN in url),
    ),
    defect(
        "service-by-any-name (AGENT-16): The service may show anybody's certificate.",
        **trusting(any_host, lambda url: url.endswith("/orders")),
    ),
    defect(
        "old-documents-trusted (AGENT-16): Whoever serves the service's metadata may show an old "
        "certificate.",
        **trusting(any_time, lambda url: "/who-authorizes" in url),
    ),
    defect(
        "certificates-verified-once (AGENT-16): Certificates are verified until the first token has come.",
        **trusting(anybody, been_here),
    ),
    defect(
        "core-verified-once (AGENT-16): The token endpoint's certificate is verified until the first token "
        "has come.",
        **trusting(
            anybody,
            lambda url: been_here(url) and _WELL_KNOWN not in url and not url.endswith("/orders"),
        ),
    ),
    defect(
        "gateway-not-verified (AGENT-16): The certificates of registration and exchange are not verified.",
        **trusting(anybody, lambda url: _WELL_KNOWN not in url and not url.endswith("/orders")),
    ),
)
