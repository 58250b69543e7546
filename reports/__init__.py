"""Verdicts and what is drawn from them: one module an output."""
