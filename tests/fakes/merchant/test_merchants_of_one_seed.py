"""Merchants of one seed have the same key IDs, and other keys."""

from __future__ import annotations

import httpx

from gateproof.fakes.merchant.config import MerchantConfig
from gateproof.fakes.merchant.process import start


def test_merchants_of_one_seed_share_key_ids_but_no_key() -> None:
    with start(MerchantConfig(admin_token="an-admin-token-of-tests")) as process:
        both = [process.admin.open_merchant(11) for _ in range(2)]
        one, other = (
            {key["kid"]: key for key in httpx.get(places["jwks_uri"]).json()["keys"]} for _, places in both
        )
        assert one.keys() == other.keys()
        assert all(one[kid] != other[kid] for kid in one)
        for admin, _ in both:
            process.admin.close_merchant(admin)


def test_next_run_has_other_key_ids() -> None:
    """Otherwise a gateway that keeps the key set would verify with the keys of the run before."""
    ids = []
    for _ in range(2):
        with start(MerchantConfig(admin_token="an-admin-token-of-tests")) as process:
            keys = httpx.get(process.endpoints.jwks_uri).json()["keys"]
            ids.append({key["kid"] for key in keys})
    assert ids[0].isdisjoint(ids[1])
