"""The rules, worst first. A new rule is a value in a file of this folder and a name in this tuple."""

from vqaudit.lint.rules.ids_and_scored_strings import CUT_OPTION_TEXTS, IDS_SCORED_NOT_SHOWN, IDS_SHOWN_TEXTS_SCORED
from vqaudit.lint.rules.instructions import CONTRADICTORY, DEAD_SETTING, LITERAL_ESCAPE, MODEL_SPECIFIC
from vqaudit.lint.rules.limits import LONG_GENERATION, REASONING_CUT_SHORT, REASONING_STOPPED
from vqaudit.lint.rules.readers import GUESSES, READS_PROSE, UNREQUESTED_FORM, WHOLE_STRING
from vqaudit.lint.rules.reasoning_scored_at_once import (
    ANALYSIS_SCORED_AT_ONCE,
    REASONING_SCORED_AT_ONCE,
    THINKING_SCORED_AT_ONCE,
)
from vqaudit.lint.rules.rule import Hit, Rule

__all__ = ["RULES", "Hit", "Rule"]

RULES: tuple[Rule, ...] = (
    REASONING_SCORED_AT_ONCE,
    THINKING_SCORED_AT_ONCE,
    WHOLE_STRING,
    ANALYSIS_SCORED_AT_ONCE,
    IDS_SHOWN_TEXTS_SCORED,
    CUT_OPTION_TEXTS,
    REASONING_CUT_SHORT,
    REASONING_STOPPED,
    CONTRADICTORY,
    READS_PROSE,
    GUESSES,
    DEAD_SETTING,
    LITERAL_ESCAPE,
    IDS_SCORED_NOT_SHOWN,
    LONG_GENERATION,
    MODEL_SPECIFIC,
    UNREQUESTED_FORM,
)
