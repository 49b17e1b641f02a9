"""Tiny checkpoints of every family, saved and loaded once per session, and requests to put to them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from PIL import Image as PixelImages

from vqaudit.engines.base import Event, Image, Request, TextPart
from vqaudit.engines.local import LocalEngine, LocalSpec, load_local

_TINY = Path(__file__).parents[1] / "tiny"
QUESTION = (
    "What color is the car?\nA. red\nB. blue\nC. green\nD. yellow\n"
    "Answer with the option's letter from the given choices directly: A, B, C, or D."
)


def _load_families() -> ModuleType:
    """By path: with `--import-mode=importlib`, a test module cannot import its neighbours by name."""
    spec = importlib.util.spec_from_file_location(
        "tiny_models", _TINY / "__init__.py", submodule_search_locations=[str(_TINY)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    spec.loader.exec_module(package)
    return importlib.import_module("tiny_models.families")


_families = _load_families()
VISION, EVERY = sorted(_families.VISION_FAMILIES), sorted(_families.FAMILIES)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny models are slower on several threads, above all where other work shares the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def families() -> ModuleType:
    return _families


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name of a family -> folder of its saved checkpoint."""
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name == "smolvlm":
            pytest.importorskip("num2words", reason="transformers' SmolVLM processor needs num2words")
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            _families.save(name, made[name])
        return made[name]

    return make


@pytest.fixture(scope="session")
def engine_of(checkpoint: Callable[[str], Path]) -> Callable[..., LocalEngine]:
    """Name of a family (and options of `LocalSpec`) -> loaded engine; loaded once for the same options."""
    loaded: dict[tuple[str, str], LocalEngine] = {}

    def load(name: str, **options: object) -> LocalEngine:
        key = (name, repr(sorted(options.items())))
        if key not in loaded:
            loaded[key] = load_local(checkpoint(name), spec=LocalSpec.model_validate(options))
        return loaded[key]

    return load


@pytest.fixture(scope="session", params=EVERY)
def family(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session", params=VISION)
def vision_family(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def pictures() -> tuple[Image, ...]:
    """Three pictures of noise, wide, small and tall: some families cut them into unequal numbers of tiles."""
    rng = np.random.default_rng(7)
    sizes = [(100, 140), (60, 60), (200, 90)]
    return tuple(
        Image(digest=f"noise-{index}", pixels=PixelImages.fromarray(rng.integers(0, 255, (h, w, 3), dtype=np.uint8)))
        for index, (h, w) in enumerate(sizes)
    )


@pytest.fixture(scope="session")
def ask(pictures: tuple[Image, ...]) -> Callable[..., Request]:
    """Event (and whatever else a request holds) -> request; `images` is a number of pictures."""

    def make(event: Event, text: str = QUESTION, *, images: int = 0, **fields: object) -> Request:
        fields.setdefault("trial", "t")
        fields.setdefault("option_ids", tuple("ABCD"))
        fields.setdefault("parts", (TextPart(text=text),))
        fields.setdefault("images", pictures[:images])
        return Request(event=event, **fields)  # pyright: ignore[reportArgumentType]

    return make


@pytest.fixture
def shown(family: str, families: ModuleType) -> int:
    """How many pictures a request to this family may have in a general test: one, or none for a text model."""
    return int(family in families.VISION_FAMILIES)


@pytest.fixture(scope="session")
def demo() -> LocalEngine:
    """The model that the package carries."""
    folder = resources.files("vqaudit") / "demo_data" / "model"
    if not folder.is_dir():
        pytest.skip("this build carries no demo model")
    with resources.as_file(folder) as path:
        return load_local(path)
