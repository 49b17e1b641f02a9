"""What keeping hidden states needs before the first record: an engine that has them, and how it reads IDs.

Knows plans, engines and the run directory. Asks nobody.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vqaudit.asking.plan import Plan
from vqaudit.engines.base import Depth, Engine, StateKeeper
from vqaudit.errors import PlanError, UnsupportedEvent
from vqaudit.records.states import ReadoutTable, write_readout

__all__ = ["check_states", "write_state_readout"]


def check_states(plan: Plan, engine: Engine, depth: Depth | None) -> None:
    """Refuses, before anything is spent, states that nobody can give or that nothing would be kept of.

    Raises:
        UnsupportedEvent: The engine has no hidden states.
        PlanError: No interface scores IDs at the next token.
    """
    if depth is None:
        return
    if not isinstance(engine, StateKeeper):
        raise UnsupportedEvent(
            f"{engine.name} shows no hidden states; --keep-states needs a model that runs here, with the local engine"
        )
    if not any(interface.event == "id-scores" for interface in plan.interfaces):
        names = ", ".join(interface.name for interface in plan.interfaces)
        raise PlanError(
            f"states are kept beside ID scores, and {names} scores none; add -i bare-scores -i cot-prefix, "
            "or leave --keep-states out"
        )
    engine.check_depth(depth)


def write_state_readout(out: Path, plan: Plan, engine: Engine, depth: Depth | None) -> None:
    """Writes, once per session, the rows of the output embedding of all IDs that the plan shows."""
    if depth is None or not isinstance(engine, StateKeeper):
        return
    sets = {format.id_set.name: engine.readout(plan.vocabulary(format)) for format in plan.formats}
    rows = {token: row for readout in sets.values() for token, row in readout.rows.items()}
    biases = {token: bias for readout in sets.values() for token, bias in readout.biases.items()}
    one = next(iter(sets.values()))
    tokens = sorted(rows)
    write_readout(
        out,
        ReadoutTable(
            depth=depth,
            layers=one.layers,
            width=one.width,
            softcap=one.softcap,
            id_sets={name: readout.token_ids for name, readout in sets.items()},
            token_ids=np.array(tokens, dtype=np.int64),
            rows=np.stack([rows[t] for t in tokens]) if tokens else np.zeros((0, one.width), dtype=np.float32),
            biases=np.array([biases[t] for t in tokens], dtype=np.float32),
        ),
    )
