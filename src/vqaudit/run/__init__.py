"""Executes plans: requests out, outcomes read, records written; stopped at any time and resumed."""

from vqaudit.run.cost import CostEstimate, estimate_cost
from vqaudit.run.driver import Session, run_plan
from vqaudit.run.requests import AskSpec, make_request
from vqaudit.run.spec import AuditSpec, make_audit_plan, make_spec

__all__ = [
    "AskSpec",
    "AuditSpec",
    "CostEstimate",
    "Session",
    "estimate_cost",
    "make_audit_plan",
    "make_request",
    "make_spec",
    "run_plan",
]
