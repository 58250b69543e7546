"""Rows of the gateway's defects."""

from __future__ import annotations

from gateproof.reference.defects.defect import Rows
from gateproof.reference.gateway.policies import Policies

defect = Rows(Policies())
