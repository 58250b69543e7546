"""Odd and hostile input: values and requests that are wrong in exactly one way."""
