"""The robustness statement for a model card: what a score rests on, in text that two releases can be compared by.

Knows manifests and summaries. Computes no figure. Same records, same text: no dates unless asked for, one order, one
rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vqaudit.analysis.breakdown import Group
from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.schema import Summary
from vqaudit.analysis.summary import summarise
from vqaudit.errors import AnalysisError
from vqaudit.records import Manifest, RunTables
from vqaudit.report.digits import interval, pct
from vqaudit.report.facts import token_rows
from vqaudit.report.labels import factor_label
from vqaudit.report.markdown import escaped, table
from vqaudit.report.model_index import front_matter, model_index
from vqaudit.report.story import as_sentence, factor_parts, headline, spread_text
from vqaudit.report.untrusted import bare_name

__all__ = ["card"]

_LEGEND = (
    "Brackets hold 95 % intervals; n is independent items. *Robust score*: the mean over prompt formats (option IDs, "
    "delimiters, separators) and option orders. *Coverage*: the share of replies that are exactly an option ID. "
    "*Interface*: the words after the options and the event that is scored; *aligned* where these words ask for "
    "that event."
)
_EVENTS = {
    "reply": "the whole greedy reply, which must be an option ID",
    "id-scores": "the next-token probabilities of the option IDs",
    "forced-token": "one token, forced to be an option ID",
    "option-likelihood": "the likelihood of each option's text",
    "generation": "a long generation, read afterwards",
    "rationale-scores": "the option IDs' probabilities behind a rationale that the model wrote",
}


def card(runs: Sequence[RunTables], *, seed: int = 0, dated: bool = False) -> str:
    """Returns Markdown with the `model-index` block at its top.

    Args:
        runs: At least one, each from `RunTables.load`; each gives one result, in this order.
        seed: Of the analysis.
        dated: Whether to say on which day each run ended, so that the text changes with it.

    Raises:
        AnalysisError: No run, or a run that holds nothing.

    Example:
        >>> from vqaudit.records import RunTables
        >>> print(card([RunTables.load("runs/demo")]))  # doctest: +SKIP
    """
    if not runs:
        raise AnalysisError("a card needs at least one run directory")
    summed = [(tables, summarise(tables, seed=seed, details=False)) for tables in runs]
    lines = ["## Robustness of multiple-choice scores", "", _LEGEND]
    for tables, summary in summed:
        lines += ["", *_result(tables.manifest, summary, dated=dated)]
    block = front_matter(model_index(summed))
    return (f"{block}\n" if block else "") + "\n".join(lines) + "\n"


def _result(manifest: Manifest, summary: Summary, *, dated: bool) -> Iterator[str]:
    data = "unnamed data" if summary.dataset is None else bare_name(summary.dataset)
    yield f"### {escaped(bare_name(summary.model))} on {escaped(data)}"
    yield ""
    rows = [*_score(summary), *_ranges(summary), *_conditions(manifest, summary), *_origin(manifest, dated=dated)]
    yield from table(["", ""], [[label, text] for label, text in rows])
    yield ""
    yield from table(
        ["interface", "what is scored", "rationale first", "accuracy", "n", "first position", "verdict"],
        [_interface(manifest, summary, name) for name in summary.interfaces],
        right=(3, 4, 5),
    )
    verdicts = [_verdict(summary, name) for name, row in summary.interfaces.items() if row.verdict == "mismatched"]
    if verdicts:
        yield from ("", "Interfaces that do not score what they ask for:", "", *(f"- {text}" for text in verdicts))
    cautions = [escaped(as_sentence(text)) for text in summary.warnings]
    if cautions:
        yield from ("", "Read with care:", "", *(f"- {text}" for text in cautions))


def _score(summary: Summary) -> Iterator[tuple[str, str]]:
    said = headline(summary)
    figure = summary.grid_accuracy
    if figure is None:
        why = summary.reasons.get("grid_accuracy", "no data")
        yield "**robust score**", f"cannot be told: {escaped(why)}"
        if said.figure != "unknown":
            yield escaped(said.name[:1].lower() + said.name[1:]), said.figure
    else:
        yield "**robust score**", f"**{interval(figure)}**, n = {figure.n}"
    guesses = {"chance": summary.baselines.chance, "always first": summary.baselines.always_first}
    yield "without looking", ", ".join(f"{name} {pct(value)}" for name, value in guesses.items())
    yield from _known("coverage of replies", summary, "coverage")
    yield "design", f"{summary.main_design}: {escaped(said.conditions)}"
    yield "faults of measurement", _faults(summary)


def _known(label: str, summary: Summary, key: str) -> Iterator[tuple[str, str]]:
    figure: Estimate | None = getattr(summary, key)
    if figure is None:
        yield label, f"cannot be told: {escaped(summary.reasons.get(key, 'no data'))}"
    else:
        yield label, f"{interval(figure)}, n = {figure.n}"


def _faults(summary: Summary) -> str:
    if not summary.measurement_faults:
        return "none found"
    return " ".join(escaped(as_sentence(fault.sentence)) for fault in summary.measurement_faults)


def _ranges(summary: Summary) -> Iterator[tuple[str, str]]:
    best, worst = summary.best_format, summary.worst_format
    if best is None or worst is None:
        yield "range over formats", f"cannot be told: {escaped(summary.reasons.get('spread', 'no data'))}"
    else:
        ends = " to ".join(f"{pct(row.accuracy.value)} ({escaped(row.format)})" for row in (worst, best))
        yield "range over formats", f"{ends}; spread {spread_text(summary.spread)}"
        yield from _known("accuracy in the worst format", summary, "worst_case")
    for factor in summary.factors:
        levels = [level for level in factor_parts(summary, factor) if level.accuracy.value is not None]
        if len(levels) > 1:
            yield f"range over {factor_label(factor)}s", _ends(levels)


def _ends(levels: Sequence[Group]) -> str:
    ordered = sorted(levels, key=lambda level: (level.accuracy.value or 0.0, level.name or ""))
    return " to ".join(
        f"{interval(level.accuracy)} ({escaped(level.name or '')})" for level in (ordered[0], ordered[-1])
    )


def _conditions(manifest: Manifest, summary: Summary) -> Iterator[tuple[str, str]]:
    spec = _spec(manifest, summary.main_interface)
    yield "interface of the score", f"{escaped(summary.main_interface)}: {_asked(spec)}; scored: {_scored(spec)}"
    yield "conditioned on a rationale", _rationale(spec)
    yield "verdict on it", _verdict(summary, summary.main_interface)
    tokens = token_rows(manifest)
    yield "IDs as tokens", "; ".join(f"{escaped(name)} ({escaped(text)})" for name, text in tokens) or "not known"
    yield "system prompt", "none" if manifest.system is None else escaped(manifest.system)


def _origin(manifest: Manifest, *, dated: bool) -> Iterator[tuple[str, str]]:
    engine = manifest.engine
    commit = engine.get("commit") or engine.get("revision")
    told = {"commit": commit, "dtype": engine.get("dtype"), "weights SHA-256": _weights(engine)}
    yield "model", ", ".join(f"{name} {escaped(str(value))}" for name, value in told.items() if value) or "not known"
    digest = str(manifest.dataset.get("digest") or "")
    yield "data (SHA-256 of the content)", digest[:16] or "not known"
    yield (
        "measured with",
        f"vqaudit {escaped(manifest.vqaudit_version)}, reading rules {escaped(manifest.reader_version)}",
    )
    if dated:
        yield "measured on", (manifest.finished or manifest.started or "not known")[:10]


def _weights(engine: Mapping[str, Any]) -> str:
    weights = engine.get("weights")
    files = weights.values() if isinstance(weights, Mapping) else ()
    digests = [str(known["sha256"])[:16] for known in files if isinstance(known, Mapping) and known.get("sha256")]
    return ", ".join(digests[:1]) + (f" and {len(digests) - 1} more" if len(digests) > 1 else "")


def _verdict(summary: Summary, name: str) -> str:
    row = summary.interfaces.get(name)
    if row is not None and row.sentence is not None:
        return escaped(as_sentence(row.sentence))
    if row is not None and row.gap is None and len(summary.interfaces) > 1:
        return "none: it is the aligned interface that the others are compared with"
    return "none: one interface was used, and only a second one shows whether it scores what it asks for"


def _spec(manifest: Manifest, name: str) -> Mapping[str, Any]:
    spec = manifest.interfaces.get(name)
    return spec if isinstance(spec, Mapping) else {}


def _asked(spec: Mapping[str, Any]) -> str:
    if "ending_text" not in spec:
        return "words not known: the log does not describe them"
    text, instruction = str(spec.get("ending_text") or ""), "an instruction that names the IDs"
    if not text:
        return "ends with the options"
    quoted = instruction if text == "{instruction}" else f"“{escaped(text.replace('{instruction}', instruction))}”"
    return f"ends with {quoted} in the {spec.get('place', 'user')}'s turn"


def _scored(spec: Mapping[str, Any]) -> str:
    event = str(spec.get("event") or "")
    return _EVENTS.get(event, escaped(event) or "not known")


def _rationale(spec: Mapping[str, Any]) -> str:
    """Whether what is scored comes after a rationale that the model wrote."""
    event, asks = spec.get("event"), spec.get("asks")
    if event is None or (event == "generation" and asks is None):
        return "not known"
    if event == "rationale-scores" or (event == "generation" and asks == "reasoning"):
        return "yes, one that the model writes"
    return "no: a rationale is asked for, but none is written before what is scored" if asks == "reasoning" else "no"


def _interface(manifest: Manifest, summary: Summary, name: str) -> list[str]:
    row, spec = summary.interfaces[name], _spec(manifest, name)
    best = {other.best_aligned for other in summary.interfaces.values()}
    first, right = row.first_position_rate.value, row.answer_first_rate.value
    position = "" if first is None else f"{pct(first)} (right: {pct(right)})"
    rationale = _rationale(spec).partition(":")[0].partition(",")[0]
    verdict = row.verdict or ("best aligned" if name in best else "none")
    return [escaped(name), _scored(spec), rationale, interval(row.accuracy), str(row.accuracy.n), position, verdict]
