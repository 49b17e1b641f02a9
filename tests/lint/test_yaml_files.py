"""YAML that is broken, circular or hostile is a finding that says so; includes are merged as harnesses merge them."""

import pytest

from vqaudit.errors import DatasetError
from vqaudit.lint.yaml_files import Tagged, read_yaml


def test_includes_are_merged_and_own_keys_win(tasks) -> None:
    tasks.write("base/_two", "a: 1\nb: {x: 2}\ntask_list: [q]\n")
    tasks.write("base/_one", "include: _two\na: 2\nc: 3\n")
    path = tasks.write("t.yaml", "include:\n  - base/_one\nc: 4\n")
    file = read_yaml(path)
    assert file.values == {"a": 2, "b": {"x": 2}, "c": 4}
    assert file.own == {"include", "c"}
    assert (file.place("c").line, file.place("a").file.rpartition("/")[2], file.place("b", "x").line) == (3, "_one", 2)


def test_scalars_tags_and_anchors(tasks) -> None:
    path = tasks.write(
        "t.yaml", "a: &x [1, 2.5, yes, null, 'no', text]\nb: *x\nc: !function m.f\nd: !null\n<<: {e: 1}\n"
    )
    values = read_yaml(path).values
    assert values["a"] == values["b"] == [1, 2.5, True, None, "no", "text"]
    assert isinstance(values["c"], Tagged)
    assert (values["c"].tag, values["c"].value, values["c"].place.line) == ("!function", "m.f", 3)
    assert values["d"] is None
    assert values["e"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1", "no YAML"),
        ("- 1\n- 2\n", "no mapping"),
        ("include: nowhere_yaml\n", "does not exist"),
        ("include: t.yaml\n", "includes itself"),
        ("a: &a {b: *a}\n", "holds itself"),
        ("a: " + "[" * 90 + "]" * 90, "nested too deeply"),
    ],
)
def test_broken_files_are_told(tasks, text: str, words: str) -> None:
    path = tasks.write("t.yaml", text)
    with pytest.raises(DatasetError, match=words):
        read_yaml(path)
    assert tasks.rules("t.yaml") == {"unreadable": "error"}


def test_an_anchor_bomb_is_harmless(tasks) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    values = read_yaml(tasks.write("t.yaml", "\n".join(lines))).values
    assert values["a2"][0] is values["a2"][8]
    assert tasks.rules("t.yaml") == {}


def test_bytes_that_are_no_text(tasks) -> None:
    (tasks.folder / "t.yaml").write_bytes(b"\xff\xfe\x00a: 1")
    assert tasks.rules("t.yaml") == {"unreadable": "error"}
