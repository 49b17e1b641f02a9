"""Writes docs/paper1.md: what `vqaudit grid` gives on paper 1's published cells, and which printed values differ.

python docs/paper1.py PAPERS            writes it
python docs/paper1.py PAPERS --check    exits 1 where it is stale

PAPERS is a folder with `format_grid.csv` (Tabs. 8 to 12) and `mitigation_table.csv` (Tab. 7).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from vqaudit.analysis.cells import GridFindings, analyse_cells, read_cells, read_methods
from vqaudit.analysis.cells.effects import Effect
from vqaudit.analysis.cells.table import CellTable

PAGE = Path(__file__).with_name("paper1.md")
HEAD = """<!-- written by docs/paper1.py; do not edit -->

# Paper 1's cells

What `vqaudit grid format_grid.csv --methods mitigation_table.csv` gives on the 1,680 accuracies that paper 1 prints
(7 models, 5 data sets, 48 formats: Tabs. 8 to 12) and on its mitigation table (Tab. 7). `--json` holds all of it in
full, with the level means behind the ranges. No figure of ours is read off the paper's summaries; the last section
compares with them.
"""
COUNTS = """## Printed values that do not come from the cells
Recomputed from the rows of the paper's Tab. 6, not by `vqaudit grid`.

| where | printed | ours | likely cause |
|---|---|---|---|
| Tab. 6, Sec. 1: question-level evaluations in all | 6,807,192 | {evaluations} | two digits changed places |
| Tab. 6: hours on A-OKVQA | 204.983 | {okvqa} | 1,538,880 evaluations of 0.5 s; the other four rows agree |
| Tab. 6: hours in all | 2,263.96 | {hours} | follows from the row before |
| Tab. 7b, PIA | 3.41 to 10.66, six models | not computable | about a quarter of `C_i / N_i`: divided by all questions |
"""
_EVALUATIONS = {
    "A-OKVQA": (4580, 0.5),
    "HR-Bench-4K": (800, 2.0),
    "MMBench-DEV": (4876, 1.0),
    "MME-RealWorld-Lite": (9595, 1.5),
    "V*Bench": (596, 2.0),
}
"""Tab. 6 as printed: evaluations per format and model, and seconds per evaluation."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def signed(value: float | None, digits: int = 1) -> str:
    if value is None:
        return "–"
    text = f"{value:+.{digits}f}"
    return text.replace("+", "") if float(text) == 0 else text


def ranged(bounds: tuple[float, float] | None, digits: int = 1) -> str:
    return "–" if bounds is None else f"{signed(bounds[0], digits)} to {signed(bounds[1], digits)}"


def bracketed(effect: Effect | None) -> str:
    return "–" if effect is None or effect.ci95 is None else f"[{signed(effect.ci95[0])}, {signed(effect.ci95[1])}]"


def p_value(effect: Effect | None) -> str:
    return "–" if effect is None or effect.p is None else f"{effect.p:.2g}"


def accuracies(found: GridFindings) -> str:
    rows = (
        [m, *(f"{found.pseudo_gold_accuracy_pct[d][m]:.2f} ({found.pseudo_gold_rank[d][m]})" for d in found.datasets)]
        for m in found.models
    )
    note = "Mean over the 48 formats in %, rank in brackets (Tab. 7, Pseudo GT).\n\n"
    return "## Pseudo-gold\n" + note + table(["", *found.datasets], rows)


def deviations(found: GridFindings) -> str:
    neutral = found.coverage_neutral_deviation_range_pp or {}
    factors = list(found.factors)
    rows = (
        [
            model,
            *(ranged(found.accuracy_deviation_range_pp[f][model]) for f in factors),
            *(ranged(neutral[f][model]) for f in factors),
        ]
        for model in found.models
    )
    kept = found.coverage_neutral
    dropped = "" if kept is None else f" ({kept.dropped} of {kept.dropped + kept.kept} cells go)"
    note = (
        "Least and largest deviation of a level's mean from the model's mean on the data set, in pp, over levels\n"
        f"and data sets (Fig. 4); on the right without cells whose coverage is below 75 %{dropped} (Fig. 15).\n\n"
    )
    head = ["", *factors, *(f"{f}, covered" for f in factors)]
    return "## Deviations by factor level\n" + note + table(head, rows)


def coverage(found: GridFindings) -> str:
    levels = [(factor, level) for factor, names in found.factors.items() for level in names]
    means = found.coverage_pct or {}

    def lowest(model: str, factor: str, level: str) -> str:
        values = [row[level] for row in means[factor][model].values()]
        return f"{min(value for value in values if value is not None):.1f}"

    rows = ([model, *(lowest(model, *place) for place in levels)] for model in found.models)
    note = "Mean coverage in % of a level's 12 or 16 cells, on the data set where it is lowest (Figs. 5 and 9).\n\n"
    return "## Coverage by factor level\n" + note + table(["", *(level for _, level in levels)], rows)


def effects(found: GridFindings) -> str:
    mixed, over_models = found.lmm or {}, found.model_clustered or {}
    cells, models = found.lmm_without_zero_coverage_cells or {}, found.lmm_without_zero_coverage_models or {}
    left_out = found.leave_one_model_out or {}

    def row(level: str) -> list[str]:
        without = sorted((effects[level].coef_pp, model) for model, effects in left_out.items())
        swing = f"{signed(without[0][0])} ({without[0][1]}) to {signed(without[-1][0])} ({without[-1][1]})"
        over = over_models.get(level)
        return [
            level,
            signed(mixed[level].coef_pp, 2),
            bracketed(mixed[level]),
            p_value(mixed[level]),
            "–" if level == "Intercept" else f"{bracketed(over)} ({p_value(over)})",
            swing,
            signed(cells[level].coef_pp),
            signed(models[level].coef_pp),
        ]

    names = ", ".join(found.zero_coverage_models)
    note = (
        "`accuracy ~ factors + (1 | model:dataset)`, REML, in pp (Fig. 6); "
        f"variance of groups {found.lmm_group_var:.2f}, of residuals\n{found.lmm_residual_var:.2f}. "
        "Over models: t intervals whose units are the seven models. One model left out: the lowest and the\n"
        "highest coefficient when one model is left out, and which. Last columns: without the "
        f"{found.cells.zero_coverage} cells of zero\ncoverage, and without the models that have such cells "
        f"({names}).\n\n"
    )
    head = ["", "effect", "95 %", "p", "95 % over models (p)", "one model left out", "covered cells", "covered models"]
    terms = table(
        ["term", "share of sum of squares", "df"],
        ([term.term, f"{100 * term.share:.2f} %", str(term.df)] for term in found.sum_of_squares or []),
    )
    return "## Effects\n" + note + table(head, map(row, mixed)) + "\n### Where accuracies differ\n" + terms


def ranks(found: GridFindings) -> str:
    rows = (
        [model, *(" ".join(str(n) for n in found.rank_counts[d][model]) for d in found.datasets)]
        for model in found.models
    )
    note = "In how many of 48 formats a model has rank 1, 2, ..., 7 (Fig. 3); ties share the better rank.\n\n"
    lead_rows = (
        [
            d,
            ", ".join(f"{m} {n}" for m, n in row.leads.items()),
            f"{row.gap_range_pp[0]:.3f} to {row.gap_range_pp[1]:.3f}",
        ]
        for d, row in found.leaders.items()
    )
    leaders = table(["", "first in how many formats", "gap to the second, pp"], lead_rows)
    return "## Ranks over formats\n" + note + table(["", *found.datasets], rows) + "\n" + leaders


def disagreement(found: GridFindings, cells: CellTable) -> str:
    from vqaudit.analysis.cells.agreement import spearman

    rows = [[d, row.a, row.b, f"{row.spearman:.3f}"] for d, row in found.most_different_formats.items()]
    a, b = "lower/double_brackets/line_break", "upper/dot/comma"
    values = cells.accuracy[cells.datasets.index("A-OKVQA")]
    first, second = (values[:, cells.format_names.index(name)] for name in (a, b))
    rows.append(["A-OKVQA, the two of Fig. 2", a, b, f"{float(spearman(first, second)):.3f}"])
    return "## The two formats whose rankings agree least\n" + table(["", "one", "other", "Spearman"], rows)


def recommended(found: GridFindings) -> str:
    best = found.recommended_format
    if best is None:
        return ""
    rows = ([r.format, f"{r.mean_spearman:.3f}", f"{r.mean_error_pp:.2f}"] for r in best.formats[:5])
    held, share = best.held_out_spearman or 0.0, best.chosen_share or 0.0
    note = (
        f"`{best.format}`: mean Spearman with pseudo-gold {best.mean_spearman:.3f} (a format at random "
        f"{best.average_spearman:.3f}). That figure is\ntoo good, since the format was chosen for it: "
        f"chosen on four data sets and judged on the fifth, {held:.3f}. {100 * share:.0f} %\n"
        "of resamples of data sets choose it.\n\n"
    )
    head = ["best five", "mean Spearman", "mean error, pp"]
    return "## One format that ranks most like all of them\n" + note + table(head, rows)


def methods(found: GridFindings) -> str:
    rows = []
    for dataset, by_method in (found.methods or {}).items():
        for name, row in by_method.items():
            ranked = " ".join(str(row.rank[model]) for model in row.rank)
            figures = [f"{row.spearman:.3f}", f"{row.spearman_of_competition_ranks:.3f}"]
            rows.append([dataset, name, ranked, *figures, f"{row.correctly_ranked} of {row.models}"])
    order = ", ".join(found.models)
    note = f"Ranks in the order {order} (Tab. 7).\n\n"
    head = ["", "method", "ranks", "Spearman", "of competition ranks", "ranked right"]
    return "## Methods\n" + note + table(head, rows)


def printed(found: GridFindings) -> str:
    def rows(kind: str) -> list[list[str]]:
        return [
            [f"`{r.key}`", r.where, f"{r.printed:g}", f"{r.ours:.3f}".rstrip("0").rstrip("."), r.likely_cause]
            for r in found.printed_differences or []
            if r.kind == kind
        ]

    head = ["finding", "where", "printed", "ours", "likely cause"]
    note = "Differing by more than 0.05 pp, 0.005 of a correlation, or at all in a count.\n\n"
    rounded = "Only by the rounding of what was printed:\n\n"
    tables = (table(head, rows(kind)) for kind in ("differs", "rounding"))
    return "## Printed values that differ\n" + note + f"\n{rounded}".join(tables)


def page(papers: Path) -> str:
    cells = read_cells(papers / "format_grid.csv")
    found = analyse_cells(cells, read_methods(papers / "mitigation_table.csv"))
    repeats = len(cells.formats) * len(found.models)
    hours = {name: count * repeats * seconds / 3600 for name, (count, seconds) in _EVALUATIONS.items()}
    evaluations = sum(count for count, _ in _EVALUATIONS.values()) * repeats
    parts = [
        *(part(found) for part in (accuracies, deviations, coverage, effects, ranks)),
        disagreement(found, cells),
        *(part(found) for part in (recommended, methods, printed)),
        COUNTS.format(
            evaluations=f"{evaluations:,}", okvqa=f"{hours['A-OKVQA']:.3f}", hours=f"{sum(hours.values()):,.2f}"
        ),
    ]
    return "\n".join([HEAD, *parts])


def main(arguments: Sequence[str]) -> int:
    papers = [argument for argument in arguments if argument != "--check"]
    if len(papers) != 1:
        print(__doc__)
        return 2
    text = page(Path(papers[0]))
    if "--check" in arguments:
        fresh = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print("fresh" if fresh else "stale: paper1.md")
        return 0 if fresh else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
