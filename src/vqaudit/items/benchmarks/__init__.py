"""Benchmarks by name: where their data is, what is known of it, and how it becomes a dataset.

Knows data sets of others. Holds none of their items.
"""

from vqaudit.items.benchmarks.entries import BENCHMARKS
from vqaudit.items.benchmarks.entry import Benchmark, LeftOut, Published, Trap
from vqaudit.items.benchmarks.loading import load_benchmark
from vqaudit.items.benchmarks.names import Wanted, find_benchmark, parse_name

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "LeftOut",
    "Published",
    "Trap",
    "Wanted",
    "find_benchmark",
    "load_benchmark",
    "parse_name",
]
