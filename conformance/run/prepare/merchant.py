"""Starts the fake merchant of a run, if the target can be configured to use it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from urllib.parse import urlsplit

from gateproof.conformance.kit.authority import Authority, Certificate
from gateproof.conformance.kit.bad_certificates import bad_certificates
from gateproof.conformance.run.context.merchant_access import MerchantAccess
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import GatewayTarget
from gateproof.conformance.targets.party_names import MERCHANT, host_of
from gateproof.conformance.wire.route import Place, origin
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant import process
from gateproof.fakes.merchant import users as accounts
from gateproof.fakes.merchant.config import MerchantConfig, TargetAccess, TlsFiles


class MerchantFailed(Exception):
    """The fake merchant could not be started."""


def start_merchant(
    target: GatewayTarget, users: Sequence[User], authority: Authority, seed: int, stack: ExitStack
) -> MerchantAccess | None:
    """Starts the fake merchant; None if the target cannot be configured to use it."""
    if target.control is None and target.merchant is None:
        return None
    place = target.merchant
    public_host = urlsplit(place.public_url).hostname if place and place.public_url else None
    secure = (place.public_url if place and place.public_url else target.base_url).startswith("https:")
    if place is not None and place.files is not None:
        files = place.files
        certificate = Certificate(cert_file=files.tls_cert_file, key_file=files.tls_key_file)
        ca_file = files.ca_file
    else:
        certificate = authority.issue("merchant", *([public_host] if public_host else []))
        ca_file = authority.ca_file
    reach = target.reach
    config = MerchantConfig(
        admin_token=secrets.token_urlsafe(24),
        listen=place.listen.netloc if place else "127.0.0.1:0",
        public_url=place.public_url if place else None,
        name=host_of(MERCHANT, target.own_parties.names)
        if target.own_parties.names and place is None
        else None,
        tls=_files(certificate) if secure else None,
        paths="usual" if place else "seeded",
        seed=seed,
        users=tuple(_account(user) for user in users),
        target=TargetAccess(
            ca_file=reach.ca_file,
            headers=dict(reach.headers),
            client_cert_file=reach.client_cert[0] if reach.client_cert else None,
            client_key_file=reach.client_cert[1] if reach.client_cert else None,
            origins=tuple(sorted({origin(target.base_url), origin(target.core_url)})),
        ),
        certificates={name: _files(wrong) for name, wrong in bad_certificates(authority).items()}
        if secure
        else {},
    )
    try:
        running = stack.enter_context(process.start(config))
    except process.MerchantStartError as failure:
        raise MerchantFailed(f"the fake merchant could not be started: {failure}") from failure
    access = MerchantAccess(
        admin_url=running.admin.url,
        admin_token=Secret("merchant_admin_token", config.admin_token),
        endpoints=asdict(running.endpoints),
        ca_file=str(ca_file) if secure else None,
        place=Place(
            origins=frozenset({origin(running.issuer)}),
            ca_file=str(ca_file) if secure else None,
            connect_to=urlsplit(running.url).netloc if place and place.public_url else None,
            own_suffix=target.own_parties.names,
        ),
    )
    _introduce(target, access)
    return access


def _introduce(target: GatewayTarget, merchant: MerchantAccess) -> None:
    """Registers the clients of a static configuration at the merchant."""
    with closing(merchant.admin()) as admin:
        for project in target.projects:
            for resource in project.resources:
                if resource.merchant_client_id is not None:
                    admin.register_client(
                        resource.merchant_client_id, jwks_uri=resource.jwks_uri, indicator=resource.indicator
                    )


def _files(certificate: Certificate) -> TlsFiles:
    return TlsFiles(cert_file=certificate.cert_file, key_file=certificate.key_file)


def _account(user: User) -> accounts.User:
    return accounts.User(name=user.name, login=user.login, password=user.password.reveal())
