"""What `gateproof doctor` looks at before a run."""
