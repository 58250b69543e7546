"""`python -m gateproof.reference.service` serves the operator's service."""

import sys

from gateproof.reference.service.command import main

if __name__ == "__main__":
    sys.exit(main())
