"""Services that take somebody else for the gateway or for the merchant."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

import httpx

from gateproof.reference.defects.service.row import defect

# OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which Python has no name.
NO_CHECK_TIME = 0x200000
Asked = Callable[[httpx.Request], bool]
Failed = Callable[[httpx.ConnectError], bool]


def _careless() -> httpx.AsyncHTTPTransport:
    return httpx.AsyncHTTPTransport(verify=False)


class _Choosing(httpx.AsyncBaseTransport):
    """Some requests go out without a look at who takes them, or with half of one."""

    def __init__(
        self, trust: ssl.SSLContext, unverified: Asked, careless: httpx.AsyncHTTPTransport | None = None
    ) -> None:
        self._good, self._careless, self._unverified = (
            httpx.AsyncHTTPTransport(verify=trust),
            careless or _careless(),
            unverified,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        line = self._careless if self._unverified(request) else self._good
        return await line.handle_async_request(request)


class _Insisting(httpx.AsyncBaseTransport):
    """Where the good way fails like this, another is taken."""

    def __init__(self, trust: ssl.SSLContext, failed: Failed, scheme: str) -> None:
        self._good, self._careless = httpx.AsyncHTTPTransport(verify=trust), _careless()
        self._failed, self._scheme = failed, scheme

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._good.handle_async_request(request)
        except httpx.ConnectError as failure:
            if not self._failed(failure):
                raise
            request.url = request.url.copy_with(scheme=self._scheme)
            return await self._careless.handle_async_request(request)


def unverified(asked: Asked) -> dict[str, Any]:
    """No certificate is looked at for these requests."""
    return {"transport": lambda trust: _Choosing(trust, asked)}


def insisting(failed: Failed, scheme: str = "https") -> dict[str, Any]:
    """A connection that fails like this is made once more, with anybody."""
    return {"transport": lambda trust: _Insisting(trust, failed, scheme)}


def names_unchecked(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    trust.check_hostname = False
    return httpx.AsyncHTTPTransport(verify=trust)


def names_of_documents_unchecked(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    lenient = ssl.create_default_context(cadata=b"".join(trust.get_ca_certs(binary_form=True)))
    lenient.check_hostname = False
    return _Choosing(trust, for_everybodys_documents, httpx.AsyncHTTPTransport(verify=lenient))


def dates_unchecked(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    trust.verify_flags |= NO_CHECK_TIME
    return httpx.AsyncHTTPTransport(verify=trust)


def _kind(request: httpx.Request) -> str:
    return str(request.headers.get("authorization", "")).partition(" ")[0]


def for_a_proxy_token(request: httpx.Request) -> bool:
    return _kind(request) == "Basic"


def for_a_redemption(request: httpx.Request) -> bool:
    return "x-proxy-token" in request.headers


def for_orders(request: httpx.Request) -> bool:
    return request.method == "GET" and _kind(request) == "Bearer"


def for_everybodys_documents(request: httpx.Request) -> bool:
    return not _kind(request)


def for_the_discovery_document(request: httpx.Request) -> bool:
    return request.url.path.endswith("/openid-configuration")


DEFECTS = (
    defect(
        "certificates-unverified (BACK-12): The certificates of gateway and merchant are not verified.",
        **unverified(lambda _: True),
    ),
    defect(
        "host-names-unchecked (BACK-12): A certificate of a known authority does for whatever host it is.",
        transport=names_unchecked,
    ),
    defect(
        "dates-unchecked (BACK-12): A certificate does whether its time is over or has not come.",
        transport=dates_unchecked,
    ),
    defect(
        "self-signed-believed (BACK-12): A certificate that vouches for itself is believed.",
        **insisting(lambda failure: "self-signed certificate (" in str(failure)),
    ),
    defect(
        "tried-again-unverified (BACK-12): Where a certificate is not good enough, the request is made once "
        "more without a look at it.",
        **insisting(lambda failure: "certificate verify failed" in str(failure)),
    ),
    defect(
        "plain-text-where-tls-fails (BACK-12): Where no TLS connection comes about, the request is made in "
        "plain text.",
        **insisting(lambda _: True, "http"),
    ),
    defect(
        "merchant-unverified (BACK-12): The certificate of the merchant's API is not verified.",
        **unverified(for_orders),
    ),
    defect(
        "redemption-unverified (BACK-12): The certificate of the redemption endpoint is not verified.",
        **unverified(for_a_redemption),
    ),
    defect(
        "token-endpoint-unverified (BACK-12): The certificate of the token endpoint is not verified.",
        **unverified(for_a_proxy_token),
    ),
    defect(
        "key-sets-unverified (BACK-12): Discovery document and key set are fetched from whoever answers.",
        **unverified(for_everybodys_documents),
    ),
    defect(
        "discovery-document-unverified (BACK-12): The discovery document is fetched from whoever answers, "
        "and the key set from whom it names.",
        **unverified(for_the_discovery_document),
    ),
    defect(
        "host-names-of-key-sets-unchecked (BACK-12): For discovery document and key set, which are fetched "
        "twice a minute at most, any host name does.",
        transport=names_of_documents_unchecked,
        keys_again_after_s=30,
    ),
)
