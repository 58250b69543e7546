"""Histories of what people and programs do at a gateway, and what its state table allows at each step."""
