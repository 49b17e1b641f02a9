"""What sentences ask for; the false alarms of the field in our own words."""

import pytest

from vqaudit.lint.requests import requests_in


def kinds(text: str, *, last: bool = False) -> set[str]:
    return {found.kind for found in requests_in(text, last=last)}


@pytest.mark.parametrize(
    "text",
    [
        "Let us work through this step by step.",
        "Please think carefully before you answer.",
        "Explain your reasoning, then name one option.",
        "Give a short rationale for your choice.",
        "Write your thoughts inside <think> and the letter inside <answer>.",
        "First output the reasoning process.",
        "Show your working.",
        "Use a chain of thought.",
        "Piensa paso a paso.",
        "请一步一步思考。",
        "Размышляй шаг за шагом.",
        "Answer the question with reasoning.",
    ],
)
def test_requests_for_reasoning(text: str) -> None:
    assert "reasoning" in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do not explain your reasoning.",
        "Reply without explaining your answer.",
        "Answer with one letter; no step-by-step solution.",
        "Never write your thoughts down.",
        "You need not reason: step-by-step reasoning is not required.",
        "A brief explanation of your choice is optional.",
        "This is a test of logical reasoning about charts.",
        "Task: multi_view_reasoning. Which lamp is nearer?",
        "The engineer thinks about the bridge. Which sentence is true?",
        "不要一步一步解释。",
        "回答选项的字母。",
    ],
)
def test_what_is_no_request_for_reasoning(text: str) -> None:
    assert "reasoning" not in kinds(text)


@pytest.mark.parametrize("cue", ["Reasoning:", "Step-by-step answer:", "Let's think:", "{{q}}\nRationale:"])
def test_a_cue_counts_at_the_end_alone(cue: str) -> None:
    assert "reasoning" in kinds(cue, last=True)
    if "step" not in cue.lower():
        assert "reasoning" not in kinds(cue)


@pytest.mark.parametrize(
    "text",
    [
        "Answer with the option's letter from the given choices directly.",
        "Respond with only the letter.",
        "Reply with just the label and nothing else.",
        "Return only the letter of the right choice.",
        "The entire content of your reply should be 'ANSWER: $LETTER'.",
        "Give direct numerical answers.",
        "Letter only.",
        "Do not explain.",
        "只需回答选项字母。",
    ],
)
def test_requests_for_the_bare_answer(text: str) -> None:
    assert "answer-only" in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "There is only one correct answer.",
        "Only one option fits the picture.",
        "Does the answer directly relate to the picture?",
        "In the last line, give only the letter.",
        "Think it over, then answer with the letter only.",
        "Do not add other text after this line.",
        "No further words beyond the reasoning and the letter.",
    ],
)
def test_what_does_not_ask_for_the_bare_answer(text: str) -> None:
    assert "answer-only" not in kinds(text)


def test_analysis_is_softer_than_reasoning() -> None:
    assert kinds("Examine the two sentences and name their relation.") == {"analysis"}
    assert kinds("You are an expert in text analysis.") == set()
    assert kinds("Explain your answer.") == {"reasoning"}


def test_evidence_is_short_and_on_one_line() -> None:
    found = requests_in("Think step by step about " + "very " * 100 + "much.")[0]
    assert len(found.words) <= 160
    assert "\n" not in found.words
