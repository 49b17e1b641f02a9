"""Tables come in with the right units, or with an error that says where and what to do."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.analysis.cells import Layout, read_cells
from vqaudit.errors import DatasetError

HEADER = "dataset,model,delimiter,accuracy_pct"


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "own.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding=encoding)
        return path

    return write


def test_a_table_is_read_in_the_order_of_the_file_and_as_shares(write) -> None:
    table = read_cells(write(f"{HEADER},coverage_pct\nd2,n,dot,50,100\nd2,m,dot,25,90\nd1,m,colon,12.5,0\n"))
    assert (table.datasets, table.models) == (("d2", "d1"), ("n", "m"))
    assert table.factors == {"delimiter": ("dot", "colon")}
    expected = [[[0.5, np.nan], [0.25, np.nan]], [[np.nan, np.nan], [np.nan, 0.125]]]
    np.testing.assert_array_equal(table.accuracy, expected)
    assert table.coverage is not None
    assert table.coverage[0, 0, 0] == 1.0
    assert (table.cells, table.expected, table.is_complete) == (3, 8, False)


def test_a_byte_order_mark_tabs_blank_rows_and_quotes_do_not_matter(write) -> None:
    text = 'Benchmark\tModel Name\tOption delimiter\tacc [%]\n\n"d"\tm\tdot\t50\n\t\t\t\nd\tm\tcolon\t70\n'
    table = read_cells(write(text, "own.tsv", "utf-8-sig"))
    assert table.accuracy.tolist() == [[[0.5, 0.7]]]


@pytest.mark.parametrize("nothing", ["", "-", "–", "NA", "nan", "None"])
def test_a_cell_without_a_number_is_missing_and_not_zero(write, nothing: str) -> None:
    table = read_cells(write(f"{HEADER}\nd,m,dot,50\nd,m,colon,{nothing}\n"))
    assert np.isnan(table.accuracy[0, 0, 1])
    assert table.cells == 1


@pytest.mark.parametrize(
    ("column", "values", "scale", "shares"),
    [
        ("accuracy_pct", "50 0.5", None, [0.5, 0.005]),
        ("accuracy", "50 0.5", None, [0.5, 0.005]),
        ("accuracy", "1 0.5", "share", [1.0, 0.5]),
        ("accuracy", "1 0.5", "percent", [0.01, 0.005]),
        ("accuracy_share", "1 0.5", None, [1.0, 0.5]),
        ("accuracy_pct", "1 0.5", "percent", [0.01, 0.005]),
    ],
)
def test_scales_are_declared_named_or_proved(write, column, values, scale, shares) -> None:
    first, second = values.split()
    text = f"dataset,model,delimiter,{column}\nd,m,dot,{first}\nd,m,colon,{second}\n"
    assert read_cells(write(text), Layout(scale=scale)).accuracy[0, 0].tolist() == shares


@pytest.mark.parametrize(
    ("text", "layout", "said"),
    [
        ("dataset,model,delimiter,accuracy\nd,m,dot,1\n", {}, "does not tell shares from per cent"),
        (f"{HEADER}\nd,m,dot,0.5\n", {}, "does not tell shares from per cent"),
        (f"{HEADER}\nd,m,dot,50\n", {"scale": "share"}, "the column's name says percent"),
        (f"{HEADER}\nd,m,dot,50\n", {"scale": "permille"}, "'permille' is no scale"),
        (
            "dataset,model,delimiter,accuracy\nd,m,dot,50\n",
            {"scale": "share"},
            "row 1, column 'accuracy': 50 is not in",
        ),
        (f"{HEADER}\nd,m,dot,50\nd,m,colon,101\n", {}, "row 2, column 'accuracy_pct': 101 is not in [0, 100]"),
        (f"{HEADER}\nd,m,dot,50\nd,m,colon,-1\n", {}, "row 2, column 'accuracy_pct': -1 is not in [0, 100]"),
        (f"{HEADER}\nd,m,dot,50\nd,m,colon,fifty\n", {}, "row 2, column 'accuracy_pct': 'fifty' is no number"),
        (f"{HEADER}\nd,m,dot,50\nd,m,colon,inf\n", {}, "'inf' is no number"),
        (f"{HEADER}\nd,m,dot,\n", {}, "no row has a number here"),
        (f"{HEADER}\nd,m,dot,50\nd,n,dot,51\nd,m,dot,50\n", {}, "row 3: d / m / dot stands in row 1 already"),
        (f"{HEADER}\nd,,dot,50\n", {}, "row 1, column 'model': the field is empty"),
        (f"{HEADER}\nd,m,dot\n", {}, "row 1: 3 fields under a header of 4"),
        (f"{HEADER},model\nd,m,dot,50,m\n", {}, "two columns are called 'model'"),
        (HEADER, {}, "needs a header and at least one row"),
        ("dataset,model,accuracy_pct\nd,m,50\n", {}, "no column is a factor of the format"),
        ("model,delimiter,accuracy_pct\nm,dot,50\n", {}, "no column is the dataset"),
        (f"{HEADER}\nd,m,dot,50\n", {"columns": {"model": "name"}}, "there is no column 'name'"),
        (f"{HEADER}\nd,m,dot,50\n", {"columns": {"answer": "model"}}, "no column can be 'answer'"),
        (f"{HEADER}\nd,m,dot,50\n", {"factors": ("ending",)}, "there is no column 'ending'"),
        (f"{HEADER}\nd,m,dot,50\n", {"columns": {"model": "model"}, "factors": ("model",)}, "declared twice"),
        (f"{HEADER},delim\nd,m,dot,50,dot\n", {}, "'delimiter' and 'delim' may both be the delimiter"),
        (f'{HEADER}\nd,m,"dot,50\n', {}, "cannot be read as a table"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(write, text, layout, said) -> None:
    with pytest.raises(DatasetError) as caught:
        read_cells(write(text), Layout(**layout))
    assert said in str(caught.value)
    assert "own.csv" in str(caught.value)


def test_other_files_are_refused(write, tmp_path) -> None:
    with pytest.raises(DatasetError, match=r"a \.csv or \.tsv file"):
        read_cells(write(f"{HEADER}\nd,m,dot,50\n", "own.xlsx"))
    with pytest.raises(DatasetError, match="cannot be read"):
        read_cells(tmp_path / "nowhere.csv")
    path = tmp_path / "latin.csv"
    path.write_bytes(f"{HEADER}\nd,m,dot,50\né".encode("latin-1"))
    with pytest.raises(DatasetError, match="UTF-8"):
        read_cells(path)


def test_a_factor_of_ones_own_tells_rows_apart_that_would_be_doubles(write) -> None:
    path = write("dataset,model,delimiter,ending,accuracy_pct\nd,m,dot,bare,50\nd,m,dot,cot,20\n")
    with pytest.raises(DatasetError, match="--factor"):
        read_cells(path)
    table = read_cells(path, Layout(factors=("ending",)))
    assert table.format_names == ("dot/bare", "dot/cot")


@given(st.lists(st.integers(0, 1000), min_size=4, max_size=4), st.permutations(range(4)))
def test_shares_and_per_cent_in_any_order_of_rows_are_the_same_cells(thousandths, order) -> None:
    cells = [(f"m{place // 2}", f"l{place % 2}", value) for place, value in enumerate(thousandths)]
    with TemporaryDirectory() as folder:
        one, two = Path(folder, "one.csv"), Path(folder, "two.csv")
        rows = "".join(f"d,{model},{level},{value / 10:.1f}\n" for model, level, value in cells)
        one.write_text("dataset,model,delimiter,accuracy\n" + rows, encoding="utf-8")
        rows = "".join("d,{},{},{:.3f}\n".format(*cells[place][:2], cells[place][2] / 1000) for place in order)
        two.write_text("dataset,model,delimiter,accuracy\n" + rows, encoding="utf-8")
        percent, share = read_cells(one, Layout(scale="percent")), read_cells(two, Layout(scale="share"))
    for place, (model, level, value) in enumerate(cells):
        for table in (percent, share):
            at = (0, table.models.index(model), table.formats.index((level,)))
            assert table.accuracy[at] == pytest.approx(value / 1000, abs=1e-12), place


def test_columns_that_are_not_used_are_named(write) -> None:
    table = read_cells(write(f"{HEADER},comment\nd,m,dot,50,fine\n"))
    assert table.notes == ("columns that are not used: comment",)
