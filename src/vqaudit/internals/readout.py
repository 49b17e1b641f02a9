"""A retrained readout: a low-rank change of the output embedding, fitted to stored states (paper 2, section 3).

Knows states, rows of the output embedding and torch. Knows no model: what it changes can be put into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from vqaudit.analysis.estimates import mean_estimate
from vqaudit.analysis.internals import INTERNALS_FOLDER, Fitting, ReadoutFindings, ReadoutRow
from vqaudit.errors import AnalysisError
from vqaudit.internals.bootstrap import over_seeds
from vqaudit.internals.material import Material, Side
from vqaudit.internals.native import IDTokenPlan, apply_softcap, id_logits, plan_ids
from vqaudit.internals.probe import masked_choice
from vqaudit.internals.spec import ProbeSpec
from vqaudit.records.files import save_table

__all__ = ["Retrained", "readout_findings", "retrain", "write_rows"]

BOTH = "both"
"""Trained on the examples of all conditions at once."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Taught(NamedTuple):
    """What a readout is fitted to."""

    states: Floats
    places: Ints
    """Examples x positions x spellings; -1 where there is none."""
    target: Ints


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrained:
    """Changed rows of the output embedding, one table per seed."""

    plan: IDTokenPlan
    rows: Floats
    """Seeds x tokens x width: rows to put in the place of the model's, in the order of `plan.table.token_ids`."""

    def choices(self, states: Floats, places: Ints, n_options: Ints) -> Ints:
        """Returns the position that each seed chooses: seeds x examples."""
        table = self.plan.table
        found = []
        for rows in self.rows:
            logits = apply_softcap(states @ rows.T + table.biases, table.softcap)
            found.append(masked_choice(id_logits(logits, places), n_options))
        return np.stack(found)


def readout_findings(material: Material, spec: ProbeSpec) -> ReadoutFindings:
    """Retrains the readout on every condition but Direct, and on all together, and scores all conditions by it.

    Writes the merged rows of the first seed as `internals/readout-NAME.parquet`.

    Raises:
        AnalysisError: A shown ID takes several tokens.
    """
    test = material.test
    plans = [plan_ids(side) for side in (material.train, test)]
    if plans[0] is None or plans[1] is None:
        raise AnalysisError("a shown ID takes several tokens, so rows of single tokens cannot be retrained to read it")
    names = test.examples.conditions
    sources = {name: [name] for name in names if name != test.examples.direct} | {BOTH: list(names)}
    fitted = {name: _fitted(material.train, plans[0], conditions, spec) for name, conditions in sources.items()}
    run = test.examples.tables.path
    files = {name: write_rows(run, f"readout-{name}", one) for name, one in fitted.items()}
    return ReadoutFindings(
        fitting=_describe(material, spec),
        rank=spec.rank,
        tokens=int(plans[0].table.token_ids.size),
        retrained={
            name: {scored: _judge(one, test, plans[1], scored, spec) for scored in names}
            for name, one in fitted.items()
        },
        files=files,
    )


def _describe(material: Material, spec: ProbeSpec) -> Fitting:
    return Fitting(
        sentence=material.sentence,
        train=len(material.train.rows),
        validation=None,
        test=len(material.test.rows),
        test_groups=material.test.n_groups,
        seeds=spec.seeds,
        epochs=spec.readout_epochs,
        rate=spec.readout_rate,
        decay=spec.decay,
        batch=spec.batch,
        seed=spec.seed,
        layer=material.test.examples.last_layer,
    )


def _fitted(train: Side, plan: IDTokenPlan, conditions: Sequence[str], spec: ProbeSpec) -> Retrained:
    states = np.concatenate([train.states(name) for name in conditions])
    places = np.concatenate([plan.of_examples] * len(conditions))
    target = np.concatenate([train.target] * len(conditions))
    return retrain(Taught(states, places, target), plan, spec)


def retrain(taught: Taught, plan: IDTokenPlan, spec: ProbeSpec) -> Retrained:
    """Fits a change B A of the output embedding, of low rank, to the right IDs; nothing is selected.

    Paper 2 trains rank-32 LoRA adapters (Hu et al. 2022) on the vocabulary projection alone, with frozen layers, ten
    epochs and no validation. Here the loss is the cross-entropy over the shown IDs, scored as the records score them,
    so only the rows of the IDs' tokens matter and stored states are enough: B has a row for each of these tokens,
    begins at 0, and A as `torch.nn.Linear`; the change is B A, unscaled. Its rank is at most the number of rows.

    Args:
        taught: States, IDs and right positions.
        plan: The rows that are changed.
        spec: Rank, epochs, rate, batch, seeds.
    """
    table = plan.table
    device = torch.device(spec.device)
    rows, biases = (torch.tensor(array, device=device) for array in (table.rows, table.biases))
    states, places, target = (torch.tensor(array, device=device) for array in taught)
    found = []
    for seed in range(spec.seeds):
        rng = np.random.default_rng([spec.seed, seed, 2])
        drawn = rng.uniform(-1, 1, (spec.rank, table.width)) / np.sqrt(table.width)
        down = torch.tensor(drawn, dtype=torch.float32, device=device, requires_grad=True)
        up = torch.zeros(len(rows), spec.rank, device=device, requires_grad=True)
        optimiser = torch.optim.AdamW([down, up], lr=spec.readout_rate, weight_decay=spec.decay)
        for _ in range(spec.readout_epochs):
            for batch in torch.from_numpy(rng.permutation(len(target))).to(device).split(spec.batch):
                optimiser.zero_grad(set_to_none=True)
                logits = states[batch] @ (rows + up @ down).T + biases
                _loss(_capped(logits, table.softcap), places[batch], target[batch]).backward()
                optimiser.step()
        found.append((rows + up @ down).detach().cpu().numpy())
    return Retrained(plan=plan, rows=np.stack(found))


def _capped(logits: torch.Tensor, softcap: float | None) -> torch.Tensor:
    return logits if softcap is None else softcap * (logits / softcap).tanh()


def _loss(logits: torch.Tensor, places: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    absent = places < 0
    gathered = logits[:, None, :].expand(-1, places.shape[1], -1).gather(2, places.clamp(min=0))
    # not -inf: a position without any ID would have no gradient that is a number
    lowest = torch.finfo(logits.dtype).min
    scores = gathered.masked_fill(absent, lowest).logsumexp(-1)
    return torch.nn.functional.cross_entropy(scores, target)


def _judge(one: Retrained, test: Side, plan: IDTokenPlan, condition: str, spec: ProbeSpec) -> ReadoutRow:
    own = test.examples.native[condition][test.rows]
    before = (own == test.target).astype(float)
    chosen = one.choices(test.states(condition), plan.of_examples, test.n_options)
    after = (chosen == test.target).astype(float)
    changed = over_seeds(after - before, clusters=test.clusters, seed=spec.seed)
    return ReadoutRow(
        before=mean_estimate(before, clusters=test.clusters),
        after=over_seeds(after, clusters=test.clusters, seed=None).estimate,
        change=changed.estimate,
        seed_sd=changed.seed_sd,
    )


def write_rows(run: Path, name: str, retrained: Retrained) -> str:
    """Writes the merged rows of the first seed as `internals/NAME.parquet` and returns that name.

    Columns: `token_id`, and `row`, which is to stand in its place in the output embedding.
    """
    rows = retrained.rows[0]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1), pa.float32()), rows.shape[1])
    table = pa.table({"token_id": pa.array(retrained.plan.table.token_ids), "row": lists})
    save_table(run / INTERNALS_FOLDER / f"{name}.parquet", table)
    return f"{INTERNALS_FOLDER}/{name}.parquet"
