"""Run directories written through the waist: prompts are rendered, what comes back is decided by a test."""

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from vqaudit.analysis import Summary, compare, summarise
from vqaudit.asking.designs import DEFAULT_REFERENCE, Grid, Randomised, Reference
from vqaudit.asking.formats import find_format
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.plan import Arm, Plan, Trial, make_plan
from vqaudit.asking.prompts import Prompt, render
from vqaudit.items.item import Item
from vqaudit.records import (
    ITEM_SCHEMA,
    PLAN_SCHEMA,
    SEGMENT_SCHEMA,
    Manifest,
    PartWriter,
    RunTables,
    segment_hash,
    write_manifest,
    write_table,
)

COLOURS = ("red", "green", "blue", "grey")


@dataclass(frozen=True)
class Asked:
    """What a pretended model is asked."""

    item: Item
    trial: Trial
    ids: tuple[str, ...]
    stands: int
    """Position of the right option."""
    rng: np.random.Generator

    @property
    def levels(self) -> tuple[str, ...]:
        shape = self.trial.variant.format
        return () if shape is None else tuple(shape.name.split("/"))


@dataclass(frozen=True)
class Cut:
    """A reply that would be an ID with more tokens."""

    position: int


Mind = Callable[[Asked], "int | str | Cut | None"]
"""Returns the position chosen, a reply that is no ID, a cut reply, or None where the engine failed."""


def knowing(share: float, *, first: float = 0.0) -> Mind:
    """Knows a share of the items, chooses the first position in another, and guesses the rest."""

    def mind(asked: Asked) -> int:
        drawn = asked.rng.random()
        if drawn < first:
            return 0
        return asked.stands if drawn < first + share else int(asked.rng.integers(len(asked.trial.variant.order)))

    return mind


def make_items(number: int) -> list[Item]:
    return [
        Item(
            id=f"item-{k}",
            question=f"What colour is block {k}?",
            options=COLOURS,
            answer=k % 4,
            category=("colour", "count")[k % 2],
        )
        for k in range(number)
    ]


def _columns(item: Item, trial: Trial, prompt: Prompt) -> dict[str, Any]:
    variant = trial.variant
    shape = variant.format
    return {
        "trial": trial.id,
        "item": item.id,
        "id_set": None if shape is None else shape.id_set.name,
        "delimiter": None if shape is None else shape.delimiter.name,
        "separator": None if shape is None else shape.separator.name,
        "order": list(variant.order),
        "id_order": list(variant.id_order),
        "interface": variant.interface.name,
        "ending": variant.interface.ending.name,
        "place": variant.interface.place,
        "event": variant.interface.event,
        "option_ids": list(prompt.option_ids),
        "segments": [segment_hash(segment) for segment in prompt.segments],
        "prefill": prompt.prefill or None,
        "attempt": 0,
        "worker": "w",
        "seconds": 0.01,
        "tokens_computed": 100,
    }


def _answered(asked: Asked, answer: "int | str | Cut | None") -> dict[str, Any]:
    event = asked.trial.variant.interface.event
    if answer is None:
        return {"outcome": "failed", "error": "the engine is gone"}
    if isinstance(answer, Cut):
        longer = asked.ids[answer.position]
        return {"outcome": "empty", "reply": "", "further": longer, "longer_id": longer, "budget": 1, "reason": "empty"}
    if isinstance(answer, str):
        return {"outcome": "unreadable", "reply": answer, "reason": "the reply is not exactly an ID"}
    chosen = {
        "outcome": "chosen",
        "position": answer,
        "chosen": asked.trial.variant.order[answer],
        "reason": "whole reply",
    }
    if event in ("id-scores", "option-likelihood"):
        scores = [math.log(0.55 if k == answer else 0.15) for k in range(len(asked.trial.variant.order))]
        if event == "option-likelihood":
            return chosen | {"option_scores": [{"logprob": s, "tokens": 1, "characters": 3} for s in scores]}
        told = [{"option_id": i, "logprob": s, "rank": 1} for i, s in zip(asked.ids, scores, strict=True)]
        return chosen | {"id_scores": told, "id_mass": 1.0}
    return chosen | {"reply": asked.ids[answer]}


def _lenient(row: dict[str, Any]) -> dict[str, Any]:
    if row["event"] != "reply" or row["outcome"] == "failed":
        return {}
    return {f"lenient_{key}": row.get(key) for key in ("outcome", "position", "chosen")}


def _records(plan: Plan, mind: Mind, texts: dict[str, str]) -> list[dict[str, Any]]:
    rows = []
    for trial in plan.trials:
        item = plan.items[trial.item]
        prompt = render(item, trial.variant)
        texts |= {segment_hash(segment): segment for segment in prompt.segments}
        rng = np.random.default_rng(int(trial.id, 16))
        asked = Asked(item, trial, prompt.option_ids, trial.variant.order.index(item.answer), rng)
        row = _columns(item, trial, prompt) | _answered(asked, mind(asked))
        rows.append(row | _lenient(row))
    return rows


def _item_row(item: Item) -> dict[str, Any]:
    return {
        "item": item.id,
        "question": item.question,
        "options": list(item.options),
        "answer": item.answer,
        "cluster": item.cluster,
        "category": item.category,
        "n_orders": item.n_options if item.permutable else 1,
        "notes": list(item.notes),
        "images": [],
    }


DESIGNS = {
    "reference": Reference(format=find_format(DEFAULT_REFERENCE)),
    "grid": Grid(),
    "randomised": Randomised(),
}


def build_run(
    path: Path,
    *,
    items: Sequence[Item],
    arms: Sequence[tuple[str, str]],
    mind: Mind | None,
    **manifest: Any,
) -> RunTables:
    """Writes a run; `mind=None` leaves every trial open."""
    plan = make_plan(items, [Arm(interface=find_interface(i), design=DESIGNS[d]) for i, d in arms])
    texts: dict[str, str] = {}
    rows = [] if mind is None else _records(plan, mind, texts)
    path.mkdir(parents=True)
    write_table(path / "items.parquet", [_item_row(item) for item in items], ITEM_SCHEMA)
    reasons = [(r.trial, r.item, r.design, r.draw, r.interface) for r in plan.reasons]
    write_table(path / "plan.parquet", [dict(zip(PLAN_SCHEMA.names, r, strict=True)) for r in reasons], PLAN_SCHEMA)
    segments = [{"segment": name, "text": text} for name, text in texts.items()]
    write_table(path / "segments.parquet", segments, SEGMENT_SCHEMA)
    PartWriter(path, worker="w").write(rows)
    known = {
        "vqaudit_version": "0.1.0",
        "reader_version": "1",
        "status": "complete" if mind else "started",
        "model": "pretended",
        "dataset": {"name": "blocks", "file": "/home/ada/secret/blocks.jsonl", "digest": "e3" * 32},
        "reference_format": "upper/dot/line_break",
        "seed": 0,
        "seconds": 200.0,
    }
    write_manifest(path, Manifest(**known | manifest))
    return RunTables.load(path)


class PageText(HTMLParser):
    """What a reader sees of a page, and its tags; complains where tags do not nest."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self._said: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"tags left open: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if "style" not in self._open and "script" not in self._open:
            self._said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self._said).replace("\xa0", " ").split())


@pytest.fixture(scope="session")
def read_page() -> Callable[[str], PageText]:
    return PageText


@pytest.fixture(scope="session")
def terminal() -> Callable[..., str]:
    """Prints a view as a pipe would get it."""

    def show(view: Any, *, width: int = 80, encoding: str = "utf-8") -> str:
        import io

        raw = io.BytesIO()
        console = Console(file=io.TextIOWrapper(raw, encoding=encoding, newline=""), width=width, legacy_windows=False)
        console.print(view)
        console.file.flush()
        return raw.getvalue().decode(encoding)

    return show


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Callable[[str], Path]:
    base = tmp_path_factory.mktemp("runs")
    return lambda name: base / name


@pytest.fixture(scope="session")
def asked_items() -> Callable[[int], list[Item]]:
    return make_items


@pytest.fixture(scope="session")
def written_run() -> Callable[..., RunTables]:
    return build_run


@pytest.fixture(scope="session")
def pretended() -> Callable[..., Mind]:
    return knowing


def faulty(asked: Asked) -> "int | str | Cut":
    """Numbers are cut, a third of `roman/dot/comma` is chatter, a reasoning cue makes it choose the first."""
    if asked.trial.variant.interface.name == "cot-prefix":
        return 0
    if "number" in asked.levels:
        return Cut(asked.stands)
    if asked.levels == ("roman", "dot", "comma") and asked.rng.random() < 0.7:
        return "It is hard to say."
    return knowing(0.3 if "comma" in asked.levels else 0.6, first=0.1)(asked)


@pytest.fixture(scope="session")
def grid(folder) -> RunTables:
    """A grid with a measurement fault, a mismatched interface and a randomised run beside it."""
    arms = [
        ("direct", "grid"),
        ("direct", "randomised"),
        ("direct-scores", "reference"),
        ("cot-prefix", "reference"),
        ("free-cot", "reference"),
    ]
    return build_run(folder("grid"), items=make_items(40), arms=arms, mind=faulty)


@pytest.fixture(scope="session")
def randomised(folder) -> RunTables:
    return build_run(
        folder("randomised"), items=make_items(50), arms=[("direct", "randomised")], mind=knowing(0.5), model="drawn"
    )


@pytest.fixture(scope="session")
def scores_only(folder) -> RunTables:
    arms = [("direct-scores", "randomised"), ("cloze", "reference")]
    return build_run(folder("scores"), items=make_items(30), arms=arms, mind=knowing(0.1, first=0.5))


@pytest.fixture(scope="session")
def unfinished(folder) -> RunTables:
    """Planned, and nothing answered yet."""
    return build_run(folder("unfinished"), items=make_items(6), arms=[("direct", "randomised")], mind=None)


@pytest.fixture(scope="session")
def rivals(folder, grid) -> list[RunTables]:
    """Three grids over the same items."""
    others = [
        build_run(folder(name), items=make_items(40), arms=[("direct", "grid")], mind=knowing(share), model=name)
        for name, share in (("strong", 0.8), ("weak", 0.2))
    ]
    return [grid, *others]


@pytest.fixture(scope="session")
def grid_summary(grid) -> Summary:
    return summarise(grid, by="category")


@pytest.fixture(scope="session")
def rivalry(rivals):
    return compare(rivals)


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Tab:
    """One page in a real browser, and everything that it complained of or asked for."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        self.url = path.as_uri()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(self.url)
        if page.query_selector(".explorer") is not None:
            page.wait_for_selector(".explorer[data-ready]", timeout=60_000)

    def told(self, script: str) -> Any:
        return self.page.evaluate(script)

    @property
    def outside(self) -> list[str]:
        """What it asked for beside itself; pictures that it made from its own bytes are no request."""
        return [url for url in self.requests if url != self.url and not url.startswith(("blob:", "data:"))]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'vqaudit[test]'")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium) -> Iterator[Callable[..., Tab]]:
    """Opens a page: `open_page(path, width=390, scheme="dark")`."""
    contexts = []

    def opened(path: Path, *, width: int = 1280, scheme: str = "light") -> Tab:
        size = {"width": width, "height": 900}
        contexts.append(chromium.new_context(viewport=size, color_scheme=scheme, is_mobile=width < 500))
        return Tab(contexts[-1].new_page(), path)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def grid_page(grid, tmp_path_factory) -> Path:
    from vqaudit.report.page import write_page

    return write_page([grid], tmp_path_factory.mktemp("page") / "page.html")
