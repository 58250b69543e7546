"""Services that do not verify the certificates of gateway and merchant correctly."""

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


class _PartlyUnverified(httpx.AsyncBaseTransport):
    """Sends some requests with a transport that does not, or only partly, verify certificates."""

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


class _Repeating(httpx.AsyncBaseTransport):
    """Repeats a request without verification, or without TLS, if its connection fails like this."""

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
    """Certificates are not verified for these requests."""
    return {"transport": lambda trust: _PartlyUnverified(trust, asked)}


def repeating(failed: Failed, scheme: str = "https") -> dict[str, Any]:
    """A request whose connection fails like this is repeated without verification."""
    return {"transport": lambda trust: _Repeating(trust, failed, scheme)}


def names_unchecked(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    trust.check_hostname = False
    return httpx.AsyncHTTPTransport(verify=trust)


def names_of_documents_unchecked(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    lenient = ssl.create_default_context(cadata=b"".join(trust.get_ca_certs(binary_form=True)))
    lenient.check_hostname = False
    return _PartlyUnverified(trust, for_public_documents, httpx.AsyncHTTPTransport(verify=lenient))


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


def for_public_documents(request: httpx.Request) -> bool:
    return not _kind(request)


def for_the_discovery_document(request: httpx.Request) -> bool:
    return request.url.path.endswith("/openid-configuration")


DEFECTS = (
    defect(
        "certificates-unverified (BACK-12): The service does not verify the certificates of gateway and "
        "merchant.",
        **unverified(lambda _: True),
    ),
    defect(
        "host-names-unchecked (BACK-12): The service accepts a certificate of a trusted authority for any "
        "host name.",
        transport=names_unchecked,
    ),
    defect(
        "dates-unchecked (BACK-12): The service accepts a certificate that has expired or is not yet valid.",
        transport=dates_unchecked,
    ),
    defect(
        "self-signed-believed (BACK-12): The service accepts a self-signed certificate.",
        **repeating(lambda failure: "self-signed certificate (" in str(failure)),
    ),
    defect(
        "tried-again-unverified (BACK-12): If a certificate is not valid, the service repeats the request "
        "without verification.",
        **repeating(lambda failure: "certificate verify failed" in str(failure)),
    ),
    defect(
        "plain-text-where-tls-fails (BACK-12): If a TLS connection fails, the service repeats the request "
        "over plain HTTP.",
        **repeating(lambda _: True, "http"),
    ),
    defect(
        "merchant-unverified (BACK-12): The service does not verify the certificate of the merchant's API.",
        **unverified(for_orders),
    ),
    defect(
        "redemption-unverified (BACK-12): The service does not verify the certificate of the redemption "
        "endpoint.",
        **unverified(for_a_redemption),
    ),
    defect(
        "token-endpoint-unverified (BACK-12): The service does not verify the certificate of the token "
        "endpoint.",
        **unverified(for_a_proxy_token),
    ),
    defect(
        "key-sets-unverified (BACK-12): The service fetches discovery document and key set without verifying "
        "certificates.",
        **unverified(for_public_documents),
    ),
    defect(
        "discovery-document-unverified (BACK-12): The service fetches the discovery document without "
        "verifying the certificate, and uses the key set URL in it.",
        **unverified(for_the_discovery_document),
    ),
    defect(
        "host-names-of-key-sets-unchecked (BACK-12): For discovery document and key set, fetched at most "
        "twice a minute, the service accepts a certificate for any host name.",
        transport=names_of_documents_unchecked,
        keys_again_after_s=30,
    ),
)
