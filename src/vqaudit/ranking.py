"""Several models, drawn on until their ranking on one dataset is settled.

Knows audits and the ranking rule. Computes no statistic itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vqaudit.analysis.sequential import RankingRule, look_schedule
from vqaudit.asking.plan import grid_size
from vqaudit.auditing import audit, load_data
from vqaudit.engines.base import Engine
from vqaudit.errors import PlanError
from vqaudit.items import Dataset
from vqaudit.records import RunTables, write_text
from vqaudit.run import make_spec
from vqaudit.run.spec import chosen_formats

__all__ = ["Ranking", "audit_ranking"]

_RULE = {"margin": 0.01, "max_draws": 16}


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """What was settled, and what it took."""

    verdicts: list[dict[str, Any]]
    """Per pair: `a`, `b`, `state` of a (`better`, `worse`, `equal`, `open`), `value`, `low`, `high`, `draws`."""
    draws: dict[str, int]
    """Draws per item that each model was asked."""
    settled: bool
    saved: float
    """Share of the trials of full grids of all models that were not asked, in [0, 1]."""
    sentences: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return asdict(self)


def audit_ranking(
    models: Mapping[str, Engine | Callable[[], Engine]],
    data: str | Path | Dataset,
    *,
    out: str | Path,
    rule: Mapping[str, float] | None = None,
    progress: bool = True,
    **settings: Any,
) -> Ranking:
    """Asks several models the same random draws until every two are told apart, equal, or the draws are spent.

    After 1, 2, 4, ... draws per item every two models are compared on this dataset; a model all of whose
    comparisons are settled is not asked again. With probability 95 % no statement is false, whenever it was made
    (see `analysis.sequential`). Each model has a run directory in `out`; the same call goes on where it stopped.

    Args:
        models: By name, an engine or what loads one. One loaded model is held at a time, and closed when another is
            asked or at the end.
        data: A dataset, or what `load_data` takes.
        out: Folder of the runs; `ranking.json` is written there.
        rule: `margin` in [0, 1] within which two count as equal (0.01), `max_draws` per item (16).
        progress: Whether to draw a progress bar on standard error.
        **settings: Fields of `AuditSpec`, but for design, draws and until.

    Raises:
        PlanError: Fewer than two models, or a setting that this design decides.
        VqauditError: See `audit`.
    """
    looks = _rule(len(models), rule or {}, settings)
    folders = _folders(models, Path(out))
    dataset = load_data(data)
    spec: dict[str, Any] = settings | {"design": "randomised"}
    full = grid_size(dataset.items, chosen_formats(make_spec(spec))[0]) / len(dataset)
    drawn: dict[str, int] = {}
    verdicts: dict[tuple[str, str], dict[str, Any]] = {}
    with closing(_Loaded(models)) as loaded:
        for draws in looks.looks:
            active = _active(list(models), verdicts)
            for name in loaded.first(active):
                audit(loaded.get(name), dataset, out=folders[name], progress=progress, draws=draws, **spec)
            drawn |= dict.fromkeys(active, draws)
            verdicts |= _look(active, folders, looks, draws, verdicts)
            if not _active(list(models), verdicts):
                break
    found = _ranking(verdicts, drawn, full)
    write_text(Path(out) / "ranking.json", json.dumps(found.to_dict(), indent=1) + "\n")
    return found


class _Loaded:
    """The model that was asked last, kept for when it is asked next; of two at a time memory may not hold both.

    Args:
        models: By name, an engine or what loads one.
    """

    def __init__(self, models: Mapping[str, Engine | Callable[[], Engine]]) -> None:
        self._models = models
        self._name: str | None = None
        self._engine: Engine | None = None

    def first(self, names: list[str]) -> list[str]:
        """Returns the names, that of the model at hand before the others."""
        return sorted(names, key=lambda name: name != self._name)

    def get(self, name: str) -> Engine:
        """Returns a model, loaded unless it is at hand or was given loaded."""
        model = self._models[name]
        if not callable(model):
            return model
        if self._engine is None or self._name != name:
            self.close()
            self._engine, self._name = model(), name
        return self._engine

    def close(self) -> None:
        """Closes the model at hand."""
        if self._engine is not None:
            self._engine.close()
        self._engine = self._name = None


def _rule(models: int, rule: Mapping[str, float], settings: Mapping[str, Any]) -> RankingRule:
    wanted = _RULE | dict(rule)
    unknown = sorted({"design", "draws", "until"} & settings.keys()) + sorted(wanted.keys() - _RULE.keys())
    if models < 2 or unknown:
        raise PlanError(
            f"a ranking needs two models or more, not {models}, and decides on its draws itself; it takes margin "
            f"and max_draws as its rule, and not {unknown}"
        )
    return RankingRule(look_schedule(int(wanted["max_draws"])), float(wanted["margin"]))


def _folders(models: Mapping[str, Any], out: Path) -> dict[str, Path]:
    folders = {name: out / re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") for name in models}
    if len(set(folders.values())) < len(folders):
        raise PlanError(f"the models {', '.join(models)} need names that differ in letters and digits")
    return folders


def _active(names: list[str], verdicts: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[str]:
    """Models with a comparison that is not settled."""
    if not verdicts:
        return names
    waiting = {name for pair, verdict in verdicts.items() if verdict["state"] == "open" for name in pair}
    return [name for name in names if name in waiting]


def _look(
    names: list[str], folders: Mapping[str, Path], rule: RankingRule, draws: int, known: Mapping[tuple[str, str], Any]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Verdicts on the comparisons that were still open."""
    from vqaudit.analysis.comparison import shared_draws
    from vqaudit.analysis.sequential import reach_ranking

    tables = shared_draws([RunTables.load(folders[name]) for name in names], names=names)
    every = len(folders) * (len(folders) - 1) // 2
    found = reach_ranking(names, [table.first(draws) for table in tables], rule, pairs=every)
    return {
        (v.a, v.b): {
            "a": v.a,
            "b": v.b,
            "state": v.state,
            "value": v.estimate.value,
            "low": v.estimate.low,
            "high": v.estimate.high,
            "draws": draws,
        }
        for v in found
        if known.get((v.a, v.b), {"state": "open"})["state"] == "open"
    }


def _ranking(verdicts: Mapping[tuple[str, str], dict[str, Any]], drawn: dict[str, int], full: float) -> Ranking:
    """What was settled; `full` is the draws per item that the whole grid has."""
    rows = list(verdicts.values())
    saved = 1 - sum(drawn.values()) / (len(drawn) * full)
    settled = all(row["state"] != "open" for row in rows)
    sentences = [_sentence(row) for row in rows]
    end = "all comparisons are settled" if settled else "the most draws were reached with comparisons open"
    most = ", ".join(f"{name}: {draws}" for name, draws in drawn.items())
    sentences.append(f"{end} (draws per item: {most}); {100 * saved:.0f} % of the grids' trials saved")
    return Ranking(verdicts=rows, draws=drawn, settled=settled, saved=saved, sentences=sentences)


def _sentence(row: Mapping[str, Any]) -> str:
    words = {
        "better": "is better than",
        "worse": "is worse than",
        "equal": "is equal, within the margin, to",
        "open": "is not told from",
    }
    gap = (
        ""
        if row["value"] is None or row["low"] is None
        else (f" by {100 * row['value']:+.1f} pp [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]")
    )
    return f"{row['a']} {words[row['state']]} {row['b']}{gap} after {row['draws']} draws per item, on this dataset"
