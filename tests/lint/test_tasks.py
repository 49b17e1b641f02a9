"""One task file for every row of the field notes on mismatched interfaces, in our own words: hits and false alarms."""

import pytest

CHOICES = "doc_to_choice: ['A', 'B', 'C']\n"
LISTED = '"{{question}}\\nA. {{a}}\\nB. {{b}}\\nC. {{c}}\\nAnswer:"'


def choice_task(prompt: str, *, more: str = "") -> str:
    return f"task: harbour\noutput_type: multiple_choice\ndoc_to_text: {prompt}\n{CHOICES}{more}"


def generated_task(prompt: str, *, more: str = "") -> str:
    return f"task: harbour\noutput_type: generate_until\ndoc_to_text: {prompt}\n{more}"


def test_a_reasoning_cue_before_a_likelihood_is_an_error_at_its_line(tasks) -> None:
    tasks.write("a.yaml", choice_task('"{{question}}\\nA. {{a}}\\nB. {{b}}\\nThink step by step."'))
    found = tasks.findings("a.yaml")
    assert [(f.rule, f.severity, f.place.line, f.place.key) for f in found] == [
        ("reasoning-cue-with-likelihood", "error", 3, "doc_to_text")
    ]
    assert "Think step by step." in found[0].evidence


def test_description_and_prefix_belong_to_the_prompt(tasks) -> None:
    tasks.write("a.yaml", choice_task(LISTED, more="description: Reason step by step about the harbour.\n"))
    tasks.write("b.yaml", choice_task(LISTED, more="gen_prefix: 'Reasoning:'\n"))
    assert tasks.rules("a.yaml") == tasks.rules("b.yaml") == {"reasoning-cue-with-likelihood": "error"}


@pytest.mark.parametrize(
    "prompt",
    [
        '"{{question}}\\nA. {{a}}\\nB. {{b}}\\nDo not explain your reasoning."',
        '"Test of spatial reasoning.\\n{{question}}\\nA. {{a}}\\nB. {{b}}\\nAnswer:"',
        '"{{question_with_step_by_step}}\\nA. {{a}}\\nB. {{b}}"',
    ],
)
def test_negations_names_and_columns_do_not_fire(tasks, prompt: str) -> None:
    tasks.write("spatial_reasoning.yaml", choice_task(prompt).replace("harbour", "spatial_reasoning"))
    assert tasks.rules() == {}


def test_worked_examples_do_not_fire(tasks) -> None:
    shots = "fewshot_config:\n  samples:\n    - question: Go step by step. How many piers?\n      target: A\n"
    tasks.write("a.yaml", choice_task(LISTED, more=shots))
    inline = '"Pick one.\\nQ: How many?\\nA: Step by step, two.\\nQ: {{question}}\\nA:"'
    tasks.write("b.yaml", choice_task(inline))
    assert "reasoning-cue-with-likelihood" not in tasks.rules()


def test_asking_to_analyse_before_a_likelihood_is_a_warning(tasks) -> None:
    tasks.write("prompt.yaml", "doc_to_text: !function asks.prompt\ndoc_to_choice: !function asks.options\n")
    tasks.write(
        "asks.py",
        '''
        def prompt(doc):
            """Explain your reasoning (this sentence is no prompt)."""
            text = "Examine each statement critically and pick one\\n{q}\\nA: {x}\\nB: {y}\\nAnswer:"
            return text.format(q=doc["q"], x=doc["options"][0], y=doc["options"][1])


        def options(doc):
            return doc["options"]
        ''',
    )
    tasks.write("a.yaml", "include: prompt.yaml\ntask: harbour_4\noutput_type: multiple_choice\n")
    found = {f.rule: f for f in tasks.findings("a.yaml")}
    assert set(found) == {"analysis-with-likelihood", "ids-shown-texts-scored"}
    assert found["analysis-with-likelihood"].severity == "warning"
    assert found["analysis-with-likelihood"].place.file.endswith("asks.py")
    assert found["analysis-with-likelihood"].place.line == 3


def test_functions_are_read_and_never_run(tasks, tmp_path) -> None:
    tasks.write(
        "bad.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n\ndef prompt(doc):\n    return 'Think step by step.'\n"
    )
    tasks.write("a.yaml", "task: t\noutput_type: multiple_choice\ndoc_to_text: !function bad.prompt\n")
    tasks.write(
        "b.yaml", "task: t\noutput_type: multiple_choice\ndoc_to_text: !!python/object/apply:os.system ['true']\n"
    )
    assert tasks.rules("a.yaml") == {"reasoning-cue-with-likelihood": "error"}
    tasks.findings("b.yaml")
    assert not (tmp_path / "ran").exists()


def test_a_switch_in_code_is_no_contradiction(tasks) -> None:
    tasks.write(
        "utils.py",
        """
        HINT = "Think step by step."

        def prompt(doc, mode="reason step by step, please"):
            # explain your reasoning
            if doc["cot"]:
                return doc["q"] + HINT
            return doc["q"] + "Answer with the letter directly."
        """,
    )
    tasks.write("a.yaml", generated_task("!function utils.prompt", more="generation_kwargs: {max_gen_toks: 20}\n"))
    assert tasks.rules("a.yaml") == {}


def test_letters_shown_and_texts_scored(tasks) -> None:
    tasks.write("a.yaml", choice_task(LISTED).replace(CHOICES, "doc_to_choice: '{{options}}'\n"))
    tasks.write(
        "b.yaml", choice_task('"Sentence 1: {{x}}\\nSentence 2: {{y}}"').replace(CHOICES, "doc_to_choice: [yes, no]\n")
    )
    assert tasks.rules("a.yaml") == {"ids-shown-texts-scored": "warning"}
    assert tasks.rules("b.yaml") == {}


def test_letters_scored_that_no_template_shows(tasks) -> None:
    tasks.write("a.yaml", choice_task('"Which harbour is deepest, {{x}} or {{y}}?"'))
    tasks.write("b.yaml", choice_task('"{{full_prompt}}"'))
    assert tasks.rules("a.yaml") == {"ids-scored-not-shown": "info"}
    assert tasks.rules("b.yaml") == {}


def test_option_text_cut_at_a_full_stop(tasks) -> None:
    tasks.write("u.py", 'def cut(doc):\n    return [o.split(".")[1].strip() for o in doc["option"]]\n')
    tasks.write(
        "a.yaml", "task: t\noutput_type: multiple_choice\ndoc_to_text: question\ndoc_to_choice: !function u.cut\n"
    )
    assert tasks.rules("a.yaml") == {"option-text-cut": "warning"}


@pytest.mark.parametrize(
    ("settings", "severity"),
    [
        ("generation_kwargs: {max_gen_toks: 64}\n", "warning"),
        ("generation_kwargs: {max_gen_toks: 500}\n", "info"),
        ("", "warning"),
        ("generation_kwargs: {max_gen_toks: 2048}\n", None),
    ],
)
def test_room_for_reasoning(tasks, settings: str, severity: str | None) -> None:
    tasks.write("a.yaml", generated_task('"{{question}} Think step by step."', more=settings))
    assert tasks.rules("a.yaml").get("reasoning-cut-short") == severity


@pytest.mark.parametrize(("shots", "severity"), [(0, "warning"), (3, "info")])
def test_a_blank_line_ends_the_reasoning(tasks, shots: int, severity: str) -> None:
    more = f'generation_kwargs:\n  max_gen_toks: 2000\n  until: ["</s>", "\\n\\n"]\nnum_fewshot: {shots}\n'
    tasks.write("a.yaml", generated_task('"{{question}} Think step by step."', more=more))
    assert tasks.rules("a.yaml") == {"stop-before-answer": severity}


def test_reasoning_asked_in_every_branch_of_a_function(tasks) -> None:
    tasks.write(
        "u.py",
        """
        def prompt(doc):
            q = doc["q"]
            if doc["lang"] == "en":
                q += "Reason inside <think></think>, answer inside <answer></answer>."
            else:
                q += "请逐步推理。"
            return q
        """,
    )
    more = 'generation_kwargs: {max_new_tokens: 4000, until: ["\\n\\n"]}\ndoc_to_visual: image\n'
    tasks.write("a.yaml", generated_task("!function u.prompt", more=more))
    assert tasks.rules("a.yaml") == {"stop-before-answer": "warning"}


def test_contradictions(tasks) -> None:
    more = "generation_kwargs: {max_gen_toks: 4000}\n"
    tasks.write("a.yaml", generated_task('"Give direct numerical answers. {{q}} Step-by-step answer:"', more=more))
    tasks.write("b.yaml", generated_task('"{{q}} Solve it step by step, without further information."', more=more))
    tasks.write("c.yaml", generated_task('"{{q}} Answer with the letter. Let\'s think step by step."', more=more))
    tasks.write(
        "d.yaml", generated_task('"{{q}} Think step by step. In the last line write only the letter."', more=more)
    )
    tasks.write("e.yaml", generated_task('"{{q}} Think step by step and choose the letter."', more=more))
    assert tasks.rules("a.yaml") == tasks.rules("b.yaml") == {"contradictory-instructions": "warning"}
    assert tasks.rules("c.yaml") == {"contradictory-instructions": "info"}
    assert tasks.rules("d.yaml") == tasks.rules("e.yaml") == {}


def lmms_task(settings: str, *, more: str = "") -> str:
    return (
        "task: quay\ndoc_to_visual: image\ndoc_to_text: !function u.prompt\n"
        f"generation_kwargs: {{max_new_tokens: 4000}}\nlmms_eval_specific_kwargs:\n{settings}{more}"
    )


U = """
def prompt(doc, lmms_eval_specific_kwargs=None):
    ask = 'Please solve it step by step, in a box.'
    tail = ''
    if lmms_eval_specific_kwargs is not None:
        tail = lmms_eval_specific_kwargs['mc_prompt']
    return ask + doc['q'] + tail
"""


def test_code_and_settings_contradict_and_one_setting_is_dead(tasks) -> None:
    tasks.write("u.py", U)
    tasks.write(
        "a.yaml",
        lmms_task(
            "  default:\n    mc_prompt: Answer with the letter directly.\n    post_prompt_cot: Explain every step.\n"
        ),
    )
    found = {f.rule: f for f in tasks.findings("a.yaml")}
    assert set(found) == {"contradictory-instructions", "dead-prompt-setting"}
    assert found["dead-prompt-setting"].place.line == 8
    assert "post_prompt_cot" in found["dead-prompt-setting"].evidence


def test_settings_that_leave_for_unknown_code_are_not_called_dead(tasks) -> None:
    tasks.write(
        "u.py", "def prompt(doc, lmms_eval_specific_kwargs=None):\n    return build(doc, lmms_eval_specific_kwargs)\n"
    )
    tasks.write("a.yaml", lmms_task("  default:\n    post_prompt: Answer with the letter directly.\n"))
    assert "dead-prompt-setting" not in tasks.rules("a.yaml")


def test_a_prompt_for_one_model_name(tasks) -> None:
    tasks.write(
        "u.py",
        "def prompt(doc, lmms_eval_specific_kwargs=None):\n    return doc['q'] + lmms_eval_specific_kwargs['post_prompt']\n",
    )
    text = lmms_task(
        "  default: {post_prompt: Answer with the letter directly.}\n  penguin: {post_prompt: Reason step by step first.}\n"
    )
    tasks.write("a.yaml", text.replace("4000", "128"))
    found = {f.rule: f for f in tasks.findings("a.yaml")}
    assert found["model-specific-prompt"].severity == "info"
    assert (found["reasoning-cut-short"].variant, found["reasoning-cut-short"].severity) == ("penguin", "warning")


def test_a_filter_class_that_ignores_its_pattern(tasks) -> None:
    filters = (
        "filter_list:\n- name: f\n  filter:\n  - function: !function u.Filter\n    regex_pattern: '([A-Z])[.]'\n"
        "generation_kwargs: {max_gen_toks: 5}\n"
    )
    tasks.write("a.yaml", generated_task('"{{q}}"', more=filters))
    tasks.write(
        "u.py", "class Filter(Base):\n    def apply(self, resps, docs):\n        return [r[0] for r in resps]\n"
    )
    assert tasks.rules("a.yaml") == {"dead-prompt-setting": "warning"}
    tasks.write(
        "u.py", "class Filter(Base):\n    def apply(self, resps, docs):\n        return self.regex.findall(resps)\n"
    )
    assert tasks.rules("a.yaml") == {}


@pytest.mark.parametrize(
    ("pattern", "fires"),
    [
        ("([ABCD])", True),
        ("(\\b[A-D]\\b)", True),
        ("^([A-D])", True),
        ("[Aa]nswer(?: is)?:? \\(?([A-D])\\b", False),
        ("The answer is (-?[0-9.]+)", False),
        ("([A-D", False),
    ],
)
def test_readers_are_tried_on_plain_replies(tasks, pattern: str, fires: bool) -> None:
    filters = f"filter_list:\n- name: f\n  filter:\n  - function: regex\n    regex_pattern: '{pattern}'\n"
    more = "generation_kwargs: {max_gen_toks: 5}\nnum_fewshot: 2\n"
    tasks.write("a.yaml", generated_task('"{{q}}"', more=filters + more))
    assert ("reader-takes-letters-from-prose" in tasks.rules("a.yaml")) is fires


def test_letters_harvested_and_random_answers_in_code(tasks) -> None:
    tasks.write(
        "u.py",
        "import random, re\ndef score(doc, results):\n    found = re.findall(r'\\b[A-Z]\\b', results[0])\n    return found or random.choice('ABCD')\n",
    )
    tasks.write("a.yaml", generated_task('"{{q}}"', more="process_results: !function u.score\n"))
    assert tasks.rules("a.yaml") == {
        "reader-takes-letters-from-prose": "warning",
        "unreadable-replies-are-guessed": "warning",
    }


def test_only_a_letter_but_long_generation(tasks) -> None:
    prompt = '"{{q}} Respond with only the letter, no comments."'
    tasks.write("a.yaml", generated_task(prompt))
    tasks.write("b.yaml", generated_task(prompt, more="generation_kwargs: {max_gen_toks: 8}\n"))
    tasks.write("c.yaml", generated_task('"Summarise {{q}} and add no other text."'))
    assert tasks.rules("a.yaml") == {"answer-only-long-generation": "info"}
    assert tasks.rules("b.yaml") == tasks.rules("c.yaml") == {}


def test_the_whole_reply_must_equal_the_letter(tasks) -> None:
    metric = "metric_list:\n- metric: exact_match\ngeneration_kwargs: {max_gen_toks: 4000}\n"
    prompt = "\"{{q}} Think step by step. The last line must read 'Answer: $LETTER'.\""
    tasks.write("a.yaml", generated_task(prompt, more=metric))
    tasks.write("b.yaml", generated_task(prompt, more=metric + "process_results: !function u.score\n"))
    assert tasks.rules("a.yaml") == {"whole-reply-must-equal-answer": "error"}
    assert tasks.rules("b.yaml") == {}


def test_line_breaks_that_were_never_interpreted(tasks) -> None:
    tasks.write("a.yaml", choice_task("'Look.\\n\\nQuestion: {{question}}'"))
    tasks.write("b.yaml", choice_task("'Is $\\neg p$ true? {{ x.split(\"\\n\") }} {{question}}'"))
    assert tasks.rules("a.yaml") == {"literal-escape": "warning"}
    assert tasks.rules("b.yaml") == {}


def test_the_reader_wants_words_that_nobody_asked_for(tasks) -> None:
    filters = "filter_list:\n- name: f\n  filter:\n  - function: regex\n    regex_pattern: 'The answer is ([0-9]+)'\n"
    more = filters + "generation_kwargs: {max_gen_toks: 9}\n"
    tasks.write("a.yaml", generated_task('"{{q}}\\nNumber:"', more=more))
    tasks.write("b.yaml", generated_task('"{{q}}\\nEnd with: the answer is N."', more=more))
    assert tasks.rules("a.yaml") == {"reader-wants-unrequested-words": "info"}
    assert tasks.rules("b.yaml") == {}


def test_groups_templates_and_rolling_tasks_are_passed_over(tasks) -> None:
    tasks.write("g.yaml", "group: sea\ntask: [a, b]\n")
    tasks.write("r.yaml", "task: r\noutput_type: loglikelihood_rolling\ndoc_to_text: Think step by step.\n")
    tasks.write("t.yaml", "metric_list: []\n")
    assert tasks.rules() == {}
