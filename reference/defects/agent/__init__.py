"""All defects of the agent, by name; each module of this package has some in DEFECTS."""

from __future__ import annotations

from gateproof.reference.agent.policies import Policies
from gateproof.reference.defects.defect import Defect
from gateproof.reference.deviations.deviation import collected

DEFECTS: dict[str, Defect[Policies]] = collected(__name__, __path__, "DEFECTS", Defect)
