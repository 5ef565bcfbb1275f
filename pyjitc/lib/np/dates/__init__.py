"""Dates, durations and business days."""
