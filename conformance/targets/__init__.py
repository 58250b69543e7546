"""The implementation under test: its target file, control API and launch."""
