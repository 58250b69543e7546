"""Rows of the agent's defects."""

from __future__ import annotations

from gateproof.reference.agent.policies import Policies
from gateproof.reference.defects.defect import Rows

defect = Rows(Policies())
