"""Resource keys that cost processor time, as RSA keys do in many gateways."""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import sha256

from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.ids import Ids

_OCTETS = bytes(1024 * 1024)


def with_costly_keys(policies: Policies, seconds: float) -> Policies:
    """The same policies; each new Resource key costs this much processor time."""

    def new_key(ids: Ids) -> SigningKey:
        begun = time.thread_time()
        key = policies.new_resource_key(ids)
        while time.thread_time() < begun + seconds:
            sha256(_OCTETS)
        return key

    return replace(policies, new_resource_key=new_key)
