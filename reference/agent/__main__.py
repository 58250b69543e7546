"""`python -m reference.agent` is one run of the agent."""

import sys

from reference.agent.command import main

if __name__ == "__main__":
    sys.exit(main())
