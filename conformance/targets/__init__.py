"""The implementation under test: its target file, its control, its launch."""
