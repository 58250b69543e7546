"""All defects of the service, by name: each module here holds some as DEFECTS."""

from __future__ import annotations

from gateproof.reference.defects.defect import Defect
from gateproof.reference.deviations.deviation import collected
from gateproof.reference.service.policies import Policies

DEFECTS: dict[str, Defect[Policies]] = collected(__name__, __path__, "DEFECTS", Defect)
