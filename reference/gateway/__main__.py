"""`python -m gateproof.reference.gateway` serves the gateway."""

import sys

from gateproof.reference.gateway.command import main

if __name__ == "__main__":
    sys.exit(main())
