"""What goes wrong where: the faults as data, and what brings them about."""
