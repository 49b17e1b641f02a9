"""`vqaudit grid` as a person uses it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[2] / "shared" / "papers"
OWN = """benchmark,checkpoint,ending,acc
d,a,bare,0.5
d,a,cot,0.2
d,b,bare,0.6
d,b,cot,0.5
"""
DECLARED = ("--columns", '{"model": "checkpoint"}', "--factor", "ending", "--scale", "share")


def vqaudit(*args: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "vqaudit", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "COLUMNS": "80", "OMP_NUM_THREADS": "1", "PATH": ""},
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture
def own(tmp_path) -> Path:
    path = tmp_path / "own.csv"
    path.write_text(OWN, encoding="utf-8")
    return path


def test_a_table_of_ones_own(own) -> None:
    found = json.loads(vqaudit("grid", own, *DECLARED, "--baseline", "ending=cot", "--json").stdout)
    assert found["pseudo_gold_accuracy_pct"] == {"d": {"a": pytest.approx(35.0), "b": pytest.approx(55.0)}}
    assert found["pseudo_gold_rank"] == {"d": {"a": 2, "b": 1}}
    assert found["lmm"]["bare"]["coef_pp"] == pytest.approx(20.0)
    shown = vqaudit("grid", own, *DECLARED).stdout
    assert "2 models x 1 data set x 2 formats: 4 of 4 cells" in shown
    assert "35.0 (2)" in shown


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((), 1, "no column is the model"),
        (DECLARED[:4], 1, "does not tell shares from per cent"),
        ((*DECLARED, "--baseline", "ending=none"), 1, "'none' is no level of ending"),
        ((*DECLARED, "--baseline", "ending"), 2, "FACTOR=LEVEL"),
        ((*DECLARED, "--min-coverage", "75"), 2, "min-coverage"),
        ((*DECLARED, "--methods", "nowhere.csv"), 1, "nowhere.csv"),
        (("--columns", '{"model": 3}'), 2, "no name of a column"),
    ],
)
def test_what_is_wrong_is_one_sentence(own, args, code, said) -> None:
    done = vqaudit("grid", own, *args, code=code)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_table_the_papers_cells_are_analysed() -> None:
    """Eq. 5 and the printed differences need nothing but the package."""
    found = json.loads(vqaudit("grid", "--json").stdout)
    assert found["cells"]["present"] == 1680
    assert found["lmm"]["number"]["coef_pp"] == pytest.approx(-9.811, abs=0.001)
    assert set(found["methods"]) == {"A-OKVQA", "HR-Bench-4K", "V*Bench"}
    assert [row["ours"] for row in found["printed_differences"] if row["printed"] == 59.27] == [
        pytest.approx(59.374, abs=0.001)
    ]


@pytest.mark.parametrize(
    ("args", "said"),
    [(("own.csv", "--paper"), "--paper takes paper 1's own cells"), (("--factor", "ending"), "name its file")],
)
def test_a_table_of_ones_own_or_the_papers(args, said) -> None:
    done = vqaudit("grid", *args, code=2)
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_printed_values_of_ones_own(own, tmp_path) -> None:
    printed = tmp_path / "printed.csv"
    printed.write_text(
        "key,where,printed,tolerance,likely_cause\npseudo_gold_accuracy_pct/d/a,Tab. 1,36.0,0.05,a slip\n",
        encoding="utf-8",
    )
    rows = json.loads(vqaudit("grid", own, *DECLARED, "--printed", printed, "--json").stdout)["printed_differences"]
    assert [(row["key"], row["likely_cause"]) for row in rows] == [("pseudo_gold_accuracy_pct/d/a", "a slip")]


def test_the_papers_table_needs_no_reference_values_beside_it(tmp_path) -> None:
    """The same output where nothing but the two tables is there."""
    if not PAPERS.exists():
        pytest.skip("paper 1's tables do not lie beside this repository")
    for name in ("format_grid.csv", "mitigation_table.csv"):
        shutil.copy(PAPERS / name, tmp_path / name)
    alone, beside = (
        vqaudit("grid", folder / "format_grid.csv", "--methods", folder / "mitigation_table.csv", "--json").stdout
        for folder in (tmp_path, PAPERS)
    )
    assert alone == beside
    assert json.loads(alone)["lmm"]["number"]["coef_pp"] == pytest.approx(-9.811, abs=0.001)


def test_the_page_on_the_papers_cells_is_fresh() -> None:
    if not PAPERS.exists():
        pytest.skip("paper 1's tables do not lie beside this repository")
    script = Path(__file__).parent.parent / "docs" / "paper1.py"
    done = subprocess.run(
        [sys.executable, str(script), str(PAPERS), "--check"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
