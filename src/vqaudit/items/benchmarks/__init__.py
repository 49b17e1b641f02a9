"""Benchmarks by name: where their data is, what is known of it, and how it becomes a dataset.

Knows data sets of others. Holds none of their items.
"""

from vqaudit.items.benchmarks.entries import BENCHMARKS
from vqaudit.items.benchmarks.entry import Benchmark, Published
from vqaudit.items.benchmarks.loading import load_benchmark
from vqaudit.items.benchmarks.names import find_benchmark, parse_name

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Published",
    "find_benchmark",
    "load_benchmark",
    "parse_name",
]
