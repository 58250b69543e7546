"""Time limits in seconds that several modules share, with their place in the specification.

A limit that only one module uses is defined there.
"""

from __future__ import annotations

from typing import Final

# States and transitions, end of a sign-in: a gateway may still provision this long afterwards.
PROVISIONING_S: Final = 5.0
# States and transitions, approval of an agent: the specification gives no time. The 5 s are ours: an approval
# may need a moment to reach all processes of a gateway (AUTHZ-08).
APPROVAL_S: Final = 5.0
# States and transitions, end of a sign-in: a silent merchant may delay a sign-in by this (VAULT-10).
SIGN_IN_S: Final = 30.0
# Not in the specification: what the pages of a sign-in may take beyond what they wait for.
PAGE_S: Final = 5.0
# States and transitions, redemption near expiry: from this long before its end, a refresh is allowed.
NEAR_EXPIRY_S: Final = 60.0

# Authentication, validation rule 4: a gateway may accept a token this long past exp; RFC 7519 allows minutes.
LEEWAY_S: Final = 330
# The same rule for a service: its clock may differ by this (CHAL-07).
SERVICE_LEEWAY_S: Final = 60
# Not in the specification: a larger difference of clocks means that the target is on another machine.
CLOCK_SKEW_S: Final = 2.0

# Errors, redemption 500: retries are bounded. The flow has to work this long after the failure has ended.
RECOVERY_S: Final = 10.0
# The same with a circuit breaker, of a gateway or an agent: many stay open for up to a minute.
BREAKER_S: Final = 65.0
# The same with a circuit breaker of a service.
SERVICE_BREAKER_S: Final = 70.0
# Errors, redemption 500: callers use timeouts. A service has to answer within this time (BACK-06).
SERVICE_ANSWER_S: Final = 60.0

# Authentication, validation rule 1: a service finds a new key of the gateway within this time (SERVE-02).
KEY_FOUND_S: Final = 60.0
# The same if the service has fetched the keys just before: some fetch them once a minute at most.
KEY_REFETCH_S: Final = 70.0

# Not in the specification: how often jose and FastMCP fetch a key set at most, if not told otherwise.
SELDOM_S: Final = 30.0

# Endpoints, key sets: the set at `jwks_uri` verifies access tokens. The specification gives no time. The 5 s
# are ours: after a rotation, a new key may need a moment to reach all processes that serve the set (KEYS-01).
KEY_SHOWN_S: Final = 5.0

# Not in the specification: the fake merchant holds a response this long, so that racing requests overlap.
RACE_HOLD_S: Final = 0.3
