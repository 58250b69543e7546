"""The service's decisions: pure functions of facts, one file for each party that they are about."""
