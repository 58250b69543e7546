"""`python -m reference.service` serves the operator's service."""

import sys

from reference.service.command import main

if __name__ == "__main__":
    sys.exit(main())
