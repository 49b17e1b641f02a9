"""What a run says of itself: model, data, prompts, versions. Names of files lose their folders.

Knows the manifest, and that engines describe themselves in their own words.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vqaudit.analysis.schema import Summary
from vqaudit.records import Manifest
from vqaudit.report.digits import UNKNOWN, count, duration
from vqaudit.report.untrusted import bare_name

__all__ = ["cost_rows", "run_facts", "shown_command", "token_rows"]

_ENGINE = (
    ("engine", "engine"),
    ("kind", "engine"),
    ("class", "architecture"),
    ("parameters", "parameters"),
    ("dtype", "dtype"),
    ("device", "device"),
    ("device_name", "device name"),
    ("attention", "attention"),
    ("commit", "model commit"),
    ("revision", "model revision"),
    ("tokenizer", "tokenizer"),
    ("chat_template_sha256", "chat template (SHA-256)"),
)
_LONG_HASH = 16


def run_facts(manifest: Manifest) -> list[tuple[str, str]]:
    """Returns label and text of everything that says who was asked what, how and when; unknown ones are left out."""
    return [(label, text) for label, text in _facts(manifest) if text]


def _facts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield "model", bare_name(manifest.model)
    yield from _engine(manifest.engine)
    yield from _dataset(manifest.dataset)
    for design in manifest.designs:
        yield f"design ({design.get('interface', 'any interface')})", _design(design)
    for name, interface in manifest.interfaces.items():
        yield f"interface {name}", _interface(interface)
    yield "reference format", manifest.reference_format or ""
    yield "system prompt", "none" if manifest.system is None else manifest.system
    yield "largest picture", "" if manifest.image_max_pixels is None else f"{count(manifest.image_max_pixels)} pixels"
    yield "seed", "" if manifest.seed is None else str(manifest.seed)
    yield "status", manifest.status
    yield "started", manifest.started or ""
    yield "finished", manifest.finished or ""
    yield "versions", ", ".join(f"{name} {version}" for name, version in _versions(manifest).items())
    yield "command", shown_command(manifest.command)


def _versions(manifest: Manifest) -> dict[str, str]:
    return {"vqaudit": manifest.vqaudit_version, "reading rules": manifest.reader_version} | manifest.packages


def _engine(engine: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, label in _ENGINE:
        value = engine.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            yield label, count(value)
        elif isinstance(value, str):
            yield label, _shortened(bare_name(value))
    weights = engine.get("weights")
    if isinstance(weights, Mapping):
        for name, known in weights.items():
            digest = known.get("sha256") if isinstance(known, Mapping) else None
            yield f"weights {bare_name(str(name))}", f"SHA-256 {_shortened(str(digest))}" if digest else ""


def _shortened(text: str) -> str:
    """Cuts a hash to what tells it apart."""
    is_hash = len(text) >= 40 and all(character in "0123456789abcdef" for character in text)
    return f"{text[:_LONG_HASH]}…" if is_hash else text


def _dataset(dataset: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "dataset", bare_name(str(dataset.get("name") or ""))
    yield "file", bare_name(str(dataset.get("file") or ""))
    if isinstance(items := dataset.get("items"), int):
        yield "items", count(items)
    yield "content (SHA-256)", _shortened(str(dataset.get("digest") or ""))
    yield "answers are written as", str(dataset.get("answers") or "")
    fetched = dataset.get("fetched")
    if isinstance(fetched, Mapping):
        yield "pictures fetched from", ", ".join(map(str, fetched.get("origins") or ()))
    for warning in dataset.get("warnings") or ():
        yield "about the data", str(warning)
    if skipped := dataset.get("skipped"):
        yield "rows left out", count(len(skipped))


def _design(design: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in design.items() if key not in ("interface", "design") and value is not None}
    return ", ".join([str(design.get("design", "")), *(f"{key} {value}" for key, value in rest.items())])


def _interface(interface: Any) -> str:
    if not isinstance(interface, Mapping):
        return ""
    text = str(interface.get("ending_text") or "").replace("{instruction}", "instruction that names the IDs")
    said = f"“{text}” in the {interface.get('place', 'user')}'s turn" if text else "nothing after the options"
    asks = "" if interface.get("aligned") is not False else "; does not ask for what is scored"
    return f"{said}; scored: {interface.get('event', 'unknown')}{asks}"


def shown_command(command: Sequence[str]) -> str:
    """Returns the command that made the run, without the folders of files.

    Example:
        >>> shown_command(["/home/ada/.venv/bin/vqaudit", "run", "--data", "/home/ada/mmbench.tsv", "--system", "Be brief."])
        "vqaudit run --data mmbench.tsv --system 'Be brief.'"
    """  # noqa: E501
    if not command:
        return ""
    program = bare_name(command[0])
    name = "vqaudit" if program in ("__main__.py", "vqaudit.exe") else program
    return shlex.join([name, *(_without_folders(part) for part in command[1:])])


def _without_folders(part: str) -> str:
    option, equals, value = part.partition("=")
    return f"{option}={bare_name(value)}" if equals and option.startswith("--") else bare_name(part)


def token_rows(manifest: Manifest) -> list[tuple[str, str]]:
    """Returns ID set and how its IDs are tokenised where a reply begins, where the engine told it."""
    found = []
    for name, ids in manifest.id_tokens.items():
        if isinstance(ids, Mapping) and (texts := [text for pair in ids.items() if (text := _tokens(*pair))]):
            found.append((name, ", ".join(texts)))
    return found


def _tokens(option_id: str, described: Any) -> str:
    pieces = described.get("in_place") or described.get("bare") if isinstance(described, Mapping) else None
    if not isinstance(pieces, list) or not pieces:
        return ""
    shown = " + ".join(f"“{piece}”" for piece in pieces)
    return f"{option_id}: {shown}" + (f" ({len(pieces)} tokens)" if len(pieces) > 1 else "")


def cost_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Returns interface, trials, seconds per trial, tokens computed, tokens reused; the whole run last."""
    parts = [*summary.cost.by_interface.items(), ("all", summary.cost)]
    return [
        (
            name,
            count(part.trials),
            UNKNOWN if part.seconds_per_trial is None else duration(part.seconds_per_trial),
            count(part.tokens_computed),
            count(part.tokens_reused),
        )
        for name, part in parts
    ]
