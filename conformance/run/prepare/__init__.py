"""What is made ready before a run: targets, merchants, and what can be tested."""
