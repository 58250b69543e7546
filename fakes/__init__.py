"""Test doubles of the parties around a target; they can be scripted, also to behave badly."""
