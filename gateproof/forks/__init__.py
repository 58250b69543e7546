"""Processes that are forked from one that has loaded their modules; imports none of the four parts."""
