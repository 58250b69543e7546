"""`python -m gateproof` is the command `gateproof`."""

import sys

from gateproof.conformance.cli import main

if __name__ == "__main__":
    sys.exit(main())
