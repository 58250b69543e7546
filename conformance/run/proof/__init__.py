"""Proofs: the suite against shipped defects and legal variants."""
