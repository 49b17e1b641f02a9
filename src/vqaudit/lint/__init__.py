"""Is the event that is scored the event that was asked for? The question, put to what other people run.

Reads task files, results, sample logs and run directories of several harnesses into one description of how a question
is asked and scored, and lets rules judge it. Executes nothing that it reads.
"""

from vqaudit.lint.checking import LintReport, lint_paths
from vqaudit.lint.description import Description
from vqaudit.lint.finding import Finding, Place, Severity
from vqaudit.lint.rules import RULES, Rule

__all__ = ["RULES", "Description", "Finding", "LintReport", "Place", "Rule", "Severity", "lint_paths"]
