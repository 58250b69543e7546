"""A gateway whose answers a test can script, for services and agents under test."""
