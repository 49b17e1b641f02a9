"""Designs against the full grid, on simulated benchmarks with the paper's 1,680 cells: cost, ranking, intervals.

    python benchmarks/bench_designs.py --cells ../shared/papers/format_grid.csv [--quick] [--json FILE]

Every interval comes from the functions that a summary calls (`vqaudit.analysis.drawn`), on arrays of repeats.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from design_rules import sequential_ranking, sequential_width, two_stage
from design_worlds import (
    FORMATS,
    ITEM_SHARE,
    MODELS,
    OPTIONS,
    POSITION_SD,
    Floats,
    Ints,
    World,
    difficulties,
    draw_design,
    full_table,
    grid_truth,
    make_world,
    outcomes_of_sample,
    outcomes_of_table,
    read_cells,
)
from prompteval import prompt_eval
from scipy.stats import binom, rankdata

from vqaudit.analysis.drawn import (
    Drawn,
    Question,
    difference_interval,
    items_variance,
    mean_interval,
    weigh,
    within_item_variance,
    within_stratum_variance,
)
from vqaudit.analysis.ranks import holm

STANDARD = {
    "A-OKVQA": ("lower", "double_brackets", "line_break"),
    "MMBench-DEV": ("upper", "dot", "semicolon"),
    "MME-RealWorld-Lite": ("upper", "double_brackets", "line_break"),
}
"""Paper 1, Table 5, where it is not upper/dot/line_break."""
DETAILED = ("HR-Bench-4K", "V*Bench")
"""Datasets whose levels and pairs are checked too: the small ones, where intervals are hardest."""
BATCH = 1_500_000
EDGE = 0.05
"""Half-width ratios are taken over figures whose truth lies between this and one minus it."""
TABLES = 4
"""Fixed datasets that redraws are spread over."""


@dataclass(kw_only=True)
class Tally:
    """Hits, half-widths and estimates of one kind of interval; one column per figure."""

    hits: list[Floats] = field(default_factory=list)
    halves: list[Floats] = field(default_factory=list)
    errors: list[Floats] = field(default_factory=list)
    edge: bool = False
    """Whether the truth is so near 0 or 1 that estimates hardly vary and a ratio to their spread says nothing."""

    def add(self, question: Question, truth: float, *, difference: bool = False) -> None:
        """Counts one batch of repeats."""
        self.edge |= not difference and not EDGE <= truth <= 1 - EDGE
        interval = difference_interval(question) if difference else mean_interval(question)
        self.hits.append((interval.low <= truth + 1e-12) & (truth - 1e-12 <= interval.high))
        self.halves.append((interval.high - interval.low) / 2)
        self.errors.append(question.value - truth)


@dataclass(kw_only=True)
class Book:
    """All tallies of one dataset, difficulty and design."""

    tallies: dict[tuple[str, str, int], Tally] = field(default_factory=dict)

    def of(self, quantity: str, question: str, place: int) -> Tally:
        """Returns the tally of one figure."""
        return self.tallies.setdefault((quantity, question, place), Tally())

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per quantity and question: the worst coverage, the mean and largest ratio."""
        for quantity, question in sorted({key[:2] for key in self.tallies}):
            parts = [tally for key, tally in self.tallies.items() if key[:2] == (quantity, question)]
            hits = [np.concatenate(t.hits) for t in parts]
            inner = [t for t in parts if not t.edge]
            ratios = [np.concatenate(t.halves).mean() / (1.96 * np.concatenate(t.errors).std()) for t in inner]
            yield {
                "quantity": quantity,
                "question": question,
                "checks": len(parts),
                "repeats": hits[0].size,
                "interval_coverage": float(np.mean([h.mean() for h in hits])),
                "worst_coverage": float(min(h.mean() for h in hits)),
                "ratios": len(ratios),
                "half_width_ratio": float(np.mean(ratios)),
                "largest_ratio": float(max(ratios)),
                "_hits": [int(h.sum()) for h in hits],
            }


def batches(repeats: int, size: int) -> Iterator[int]:
    """Cuts repeats so that one array of outcomes stays small."""
    each = max(1, BATCH // size)
    while repeats > 0:
        yield min(each, repeats)
        repeats -= each


def spearman(values: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Returns repeats' Spearman correlations (average ranks) and how many models have their rank."""
    ranks, true = rankdata(-values, axis=1), rankdata(-truth)
    a, b = ranks - ranks.mean(axis=1, keepdims=True), true - true.mean()
    correlation = (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum())
    return correlation, (ranks == true).sum(axis=1)


def add_figures(book: Book, outcomes: list[Floats], formats: Ints, context: dict[str, Any]) -> None:
    """Adds every interval of one batch: the grid accuracies, and where asked for levels and paired differences."""
    clusters = context.get("clusters", np.arange(formats.shape[1]))
    sample, draws, truth = context["sample"], formats.shape[2], context["truth"]
    within = within_item_variance if draws > 1 else within_stratum_variance
    variance = items_variance if sample else within
    question = "items like these" if sample else "this dataset"
    weights = weigh(outcomes[0], by_item=True)
    accuracy = truth.mean(axis=1)
    for model, values in enumerate(outcomes):
        book.of("grid accuracy", question, model).add(
            variance(Drawn(values, formats, FORMATS, clusters), weights), accuracy[model]
        )
    if not context["detailed"]:
        return
    for place, (a, b) in enumerate(context["pairs"]):
        drawn = Drawn(outcomes[a] - outcomes[b], formats, FORMATS, clusters)
        book.of("difference", question, place).add(variance(drawn, weights), accuracy[a] - accuracy[b], difference=True)
    add_levels(book, outcomes, formats, context)


def add_levels(book: Book, outcomes: list[Floats], formats: Ints, context: dict[str, Any]) -> None:
    """Adds the accuracy of every level of every factor for some models."""
    levels, sample = context["levels"], context["sample"]
    clusters = np.arange(formats.shape[1])
    variance: Callable[[Drawn, Floats], Question] = items_variance if sample else within_stratum_variance
    for model in context["level_models"]:
        for factor in range(levels.shape[1]):
            for level in range(levels[:, factor].max() + 1):
                member = levels[:, factor] == level
                values = np.where(member[formats], outcomes[model], np.nan)
                numbers = np.where(member, np.cumsum(member) - 1, 0)
                drawn = Drawn(values, numbers[formats], int(member.sum()), clusters)
                place = 100 * model + 10 * factor + level
                question = "items like these" if sample else "this dataset"
                book.of("level", question, place).add(
                    variance(drawn, weigh(values, by_item=False)), context["truth"][model][member].mean()
                )


def randomised(world: World, draws: int, repeats: int, *, shared: bool, seed: int) -> list[dict[str, Any]]:
    """Returns the rows of k draws per item on fixed datasets and on sampled ones."""
    rng = np.random.default_rng([seed, draws, int(shared)])
    book, ranks, right, errors = Book(), [], [], []
    context: dict[str, Any] = {
        "detailed": world.name in DETAILED,
        "levels": world.levels,
        "pairs": [(a, b) for a in range(len(MODELS)) for b in range(a)][:: 1 if draws == 1 else 3],
        "level_models": (0, 1, 4) if draws == 1 else (1,),
    }
    for _ in range(TABLES):
        table = full_table(world, rng, shared=shared)
        truth = grid_truth(world, table)
        for size in batches(repeats // TABLES, world.items * draws):
            formats, rotations = draw_design(world.options, draws=draws, repeats=size, rng=rng)
            outcomes = [outcomes_of_table(part, formats, rotations) for part in table]
            add_figures(book, outcomes, formats, context | {"sample": False, "truth": truth})
            means = np.stack([values.mean(axis=(1, 2)) for values in outcomes], axis=1)
            correlation, count = spearman(means, world.truth())
            ranks.append(correlation)
            right.append(count)
            errors.append(np.abs(means - truth.mean(axis=1)))
    for size in batches(repeats, world.items * draws):
        formats, rotations = draw_design(world.options, draws=draws, repeats=size, rng=rng)
        hard = difficulties(world, rng, shared=shared, repeats=size)
        outcomes = [
            outcomes_of_sample(world.thresholds[m], hard[:, m], formats, rotations, rng) for m in range(len(MODELS))
        ]
        add_figures(book, outcomes, formats, context | {"sample": True, "truth": world.cells})
    head = {
        "spearman": float(np.concatenate(ranks).mean()),
        "spearman_p5": float(np.quantile(np.concatenate(ranks), 0.05)),
        "correctly_ranked": float(np.concatenate(right).mean()),
        "mae_pp": float(100 * np.concatenate(errors).mean()),
    }
    return [head | {"design": "randomised", "draws": draws, "passes": draws} | row for row in book.rows()]


def clustered(world: World, repeats: int, *, seed: int) -> list[dict[str, Any]]:
    """Returns the row of items that come in groups of four with one difficulty, for items like these, two draws."""
    rng = np.random.default_rng([seed, 99])
    book, groups = Book(), np.arange(world.items) // 4
    context = {"sample": True, "truth": world.cells, "detailed": False, "clusters": groups}
    for size in batches(repeats, world.items * 2):
        formats, rotations = draw_design(world.options, draws=2, repeats=size, rng=rng)
        hard = difficulties(world, rng, shared=False, repeats=size)[:, :, groups * 4]
        outcomes = [
            outcomes_of_sample(world.thresholds[m], hard[:, m], formats, rotations, rng) for m in range(len(MODELS))
        ]
        add_figures(book, outcomes, formats, context)
    return [{"design": "randomised, groups of 4", "draws": 2, "passes": 2} | row for row in book.rows()]


def reference(world: World) -> dict[str, Any]:
    """Returns the row of one format in all orders: the dataset's standard one, read off the cells."""
    names = STANDARD.get(world.name, ("upper", "dot", "line_break"))
    place = next(p for p, key in enumerate(FORMAT_NAMES) if key == names)
    correlation, count = spearman(world.cells[None, :, place], world.truth())
    return {
        "design": "reference",
        "draws": 1,
        "passes": float(world.options.mean()),
        "spearman": float(correlation[0]),
        "spearman_p5": float(correlation[0]),
        "correctly_ranked": float(count[0]),
        "mae_pp": float(100 * np.abs(world.cells[:, place] - world.truth()).mean()),
        "interval_coverage": None,
        "half_width_ratio": None,
    }


FORMAT_NAMES: list[tuple[str, ...]] = []


def dataset_rows(world: World, repeats: int, *, shared: bool, seed: int) -> list[dict[str, Any]]:
    """Returns all rows of one dataset and difficulty."""
    found = [reference(world)]
    for draws in (1, 2, 4):
        found += randomised(world, draws, repeats, shared=shared, seed=seed)
    rng = np.random.default_rng([seed, 7, int(shared)])
    table = full_table(world, rng, shared=shared)
    found.append(two_stage(world, table, repeats=max(20, repeats // 10), rng=rng))
    found.append(prompt_eval(world, table, repeats=max(10, repeats // 40), rng=rng, score=spearman))
    if world.name == "HR-Bench-4K":
        found += clustered(world, repeats, seed=seed)
    if world.name in DETAILED:
        found.append(sequential_width(world, table, repeats=repeats, rng=rng))
        found.append(sequential_ranking(world, table, repeats=max(20, repeats // 4), rng=rng))
    common = {"dataset": world.name, "difficulty": "shared" if shared else "independent"}
    return [common | row for row in found]


def judge(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Holds coverages against 95 % over all checks, and ratios against their limits."""
    checked = [(row, hits) for row in rows for hits in row.pop("_hits", [])]
    p_values = [float(binom.cdf(hits, row["repeats"], 0.95)) for row, hits in checked]
    adjusted = holm(p_values)
    limits = [
        (row["half_width_ratio"], 1.5 if row["draws"] == 1 and row["question"] == "this dataset" else 1.15)
        for row in rows
        if row.get("half_width_ratio") and row["design"].startswith("randomised")
    ]
    spreads = [row["spread_mae_pp"] for row in rows if row["design"] == "two-stage"]
    return {
        "coverage_checks": len(checked),
        "smallest_adjusted_p": min(adjusted),
        "coverage_holds": min(adjusted) > 0.00135,
        "worst_coverage": min(hits / row["repeats"] for row, hits in checked),
        "ratios_over_their_limit": sum(ratio > limit for ratio, limit in limits),
        "ratios": len(limits),
        "two_stage_spread_mae_pp": float(np.mean(spreads)),
        "one_pass_spearman_worse_difficulty": {
            name: min(r["spearman"] for r in rows if (r["dataset"], r["design"], r["draws"]) == (name, "randomised", 1))
            for name in OPTIONS
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    default = Path(__file__).resolve().parents[2] / "shared" / "papers" / "format_grid.csv"
    parser.add_argument("--cells", type=Path, default=default, help="CSV of the paper's 1,680 cells")
    parser.add_argument("--quick", action="store_true", help="40 repeats instead of 2,000")
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not given.cells.exists():
        print(f"no table of cells at {given.cells}; name it with --cells", file=sys.stderr)
        return 0 if given.quick else 1
    started = time.process_time()
    cells, names = read_cells(given.cells)
    FORMAT_NAMES[:] = names
    repeats, rows = 40 if given.quick else 2000, []
    for name, (table, levels) in cells.items():
        world = make_world(name, table, levels, seed=given.seed)
        for shared in (True, False):
            rows += dataset_rows(world, repeats, shared=shared, seed=given.seed)
            print(f"{name}, {'shared' if shared else 'independent'}: {time.process_time() - started:.0f} s")
    verdict = judge(rows)
    command = ["python", "benchmarks/bench_designs.py", "--cells", given.cells.name, *(["--quick"] * given.quick)]
    model = {"item_share": ITEM_SHARE, "position_sd": POSITION_SD, "options": OPTIONS, "text": _item_model()}
    seconds = time.process_time() - started
    head = {"seed": given.seed, "repeats": repeats, "command": command, "item_model": model, "seconds": seconds}
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(head | {"verdict": verdict, "results": rows}, indent=1, allow_nan=False)
        given.json.write_text(text + "\n", encoding="utf-8")
    print(json.dumps(verdict, indent=1))
    return 0


def _item_model() -> str:
    import design_worlds

    return " ".join((design_worlds.__doc__ or "").split())


if __name__ == "__main__":
    raise SystemExit(main())
