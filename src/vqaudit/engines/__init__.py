"""Whoever answers. Each engine is imported where it is used; importing this package imports none."""
