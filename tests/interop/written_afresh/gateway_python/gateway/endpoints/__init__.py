"""HTTP in and out; what happens in between is in the modules above."""
