"""`python -m conformance` is `gateproof`."""

import sys

from conformance.cli import main

if __name__ == "__main__":
    sys.exit(main())
