"""The only module that joins the halves: plan -> run -> records -> findings.

Knows who does what. Computes and renders nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from vqaudit.engines.base import Engine
from vqaudit.engines.models import local_model, resolve_model
from vqaudit.errors import DatasetError, PlanError
from vqaudit.items import DEMO_MODELS, Dataset, demo_items, demo_model_path, load_items
from vqaudit.items.benchmarks import find_benchmark, load_benchmark, parse_name
from vqaudit.items.loading import LoadSpec
from vqaudit.records import RunTables, own_run, read_manifest
from vqaudit.rounds import Rounds, ask_rounds, check_rounds
from vqaudit.run import make_spec
from vqaudit.run.executors import ExecutorSpec, open_executor
from vqaudit.run.stopping import Stop

if TYPE_CHECKING:
    from vqaudit.analysis.summary import Summary
    from vqaudit.report.charts import Picture

Spec = TypeVar("Spec", bound=BaseModel)

__all__ = ["Execution", "Run", "audit", "load_data", "load_model", "open_run"]


def load_data(data: str | Path | Dataset, **options: Any) -> Dataset:
    """Returns the dataset: itself, the packaged `demo`, a benchmark by its name, or a file.

    Args:
        data: A dataset, a file, or a name: `demo`, or what `items.benchmarks.parse_name` reads, as in `mmstar`,
            `mmstar=FOLDER`, `mmmu:Art,Music`.
        **options: Those of `load_items`; for a benchmark by its name also `split`.

    Raises:
        DatasetError: The data cannot be read, or nothing has that name.
    """
    if isinstance(data, Dataset):
        return data
    if str(data) == "demo":
        return demo_items(limit=options.get("limit"))
    split = options.pop("split", None)
    images = {name: options.pop(name, None) for name in ("image_root", "fetch_images")}
    wanted = parse_name(data) if isinstance(data, str) else None
    if wanted is not None:
        spec = LoadSpec(**{name: value for name, value in options.items() if value is not None})
        return load_benchmark(wanted, spec, split=split, **images)
    if split is not None:
        raise DatasetError("a split can be chosen of a named benchmark only", file=data)
    if isinstance(data, str) and not Path(data).suffix and not Path(data).exists():
        find_benchmark(data)
    return load_items(data, **images, **options)


def load_model(model: str | Path, **spec: Any) -> Engine:
    """Loads a model for asking.

    Args:
        model: A folder, a hub ID, a short name (`engines.models`), a GGUF file of a language model, `demo` or `demo-1`
            for a packaged one, `openai:NAME` for a model behind an OpenAI-compatible server, or `vllm:NAME` for one
            that vLLM runs in this process.
        **spec: Fields of `engines.local.LocalSpec` (device, dtype, revision, chat_kwargs, ...), of
            `engines.server.ServerSpec` (base_url, concurrency, ...) or of `engines.vllm.VLLMSpec`.

    Raises:
        EngineUnavailable: The packages of the engine are not installed.
        EngineError: The model cannot be loaded, or the server has no address or no key.
    """
    kind, _, name = str(model).partition(":")
    if kind == "openai" and name:
        from vqaudit.engines.server import ServerEngine, ServerSpec

        return ServerEngine(name, _checked(ServerSpec, spec))
    if kind == "vllm" and name:
        from vqaudit.engines.vllm import VLLMEngine, VLLMSpec

        return VLLMEngine(resolve_model(name), _checked(VLLMSpec, spec))
    if isinstance(model, str):
        model = local_model(model)
    from vqaudit.engines.local import LocalSpec, load_local

    wanted = _checked(LocalSpec, spec)
    if str(model) in DEMO_MODELS:
        return load_local(demo_model_path(str(model)), spec=wanted, name=str(model))
    return load_local(model, spec=wanted)


def _checked(kind: type[Spec], given: dict[str, Any]) -> Spec:
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        raise PlanError(f"setting {'.'.join(map(str, first['loc']))!r}: {first['msg']}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A run directory and what can be done with it."""

    path: Path

    def tables(self) -> RunTables:
        """Reads the records as they stand now."""
        return RunTables.load(self.path)

    def summary(
        self, *, by: str | None = None, details: bool = True, calibrate_on: str | Path | None = None
    ) -> Summary:
        """Returns the findings.

        Args:
            by: `category` adds a row per category.
            details: Whether to tell effects, mitigations, confidence groups and position apart from ID too.
            calibrate_on: Another run of the same model, from which PriDe takes its prior.
        """
        from vqaudit.analysis.mitigation import Calibration
        from vqaudit.analysis.summary import summarise, summarise_directory

        if not details:
            return summarise_directory(self.path, by=by)
        prior = None if calibrate_on is None else Calibration(run=RunTables.load(calibrate_on))
        return summarise(self.tables(), by=by, calibration=prior)

    def report(self, path: str | Path) -> Path:
        """Writes the page: one self-contained HTML file.

        Raises:
            EngineUnavailable: The packages of the extra `report` are not installed.
        """
        from vqaudit.report.page import write_page

        return write_page([self.tables()], Path(path))

    def add_pictures(self, data: str | Path | Dataset, **options: Any) -> int:
        """Keeps small pictures of the run's items in its directory, so that the page shows them.

        Args:
            data: The data that were asked: a dataset, or what `load_data` takes.
            **options: Those of `load_data`.

        Returns:
            How many pictures were added.
        """
        from vqaudit.run.thumbs import write_thumbnails

        return write_thumbnails(self.path, load_data(data, **options).items)

    def figures(self) -> dict[str, Picture]:
        """Returns all figures of the page by name; a notebook shows each, `report.charts.save_picture` saves one.

        Raises:
            EngineUnavailable: The packages of the extra `report` are not installed.
        """
        from vqaudit.report.figures import run_figures

        return run_figures(self.summary(), run=self.path)

    def figure(self, name: str) -> Picture:
        """Returns one figure, such as `accuracy` (the heat map of formats), `effects` or `positions`.

        Raises:
            AnalysisError: The run has no figure of that name; the message lists those that it has.
            EngineUnavailable: The packages of the extra `report` are not installed.
        """
        from vqaudit.report.figures import find_figure

        return find_figure(self.figures(), name)


def open_run(path: str | Path) -> Run:
    """Returns an existing run.

    Raises:
        RecordError: There is no run at that path.
    """
    read_manifest(path)
    return Run(path=Path(path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """Who asks, and how it is asked to stop."""

    executor: ExecutorSpec = field(default_factory=ExecutorSpec)
    stop: Stop = field(default_factory=Stop)


def audit(
    model: str | Path | Engine | Callable[[], Engine],
    data: str | Path | Dataset,
    *,
    out: str | Path,
    progress: bool = True,
    execution: Execution | None = None,
    **settings: Any,
) -> Run:
    """Asks a model about a dataset and returns the run; asks only what an earlier session left open.

    Args:
        model: An engine, what makes one, or what `load_model` takes. Workers on Ray each make their own.
        data: A dataset, or what `load_data` takes.
        out: The run directory.
        progress: Whether to draw a progress bar on standard error.
        execution: Who asks, and how it is stopped; None = this process.
        **settings: Fields of `AuditSpec`.

    Raises:
        VqauditError: See the tree in `vqaudit.errors`; what was answered before is on disk.

    Example:
        >>> import vqaudit as va
        >>> run = va.audit("demo", "demo", out="runs/tour", interface="direct")  # doctest: +SKIP
        >>> print(run.summary().grid_accuracy)  # doctest: +SKIP
    """
    spec = make_spec(settings)
    dataset = load_data(data)
    check_rounds(dataset, spec)
    execution = execution or Execution()
    engine = partial(load_model, model) if isinstance(model, str | Path) else model
    with own_run(Path(out)) as owner, closing(open_executor(execution.executor, engine, owner=owner)) as executor:
        rounds = Rounds(executor=executor, dataset=dataset, owner=owner, progress=progress, stop=execution.stop)
        ask_rounds(rounds, spec)
    return Run(path=Path(out))
