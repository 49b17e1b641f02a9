"""Traps that several benchmarks share, and what is done about them, in words.

Knows sentences.
"""

from __future__ import annotations

from vqaudit.items.benchmarks.entry import Trap

__all__ = [
    "COPIED_ROWS",
    "IMAGE_PLACES",
    "INDEX_AS_TEXT",
    "INSTRUCTION",
    "IN_QUESTION",
    "LIST_AS_TEXT",
    "NAN_CELLS",
    "OPEN",
    "SAME_PICTURE",
]

COPIED_ROWS = Trap(
    what="The table holds every question several times with its options rotated: plain accuracy over the rows is "
    "neither that of the questions nor circular accuracy, and the rows depend on one another.",
    handled="The first of the copies is kept; the others are counted. Designs rotate the options themselves.",
)
NAN_CELLS = Trap(
    what="Missing options and hints are empty cells or the word `nan`, which other readers show as an option.",
    handled="They are missing, unless the word is the right option.",
)
IN_QUESTION = Trap(
    what="The options stand inside the question's text.",
    handled="They are taken out and shown in the format that is asked for; a text whose options cannot be told apart "
    "in only one way is left out and counted.",
)
INSTRUCTION = Trap(
    what="The question's text ends with an instruction (to answer with a letter), which contradicts other endings.",
    handled="It is taken out, and each item says so in its notes.",
)
SAME_PICTURE = Trap(
    what="Several questions show the same picture, so that they depend on one another.",
    handled="They are one group, by which intervals cluster.",
)
INDEX_AS_TEXT = Trap(
    what="The answer is a number, counted from 0 and stored as text.", handled="It is read as the option's index."
)
LIST_AS_TEXT = Trap(
    what="The options are the text of a Python list.",
    handled="It is parsed as a literal; nothing is evaluated.",
)
OPEN = Trap(
    what="Some questions are open; other harnesses score them among the rest by matching texts.",
    handled="They are left out and counted.",
)
IMAGE_PLACES = Trap(
    what="`<image 2>` places pictures in the question, in options, repeatedly and out of order.",
    handled="Every place shows its picture, and the text between places stays.",
)
