"""One run, summed up: which figures it can tell, and the reason for each that it cannot.

Knows how figures depend on the design. Computes none itself: the modules beside it do.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from vqaudit.analysis import accuracy as acc
from vqaudit.analysis.breakdown import breakdown
from vqaudit.analysis.comparison import Comparison, compare
from vqaudit.analysis.computation import computation
from vqaudit.analysis.cost import cost
from vqaudit.analysis.coverage import NO_REPLY, Fault, coverage, measurement_faults
from vqaudit.analysis.designs import (
    FORMAT_DESIGNS,
    REFERENCE,
    MainTrials,
    completeness,
    main_trials,
    planned_trials,
    trials_of,
)
from vqaudit.analysis.details import Details, without_details
from vqaudit.analysis.details import details as run_details
from vqaudit.analysis.draw_table import draw_table, drawn_mean
from vqaudit.analysis.estimates import ONE_CLUSTER, Estimate
from vqaudit.analysis.figures import known, known_or_why
from vqaudit.analysis.format_figures import format_figures
from vqaudit.analysis.frame import FACTORS, analysis_frame, read_frame
from vqaudit.analysis.imported import imported_figures
from vqaudit.analysis.interfaces import compare_interfaces, interface_details
from vqaudit.analysis.interfaces.details import probe_accuracies
from vqaudit.analysis.internals import read_internals
from vqaudit.analysis.mitigation import Calibration, Material
from vqaudit.analysis.noise import NOT_REPEATED, NoiseFloor, noise_floor
from vqaudit.analysis.remarks import findings, warnings
from vqaudit.analysis.schema import (
    Baselines,
    Counts,
    DesignRow,
    Screening,
    Selection,
    Summary,
)
from vqaudit.analysis.selection import first_position, preference, selection, selection_by
from vqaudit.analysis.this_dataset import EXACT, ThisDataset, this_dataset
from vqaudit.records import RunOutline, RunTables, read_manifest
from vqaudit.records.parts import REPEATS

__all__ = ["Comparison", "Summary", "compare", "summarise", "summarise_directory"]


class _Run(NamedTuple):
    outline: RunOutline
    whole: RunTables | None
    """With its records; None where they are too many to be read as a whole."""
    frame: pl.DataFrame
    plan: pl.DataFrame
    main: MainTrials
    seed: int


def summarise(
    tables: RunTables,
    *,
    by: str | None = None,
    seed: int = 0,
    details: bool = True,
    calibration: Calibration | None = None,
) -> Summary:
    """Sums up a run, also one that is still being written.

    Args:
        tables: From `RunTables.load`.
        by: A column to break the main figures down by, such as `category`; see `breakdown.BREAKDOWNS`.
        seed: Of everything random: the same records and seed give the same numbers.
        details: Whether to tell effects, mitigations, confidence groups and position apart from ID too; a grid of
            40,000 trials takes about two seconds more.
        calibration: Where PriDe's prior comes from; a tenth of the items where None.

    Raises:
        AnalysisError: The run holds nothing, or cannot be broken down by that column.
    """
    frame = analysis_frame(tables)
    plan = planned_trials(tables, frame)
    run = _Run(tables, tables, frame, plan, main_trials(frame, plan), seed)
    material = Material(tables=tables, frame=frame, plan=plan, main=run.main)
    return _summed(run, run_details(material, calibration=calibration) if details else without_details(), by)


def summarise_directory(path: Path, *, by: str | None = None, seed: int = 0) -> Summary:
    """Returns what `summarise` does without details, of a run whose records need not fit into memory.

    Args:
        path: The run directory.
        by: As in `summarise`.
        seed: As in `summarise`.

    Raises:
        RecordError: The directory or a part of it cannot be read.
        AnalysisError: As in `summarise`.
    """
    # second answers, and what a log says of itself, are compared with whole records
    if (path / REPEATS).exists() or read_manifest(path).status == "imported":
        return summarise(RunTables.load(path), by=by, seed=seed, details=False)
    outline, frame = read_frame(path)
    plan = planned_trials(outline, frame)
    return _summed(_Run(outline, None, frame, plan, main_trials(frame, plan), seed), without_details(), by)


def _summed(run: _Run, more: Details, by: str | None) -> Summary:
    reasons = dict(more.reasons)
    faults = measurement_faults(run.main.done, _score_trials(run))
    parts = {
        **{key: value for key, value in more._asdict().items() if key != "reasons"},
        **_identity(run),
        **_accuracies(run, reasons),
        **_coverages(run, faults, reasons),
        **imported_figures(run.whole, run.frame, run.main, reasons),
        **format_figures(run.frame, run.plan, run.main, faults=faults, seed=run.seed, reasons=reasons),
        **_interfaces(run, details="interface_details" not in more.reasons),
        **_positions(run),
        **_groups(run, by, reasons),
        **_bookkeeping(run, reasons),
    }
    summary = Summary(**parts, reasons=reasons)
    remarks = {"warnings": warnings(summary), "findings": findings(summary)}
    return summary.model_copy(update=remarks)


def _identity(run: _Run) -> dict[str, Any]:
    manifest = run.outline.manifest
    name = manifest.dataset.get("name")
    return {
        "model": manifest.model,
        "dataset": None if name is None else str(name),
        "status": manifest.status,
        "seed": run.seed,
        "main_design": run.main.design,
        "main_interface": run.main.interface,
    }


def _accuracies(run: _Run, reasons: dict[str, str]) -> dict[str, Any]:
    done = run.main.done
    headline = _why_no_headline(run.main)
    whole = {
        "grid_accuracy": Estimate.unknown(headline) if headline else _grid_accuracy(run.main),
        "row_accuracy": Estimate.unknown(headline)
        if headline
        else acc.row_accuracy(done, drawn=run.main.design == "randomised"),
        "lenient_accuracy": acc.lenient_accuracy(done),
        "scored_accuracy": acc.scored_accuracy(done),
        "answered_accuracy": acc.answered_accuracy(done),
        "reference_accuracy": _reference_accuracy(run),
        "strict_circular": acc.strict_circular(done),
    }
    baselines = Baselines(chance=acc.chance(done), always_first=acc.always_first(done))
    return {
        **known_or_why(whole, reasons),
        "this_dataset": _this_dataset(run.main, headline, reasons),
        "baselines": baselines,
        "designs": _designs(run),
    }


def _grid_accuracy(main: MainTrials) -> Estimate:
    table = draw_table(main) if main.design == "randomised" else None
    return acc.grid_accuracy(main.done) if table is None else drawn_mean(table).items_like_these


def _this_dataset(main: MainTrials, headline: str | None, reasons: dict[str, str]) -> ThisDataset | None:
    table = draw_table(main) if main.design == "randomised" else None
    found = None if headline or table is None else this_dataset(drawn_mean(table))
    if found is None:
        whole = EXACT if main.design == "grid" else ONE_CLUSTER
        reasons["this_dataset"] = headline or whole
    return found


def _why_no_headline(main: MainTrials) -> str | None:
    if main.design not in FORMAT_DESIGNS:
        return (
            f"the grid accuracy needs the design grid or randomised; this run holds {main.design} trials only: "
            "they tell the accuracy under the formats that they were asked in"
        )
    return main.completeness.complaint


def _reference_accuracy(run: _Run) -> Estimate:
    rows = run.plan.filter(pl.col("design") == REFERENCE, pl.col("interface") == run.main.interface, "options_shown")
    if rows.height:
        complaint = completeness(run.frame, rows).complaint
        return Estimate.unknown(complaint) if complaint else acc.grid_accuracy(trials_of(run.frame, rows))
    name = run.outline.manifest.reference_format
    if run.main.design == "grid" and name is not None:
        return acc.grid_accuracy(run.main.done.filter(pl.col("format").cast(pl.String) == name))
    return Estimate.unknown(f"{run.main.interface} was not asked in the reference format: no reference design, no grid")


def _designs(run: _Run) -> dict[str, DesignRow]:
    rows = {}
    shown = run.plan.filter("options_shown")
    for name in sorted((shown if shown.height else run.plan)["design"].unique()):
        main = run.main if name == run.main.design else main_trials(run.frame, run.plan, design=name)
        done, complete = main.done, main.completeness
        accuracy = _grid_accuracy(main)
        rows[name] = DesignRow(
            interface=main.interface,
            items=done["item_code"].n_unique(),
            trials=done.height,
            planned=complete.planned,
            failed=complete.failed,
            missing=complete.missing,
            draws=main.draws,
            grid_accuracy=None if _why_no_headline(main) else known(accuracy),
            accuracy=accuracy,
        )
    return rows


def _coverages(run: _Run, faults: list[Fault], reasons: dict[str, str]) -> dict[str, Any]:
    parts = coverage(run.main.done)
    if parts.exact.value is None:
        reasons["coverage"] = reasons["coverage_parts"] = NO_REPLY
    return {
        "coverage": known(parts.exact),
        "coverage_parts": None if parts.exact.value is None else parts,
        "measurement_faults": faults,
    }


def _score_trials(run: _Run) -> pl.DataFrame:
    """Scores kept beside the main replies; of formats that have none, those of the interface that asks for them."""
    kept = run.main.done.filter(pl.col("scored_right").is_not_null())
    formats = kept["format"].drop_nulls().cast(pl.String).unique().to_list()
    others = run.frame.filter(
        pl.col("scored_right").is_not_null(),
        pl.col("interface").cast(pl.String) == "direct-scores",
        ~pl.col("format").cast(pl.String).is_in(formats),
    )
    return pl.concat([kept, others])


def _interfaces(run: _Run, *, details: bool) -> dict[str, Any]:
    internals = read_internals(run.outline.path)
    found = compare_interfaces(
        _comparable(run),
        interfaces=run.outline.manifest.interfaces,
        probes=probe_accuracies(internals),
        seed=run.seed,
    )
    more = None
    if details and run.whole is not None:
        more = interface_details(run.whole, found, frame=run.frame, plan=run.plan, internals=internals, seed=run.seed)
    return {"interfaces": found.rows, "common_ground": found.ground, "interface_details": more}


def _comparable(run: _Run) -> pl.DataFrame:
    """The first design that was asked through every interface that shows options; where none was, all trials."""
    shown, hidden = run.plan.filter("options_shown"), run.plan.filter(~pl.col("options_shown"))
    everything = set(shown["interface"].unique())
    for design in (*FORMAT_DESIGNS, REFERENCE, *sorted(shown["design"].unique())):
        rows = shown.filter(pl.col("design") == design)
        if rows.height and set(rows["interface"].unique()) == everything:
            return trials_of(run.frame, pl.concat([rows, hidden]))
    return run.frame


def _positions(run: _Run) -> dict[str, Any]:
    done = run.main.done
    found = Selection(
        positions=selection(done),
        by_factor={factor: selection_by(done, factor) for factor in FACTORS},
        first_position=first_position(done),
        preference=preference(done, seed=run.seed),
    )
    return {"selection": found}


def _groups(run: _Run, by: str | None, reasons: dict[str, str]) -> dict[str, Any]:
    done = run.main.done
    categories = breakdown(done, "category") if done["category"].is_not_null().any() else None
    if categories is None:
        reasons["categories"] = "the items have no categories"
    if by is None:
        reasons["groups"] = "no breakdown was asked for"
    return {"categories": categories, "by": by, "groups": None if by is None else breakdown(done, by)}


def _stopping(run: _Run, reasons: dict[str, str]) -> str | None:
    found = run.outline.manifest.stopping
    if not found:
        reasons["stopping"] = "the run had no target to draw until"
        return None
    saved = f"{100 * float(found['saved']):.0f} % of the {found['grid_trials']} trials of the grid saved"
    end = "" if found["reached"] else "; stopped at the most draws that were allowed"
    return f"drawn until {found['target']}: {found['sentence']}{end}; {saved}"


def _noise_floor(run: _Run, reasons: dict[str, str]) -> NoiseFloor | None:
    found = None if run.whole is None else noise_floor(run.whole)
    if found is None:
        reasons["noise_floor"] = NOT_REPEATED
    return found


def _bookkeeping(run: _Run, reasons: dict[str, str]) -> dict[str, Any]:
    frame, items = run.frame, run.outline.items
    whole = completeness(frame, run.plan)
    counts = Counts(
        planned=whole.planned,
        done=whole.done,
        failed=whole.failed,
        missing=whole.missing,
        bad_input=int((frame["outcome"].cast(pl.String) == "bad_input").sum()),
        items=items.height,
        clusters=items["cluster"].n_unique(),
        items_without_answer=items["answer"].null_count(),
    )
    single = (items["n_orders"] == 1).fill_null(False)
    notes = Counter(str(note) for note in items["notes"].explode().drop_nulls())
    screening = Screening(items=items.height, not_permuted=int(single.sum()), notes=dict(sorted(notes.items())))
    return {
        "counts": counts,
        "outcomes": _outcomes(frame),
        "screening": screening,
        "cost": cost(run.outline, frame),
        "computation": computation(frame, run.plan),
        "stopping": _stopping(run, reasons),
        "noise_floor": _noise_floor(run, reasons),
    }


def _outcomes(frame: pl.DataFrame) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for interface, outcome, trials in frame.group_by("interface", "outcome").len().sort("interface", "outcome").rows():
        table.setdefault(interface, {})[outcome] = trials
    return table
