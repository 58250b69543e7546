"""What a run knows of its target and of the world around it: the same for every worker."""
