"""The plan that follows from what an audit asks."""

import pytest

from vqaudit.asking.plan import grid_size
from vqaudit.errors import PlanError
from vqaudit.items.item import Item
from vqaudit.run import make_audit_plan, make_spec

ITEMS = (
    Item(id="free", question="Which?", options=("red", "green", "blue"), answer=0),
    Item(id="fixed", question="Which?", options=("red", "green", "both A and B"), answer=0, permutable=False),
)


def test_unknown_designs_are_refused() -> None:
    with pytest.raises(PlanError, match="no design 'latin': choose from reference"):
        make_audit_plan(ITEMS, make_spec({"design": "latin"}))


def test_the_grid_has_as_many_trials_as_it_is_said_to_have() -> None:
    plan = make_audit_plan(ITEMS, make_spec({"design": "grid"}))
    assert len(plan) == grid_size(ITEMS) == 48 * (3 + 1)
