"""Executes plans: requests out, outcomes read, records written; stopped at any time and resumed."""

from vqaudit.run.audit_plan import make_audit_plan
from vqaudit.run.cost import estimate_cost
from vqaudit.run.driver import run_plan
from vqaudit.run.requests import AskSpec
from vqaudit.run.spec import AuditSpec, make_spec

__all__ = ["AskSpec", "AuditSpec", "estimate_cost", "make_audit_plan", "make_spec", "run_plan"]
