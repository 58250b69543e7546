"""The parts of report.html, as functions from values to markup."""
