"""Placeholder."""
adapter_ = None
