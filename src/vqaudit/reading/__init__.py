"""What a reply or a set of scores stands for: one shown option, or a stated reason why none.

Takes plain strings and numbers; knows neither items nor engines, and never the right answer.
"""

from vqaudit.reading.reading import Reading, ReadingOutcome
from vqaudit.reading.replies import READER_VERSION, read_exact, read_reply
from vqaudit.reading.scores import (
    CombinedSpellings,
    ScoreReading,
    check_log_probabilities,
    combine_spellings,
    read_option_likelihoods,
    read_scores,
)

__all__ = [
    "READER_VERSION",
    "CombinedSpellings",
    "Reading",
    "ReadingOutcome",
    "ScoreReading",
    "check_log_probabilities",
    "combine_spellings",
    "read_exact",
    "read_option_likelihoods",
    "read_reply",
    "read_scores",
]
