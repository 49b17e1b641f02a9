"""The training chain and the package say the same: words, items, and what was held out."""

import importlib
import json
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from vqaudit.asking.endings import ENDINGS
from vqaudit.asking.formats import FORMATS
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.orders import natural
from vqaudit.asking.prompts import instruction, make_variant, render
from vqaudit.items import demo_items
from vqaudit.items.item import ImageSource, Item

CHAIN = Path(__file__).parents[2] / "demo"
PACKAGED = Path(__file__).parents[2] / "src" / "vqaudit" / "demo_data"


@pytest.fixture(scope="module")
def chain():
    """The chain's modules, which import one another as scripts do."""
    if not CHAIN.exists():
        pytest.skip("demo/ is not beside the tests: it is part of the repository, not of the package")
    sys.path.insert(0, str(CHAIN))
    yield {name: importlib.import_module(name) for name in ("scenes", "wording", "items")}
    sys.path.remove(str(CHAIN))


def test_training_words_are_those_that_audits_use(chain) -> None:
    wording = chain["wording"]
    assert [f.name for f in wording.FORMATS] == [f.name for f in FORMATS]
    assert ENDINGS["cot"].text == wording.CUE
    for theirs, ours in zip(wording.FORMATS, FORMATS, strict=True):
        for count in (2, 3, 4, 5):
            options = tuple("wxyzv"[:count])
            assert theirs.list_options(options) == ours.list_options(options, ours.id_set.first(count))
            assert wording.instruction(theirs, count) == instruction(
                ours.id_set.kind, ours.id_set.first(count), images=1
            )


def test_training_prompts_are_rendered_prompts(chain) -> None:
    wording = chain["wording"]
    question = Item(id="1", question="What is it?", options=("red", "blue"), answer=0, images=(ImageSource(data=b"x"),))
    for theirs, ours in zip(wording.FORMATS, FORMATS, strict=True):
        for name, ending in (
            ("direct", wording.instruction(theirs, 2)),
            ("cot-prefix", wording.CUE),
            ("bare-scores", ""),
        ):
            rendered = render(question, make_variant(find_interface(name), ours, natural(2)))
            assert wording.prompt(question.question, question.options, theirs, ending) == rendered.text


def test_packaged_items_are_what_the_generator_writes(chain, tmp_path: Path) -> None:
    assert chain["items"].write_items(tmp_path) == 200
    assert (tmp_path / "items.jsonl").read_bytes() == (PACKAGED / "items.jsonl").read_bytes()


def test_what_training_draws_is_never_what_is_held_out(chain) -> None:
    scenes = chain["scenes"]
    rng = random.Random(5)
    drawn = {
        split: {tuple(sorted((t.cell, t.name) for t in scenes.sample_scene(rng, split))) for _ in range(1500)}
        for split in ("train", "development", "held_out")
    }
    assert drawn["train"].isdisjoint(drawn["held_out"])
    assert drawn["train"].isdisjoint(drawn["development"])
    assert drawn["development"].isdisjoint(drawn["held_out"])


def test_packaged_items_are_as_the_card_says() -> None:
    data = demo_items()
    assert len(data) == 200
    assert Counter(item.n_options for item in data) == {4: 152, 2: 16, 3: 16, 5: 16}
    assert set(Counter(item.category for item in data)) == {"colour", "shape", "count", "place", "relation"}
    answers = Counter(item.answer for item in data if item.n_options == 4)
    assert max(answers.values()) - min(answers.values()) <= 4
    assert all(item.permutable and not item.notes for item in data)
    rows = [json.loads(line) for line in (PACKAGED / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert set(Counter(row["objects"] for row in rows)) == {1, 2, 3, 4}
    assert sum(path.stat().st_size for path in PACKAGED.rglob("*") if path.is_file()) < 8_000_000
