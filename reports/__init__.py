"""The record of a run, its verdicts, and the output formats: one module for each format."""
