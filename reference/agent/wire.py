"""Requests and answers of the agent, and the HTTP client, which uses TLS and follows no redirects."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

MOST_OCTETS = 1024 * 1024
MOST_HOPS = 5
FORM = "application/x-www-form-urlencoded"


class Failed(Exception):
    """The run has failed; the text is for the user and contains no credentials."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outgoing:
    """A request; its headers and body may contain credentials."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer; header names are in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)

    def headers_named(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def document(self) -> dict[str, Any]:
        """The JSON object in the body; empty if there is none."""
        try:
            found = json.loads(self.body.decode())
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """The time limit for an answer."""

    answer_s: float = 10


class Client:
    """Sends requests one at a time; does not follow redirects unless `followed` says so."""

    def __init__(
        self,
        trust: ssl.SSLContext,
        patience: Patience,
        may_ask: Callable[[str], bool],
        followed: Callable[[Outgoing, Answer], Outgoing | None],
        trusted: Callable[[str, ssl.SSLContext], ssl.SSLContext],
    ) -> None:
        self._trust = trust
        self._trusted = trusted
        self._patience = patience
        self._may_ask = may_ask
        self._followed = followed

    def ask(self, asked: Outgoing) -> Answer:
        """The answer, with any status; raises Failed without an answer."""
        for _ in range(MOST_HOPS):
            answer = self._once(asked)
            further = self._followed(asked, answer)
            if further is None:
                return answer
            asked = further
        raise Failed("a server redirects without end")

    def _once(self, asked: Outgoing) -> Answer:
        parts = urlsplit(asked.url)
        where = f"{parts.scheme}://{parts.netloc}"
        if not self._may_ask(asked.url):
            raise Failed(f"{where} is not asked: its address is not https")
        try:
            connection = self._connection(parts.scheme, parts.netloc, self._trusted(asked.url, self._trust))
            try:
                target = parts.path or "/"
                target += f"?{parts.query}" if parts.query else ""
                connection.request(asked.method, target, asked.body or None, dict(asked.headers))
                response = connection.getresponse()
                body = response.read(MOST_OCTETS + 1)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as problem:
            raise Failed(f"{where} gives no answer: {type(problem).__name__}") from None
        if len(body) > MOST_OCTETS:
            raise Failed(f"{where} answers with too much")
        headers = tuple((name.lower(), value) for name, value in response.getheaders())
        return Answer(status=response.status, headers=headers, body=body)

    def _connection(self, scheme: str, netloc: str, trust: ssl.SSLContext) -> http.client.HTTPConnection:
        if scheme == "http":
            return http.client.HTTPConnection(netloc, timeout=self._patience.answer_s)
        return http.client.HTTPSConnection(netloc, timeout=self._patience.answer_s, context=trust)


def may_ask(url: str) -> bool:
    """Only https, also for documents, because they decide where credentials are sent."""
    return url.lower().startswith("https://")


def trusted(_url: str, trust: ssl.SSLContext) -> ssl.SSLContext:
    """The trust settings for a URL: certificates are always verified."""
    return trust


def followed(_asked: Outgoing, _answer: Answer) -> Outgoing | None:
    """The next request after a redirect: none, because a request is meant for one party only."""
    return None


def form(url: str, fields: Mapping[str, str], **headers: str) -> Outgoing:
    """A POST request with a form."""
    said = {"Content-Type": FORM, "Accept": "application/json", **headers}
    return Outgoing(method="POST", url=url, headers=said, body=urlencode(fields).encode())


def with_query(url: str, query: Mapping[str, str]) -> str:
    """The URL with these parameters added to its query; spaces are encoded as %20."""
    added = urlencode(query, quote_via=quote)
    return f"{url}{'&' if urlsplit(url).query else '?'}{added}"


def redirected(asked: Outgoing, answer: Answer) -> str | None:
    """The target of a redirect; None for another answer."""
    location = next(iter(answer.headers_named("location")), None)
    return urljoin(asked.url, location) if location and 300 <= answer.status < 400 else None
