"""Keeps transformers from printing.

Knows transformers' own logger and progress bars; leaves every other logger alone and restores what it found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging

__all__ = ["quiet"]


@contextmanager
def quiet() -> Iterator[None]:
    """While it is open, transformers prints errors only and shows no progress bar.

    What matters of its warnings is checked where it arises (missing weights: `loading`) and raised as an error.
    """
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
