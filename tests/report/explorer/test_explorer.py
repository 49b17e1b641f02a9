"""The explorer's data: what a browser unpacks is what the records hold."""

import base64
import gzip
import io
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vqaudit.report.examples import pick_examples
from vqaudit.report.explorer import explorer_data
from vqaudit.report.explorer.filters import FILTERS, item_flags
from vqaudit.report.explorer.packing import pack, pack_column
from vqaudit.report.explorer.pictures import read_pictures
from vqaudit.report.explorer.texts import code_texts, text_table

TYPES = {"u1": np.uint8, "i1": np.int8, "u2": np.uint16, "u4": np.uint32}


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads the packed form as its description says, with none of the code that wrote it."""
    whole = base64.b64decode(text)
    size = int.from_bytes(whole[:4], "little")
    header = json.loads(whole[4 : 4 + size])
    columns = {}
    for name, (kind, offset, length, zipped) in header["columns"].items():
        raw = whole[4 + size + offset : 4 + size + offset + length]
        columns[name] = np.frombuffer(gzip.decompress(raw) if zipped else raw, TYPES[kind])
    return header, columns


def texts_of(columns: dict[str, np.ndarray], name: str) -> list[str]:
    """Cuts by UTF-16 code units, as JavaScript does."""
    units = columns[f"{name}_text"].tobytes().decode("utf-8").encode("utf-16-le")
    ends = 2 * np.cumsum(columns[f"{name}_length"].astype(np.int64))
    starts = [0, *ends][: len(ends)]
    return [units[a:b].decode("utf-16-le") for a, b in zip(starts, ends, strict=True)]


@pytest.fixture(scope="module")
def grid_data(grid):
    return unpacked(explorer_data(grid, interface="direct").text)


def test_every_trial_is_there_with_its_prompt_and_its_reply(grid, grid_data) -> None:
    header, columns = grid_data
    prompts, said = texts_of(columns, "prompt"), texts_of(columns, "said")
    pieces = np.split(columns["piece"], np.cumsum(columns["pieces_of"])[:-1])
    items = np.repeat(header["items"]["id"], columns["trials_of"])
    segments = grid.segments()
    rows = {row["trial"]: row for row in grid.trials.iter_rows(named=True)}
    names = columns["trial"].reshape(-1, 8)
    assert len(names) == len(rows)
    for k, name in enumerate(names):
        row = rows[bytes(name).hex()]
        assert items[k] == row["item"]
        assert "".join(prompts[code - 1] for code in pieces[k]) == "".join(segments[s] for s in row["segments"])
        assert (said[columns["reply"][k] - 1] if columns["reply"][k] else None) == row["reply"]
        assert columns["position"][k] == (-1 if row["position"] is None else row["position"])
        assert header["arrangement_rows"][columns["arrangement"][k]][0] == list(row["order"])
        assert header["ids_rows"][columns["ids"][k]][0] == list(row["option_ids"])
        assert header["reading_rows"][columns["reading"][k]][:2] == [row["outcome"], row["reason"]]


def test_scores_are_the_records_to_a_tenth_of_a_per_cent(grid, grid_data) -> None:
    header, columns = grid_data
    scores = np.split(columns["score"], np.cumsum(columns["scores_of"])[:-1])
    rows = {row["trial"]: row for row in grid.trials.iter_rows(named=True)}
    seen = 0
    for name, kind, found in zip(columns["trial"].reshape(-1, 8), columns["score_kind"], scores, strict=True):
        told = rows[bytes(name).hex()]["id_scores"] or []
        assert kind == (1 if told else 0)
        assert [p / header["steps"] for p in found] == pytest.approx([math.exp(s["logprob"]) for s in told], abs=6e-4)
        seen += len(told)
    assert seen > 100


def test_a_score_that_is_unknown_is_not_zero(scores_only) -> None:
    def cut(scores):
        return [{**score, "logprob": None if k == 1 else score["logprob"]} for k, score in enumerate(scores)]

    told = scores_only.trials.filter(pl.col("id_scores").list.len() > 0)
    rows = [cut(row) for row in told["id_scores"].to_list()]
    run = replace(scores_only, trials=told.with_columns(id_scores=pl.Series(rows, dtype=told["id_scores"].dtype)))
    header, columns = unpacked(explorer_data(run, interface="direct-scores").text)
    assert (columns["score"].reshape(-1, 4)[:, 1] == header["no_score"]).all()
    assert (columns["score"].reshape(-1, 4)[:, 0] < header["no_score"]).all()


def test_a_cloze_has_log_probabilities_per_token(scores_only) -> None:
    header, columns = unpacked(explorer_data(scores_only, interface="cloze").text)
    assert header["interfaces"][header["main"]][0] == "cloze"
    assert set(columns["score_kind"]) == {1, 2}
    values = np.repeat(columns["score_kind"], columns["scores_of"])
    found = set(columns["score"][values == 2].tolist())
    assert found == {round(-1000 * math.log(p)) for p in (0.55, 0.15)}


def test_flags_agree_with_a_plain_loop(grid, grid_data) -> None:
    header, columns = grid_data
    bits = {name: bit for bit, (name, *_) in enumerate(FILTERS)}
    flags = columns["flags"].reshape(-1, len(header["interfaces"]))
    answers = dict(grid.items.select("item", "answer").iter_rows())
    for place, item in enumerate(header["items"]["id"]):
        rows = [
            row
            for row in grid.trials.filter(pl.col("item") == item, pl.col("interface") == "direct").iter_rows(named=True)
        ]
        right = {
            (r["id_set"], r["delimiter"], r["separator"], tuple(r["order"])): r["chosen"] == answers[item] for r in rows
        }
        by_order = [{ok for key, ok in right.items() if key[3] == order} for order in {key[3] for key in right}]
        by_format = [{ok for key, ok in right.items() if key[:3] == form} for form in {key[:3] for key in right}]
        flag = flags[place, [name for name, *_ in header["interfaces"]].index("direct")]
        assert bool(flag >> bits["flips_format"] & 1) == any(len(side) == 2 for side in by_order)
        assert bool(flag >> bits["flips_order"] & 1) == any(len(side) == 2 for side in by_format)
        assert bool(flag >> bits["unread"] & 1) == any(r["outcome"] != "chosen" for r in rows)
        assert bool(flag >> bits["never"] & 1) == (not any(right.values()))
        assert bool(flag >> bits["always"] & 1) == all(right.values())


def test_an_item_flips_with_the_interface_in_one_format_and_order_alone() -> None:
    columns = {
        "item_code": [0, 0, 1, 1],
        "interface_code": [0, 1, 0, 1],
        "format": ["a", "a", "a", "b"],
        "arrangement": [0, 0, 0, 0],
        "right": [True, False, True, False],
        "answered": [True] * 4,
        "failed": [False] * 4,
    }
    found = item_flags(pl.DataFrame(columns), items=2, interfaces=2)
    bit = [name for name, *_ in FILTERS].index("flips_interface")
    assert (found.flags >> bit & 1).tolist() == [[1, 1], [0, 0]]
    assert found.right.tolist() == [[1, 0], [1, 0]]


def test_the_same_records_give_the_same_text(grid, grid_data) -> None:
    assert unpacked(explorer_data(grid, interface="direct").text)[0] == grid_data[0]
    assert explorer_data(grid, interface="direct").text == explorer_data(grid, interface="direct").text


def test_a_run_without_trials_has_no_explorer(unfinished) -> None:
    assert explorer_data(unfinished, interface="direct") is None


def test_a_silent_log_is_shown_with_what_it_holds(grid) -> None:
    silent = ("order", "id_order", "option_ids", "id_set", "delimiter", "separator", "segments", "interface", "event")
    trials = grid.trials.head(20).with_columns(
        pl.lit(None, dtype=grid.trials[name].dtype).alias(name) for name in silent
    )
    items = grid.items.with_columns(
        options=pl.lit(None, dtype=grid.items["options"].dtype),
        answer=pl.lit(None, dtype=grid.items["answer"].dtype),
        images=pl.lit(None, dtype=grid.items["images"].dtype),
        notes=pl.lit(None, dtype=grid.items["notes"].dtype),
        question=pl.lit(None, dtype=pl.String),
    )
    header, columns = unpacked(explorer_data(replace(grid, trials=trials, items=items), interface="unknown").text)
    assert header["interfaces"] == [["unknown", None, True]]
    assert header["ask_rows"] == [[0, None, None]]
    assert header["arrangement_rows"] == [[None, None]]
    assert set(columns["right"]) == {2}
    assert columns["pieces_of"].sum() == 0


def test_what_does_not_fit_is_left_out_and_said(grid) -> None:
    whole = explorer_data(grid, interface="direct")
    size = 3 * len(whole.text) // 4
    small = explorer_data(grid, interface="direct", most=size // 6)
    assert 3 * len(small.text) // 4 <= 1.2 * size / 6
    assert small.items < whole.items == 40
    assert any(f"The first {small.items} of 40 items are here" in note for note in small.notes)
    header, columns = unpacked(small.text)
    assert "trial" not in columns
    assert len(header["items"]["id"]) == small.items == len(columns["trials_of"])


def test_long_replies_are_cut_before_items_are_lost(folder, written_run, asked_items) -> None:
    rng = np.random.default_rng(0)
    run = written_run(
        folder("chatty"),
        items=asked_items(4),
        arms=[("direct", "grid")],
        mind=lambda asked: "".join(map(chr, rng.integers(97, 123, size=5000))),
    )
    found = explorer_data(run, interface="direct", most=600_000)
    assert found.items == 4
    assert any("more than 400 characters are cut here" in note for note in found.notes)
    assert {len(text) for text in texts_of(unpacked(found.text)[1], "said")} == {401}


def test_thumbnails_are_shown_and_nothing_else_is(tmp_path) -> None:
    thumbs = tmp_path / "thumbs"
    thumbs.mkdir()
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(buffer, "PNG")
    (thumbs / "aa.png").write_bytes(buffer.getvalue())
    (thumbs / "bb.png").write_text("<svg onload='alert(1)'/>", encoding="utf-8")
    (tmp_path / "secret.png").write_bytes(buffer.getvalue())
    found = read_pictures(tmp_path, [["aa"], ["bb", None], ["../secret"], None, ["aa"]])
    assert found.of_items == [[0], [-1, -1], [-1], [], [0]]
    assert (found.types, found.images) == (["image/png"], buffer.getvalue())
    assert read_pictures(tmp_path, [["aa"]], most=10).of_items == [[-1]]


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=12), max_size=12))
def test_texts_are_cut_where_javascript_counts(texts: list[str]) -> None:
    from vqaudit.report.untrusted import printable

    table = text_table(texts)
    columns = {"t_text": np.frombuffer(table.utf8, np.uint8), "t_length": table.lengths}
    assert texts_of(columns, "t") == [printable(text) for text in texts]


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.sampled_from("abc"))] * 2), max_size=9))
def test_codes_point_back_to_their_texts(rows: list[tuple[str | None, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String}, orient="row")
    codes, texts = code_texts(frame)
    assert len(set(texts)) == len(texts)
    back = [[None if code == 0 else texts[code - 1] for code in codes[name]] for name in ("x", "y")]
    assert back == [frame["x"].to_list(), frame["y"].to_list()]


@given(st.lists(st.integers(0, 65535), max_size=20))
def test_numbers_come_back(numbers: list[int]) -> None:
    text = base64.b64encode(pack({}, {"n": pack_column(np.array(numbers, np.uint16))})).decode()
    assert unpacked(text)[1]["n"].tolist() == numbers


def test_examples_and_explorer_show_the_same_prompt(grid, grid_data) -> None:
    _, columns = grid_data
    names = [bytes(name).hex() for name in columns["trial"].reshape(-1, 8)]
    prompts = texts_of(columns, "prompt")
    pieces = np.split(columns["piece"], np.cumsum(columns["pieces_of"])[:-1])
    for example in pick_examples(grid, interface="direct").unread:
        assert "".join(prompts[code - 1] for code in pieces[names.index(example.trial)]) == example.prompt
