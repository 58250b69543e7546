"""Scriptable, hostile stand-ins for the parties around a target. Test doubles only."""
