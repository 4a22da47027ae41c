"""What the pages tell a reader to write and to run does what they say."""

from __future__ import annotations

import pytest

from tests.docs.examples import examples, play


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.id)
def test_an_example_does_what_its_page_says(example, tmp_path):
    play(example, tmp_path)
