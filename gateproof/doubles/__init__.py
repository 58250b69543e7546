"""What test doubles and the reference have in common as HTTP servers; imports none of the four parts."""
