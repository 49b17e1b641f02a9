"""A benchmark as a whole: its digest, rotated copies, and what is odd about it."""

from dataclasses import replace

import pytest

from vqaudit.items.copies import group_rotated_copies
from vqaudit.items.dataset import digest_items
from vqaudit.items.item import ImageSource, Item


def make(name="1", answer=0, options=("a cat", "a dog"), **more):
    return Item(id=name, question="What is shown?", options=options, answer=answer, **more)


def test_the_digest_tells_every_field_that_is_asked():
    item = make()
    changed = [
        replace(item, id="2"),
        replace(item, question="What?"),
        replace(item, options=("a cat", "a cow")),
        replace(item, answer=1),
        replace(item, images=(ImageSource(data=b"x"),)),
        replace(item, images=(ImageSource(data=b"y"),)),
        replace(item, has_image_places=True),
        replace(item, hint="h"),
        replace(item, category="c"),
        replace(item, group="g"),
    ]
    digests = [digest_items([one]) for one in (item, *changed)]
    assert len(set(digests)) == len(digests)
    assert digest_items([item, changed[0]]) != digest_items([changed[0], item])


def test_the_digest_does_not_tell_where_a_file_lies(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"picture")
    digests = {digest_items([make(images=(ImageSource(path=tmp_path / name),), source=name)]) for name in "ab"}
    digests.add(digest_items([make(images=(ImageSource(data=b"picture"),))]))
    assert len(digests) == 1
    assert digest_items([make(images=(ImageSource(path=tmp_path / "gone"),))]) not in digests


def rotate(item, k):
    n = len(item.options)
    options = tuple(item.options[(i - k) % n] for i in range(n))
    return replace(item, id=str(int(item.id) + k * 1_000_000), options=options, answer=(item.answer + k) % n)


def test_rotated_copies_are_grouped_by_their_base():
    one, two = make("7", 1, ("a", "b", "c")), make("8", 0, ("a", "b"))
    items = [one, rotate(one, 1), two, rotate(one, 2)]
    grouped, count = group_rotated_copies(items)
    assert [item.group for item in grouped] == ["7", "7", None, "7"]
    assert count == 1
    assert [replace(item, group=None) for item in grouped] == items


@pytest.mark.parametrize(
    "other",
    [
        make("1000007", 1, ("c", "a", "d")),
        make("1000007", 0, ("c", "a", "b")),
        make("1000008", 2, ("c", "a", "b")),
        make("x1000007", 2, ("c", "a", "b")),
        make("1000007", 2, ("c", "a", "b"), group="g"),
        replace(make("1000007", 2, ("c", "a", "b")), question="Who is shown?"),
    ],
)
def test_what_is_no_copy_is_not_grouped(other):
    one = make("7", 1, ("a", "b", "c"))
    assert group_rotated_copies([one, other]) == ((one, other), 0)


def test_a_missing_rotation_and_a_fixed_option_are_still_copies():
    one = make("7", 1, ("a", "b", "c", "none"))
    two = make("2000007", 0, ("b", "c", "a", "none"))
    assert group_rotated_copies([one, two])[1] == 1
