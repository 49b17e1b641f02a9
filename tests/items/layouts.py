"""Rows in the layouts of named benchmarks, with content of our own and tiny generated pictures."""

import base64
import io

import numpy as np
from PIL import Image

PICTURE = ("image", "image_1", "image_2")


def picture(seed=0, size=(12, 8)):
    """Returns a noisy PNG."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def encoded(seed=0, size=(12, 8)):
    return base64.b64encode(picture(seed, size)).decode()


def a_okvqa():
    return [
        {
            "image": {"bytes": picture(number // 2), "path": None},
            "question_id": f"q{number}",
            "question": f"What is boat {number} made of?",
            "choices": ["reed", "steel", "oak", "felt"],
            "correct_choice_idx": number % 4,
            "direct_answers": "['reed', 'reed']",
            "difficult_direct_answer": False,
            "rationales": ["It floats."],
        }
        for number in range(4)
    ]


def hr_bench():
    """Two questions about one picture in four cycles each, the index being that of the cycle's row."""
    rows = []
    for cycle in range(4):
        for number in range(2):
            options = ["red", "blue", "teal", "plum"]
            shown = options[-cycle:] + options[:-cycle] if cycle else options
            rows.append(
                {
                    "index": cycle * 2 + number,
                    "question": f"Which colour has kite {number}?",
                    **dict(zip("ABCD", shown, strict=True)),
                    "answer": "ABCD"[shown.index("teal")],
                    "image": encoded(0, (40, 20)),
                    "category": "single",
                    "cycle_category": f"cycle {cycle}",
                }
            )
    return rows


def mmbench():
    """A question of four options, one of two with `nan` cells, and one whose third rotation is missing."""
    questions = [
        (3, "Which is heavier?", ["an anvil", "a leaf", "a cork", "a feather"], 0, "nan"),
        (8, "Is the gate open?", ["yes", "no"], 1, "It is noon."),
        (11, "Which comes next?", ["a ring", "a cube", "a cone"], 2, None),
    ]
    rows = []
    for base, text, options, right, hint in questions:
        for copy in range(len(options) - (base == 11)):
            shown = options[-copy:] + options[:-copy] if copy else options
            cells = dict(zip("ABCD", [*shown, "nan", "nan"][:4], strict=True))
            rows.append(
                {
                    "index": base + copy * 1_000_000,
                    "question": text,
                    "hint": hint,
                    "answer": "ABCD"[shown.index(options[right])],
                    **cells,
                    "category": "physical_property",
                    "image": {"bytes": picture(base), "path": None},
                    "source": "ours",
                    "L2-category": "logic",
                    "comment": "nan",
                    "split": "dev",
                }
            )
    return sorted(rows, key=lambda row: row["index"])


def mme_realworld():
    return [
        {
            "index": number,
            "bytes": encoded(number),
            "question": f"What number is on van {number}?",
            "multi-choice options": ["(A) 12", "(B)34", "（C） 56", "(D) 78", "(E) The image does not show it"],
            "answer": "BE"[number],
            "category": "Perception/OCR",
            "l2-category": "signs",
        }
        for number in range(2)
    ]


def vstar():
    cue = "Answer with the option's letter from the given choices directly."
    return [
        {
            "image": {"bytes": picture(0), "path": None},
            "text": f"What is the drum made of?\n(A) tin\n(B) hide\n(C) ash\n(D) bone\n{cue}",
            "label": "B",
            "category": "direct_attributes",
            "question_id": "0",
        },
        {
            "image": {"bytes": picture(1), "path": None},
            "text": f"Is the mast left or right of the buoy? (A) left (B) right\n{cue}",
            "label": "A",
            "category": "relative_position",
            "question_id": "1",
        },
    ]


def scienceqa():
    rows = [
        ("Which metal rusts?", ["iron", "gold"], 0, "", True),
        ("Which is a verse?", ["abc", "abd", "abe"], 2, "Read.", False),
    ]
    return [
        {
            "image": {"bytes": picture(5), "path": None} if pictured else None,
            "question": text,
            "choices": choices,
            "answer": answer,
            "hint": hint,
            "task": "closed choice",
            "grade": "grade4",
            "subject": "natural science",
            "topic": "materials",
            "category": "Metals",
            "skill": "s",
            "lecture": "Iron rusts.",
            "solution": "Iron.",
        }
        for text, choices, answer, hint, pictured in rows
    ]


def ai2d():
    return [
        {
            "question": "which of these is the seed",
            "options": ["c", "D", "b", "a"],
            "answer": "1",
            "image": {"bytes": picture(2), "path": None},
        },
        {
            "question": "what eats the seed",
            "options": ["finch", "moss", "owl", "stone"],
            "answer": "0",
            "image": {"bytes": picture(2), "path": None},
        },
    ]


def mmmu(subject="Music"):
    nothing = dict.fromkeys([f"image_{number}" for number in range(1, 8)])
    base = {"explanation": "", "img_type": "['Sheet']", "topic_difficulty": "Easy", "subfield": "Theory"}
    pictures = {f"image_{n}": {"bytes": picture(n), "path": None} for n in range(1, 4)}
    return [
        {
            "id": f"validation_{subject}_1",
            "question": "Which mark in <image 1> is it? See <image 1> again.",
            "options": "['<image 3>', '<image 2>']",
            "answer": "B",
            "question_type": "multiple-choice",
            **base,
            **nothing,
            **pictures,
        },
        {
            "id": f"validation_{subject}_2",
            "question": "Name the key in <image 1>.",
            "options": "[]",
            "answer": "['D', 'D major']",
            "question_type": "open",
            **base,
            **nothing,
            "image_1": pictures["image_1"],
        },
        {
            "id": f"validation_{subject}_3",
            "question": "How long is the note in <image 1>?",
            "options": "[\"It's a half\", 'one, dotted', 'two']",
            "answer": "B",
            "question_type": "multiple-choice",
            **base,
            **nothing,
            "image_1": pictures["image_1"],
        },
    ]


def mmmu_pro():
    rows = mmmu("Art")
    single = {**rows[2], "id": "validation_Art_9", "options": "['alone']", "answer": "A"}
    rows[0]["options"] = str([f"style {number}" for number in range(12)])
    rows[0]["answer"] = "L"
    return [
        {name: value for name, value in row.items() if name != "question_type"} | {"subject": "Art"}
        for row in (rows[0], rows[2], single)
    ]


def mmmu_pro_vision():
    return [
        {
            "id": "test_Art_1",
            "image": {"bytes": picture(4), "path": None},
            "options": "['fresco', 'mosaic', 'etching']",
            "answer": "C",
            "subject": "Art",
        }
    ]


def mmstar():
    texts = [
        ("Where is the lamp?\nOptions: A: On the shelf., B: By the door, to the left., C: Under it., D: Nowhere.", "B"),
        ("How many lamps are lit?\nOptions: A: nan, B: Five, C: Four, D: Six", "A"),
        ("Which row?\nOptions: A: 1, B: 2, B: 3, C: 4", "C"),
    ]
    return [
        {
            "index": number,
            "question": text,
            "image": {"bytes": picture(number), "path": None},
            "answer": answer,
            "category": "coarse perception",
            "l2_category": "scene",
            "meta_info": {"source": "ours"},
        }
        for number, (text, answer) in enumerate(texts)
    ]


def realworldqa():
    letter = "Please answer directly with only the letter of the correct option and nothing else."
    texts = [
        (f"Where does the wheel point?\n\nA. Left\nB. Straight\nC. Right\n{letter}", "C"),
        ("How many cones stand there? Please answer directly with a single word or number.", "3"),
    ]
    return [
        {
            "image": {"bytes": picture(number), "path": None},
            "question": text,
            "answer": answer,
            "image_path": f"{number}.webp",
        }
        for number, (text, answer) in enumerate(texts)
    ]


def write_hub(folder, rows, *, split, config=None):
    """Writes rows as a data set of the hub lies in a folder: Parquet parts, pictures as the hub stores them."""
    import datasets

    features = datasets.Dataset.from_list(rows).features
    for name in [*PICTURE, *(f"image_{number}" for number in range(3, 8))]:
        if name in features and not isinstance(rows[0][name], str):
            features[name] = datasets.Image()
    place = folder / (config or "data")
    place.mkdir(parents=True, exist_ok=True)
    datasets.disable_progress_bars()
    datasets.Dataset.from_list(rows, features=features).to_parquet(place / f"{split}-00000-of-00001.parquet")
    if config is not None:
        card = folder / "README.md"
        text = card.read_text(encoding="utf-8").removesuffix("---\n") if card.exists() else "---\nconfigs:\n"
        text += f"- config_name: {config}\n  data_files:\n  - split: {split}\n    path: {config}/{split}-*\n---\n"
        card.write_text(text, encoding="utf-8")
    return folder
