"""Gateways that chose differently where the specification leaves a choice; each is as good as the reference."""
