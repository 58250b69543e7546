"""The proof with mutants: changes of the reference that a machine made."""
