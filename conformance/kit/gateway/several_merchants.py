"""Resources of one gateway at several merchants, each with users, keys and a journal of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.kit.gateway.merchant_site import MerchantSite
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, Unavailable
from gateproof.conformance.suite.parties import Project, User
from gateproof.fakes.merchant.admin import MerchantAdminError
from gateproof.fakes.merchant.records import JournalEntry

_SEEDS = 2**31


@dataclass(frozen=True, kw_only=True)
class MerchantAccount:
    """A merchant, a Resource there, and a user with an account there."""

    site: MerchantSite
    alone: IsolatedUser

    def journal(self) -> list[JournalEntry]:
        """All requests that this merchant has received, from any client."""
        return self.site.admin.journal()

    def asked(self) -> list[JournalEntry]:
        """The authorization requests that this merchant has received, oldest first."""
        return [entry for entry in self.journal() if entry.endpoint == "authorization"]

    def signed_in(self) -> int:
        """How many codes of this merchant were exchanged for tokens."""
        return sum(entry.grant == "authorization_code" and entry.status == 200 for entry in self.journal())


@contextmanager
def merchants(world: World, count: int, *, one_seed: bool = False) -> Iterator[list[MerchantSite]]:
    """Opens new merchants during the block; browsers may visit them.

    With one seed they look alike except for their addresses: other keys have the same key IDs.
    """
    if world.merchant is None:
        raise Unavailable("merchant", "the harness's own merchant is not part of this run")
    with ExitStack() as open_sites:
        sites: list[MerchantSite] = []
        seeds = [secrets.randbelow(_SEEDS) for _ in range(count)]
        for seed in seeds[:1] * count if one_seed else seeds:
            try:
                admin, endpoints = world.merchant.open_merchant(seed)
            except MerchantAdminError as refusal:
                raise LeftOut(f"no second merchant could be opened: {refusal}") from refusal
            open_sites.callback(world.merchant.close_merchant, admin)
            url = endpoints["issuer"]
            open_sites.enter_context(world.gateway.wire.also(url, ca_file=world.merchant_ca_file))
            sites.append(MerchantSite(admin=admin, endpoints=endpoints))
        yield sites


def merchant_account(
    world: World, site: MerchantSite, *, login: str, client_id: str, beside: Project | None = None
) -> MerchantAccount:
    """A new Resource at this merchant, in a new Project or in `beside`, and a user with a password."""
    keyring = world.gateway.keyring
    password = keyring.secret("password", secrets.token_urlsafe(12))
    user = User(name=login.partition("@")[0], login=login, password=password)
    site.admin.add_user(user.name, user.login, password.reveal())
    project = world.projects.at(site, client_id, beside)
    alone = IsolatedUser(
        world=world,
        project=project,
        user=user,
        merchant=site.admin,
        client_id=client_id,
        since=0,
    )
    return MerchantAccount(site=site, alone=alone)
