"""The whole gateway of the specification, in memory: honest, readable, safe under concurrency."""
