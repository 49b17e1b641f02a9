"""What a run directory says of itself before the first record: manifest, items, plan, prompt text.

Knows plans, engines and datasets. Asks nobody.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vqaudit.asking.designs import Confirmed, Permuted, Randomised, Reference
from vqaudit.asking.interfaces import Interface
from vqaudit.asking.plan import Arm, Plan
from vqaudit.asking.prompts import render
from vqaudit.engines.base import Engine
from vqaudit.errors import DatasetError, RunConflict
from vqaudit.items import Dataset, ImageSource
from vqaudit.items.images import decoding_settings
from vqaudit.reading import READER_VERSION
from vqaudit.records import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    SEGMENT_SCHEMA,
    Manifest,
    read_manifest,
    read_table,
    segment_hash,
    utc_now,
    write_table,
)
from vqaudit.run.spec import AuditSpec, chosen_formats

__all__ = ["make_manifest", "write_inputs"]

_PACKAGES = ("vqaudit", "torch", "transformers", "tokenizers", "numpy", "polars", "pyarrow", "pillow")


def _versions() -> dict[str, str]:
    found: dict[str, str] = {"python": sys.version.split()[0]}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _describe_interface(interface: Interface) -> dict[str, Any]:
    return {
        "ending": interface.ending.name,
        "ending_text": interface.ending.text,
        "asks": interface.asks,
        "strength": interface.ending.strength,
        "place": interface.place,
        "event": interface.event,
        "options_shown": interface.options_shown,
        "aligned": interface.aligned,
        "after_rationale": interface.after_rationale,
        "cue": interface.cue,
    }


def _describe_design(arm: Arm) -> dict[str, Any]:
    design = arm.design
    shown: dict[str, Any] = {"interface": arm.interface.name, "design": design.name}
    if isinstance(design, Randomised | Permuted):
        return shown | {"draws": design.draws, "seed": design.seed, "formats": len(design.formats)}
    if isinstance(design, Confirmed):
        return shown | {"orders": design.orders, "seed": design.seed, "formats": [f.name for f in design.formats]}
    formats = (design.format,) if isinstance(design, Reference) else design.formats
    return shown | {"orders": design.orders, "formats": len(formats)}


def _describe_watch(engine: Engine, spec: AuditSpec) -> dict[str, Any]:
    """The watched words, and how this model's tokenizer writes them where a reply begins."""
    if not spec.watch:
        return {}
    return {"words": list(spec.watch), "tokens": dict(engine.describe_ids(spec.watch))}


def _describe_formats(plan: Plan) -> dict[str, Any]:
    formats = plan.formats
    return {
        "id_sets": {f.id_set.name: list(plan.vocabulary(f)) for f in formats},
        "delimiters": {f.delimiter.name: f.delimiter.template for f in formats},
        "separators": {f.separator.name: f.separator.text for f in formats},
    }


def _identity(plan: Plan, engine: Engine, data: Dataset, spec: AuditSpec) -> dict[str, Any]:
    return {
        "model": engine.name,
        "model identity": dict(engine.describe()).get("identity"),
        "dataset": data.digest,
        "system prompt": spec.system,
        "image limit": spec.image_max_pixels,
        "reply budget": spec.budget,
        "generation limit": spec.max_tokens,
        "watched words": list(spec.watch),
        "kept states": spec.keep_states,
        "seed": spec.seed,
        "interfaces": {i.name: _describe_interface(i) for i in plan.interfaces},
        "formats": _describe_formats(plan),
    }


def _check_identity(out: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuses to mix two measurements in one directory, naming the difference."""
    for key, wanted in new.items():
        found = old.get(key)
        if isinstance(wanted, dict) and isinstance(found, dict):
            shared = {name: value for name, value in wanted.items() if name in found}
            _check_identity(out, found, shared)
        elif found != wanted:
            raise RunConflict(
                f"{out} holds another run: its {key} is {found!r}, now it is {wanted!r}; choose another --out"
            )


def _item_rows(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "item": item.id,
            "question": item.question,
            "options": list(item.options),
            "answer": item.answer,
            "cluster": item.cluster,
            "category": item.category,
            "hint": item.hint,
            "images": [_image_name(source) for source in item.images],
            "n_orders": item.n_orders,
            "notes": list(item.notes),
            "source": item.source,
        }
        for item in plan.items
    ]


def _image_name(source: ImageSource) -> str | None:
    try:
        return source.digest()
    except DatasetError:
        return None


def write_inputs(out: Path, plan: Plan) -> None:
    """Writes items, plan and prompt text; a plan that grows keeps what it had."""
    write_table(out / "items.parquet", _item_rows(plan), ITEM_SCHEMA)
    known = set(read_table(out / "plan.parquet", PLAN_SCHEMA).iter_rows())
    rows = [(r.trial, r.item, r.design, r.draw, r.interface) for r in plan.reasons]
    fresh = [row for row in rows if row not in known]
    if known and not fresh:
        return
    # The text goes first, so that a plan on the disk is a plan whose text is there.
    _write_segments(out, plan, without={row[0] for row in known})
    named = [dict(zip(PLAN_SCHEMA.names, row, strict=True)) for row in sorted(known) + fresh]
    write_table(out / "plan.parquet", named, PLAN_SCHEMA)


def _write_segments(out: Path, plan: Plan, *, without: set[str]) -> None:
    """Adds the prompt text of all trials but those whose text is there."""
    texts = dict(read_table(out / "segments.parquet", SEGMENT_SCHEMA).iter_rows())
    for trial in plan.trials:
        if trial.id not in without:
            for segment in render(plan.items[trial.item], trial.variant).segments:
                texts.setdefault(segment_hash(segment), segment)
    segments = [{"segment": name, "text": text} for name, text in sorted(texts.items())]
    write_table(out / "segments.parquet", segments, SEGMENT_SCHEMA)


def _describe_data(data: Dataset) -> dict[str, Any]:
    return {
        "name": data.name,
        "file": data.path.name,
        "origin": data.origin,
        "items": len(data),
        "digest": data.digest,
        "columns": asdict(data.columns),
        "answers": data.answers,
        "warnings": list(data.warnings),
        "left_out": dict(data.left_out),
        "fetched": None if data.fetched is None else asdict(data.fetched),
        "skipped": [{"row": s.row, "item": s.item, "why": s.sentence} for s in data.skipped],
    }


def make_manifest(out: Path, plan: Plan, engine: Engine, data: Dataset, spec: AuditSpec) -> Manifest:
    """Returns the manifest of a session about to start; one that goes on keeps the first one's beginning.

    Raises:
        RunConflict: The directory holds another measurement; the message names the difference.
    """
    identity = _identity(plan, engine, data, spec)
    old = read_manifest(out) if (out / "manifest.json").exists() else None
    if old is not None:
        _check_identity(out, old.identity, identity)
    designs = [_describe_design(arm) for arm in plan.arms]
    earlier = [] if old is None else [d for d in old.designs if d not in designs]
    return Manifest(
        vqaudit_version=_versions().get("vqaudit", "unknown"),
        reader_version=READER_VERSION,
        model=engine.name,
        engine=dict(engine.describe()),
        id_tokens={f.id_set.name: dict(engine.describe_ids(plan.vocabulary(f))) for f in plan.formats},
        watch=_describe_watch(engine, spec),
        dataset=_describe_data(data),
        designs=earlier + designs,
        interfaces=({} if old is None else old.interfaces) | identity["interfaces"],
        formats=identity["formats"],
        reference_format=chosen_formats(spec)[1].name,
        system=spec.system,
        image_max_pixels=spec.image_max_pixels,
        seed=spec.seed,
        identity=identity,
        packages=_versions(),
        environment={"pillow": decoding_settings()},
        command=sys.argv,
        started=utc_now() if old is None else old.started,
        seconds=None if old is None else old.seconds,
    )
