"""Agents that send credentials to other hosts, or do not verify the server."""

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
from gateproof.reference.defects.agent.stored_state import state_file

# OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which Python has no name.
_NO_CHECK_TIME = 0x200000
_WELL_KNOWN = ".well-known"


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def follows(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Follows a redirect with everything that was sent."""
    url = redirected(asked, answer)
    return replace(asked, url=url) if url else None


def follows_reading(asked: Outgoing, answer: Answer) -> Outgoing | None:
    return follows(asked, answer) if asked.method == "GET" else None


def follows_posting(asked: Outgoing, answer: Answer) -> Outgoing | None:
    return follows(asked, answer) if asked.method == "POST" else None


def follows_found(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Follows a 302 with a GET and all headers, but no 307, as some libraries do."""
    return follows(replace(asked, method="GET", body=b""), answer) if answer.status == 302 else None


def any_issuer(query: Query, endpoints: Endpoints) -> str:
    return authorization.code_in({**query, "iss": ()}, endpoints)


def where_the_redirect_says(facts: ExchangeFacts) -> Outgoing:
    named = facts.query.get("token_endpoint", ())
    return replace(exchange.token_request(facts), url=named[0] if named else facts.endpoints.token)


def last_server() -> dict[str, Any]:
    """Authorizes at the first gateway of the metadata, and sends the code to the last one."""
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
    """Follows a redirect to the same host with the token, whatever its port and scheme."""
    url = redirected(asked, answer)
    same = url is not None and urlsplit(url).hostname == urlsplit(asked.url).hostname
    return replace(asked, url=url) if url and same and asked.method == "GET" else None


def with_credentials_on_one_host() -> Callable[[Outgoing, Answer], Outgoing | None]:
    """Compares the target with the request before: after another host, the next hop there has the token."""
    first: list[Mapping[str, str]] = []

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        url = redirected(asked, answer)
        if asked.method != "GET" or url is None:
            return None
        if "Authorization" in asked.headers:
            first[:] = [asked.headers]
        same = urlsplit(url).netloc == urlsplit(asked.url).netloc
        whole = first[0] if first else asked.headers
        bare = {name: value for name, value in whole.items() if name != "Authorization"}
        return replace(asked, url=url, headers=whole if same else bare)

    return followed


def exchanges_on_one_host() -> dict[str, Any]:
    """Follows a redirect of a POST to the same host, whatever its port and scheme."""
    named: set[str] = set()

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        url = redirected(asked, answer)
        if asked.method != "POST" or url is None or urlsplit(url).hostname != urlsplit(asked.url).hostname:
            return None
        named.add(url)
        return replace(asked, url=url)

    return {"followed": followed, "may_ask": lambda url: may_ask(url) or url in named}


def as_its_server(server: str, document: Mapping[str, Any]) -> Endpoints:
    """Requires only that the token endpoint has the same scheme as its authorization server."""
    found = discovery.endpoints(server, document)
    if urlsplit(found.token).scheme != urlsplit(server).scheme:
        raise Failed("the token endpoint is not protected as its server is")
    return found


def trusting(change: Callable[[ssl.SSLContext], None], where: Callable[[str], bool]) -> dict[str, Any]:
    """Weakens the verification of certificates with `change`, for the URLs that `where` selects."""

    def trusted(url: str, trust: ssl.SSLContext) -> ssl.SSLContext:
        if not where(url):
            return trust
        lax = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        change(lax)
        return lax

    return {"trusted": trusted}


def about_us_once_it_worked(metadata: Mapping[str, Any], service_url: str) -> bool:
    """Checks that the metadata are about the service only if an earlier run got a token."""
    return not state_file("tokens.json").exists() or discovery.is_about(metadata, service_url)


def token_is_stored_for(_url: str) -> bool:
    """Whether an earlier run got a token."""
    return state_file("tokens.json").exists()


def asking_with_the_token(challenges: Sequence[str], service_url: str) -> str:
    """Requests metadata on the service's host with the token, whatever the port and scheme."""
    url, kept = discovery.metadata_url(challenges, service_url), state_file("tokens.json")
    if kept.exists() and urlsplit(url).hostname == urlsplit(service_url).hostname:
        tokens = json.loads(kept.read_text()).get(service_url, {})
        trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        urlopen(Request(url, headers=operation.bearer(tokens)), context=trust, timeout=10).close()  # noqa: S310
    return url


def refreshed_wherever(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """Follows the redirect of a refresh with everything that was sent, but not that of an exchange."""

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
        "redirects-followed (AGENT-13 AGENT-18): The agent follows redirects to any host, with everything "
        "that it sent.",
        followed=follows,
    ),
    defect(
        "redirects-followed-with-the-token (AGENT-13 AGENT-18): The agent follows redirects of GET requests "
        "to any host, with the token.",
        followed=follows_reading,
    ),
    defect(
        "redirects-followed-by-302-alone (AGENT-13 AGENT-18): The agent follows 302 redirects, and no "
        "others, to any host with the token.",
        followed=follows_found,
    ),
    defect(
        "redirects-followed-with-the-code (AGENT-13): The agent follows redirects of POST requests to any "
        "host, with the code.",
        followed=follows_posting,
    ),
    defect(
        "redirects-followed-with-the-refresh-token (AGENT-13): The agent follows redirects of a refresh to "
        "any host, with the refresh token.",
        renewed=refreshed_wherever,
        worth_keeping=dict,
    ),
    defect(
        "later-plain-http-taken (AGENT-13): Once an install has a token, the agent accepts endpoints in "
        "plain HTTP.",
        may_ask=lambda url: may_ask(url) or token_is_stored_for(url),
    ),
    defect("plain-http-taken (AGENT-13): The agent accepts endpoints in plain HTTP.", may_ask=lambda _: True),
    defect(
        "one-client-for-all (AGENT-13): The agent uses one client for all gateways, and accepts metadata "
        "that are about another service.",
        client_of=lambda _: "every gateway",
        is_about=lambda *_: True,
    ),
    defect(
        "token-endpoint-by-redirect (AGENT-13): The agent sends the code to the token_endpoint that the "
        "redirect names, and ignores `iss`.",
        code_in=any_issuer,
        token_request=where_the_redirect_says,
    ),
    defect(
        "redirects-followed-on-one-host (AGENT-13 AGENT-18): The agent follows a redirect to another port "
        "of the service's host with the token, also in plain HTTP.",
        followed=follows_on_one_host,
        may_ask=lambda url: may_ask(url) or url.endswith("/orders"),
    ),
    defect(
        "token-back-at-the-next-redirect (AGENT-18): The agent drops the token at a redirect to another "
        "host, and sends it at the next redirect on that host.",
        followed=with_credentials_on_one_host(),
    ),
    defect(
        "exchange-redirected-on-one-host (AGENT-13): The agent follows a redirect of the exchange to "
        "another port of the same host, also in plain HTTP.",
        **exchanges_on_one_host(),
    ),
    defect(
        "http-where-the-server-has-none-better (AGENT-13 AGENT-19): The agent accepts a token endpoint in "
        "plain HTTP if the authorization server is in plain HTTP, too.",
        endpoints=as_its_server,
        may_ask=lambda _: True,
        may_open=lambda _: True,
    ),
    defect(
        "http-where-the-server-has-none-better-by-hand (AGENT-13 AGENT-19): The agent accepts an "
        "authorization server in plain HTTP, and prints the authorization URL instead of opening it.",
        endpoints=as_its_server,
        may_ask=lambda _: True,
        may_open=lambda _: True,
        open_browser=lambda _command, url, say: open_browser(None, url, say),
    ),
    defect(
        "token-goes-with-the-metadata (AGENT-13 AGENT-18): The agent sends a stored token when it requests "
        "metadata from the service's host, also in plain HTTP.",
        metadata_url=asking_with_the_token,
        may_ask=lambda url: may_ask(url) or _WELL_KNOWN in url,
    ),
    defect(
        "metadata-of-anybody (AGENT-13): The agent does not check that the metadata are about the service.",
        is_about=lambda *_: True,
    ),
    defect(
        "metadata-of-anybody-at-first (AGENT-13): The agent checks that the metadata are about the service "
        "only once an install has a token.",
        is_about=about_us_once_it_worked,
    ),
    defect(
        "metadata-that-begin-like-the-service (AGENT-13): The agent accepts metadata whose resource begins "
        "with the service's origin.",
        is_about=lambda metadata, url: str(metadata.get("resource")).startswith(origin(url)),
    ),
    defect(
        "code-to-the-last-gateway (AGENT-13): The agent authorizes at the first gateway of the metadata, "
        "but sends the code to the last one.",
        **last_server(),
    ),
    defect(
        "certificates-not-verified (AGENT-16): The agent verifies no certificate.",
        **trusting(anybody, lambda _: True),
    ),
    defect(
        "host-names-not-verified (AGENT-16): The agent accepts certificates for other host names.",
        **trusting(any_host, lambda _: True),
    ),
    defect(
        "dates-not-verified (AGENT-16): The agent accepts expired certificates.",
        **trusting(any_time, lambda _: True),
    ),
    defect(
        "service-not-verified (AGENT-16): The agent does not verify the service's certificate.",
        **trusting(anybody, lambda url: url.endswith("/orders")),
    ),
    defect(
        "documents-not-verified (AGENT-16): The agent does not verify certificates when it requests "
        "well-known documents.",
        **trusting(anybody, lambda url: _WELL_KNOWN in url),
    ),
    defect(
        "service-by-any-name (AGENT-16): The agent accepts a certificate of the service for another host "
        "name.",
        **trusting(any_host, lambda url: url.endswith("/orders")),
    ),
    defect(
        "old-documents-trusted (AGENT-16): The agent accepts an expired certificate when it requests the "
        "service's metadata.",
        **trusting(any_time, lambda url: "/who-authorizes" in url),
    ),
    defect(
        "certificates-verified-once (AGENT-16): The agent verifies certificates only until the install has "
        "its first token.",
        **trusting(anybody, token_is_stored_for),
    ),
    defect(
        "core-verified-once (AGENT-16): The agent verifies the token endpoint's certificate only until the "
        "install has its first token.",
        **trusting(
            anybody,
            lambda url: token_is_stored_for(url) and _WELL_KNOWN not in url and not url.endswith("/orders"),
        ),
    ),
    defect(
        "gateway-not-verified (AGENT-16): The agent does not verify certificates when it registers and "
        "exchanges.",
        **trusting(anybody, lambda url: _WELL_KNOWN not in url and not url.endswith("/orders")),
    ),
)
