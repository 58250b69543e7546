"""All defects of the gateway, by name."""

from __future__ import annotations

from reference.defects.defect import Defect
from reference.defects.gateway_answers import ANSWERS
from reference.defects.gateway_authorization import AUTHORIZATION
from reference.defects.gateway_claims import CLAIMS
from reference.defects.gateway_metadata import DISCOVERY, KEYS
from reference.defects.gateway_redemption import REDEMPTION
from reference.defects.gateway_registration import REGISTRATION

FAMILIES = (DISCOVERY, KEYS, REGISTRATION, AUTHORIZATION, CLAIMS, ANSWERS, REDEMPTION)
DEFECTS: dict[str, Defect] = {defect.name: defect for family in FAMILIES for defect in family}
