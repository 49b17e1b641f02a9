"""Trials that take their worker with them: recorded as failed, so that the rest of their group goes on.

Knows plans and records. Asks nobody.
"""

from __future__ import annotations

from dataclasses import replace

from vqaudit.asking.prompts import render
from vqaudit.engines.base import Outcome
from vqaudit.records import PartWriter
from vqaudit.run.executors.base import Desk
from vqaudit.run.groups import Waiting
from vqaudit.run.outcomes import make_record

__all__ = ["give_up"]


def give_up(desk: Desk, waiting: Waiting) -> Waiting:
    """Writes a failed record for every suspect of a group and returns the group without them.

    A resumed run asks them again, like whatever failed.
    """
    group = desk.group(waiting)
    worker = f"s{desk.owner.state.number}driver"
    why = f"{waiting.strikes} workers in a row were lost while this trial was in hand"
    records = []
    for trial in group.plan.trials:
        if trial.id in waiting.suspects:
            prompt = render(group.plan.items[trial.item], trial.variant)
            attempt = group.attempts.get(trial.id, group.attempts_from)
            outcome = Outcome(trial=trial.id, error=why)
            records.append(make_record(group.plan, trial, prompt, outcome, attempt=attempt, worker=worker))
    PartWriter(desk.out, worker=worker).write(records)
    desk.count(len(records), len(records))
    return replace(waiting, pending=waiting.pending - waiting.suspects, suspects=frozenset(), strikes=0)
