"""Names of environment variables, importable without the other modules of the reports."""

SIGN_KEY = "GATEPROOF_SIGN_KEY"
