"""Each harness's log in its own shape."""

import json
import zipfile

import polars as pl
import pytest

from vqaudit.errors import DatasetError
from vqaudit.logs import LogSpec, read_log

PROMPT = (
    "Which bird is it?\nA. heron\nB. stork\nC. crane\nAnswer with the option's letter from the given choices directly."
)


def lm_eval_row(doc_id: int, *, target: str, reply: str | None = None, scores=None, filter: str = "none", **more):
    context = f"Question {doc_id}?\nA. heron\nB. stork\nAnswer:"
    if scores is None:
        arguments = {"gen_args_0": {"arg_0": context, "arg_1": {"until": ["\n"]}}}
        return {
            "doc_id": doc_id,
            "doc": {"question": f"Question {doc_id}?", "choices": ["heron", "stork"]},
            "target": target,
            "arguments": arguments,
            "resps": [[reply]],
            "filtered_resps": [reply],
            "filter": filter,
            "metrics": ["exact_match"],
        } | more
    names = more.pop("continuations", [" A", " B"])
    arguments = {f"gen_args_{i}": {"arg_0": context, "arg_1": name} for i, name in enumerate(names)}
    resps = [[[str(score), "False"]] for score in scores]
    return {
        "doc_id": doc_id,
        "doc": {"question": f"Question {doc_id}?", "choices": ["heron", "stork"]},
        "target": target,
        "arguments": arguments,
        "resps": resps,
        "filtered_resps": [answer[0] for answer in resps],
        "filter": filter,
        "metrics": ["acc"],
    } | more


def test_lm_eval_replies_under_two_filters_are_one_row_each(lines) -> None:
    rows = [
        lm_eval_row(0, target="1", reply="B", filter="strict-match", exact_match=1.0),
        lm_eval_row(0, target="1", reply="B", filter="flexible-extract", exact_match=0.0),
        lm_eval_row(1, target="0", reply="The answer is B.", filter="strict-match", exact_match=0.0),
        lm_eval_row(1, target="0", reply="The answer is B.", filter="flexible-extract", exact_match=0.0),
    ]
    log = read_log(lines(rows, "samples_birds_2026-01-02T03-04-05.678.jsonl"))
    assert (log.format, log.dataset, len(log.rows)) == ("lm-eval", "birds", 2)
    assert "strict-match, flexible-extract" in log.notes[0]
    first, second = log.rows
    assert (first.answer, first.reply, first.logged_reading, first.logged_right) == (1, "B", "B", True)
    assert (second.answer, second.logged_reading, second.logged_right) == (0, "", False)


def test_lm_eval_scores_of_ids_and_of_texts(lines, imported) -> None:
    rows = [
        lm_eval_row(0, target="0", scores=[-0.2, -1.9], acc=1.0),
        lm_eval_row(1, target="0", scores=[-2.0, -0.4], acc=0.0),
        lm_eval_row(2, target="1", scores=[-1.0, -1.0], acc=0.0),
    ]
    log = read_log(lines(rows))
    assert [row.logged_reading for row in log.rows] == ["A", "B", ""]
    assert log.rows[0].options == ("heron", "stork")
    tables = imported(lines(rows))
    by_item = tables.trials.sort("item")
    assert by_item["outcome"].to_list() == ["chosen", "chosen", "ambiguous"]
    assert by_item["event"].unique().to_list() == ["id-scores"]
    assert by_item["id_scores"][0][0]["logprob"] == -0.2
    texts = [
        lm_eval_row(i, target="1", scores=[-3.0, -2.0], acc=1.0, continuations=["heron", "stork"]) for i in range(2)
    ]
    shown = imported(lines(texts, "texts.jsonl"), name="texts").trials
    assert shown["event"].unique().to_list() == ["option-likelihood"]
    assert shown["chosen"].to_list() == [1, 1]


def test_lm_eval_requests_without_the_question_are_not_options(lines) -> None:
    row = lm_eval_row(0, target="0", scores=[-0.2, -1.9, -5.0, -5.0], acc=1.0, continuations=[" A", " B", " A", " B"])
    for name in ("gen_args_2", "gen_args_3"):
        row["arguments"][name]["arg_0"] = ""
    found = read_log(lines([row])).rows[0]
    assert [score.logprob for score in found.scores] == [-0.2, -1.9]


def test_lm_eval_digits_are_positions_or_texts_as_the_verdicts_say(lines) -> None:
    def numbers(target: str, acc: float) -> dict:
        row = lm_eval_row(0, target=target, scores=[-0.1, -2.0, -3.0], acc=acc, continuations=["2", "0", "1"])
        return row | {"doc": {"choices": ["2", "0", "1"]}}

    assert read_log(lines([numbers("2", 1.0)])).rows[0].answer == 0  # the text `2`: the log counts it as right
    assert read_log(lines([numbers("2", 0.0)])).rows[0].answer == 2  # position 2: it does not


def test_lm_eval_cloze_shows_no_options(lines, imported) -> None:
    row = lm_eval_row(0, target="1", scores=[-3.0, -2.0], acc=1.0, continuations=[" by the sea", " in the barn"])
    for request in row["arguments"].values():
        request["arg_0"] = "The heron stood"
    row["doc"] = {"endings": ["by the sea", "in the barn"]}
    trials = imported(lines([row])).trials
    assert trials["interface"].to_list() == ["logged-cloze"]
    assert trials["option_ids"].to_list() == [[]]
    assert trials["chosen"].to_list() == [1]


def test_lm_eval_takes_the_model_from_the_results_beside(lines, document) -> None:
    path = lines([lm_eval_row(0, target="1", reply="B", exact_match=1.0)], "samples_birds_2026-01-02T03-04-05.6.jsonl")
    document({"model_name": "org/tiny", "config": {"batch_size": 4}}, "results_2026-01-02T03-04-05.6.json")
    log = read_log(path)
    assert (log.model, log.settings["batch_size"]) == ("org/tiny", 4)


def test_lm_eval_open_questions_are_no_multiple_choice_log(lines) -> None:
    row = lm_eval_row(0, target="42", reply="42") | {"doc": {"problem": "x?"}}
    row["arguments"]["gen_args_0"]["arg_0"] = "Problem: x?\nSolution:"
    with pytest.raises(
        DatasetError, match=r"holds no multiple-choice sample among 1 rows, first: row 1 shows no options"
    ):
        read_log(lines([row]))


def test_lm_eval_two_tasks_in_one_file_are_refused(lines) -> None:
    rows = [lm_eval_row(0, target="1", reply="B"), lm_eval_row(0, target="0", reply="A")]
    with pytest.raises(DatasetError, match=r"row 2: document '0' stands there twice"):
        read_log(lines(rows))


def test_lmms_eval_options_come_from_the_prompt_and_one_hash_for_all_joins_nothing(lines) -> None:
    rows = [
        {"doc_id": i, "target": t, "filtered_resps": [r], "doc_hash": "same", "exact_match": m, "input": PROMPT}
        for i, (t, r, m) in enumerate([("A", "A", 1.0), ("B", "The answer is B", 0.0)])
    ]
    log = read_log(lines(rows, "20260102_030405_samples_birds.jsonl"))
    assert (log.format, log.dataset, [row.item for row in log.rows]) == ("lmms-eval", "birds", ["0", "1"])
    assert log.rows[0].options == ("heron", "stork", "crane")
    assert [(row.answer, row.logged_reading, row.logged_right) for row in log.rows] == [(0, "A", True), (1, "", False)]


def test_lmms_eval_metrics_that_are_objects(lines) -> None:
    metric = {"id": "x_1", "subdomain": "Birds", "question_type": "multiple-choice", "answer": "B", "parsed_pred": "C"}
    row = {"doc_id": 4, "target": "['B']", "filtered_resps": "C, I think", "input": PROMPT, "mmmu_acc": metric}
    found = read_log(lines([row])).rows[0]
    assert (found.answer, found.reply, found.category, found.logged_reading) == (1, "C, I think", "Birds", "C")


def test_older_lmms_eval_logs_are_one_document(document) -> None:
    row = {
        "doc_id": 0,
        "target": "B",
        "arguments": [PROMPT, {"until": []}],
        "filtered_resps": ["B"],
        "exact_match": 1.0,
    }
    log = read_log(document({"args": {}, "logs": [row]}, "birds.json"))
    assert (log.format, log.dataset, log.rows[0].options) == ("lmms-eval", "birds", ("heron", "stork", "crane"))


def test_copies_numbered_by_floats_are_copies(tmp_path, imported) -> None:
    path = tmp_path / "m_X.csv"
    path.write_text("index,question,A,B,answer,prediction\n3.0,q,x,y,A,A\n1000003.0,q,y,x,B,B\n", encoding="utf-8")
    assert imported(path).items["n_orders"].to_list() == [2]


def test_vlmevalkit_tables_keep_words_that_look_missing(tmp_path) -> None:
    path = tmp_path / "tiny_BIRDS.tsv"
    path.write_text(
        "Index\tQuestion\tA\tB\tC\tD\tanswer\tCategory\tPrediction\thit\n"
        "1\twhich?\tNone\tNA\tnan\t\tB\tnames\tB\t1\n2\twhich?\tx\ty\tz\t\tA\tnames\t\t0\n3\topen?\t\t\t\t\t4\tnames\t4\t0\n",
        encoding="utf-8",
    )
    log = read_log(path)
    assert (log.format, log.model, log.dataset) == ("vlmevalkit", "tiny", "BIRDS")
    assert [row.options for row in log.rows] == [("None", "NA"), ("x", "y", "z")]
    assert [(row.answer, row.reply, row.logged_right) for row in log.rows] == [(1, "B", True), (0, None, False)]
    assert [(entry.row, entry.why) for entry in log.left_out] == [(3, "shows no options: not a multiple-choice sample")]


def test_hr_bench_cycles_are_rebuilt_by_question_and_options(tmp_path, imported) -> None:
    rows = ["index\tquestion\tA\tB\tanswer\tcategory\tcycle_category\tprediction"]
    for cycle, (first, second, answer) in enumerate([("left", "right", "A"), ("right", "left", "B")]):
        # two pictures with one question: told apart by the order in which they come
        rows += [f"{2 * cycle + i}\twhere?\t{first}\t{second}\t{answer}\tsingle\t{cycle}\tA" for i in range(2)]
    path = tmp_path / "m_HR.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    tables = imported(path)
    assert tables.items["n_orders"].to_list() == [2, 2]
    assert tables.trials.group_by("item").len()["len"].to_list() == [2, 2]


def test_llava_answers_have_no_right_answers_and_one_model(lines) -> None:
    row = {
        "question_id": 3,
        "prompt": PROMPT,
        "text": "B",
        "options": ["heron", "stork", "crane"],
        "option_char": ["A", "B", "C"],
    }
    log = read_log(lines([row | {"model_id": "m"}]))
    assert (log.format, log.model, log.rows[0].answer) == ("llava", "m", None)
    assert "--items" in log.notes[0]
    with pytest.raises(DatasetError, match="answers of 2 models: m, n"):
        read_log(lines([row | {"model_id": "m"}, row | {"model_id": "n", "question_id": 4}]))


def test_llava_scienceqa_output(document) -> None:
    def entry(**more):
        return {"question_id": "4", "question": PROMPT, "ground_truth": "B", "pred": "B.", "parsed_ans": "B"} | more

    wrong = entry(question_id="5", pred="stork or crane", parsed_ans="FAILED", is_multimodal=True)
    log = read_log(document({"acc": 50.0, "correct": [entry(is_multimodal=False)], "incorrect": [wrong]}))
    assert log.format == "llava-scienceqa"
    assert [(row.category, row.logged_reading, row.logged_right) for row in log.rows] == [
        ("without picture", "B", True),
        ("with picture", "", False),
    ]


def test_mmmu_pro_output_and_answers_that_are_no_option(lines, imported) -> None:
    row = {"id": "test_Bird_Song_7", "question": "<image 1>?", "options": "['heron', 'stork']", "answer": "B"}
    rows = [
        row | {"response": "B. stork", "pred_indexs": "A", "if_right": False},
        row
        | {"id": "test_Bird_Song_8", "answer": "E", "response": {"error": "x"}, "pred_indexs": "A", "if_right": False},
    ]
    tables = imported(lines(rows))
    assert tables.items["category"].to_list() == ["Bird_Song", "Bird_Song"]
    assert tables.items["answer"].to_list() == [1, None]
    assert tables.items["notes"][1].to_list() == ["the log's right answer 'E' is none of the options"]
    assert tables.trials.sort("item")["outcome"].to_list() == ["chosen", "failed"]
    assert tables.items["images"].to_list() == [[None], [None]]


def test_mmmu_output_leaves_open_questions_out(document) -> None:
    rows = [
        {
            "id": "validation_Art_1",
            "question_type": "multiple-choice",
            "answer": "B",
            "all_choices": ["A", "B"],
            "index2ans": {"A": "heron", "B": "stork"},
            "response": "B",
        },
        {"id": "validation_Art_2", "question_type": "short-answer", "answer": "7", "response": "7"},
    ]
    log = read_log(document(rows))
    assert (log.format, len(log.rows), log.left_out[0].why) == ("mmmu", 1, "is an open question")


INSPECT_SAMPLE = {
    "id": 1,
    "epoch": 2,
    "input": "Which bird?",
    "choices": ["heron", "stork"],
    "target": "A",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "image", "image": "https://example.org/a.png"},
                {"type": "image", "image": "attachment://p"},
                {"type": "text", "text": "attachment://q"},
            ],
        },
    ],
    "attachments": {"q": "Which bird?\n\nA) heron\nB) stork", "p": "data:image/png;base64,iVBORw0KGgo="},
    "output": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "reasoning": "ANSWER: B at first"},
                        {"type": "text", "text": "ANSWER: A"},
                    ],
                },
                "stop_reason": "stop",
            }
        ]
    },
    "scores": {"choice": {"value": "C", "answer": "A"}},
}


def test_inspect_c_means_correct_and_pictures_are_not_fetched(tmp_path, document, monkeypatch) -> None:
    monkeypatch.setattr("socket.socket", None)
    header = {"status": "cancelled", "eval": {"model": "openai/x", "task": "birds", "dataset": {"name": "birds"}}}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("samples/1_epoch_2.json", json.dumps(INSPECT_SAMPLE))
    for path in (tmp_path / "log.eval", document(header | {"samples": [INSPECT_SAMPLE]})):
        log = read_log(path)
        row = log.rows[0]
        assert (log.format, log.model, log.dataset) == ("inspect", "openai/x", "birds")
        assert "status is cancelled" in log.notes[0]
        assert (row.answer, row.logged_reading, row.logged_right) == (0, "A", True)
        assert (row.reply, row.reasoning, row.finish_reason) == ("ANSWER: A", "ANSWER: B at first", "stop")
        assert row.pictures == (None, "4c4b6a3be1314ab86138bef4314dde02")
        assert (row.repeat, row.prompt) == (1, "Which bird?\n\nA) heron\nB) stork")


def test_inspect_failed_samples_and_headers_alone(document) -> None:
    sample = INSPECT_SAMPLE | {"error": {"message": "rate limit"}, "output": {}, "scores": None}
    header = {"eval": {"model": "m"}, "plan": {}}
    row = read_log(document(header | {"samples": [sample]})).rows[0]
    assert (row.error, row.reply, row.logged_right) == ("rate limit", None, None)
    with pytest.raises(DatasetError, match="holds no samples"):
        read_log(document(header))


def test_helm_states_of_the_joint_adapter_alone(document) -> None:
    state = {
        "instance": {
            "input": {"text": "Which bird?"},
            "references": [
                {"output": {"text": "heron"}, "tags": []},
                {"output": {"text": "stork"}, "tags": ["correct"]},
            ],
            "id": "id7",
            "perturbation": {"name": "typos"},
        },
        "train_trial_index": 0,
        "output_mapping": {"A": "heron", "B": "stork"},
        "request": {"prompt": "Which bird?\nA. heron\nB. stork\nAnswer:"},
        "result": {"success": True, "completions": [{"text": " B", "finish_reason": {"reason": "length"}}]},
    }
    adapter = {"method": "multiple_choice_joint", "model": "openai/gpt2", "max_tokens": 1}
    log = read_log(document({"adapter_spec": adapter, "request_states": [state]}))
    row = log.rows[0]
    assert (log.model, row.item, row.answer, row.reply, row.finish_reason) == (
        "openai/gpt2",
        "id7 typos",
        1,
        " B",
        "length",
    )
    other = {"adapter_spec": adapter | {"method": "generation"}, "request_states": [state]}
    with pytest.raises(DatasetError, match="made by the adapter 'generation'"):
        read_log(document(other))


def test_evalscope_reviews(lines) -> None:
    row = {
        "index": 5,
        "target": "B",
        "messages": [
            {"role": "user", "content": [{"type": "image", "image": "x.png"}, {"type": "text", "text": PROMPT}]},
            {"role": "assistant", "content": "ANSWER: B"},
        ],
        "sample_score": {"score": {"value": {"acc": 1.0}, "extracted_prediction": "B", "prediction": "ANSWER: B"}},
    }
    found = read_log(lines([row])).rows[0]
    assert (found.answer, found.reply, found.pictures) == (1, "ANSWER: B", (None,))
    assert (found.logged_reading, found.logged_right) == ("B", True)


def test_a_plain_table_with_a_mapping(tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        'key,q,choices,gold,out,ok\n7,which?,"[""heron"", ""stork""]",stork,It is a stork.,true\n', encoding="utf-8"
    )
    columns = {
        "item": "key",
        "question": "q",
        "options": "choices",
        "answer": "gold",
        "reply": "out",
        "logged_right": "ok",
    }
    log = read_log(path, LogSpec(columns=columns))
    row = log.rows[0]
    assert (log.format, row.item, row.options, row.answer) == ("table", "7", ("heron", "stork"), 1)
    assert (row.logged_right, row.logged_reading) == (True, None)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"answers": "gold"}, "--map names answers; it knows item, question"),
        ({"reply": "nothing"}, "column 'nothing': has no such column; it has a, gold, out"),
        ({"answer": "gold"}, "has no column `reply`: name it with --map reply=COLUMN"),
        ({"reply": "out", "answer": "gold", "options": "a"}, "row 1, column 'answer': 'owl' is neither a shown ID nor"),
        (
            {"reply": "out", "answer_index": "gold", "options": "a"},
            "row 1, column 'answer_index': 'owl' is no whole number",
        ),
    ],
)
def test_mappings_that_cannot_be(lines, columns, message: str) -> None:
    path = lines([{"a": ["heron", "stork"], "gold": "owl", "out": "A"}])
    with pytest.raises(DatasetError, match=message):
        read_log(path, LogSpec(columns=columns))


def test_an_unknown_log_says_what_it_has_and_what_to_do(lines) -> None:
    with pytest.raises(
        DatasetError, match=r"known by its fields \(foo, says\); name its columns with --map reply=COLUMN"
    ):
        read_log(lines([{"foo": 1, "says": "A"}]))
    with pytest.raises(DatasetError, match="no format 'mine': choose one of lm-eval"):
        read_log(lines([{"foo": 1}]), LogSpec(format="mine"))


def test_a_row_of_another_shape_is_named(lines) -> None:
    good = {"doc_id": 0, "target": "A", "filtered_resps": ["A"], "input": PROMPT}
    with pytest.raises(DatasetError, match=r"row 2: has another shape than this log's other rows \(KeyError"):
        read_log(lines([good, {"doc_id": 1, "target": "A", "filtered_resps": ["A"]}]))


def test_too_many_options_and_answers_beyond_them(lines) -> None:
    with pytest.raises(DatasetError, match="row 1: 27 options; at most 26"):
        read_log(lines([{"options": [str(i) for i in range(27)], "reply": "A"}]))
    with pytest.raises(DatasetError, match="row 1: the right option is number 2 of 2"):
        read_log(lines([{"options": ["x", "y"], "answer_index": 2, "reply": "A"}]))


def test_every_row_of_a_log_is_read_as_text_alone(lines, imported) -> None:
    """What a log says cannot run, and ends up as it was."""
    nasty = "__import__('os').system('x') \u202e <script>"
    tables = imported(lines([{"options": [nasty, "y"], "reply": nasty, "answer": "A"}]))
    assert tables.items["options"][0].to_list() == [nasty, "y"]
    assert tables.trials.select(pl.col("reply")).item() == nasty
