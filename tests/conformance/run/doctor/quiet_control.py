"""`python quiet_control.py PORT ACTIONS BEHAVIOUR` passes actions on to a control, but for some of them."""

from __future__ import annotations

import http.client
import json
import sys


def main(port: str, broken: str, behaviour: str) -> int:
    asked = sys.stdin.read()
    if json.loads(asked)["action"] in broken.split(","):
        if behaviour.isdecimal():
            return int(behaviour)
        print(behaviour)
        return 0
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
    connection.request("POST", "/control", asked, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    print(answer.read().decode())
    return {200: 0, 422: 65, 501: 64}.get(answer.status, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
