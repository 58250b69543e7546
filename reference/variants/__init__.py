"""Gateways that chose differently where the specification leaves a choice: each as good as the reference."""
