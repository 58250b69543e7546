"""What a run knows about its target and the world around it, the same for every worker."""
