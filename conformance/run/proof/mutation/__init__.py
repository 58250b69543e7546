"""The proof with mutants: automatically generated changes of the reference."""
