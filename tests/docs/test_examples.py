"""What the pages tell a reader to write and to run does what they say."""

from __future__ import annotations

import pytest

from tests.docs.examples import examples, examples_in, play


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.id)
def test_an_example_does_what_its_page_says(example, tmp_path):
    play(example, tmp_path)


RUN = """\
<!-- file: test_one.py -->
```python
def test_one(): pass
```

<!-- run: exit {code} -->
<!-- expect: {expected} -->
```console
$ pytest -q
{shown}
```
"""


def played(folder, *, code=0, expected="[100%]", shown="…\n1 passed in …s"):
    (example,) = examples_in(RUN.format(code=code, expected=expected, shown=shown), "page.md")
    play(example, folder)


def test_a_page_that_says_what_is_passes(tmp_path):
    played(tmp_path)
    assert (tmp_path / "test_one.py").read_text() == "def test_one(): pass\n"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"code": 1}, "exit code 0, not 1: page.md, line 8"),
        ({"expected": "1 failed"}, "does not print '1 failed'"),
        ({"shown": "…\n2 passed in …s"}, "not printed there, '2 passed in …s'"),
    ],
)
def test_a_page_that_says_something_else_fails(wrong, told, tmp_path):
    with pytest.raises(AssertionError) as failed:
        played(tmp_path, **wrong)
    assert told in str(failed.value)


def test_what_a_page_shows_is_printed_without_a_gap(tmp_path):
    with pytest.raises(AssertionError, match="not printed there"):
        played(tmp_path, shown=". [100%]\nsomething between\n1 passed in …s")


@pytest.mark.parametrize("text", ["<!-- run -->\nprose", "<!-- file: a.py -->"])
def test_a_comment_without_a_block_is_found(text):
    with pytest.raises(AssertionError, match="a code block must follow"):
        examples_in(text, "page.md")


def test_files_that_nothing_runs_are_found(tmp_path):
    (example,) = examples_in("<!-- file: a.py -->\n```python\n```\n", "page.md")
    with pytest.raises(AssertionError, match="files that nothing runs"):
        play(example, tmp_path)
