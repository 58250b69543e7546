"""Read the orders: python -m orders_agent --service URL"""

from __future__ import annotations

import asyncio
import json
import logging
import sys

from . import settings
from .agent import Agent
from .errors import AgentError


def main() -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("orders_agent").setLevel(logging.INFO)
    try:
        orders = asyncio.run(Agent(settings.read()).run())
    except AgentError as error:
        print(f"orders-agent: {error}", file=sys.stderr)
        return 1
    for order in orders:
        if isinstance(order, dict):
            print(json.dumps({"id": order.get("id"), "item": order.get("item")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
