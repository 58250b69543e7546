"""One gateway: its addresses, policies, store and clients."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.keys import KeyRing
from gateproof.reference.gateway.logbook import Logbook
from gateproof.reference.gateway.merchants import Connect, Merchants, connect
from gateproof.reference.gateway.policies import Policies, VaultFactory, VaultProtocol
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.ids import Ids


@dataclass(frozen=True, kw_only=True, slots=True)
class Gateway:
    """The parts of a gateway, as every handler gets them."""

    base_url: str
    core_url: str
    policies: Policies
    clock: Clock
    ids: Ids
    store: Store
    log: Logbook
    merchants: Merchants
    vault: VaultProtocol

    @property
    def issuer(self) -> str:
        return self.policies.issuer(self.core_url)

    @property
    def base_path(self) -> str:
        return urlsplit(self.base_url).path


def build(
    *,
    base_url: str,
    core_url: str,
    policies: Policies,
    clock: Clock,
    ids: Ids,
    log: Logbook,
    connecting: Connect = connect,
    store: Store | None = None,
) -> Gateway:
    """Builds a gateway, which is empty unless it gets the data of an earlier process."""
    if store is None:
        store = Store(core_keys=KeyRing(current=policies.new_core_key(ids)))
    merchants = Merchants(
        connecting,
        limits=policies.merchant_limits,
        note=log.write,
        key_set_uri=policies.key_set_uri,
    )
    made_by: VaultFactory = policies.vault_factory or Vault
    vault = made_by(store=store, policies=policies, clock=clock, ids=ids, merchants=merchants)
    return Gateway(
        base_url=base_url,
        core_url=core_url,
        policies=policies,
        clock=clock,
        ids=ids,
        store=store,
        log=log,
        merchants=merchants,
        vault=vault,
    )
