"""Executes plans: requests out, outcomes read, records written; stopped at any time and resumed."""

from vqaudit.run.driver import Session, run_plan
from vqaudit.run.requests import AskSpec, make_request

__all__ = ["AskSpec", "Session", "make_request", "run_plan"]
