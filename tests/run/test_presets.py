"""Presets: many settings in one word."""

import pytest

from vqaudit.asking.endings import ENDINGS
from vqaudit.errors import PlanError, VariantError
from vqaudit.items.item import Item
from vqaudit.run import make_audit_plan, make_spec
from vqaudit.run.spec import chosen_interface

ITEMS = [Item(id=f"q{n}", question="?", options=("a", "b", "c"), answer=0) for n in range(2)]


def test_interfaces_asks_every_ending_twice_and_both_experiments() -> None:
    spec = make_spec({"preset": "interfaces"})
    plan = make_audit_plan(ITEMS, spec)
    asked = {(i.ending.name, i.event) for i in plan.interfaces if i.options_shown}
    for ending in ENDINGS:
        assert {(ending, "id-scores"), (ending, "generation")} <= asked
    assert {("bare", "forced-token"), ("cot", "forced-token"), ("bare", "option-likelihood")} <= asked
    assert {("cot", "option-likelihood"), ("cot", "rationale-scores")} <= asked
    designs = {(reason.interface, reason.design) for reason in plan.reasons}
    for design in ("permuted", "whose-a"):
        assert {("bare-scores", design), ("cot-prefix", design)} <= designs
    assert all(design == "reference" for interface, design in designs if interface == "direct")


def test_what_is_named_beside_a_preset_is_asked_too() -> None:
    spec = make_spec({"preset": "interfaces", "interface": "reply:bare@grid", "max_tokens": 9})
    assert spec.interface[-1] == "reply:bare@grid"
    assert spec.max_tokens == 9


def test_a_contradiction_or_an_unknown_name_is_refused() -> None:
    with pytest.raises(PlanError, match="sets orders to 'dataset', not 'circular'"):
        make_spec({"preset": "interfaces", "orders": "circular"})
    with pytest.raises(PlanError, match="no preset 'all': choose from interfaces"):
        make_spec({"preset": "all"})


def test_endings_and_answer_cue_of_the_spec_reach_the_interface(tmp_path) -> None:
    path = tmp_path / "endings.json"
    path.write_text('{"endings": [{"name": "why", "text": "Why?", "asks": "reasoning"}]}', encoding="utf-8")
    spec = make_spec({"endings": path, "answer_cue": "So it is", "interface": "rationale:why"})
    found = chosen_interface("rationale:why", spec)
    assert (found.ending.text, found.cue) == ("Why?", "So it is")
    assert chosen_interface("direct", spec).cue is None
    with pytest.raises(VariantError, match="no ending 'why'"):
        chosen_interface("rationale:why", make_spec({}))
