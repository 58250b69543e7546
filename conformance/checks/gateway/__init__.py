"""What is asked of a gateway."""
