"""A gateway that says whatever a test wants it to say, for services and agents under test."""
