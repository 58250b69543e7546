"""Odd and malicious input: values and requests with exactly one defect."""
