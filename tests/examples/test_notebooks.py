"""Every code cell of the notebooks runs, top to bottom, and what they show is what the paper's cells give."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def run_notebook(name: str) -> tuple[dict[str, Any], list[object]]:
    """Runs the code cells in one namespace; returns it, and the value of each cell's last expression."""
    document = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    shown: list[object] = []
    for cell in document["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), namespace))  # noqa: S307 - our own file
    return namespace, shown


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_small_and_without_outputs(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in document["cells"])
    assert path.stat().st_size < 40_000
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)


def test_paper_1_from_its_cells(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("altair")
    names, shown = run_notebook("paper1_from_its_cells.ipynb")
    printed = capsys.readouterr().out
    assert "1,680 cells in 48 formats" in printed
    assert "Spearman of the two rankings: 0.214" in printed
    assert names["table"].shape == (1680, 7)
    assert names["table"].filter(model="Phi-3.5", option_ids="number")["coverage"].max() == 0.0
    spreads = {
        (row["dataset"], row["model"]): row["best"] - row["worst"] for row in names["ends"].iter_rows(named=True)
    }
    expected = names["found"].spread_pp
    assert spreads == pytest.approx({(d, m): expected[d][m] for d in expected for m in expected[d]})
    assert len(names["differences"]) == sum(row.kind == "differs" for row in names["found"].printed_differences)
    for chart in ("spreads", "ranks", "figure4", "figure5", "figure6"):
        drawn = names[chart].to_dict()
        assert any(value is names[chart] for value in shown)
        assert "spec" in drawn or "mark" in drawn


def test_paper_2_on_the_demo_model(tmp_path, monkeypatch, capsys) -> None:
    pytest.importorskip("altair")
    monkeypatch.chdir(tmp_path)
    names, shown = run_notebook("paper2_on_the_demo_model.ipynb")
    rows = names["summary"].interfaces
    assert rows["bare-scores"].accuracy.low > rows["cot-prefix"].accuracy.high, "the fall of paper 2"
    assert rows["free-cot"].accuracy.low > rows["cot-prefix"].accuracy.high, "generation restores it"
    assert rows["bare-scores"].id_mass.value > 0.9 > 0.1 > rows["cot-prefix"].id_mass.value
    assert set(names["found"].probe.conditions) == {"bare-scores", "cot-prefix"}
    assert "cot-prefix is mismatched" in capsys.readouterr().out
    assert sum(hasattr(value, "_repr_html_") for value in shown) >= 6
