"""A certificate that one Chromium accepts from the harness's proxy only."""

from __future__ import annotations

import base64
import hashlib
import ssl
from dataclasses import dataclass

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyCertificate:
    """A TLS server context, and the key digest with which the browser is told to accept it."""

    context: ssl.SSLContext
    digest: str


def new_proxy_certificate() -> ProxyCertificate:
    """A new key for one browser; the host name in the certificate is a placeholder."""
    issued = trustme.CA().issue_cert("gateproof.invalid")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context)
    context.set_alpn_protocols(["http/1.1"])
    leaf = x509.load_pem_x509_certificate(issued.cert_chain_pems[0].bytes())
    key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return ProxyCertificate(
        context=context, digest=base64.b64encode(hashlib.sha256(key).digest()).decode("ascii")
    )
