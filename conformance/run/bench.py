"""One worker's workplace: its connections, and the record of the check that is running on it."""

from __future__ import annotations

from conformance.gateway import Gateway
from conformance.run.context import RunContext
from conformance.run.signing_in import make_sign_in
from conformance.target.connect import connect_control
from conformance.wire.client import Wire, target_place
from conformance.wire.exchange import Exchange
from conformance.wire.keyring import Keyring
from conformance.wire.show import show
from conformance.world import Places, World
from reports.redaction import Redactor
from reports.verdicts import Shown
