"""Writes prompts.json anew: run it, read the difference, and say in the CHANGELOG why prompts changed."""

import json
from pathlib import Path

from vqaudit.asking.formats import FORMATS
from vqaudit.asking.interfaces import find_interface
from vqaudit.asking.prompts import make_variant, render
from vqaudit.items.item import ImageSource, Item

QUESTION = Item(
    id="1",
    question="Which animal is asleep?",
    options=("the cat", "the dog", "the hen"),
    answer=1,
    images=(ImageSource(data=b"not decoded here"),),
)

prompts = {
    f"{name} {format.name}": render(QUESTION, make_variant(find_interface(name), format, (1, 2, 0))).text
    for format in FORMATS
    for name in ("direct", "cot-prefix")
}
Path(__file__).with_name("prompts.json").write_text(
    json.dumps(prompts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
)
