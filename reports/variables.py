"""Environment variables that are known by name where nothing else of the reports is loaded."""

SIGN_KEY = "GATEPROOF_SIGN_KEY"
