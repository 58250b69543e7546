"""`python -m reference.playground` serves the playground."""

import sys

from reference.playground.command import main

if __name__ == "__main__":
    sys.exit(main())
