"""Own data: CSV, TSV and JSONL files with pictures, and what happens when a row is wrong.

python examples/02_own_data.py          needs vqaudit[local]
"""

import base64
import csv
import io
import json
from pathlib import Path

from PIL import Image, ImageDraw

import vqaudit as va

FOLDER = Path("runs/examples/own-data")
COLOURS = {
    "red": (220, 40, 40),
    "blue": (50, 80, 220),
    "green": (40, 170, 60),
    "yellow": (240, 220, 50),
    "purple": (140, 50, 170),
    "orange": (250, 140, 30),
}
NAMES = list(COLOURS)


def picture(colour: str) -> Image.Image:
    """A circle in a corner of a small white picture, such as the packaged model knows."""
    image = Image.new("RGB", (48, 48), "white")
    ImageDraw.Draw(image).ellipse((4, 4, 20, 20), fill=COLOURS[colour])
    return image


FOLDER.mkdir(parents=True, exist_ok=True)
rows = []
for number, colour in enumerate(COLOURS):
    picture(colour).save(FOLDER / f"{colour}.png")
    options = [NAMES[(number + step) % len(NAMES)] for step in (2, 0, 1, 3)]
    rows.append({"id": f"circle-{number}", "colour": colour, "options": options})

# 1. JSONL: a list of options, paths beside the file, the answer as a letter. All columns are found by their names.
with (FOLDER / "items.jsonl").open("w", encoding="utf-8") as file:
    for row in rows:
        item = {"id": row["id"], "image": f"{row['colour']}.png", "question": "What colour is the circle?"}
        file.write(json.dumps(item | {"options": row["options"], "answer": "B"}) + "\n")

# 2. CSV: one column per option, and headers of your own, which `Columns` maps. The answer is the option's text.
with (FOLDER / "items.csv").open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["key", "prompt_text", "A", "B", "C", "D", "gold", "file"])
    for row in rows:
        writer.writerow(
            [row["id"], "What colour is the circle?", *row["options"], row["colour"], f"{row['colour']}.png"]
        )

# 3. TSV as VLMEvalKit writes it: pictures in base64 inside the table.
with (FOLDER / "items.tsv").open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, delimiter="\t")
    writer.writerow(["index", "question", "A", "B", "C", "D", "answer", "image"])
    for row in rows:
        buffer = io.BytesIO()
        picture(row["colour"]).save(buffer, "PNG")
        encoded = base64.b64encode(buffer.getvalue()).decode()
        writer.writerow([row["id"], "What colour is the circle?", *row["options"], "B", encoded])

columns = va.Columns(id="key", question="prompt_text", answer="gold", images="file")
loaded = {
    "JSONL": va.load_items(FOLDER / "items.jsonl"),
    "CSV": va.load_items(FOLDER / "items.csv", columns=columns),
    "TSV": va.load_items(FOLDER / "items.tsv"),
}
for kind, dataset in loaded.items():
    first = dataset.items[0]
    print(
        f"{kind:<6}{len(dataset.items)} items; answers are given as {dataset.answers}; first:",
        first.options,
        first.answer,
    )

# An answer that points at no option is never guessed: the message names file, row and column.
text = (FOLDER / "items.jsonl").read_text(encoding="utf-8")
(FOLDER / "broken.jsonl").write_text(text.replace('"answer": "B"', '"answer": "F"', 1), encoding="utf-8")
try:
    va.load_items(FOLDER / "broken.jsonl")
except va.VqauditError as error:
    print("refused:", error)

run = va.audit("demo", loaded["JSONL"], out=FOLDER / "run", design="reference", progress=False)
print("reference format, all orders", run.summary(details=False).reference_accuracy)
