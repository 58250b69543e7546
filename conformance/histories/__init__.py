"""Generated histories of operations at a gateway, and a model of the state table that judges each step."""
