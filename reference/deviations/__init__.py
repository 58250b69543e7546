"""What defects and variants are built from: wrappers around an honest party, for all roles."""
