"""The harness's one way to speak HTTP: nothing is followed, nothing is hidden, everything is recorded."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Protocol
from urllib.parse import urlsplit

import httpx

from conformance.wire.exchange import Answer, Exchange, Request

RATE_LIMIT_BUDGET_S = 60.0
MAX_BODY = 4 * 1024 * 1024
# Servers close idle connections whenever they like; one this young is very unlikely to be among those.
KEEPALIVE_S = 1.0


class RateLimited(Exception):
    """The target kept answering 429, or 503 with Retry-After, for longer than the harness waits."""


class TargetSilent(Exception):
    """The target let several requests in a row run out of time; asking on would waste the caller's hour."""


class Recorder(Protocol):
    """Receives every exchange in the order in which it ended."""

    def __call__(self, exchange: Exchange, /) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Place:
    """How one party is reached: what to trust, where to connect, what to send along.

    A party may also answer on other ports of its hosts, keys for example; those get no extra header and no
    client certificate.
    """

    origins: frozenset[str]
    hosts: frozenset[str] = frozenset()
    ca_file: str | None = None
    client_cert: tuple[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_to: str | None = None

    def nearby(self) -> Place:
        """The same party on another port."""
        return replace(self, origins=frozenset(), headers={}, client_cert=None)


def origin(url: str) -> str:
    """Scheme, host and port of a URL in one normal form."""
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"


def trust(place: Place) -> ssl.SSLContext:
    """A TLS context that trusts the party's CA file alone, or the system's roots when none is named."""
    context = ssl.create_default_context(cafile=place.ca_file)
    if place.client_cert is not None:
        context.load_cert_chain(*place.client_cert)
    return context


class Wire:
    """Sends requests to the places it was given and to no others."""

    def __init__(
        self,
        places: tuple[Place, ...],
        *,
        timeout_s: float,
        record: Recorder,
        sleep: Callable[[float], None] = time.sleep,
        silent_after: int = 3,
    ) -> None:
        self._places = places
        self._clients: dict[tuple[object, ...], httpx.Client] = {}
        self._timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0))
        self._deadline_s = timeout_s
        self._record = record
        self._sleep = sleep
        self._timeouts_in_a_row = 0
        self._silent_after = silent_after

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    @contextmanager
    def also(self, url: str, *, ca_file: str) -> Iterator[None]:
        """Lets requests go to one more of the harness's own fakes while the block lasts."""
        before = self._places
        self._places = (*before, Place(origins=frozenset({origin(url)}), ca_file=ca_file))
        try:
            yield
        finally:
            self._places = before

    def may_reach(self, url: str) -> bool:
        """True for a URL on an origin that this run may talk to."""
        return self._place(url) is not None

    def place_of(self, url: str) -> Place | None:
        """How the party at this URL is reached, for whoever has to connect below HTTP."""
        return self._place(url)

    def send(self, step: str, request: Request) -> Exchange:
        """Sends one request and waits out rate limits; an answer that does not come is an exchange too."""
        if self._timeouts_in_a_row >= self._silent_after:
            raise TargetSilent(f"{self._timeouts_in_a_row} requests in a row got no answer in time")
        retries: list[Answer] = []
        waited, begun = 0.0, time.monotonic()
        while True:
            answer, failure = self._once(request)
            pause = _asked_to_wait(answer)
            if pause is None:
                exchange = Exchange(
                    step=step,
                    request=request,
                    answer=answer,
                    failure=failure,
                    retries=tuple(retries),
                    at_s=begun,
                )
                self._record(exchange)
                return exchange
            assert answer is not None  # noqa: S101 - only an answer can ask to wait
            retries.append(answer)
            pause = max(pause, 0.1 * 2 ** min(len(retries), 6))
            if waited + pause > RATE_LIMIT_BUDGET_S:
                self._record(Exchange(step=step, request=request, answer=answer, retries=tuple(retries)))
                raise RateLimited(f"{step}: still status {answer.status} after waiting {waited:.0f} s")
            self._sleep(pause)
            waited += pause

    def volley(self, requests: Sequence[Request], *, at_once: int) -> int:
        """Sends many requests over several connections and counts the answers; waits for no rate limit."""
        with ThreadPoolExecutor(at_once) as senders:
            answers = senders.map(lambda request: self._once(request)[0], requests)
            answered = sum(answer is not None for answer in answers)
        self._timeouts_in_a_row = 0
        return answered

    def _once(self, request: Request) -> tuple[Answer | None, str | None]:
        place = self._place(request.url)
        if place is None:
            raise ValueError(f"{origin(request.url)} is neither the target nor one of the fakes")
        started = time.monotonic()
        try:
            answer = self._receive(place, request, started)
        except httpx.TimeoutException as error:
            if not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
                self._timeouts_in_a_row += 1
            return None, f"no answer within {time.monotonic() - started:.0f} s"
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            self._timeouts_in_a_row = 0
            return None, _failure(error)
        self._timeouts_in_a_row = 0
        return answer, None

    def _receive(self, place: Place, request: Request, started: float) -> Answer:
        client = self._client(place, alone=request.alone)
        prepared = self._prepare(client, place, request)
        body = bytearray()
        with_status = client.send(prepared, stream=True)
        try:
            for chunk in with_status.iter_bytes():
                body += chunk
                if time.monotonic() - started > self._deadline_s:
                    raise httpx.ReadTimeout("the body did not end in time")
                if len(body) > MAX_BODY:
                    raise httpx.ReadError(f"the body is longer than {MAX_BODY} bytes")
        finally:
            with_status.close()
        return Answer(
            status=with_status.status_code,
            headers=tuple(
                (key.decode("latin-1"), value.decode("latin-1")) for key, value in with_status.headers.raw
            ),
            body=bytes(body),
            elapsed_s=time.monotonic() - started,
            phrase=with_status.reason_phrase,
        )

    def _prepare(self, client: httpx.Client, place: Place, request: Request) -> httpx.Request:
        headers = [*place.headers.items(), *request.headers]
        url = httpx.URL(request.url)
        extensions: dict[str, object] = {"timeout": self._timeout.as_dict()}
        if place.connect_to is not None:
            host, _, port = place.connect_to.rpartition(":")
            headers.append(("Host", url.netloc.decode("ascii")))
            extensions["sni_hostname"] = url.host
            url = url.copy_with(host=host.strip("[]"), port=int(port))
        if request.target is not None:
            extensions["target"] = request.target
        # Latin-1 is what a header may hold at most; a library would stop at ASCII.
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return client.build_request(
            request.method, url, headers=raw, content=request.body or None, extensions=extensions
        )

    def _place(self, url: str) -> Place | None:
        where, host = origin(url), urlsplit(url).hostname or ""
        exact = next((place for place in self._places if where in place.origins), None)
        return exact or next((place.nearby() for place in self._places if host in place.hosts), None)

    def _client(self, place: Place, *, alone: bool = False) -> httpx.Client:
        key = (place.ca_file, place.client_cert, place.connect_to, alone)
        if key not in self._clients:
            self._clients[key] = httpx.Client(
                verify=trust(place),
                trust_env=False,
                follow_redirects=False,
                # Browsers of a check keep their own cookies; one jar for all of them would mix up users.
                cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
                limits=httpx.Limits(
                    keepalive_expiry=KEEPALIVE_S, max_keepalive_connections=0 if alone else None
                ),
                headers={"User-Agent": "gateproof", "Accept": "*/*"},
            )
        return self._clients[key]


def _asked_to_wait(answer: Answer | None) -> float | None:
    """How long a rate-limiting answer asks the caller to wait; None for every other answer."""
    if answer is None or answer.status not in {429, 503}:
        return None
    asked = answer.header("Retry-After")
    if answer.status == 503 and asked is None:
        return None
    try:
        return max(0.0, float(asked or 0))
    except ValueError:
        return 1.0  # an HTTP date: clocks may differ, so a short wait and another try


def _failure(error: Exception) -> str:
    """Why no answer came, without the text of a library in which a URL or a header may stand."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the certificate was refused: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return f"the TLS handshake failed: {cause.reason}"
        if isinstance(cause, ConnectionRefusedError):
            return "the connection was refused"
        if isinstance(cause, ConnectionResetError | BrokenPipeError):
            return "the connection was reset"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError):
        return "no connection could be made"
    if isinstance(error, httpx.RemoteProtocolError):
        return "the connection was closed, or what came over it is not HTTP"
    return f"no answer: {type(error).__name__}"
