"""`python -m gateproof.reference.agent` is one run of the agent."""

import sys

from gateproof.reference.agent.command import main

if __name__ == "__main__":
    sys.exit(main())
