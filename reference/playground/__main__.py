"""`python -m gateproof.reference.playground` serves the playground."""

import sys

from gateproof.reference.playground.command import main

if __name__ == "__main__":
    sys.exit(main())
