"""Signs a user in with the harness's own browser: JSON on stdin, JSON on stdout, as `[sign_in] command` asks.

The browser goes to the origins in GATEPROOF_SIGN_IN_ORIGINS (space-separated) and to no others.
"""

from __future__ import annotations

import functools
import json
import os
import sys

from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.route import Place, origin
from gateproof.conformance.wire.secret import Secret


def main() -> int:
    asked = json.load(sys.stdin)
    person = asked["user"]
    origins = frozenset(map(origin, os.environ["GATEPROOF_SIGN_IN_ORIGINS"].split()))
    place = Place(origins=origins, ca_file=os.environ["GATEPROOF_CA_FILE"])
    wire = Wire((place,), timeout_s=20, record=lambda _: None)
    way = FormsSignIn(send=functools.partial(wire.send, "browser"), may_visit=wire.may_reach)
    landing = way.sign_in(
        SignInRequest(
            authorization_url=asked["authorization_url"],
            redirect_uri=asked["redirect_uri"],
            user=User(
                name=person["name"], login=person["login"], password=Secret("password", person["password"])
            ),
            approve=asked["approve"],
        )
    )
    wire.close()
    print(json.dumps({"redirected_to": landing.redirected_to}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
