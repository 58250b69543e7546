"""The honest gateway, that writes its Proxy tokens and its merchants' tokens into a file for the test."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from gateproof.reference.gateway.command import main
from gateproof.reference.gateway.policies import Policies

TOLD = Path(os.environ["TOLD_FILE"])
HONEST = Policies()


def tell(kind: str, value: str | None) -> None:
    if value is not None:
        with TOLD.open("a", encoding="utf-8") as file:
            file.write(json.dumps([kind, value]) + "\n")


def new_proxy_token(*given: Any) -> str:
    token = HONEST.new_proxy_token(*given)
    tell("Proxy token", token)
    return token


def entry_after_provisioning(*given: Any) -> Any:
    entry = HONEST.entry_after_provisioning(*given)
    if entry is not None:
        tell("merchant token", entry.access_token)
        tell("merchant refresh token", entry.refresh_token)
    return entry


if __name__ == "__main__":
    telling = Policies(new_proxy_token=new_proxy_token, entry_after_provisioning=entry_after_provisioning)
    sys.exit(main(policies=telling))
