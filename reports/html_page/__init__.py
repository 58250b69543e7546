"""The parts of report.html, each of them a function from values to markup."""
