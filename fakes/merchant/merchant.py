"""The state of one fake merchant, as one value that every endpoint gets."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import httpx

from gateproof.fakes.merchant.accounts import Accounts
from gateproof.fakes.merchant.clients import Clients
from gateproof.fakes.merchant.clock import Clock
from gateproof.fakes.merchant.config import MerchantConfig
from gateproof.fakes.merchant.gates import Gates
from gateproof.fakes.merchant.grants import Grants
from gateproof.fakes.merchant.key_sets import KeySets
from gateproof.fakes.merchant.ledger import Ledger
from gateproof.fakes.merchant.lies import Lies
from gateproof.fakes.merchant.minting import Minter, Signer
from gateproof.fakes.merchant.shape import Shape, shape
from gateproof.fakes.merchant.tickets import Tickets


@dataclass(frozen=True, kw_only=True, slots=True)
class Merchant:
    """The parts of a merchant."""

    shape: Shape
    accounts: Accounts
    clients: Clients
    key_sets: KeySets
    gates: Gates
    grants: Grants
    ledger: Ledger
    signer: Signer
    tickets: Tickets
    clock: Clock
    lies: Lies


def build(
    config: MerchantConfig,
    *,
    base_url: str,
    http: httpx.AsyncClient,
    wall: Callable[[], float] = time.time,
    entropy: random.Random,
    signer: Signer,
    beside: Merchant | None = None,
) -> Merchant:
    """Builds a merchant. Secrets come from `entropy` and `signer`, everything else from the seed.

    A merchant with `beside` shares the clock of that merchant, and always sends `iss` in its redirects.
    """
    looks = shape(seed=config.seed, base_url=base_url, paths=config.paths)
    clock = Clock(wall, config.clock_offset_s)
    if beside is not None:
        looks, clock = replace(looks, sends_iss=True), beside.clock
    ledger = Ledger(wall=wall)
    minter = Minter(looks, entropy=entropy)
    return Merchant(
        shape=looks,
        accounts=Accounts(config.users, entropy=entropy),
        clients=Clients(),
        key_sets=KeySets(http),
        gates=Gates(),
        grants=Grants(shape=looks, minter=minter, signer=signer, ledger=ledger, clock=clock),
        ledger=ledger,
        signer=signer,
        tickets=Tickets(minter=minter, wall=wall),
        clock=clock,
        lies=Lies(),
    )
