"""Tiny random models of every supported family. Loaded by path: see `tests/engines/local/conftest.py`."""
