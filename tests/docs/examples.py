"""The examples of the documentation, read from its pages and run as a reader would run them.

A page says in comments, which no reader sees, what is to be done with the block that follows:

    <!-- file: conftest.py -->          write the block into this file
    <!-- run: exit 1, mcp 2 -->         run each line that begins with `$ `: the last one ends with this code,
                                        and prints what the block shows beneath
    <!-- written: r.json, mcp 2 -->     the block shows what a run has written into this file
    <!-- expect: 1 failed -->           text that the run prints as well, though the page does not show it
    <!-- folder -->                     from here on in an empty folder

The code is 0 where none is named. With `mcp 2` what is shown is compared only where mcp 2.x is installed.
There `…` stands for any text within a line, and alone on its line for any lines; a ruler or a gap may be
shorter or longer than the real one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

__all__ = ["DOCS", "ROOT", "Block", "Example", "examples", "examples_in", "pages", "play"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMENT = re.compile(r"<!-- (file|run|written|expect|folder)(?:: (.+?))? -->")
FENCE = re.compile(r"(```+)\w*")
PLUGINS = (
    "pytest_mcp_conformance.plugin",
    "anyio.pytest_plugin",
    "pytest_asyncio.plugin",
    "xdist.plugin",
    "syrupy",
)
SECONDS = 120


@dataclass
class Block:
    """A code block, and what is to be done with it.

    Attributes:
        line: Where it begins in its page.
        text: What stands in it.
        file: The file into which it is written.
        run: The words of its `run` comment; `None` where there is none.
        written: The words of its `written` comment: the file whose content it shows.
        expected: What its run prints besides what is shown.
    """

    line: int
    text: str
    file: str = ""
    run: str | None = None
    written: str = ""
    expected: tuple[str, ...] = ()


@dataclass
class Example:
    """The blocks of one page that belong into one folder.

    Attributes:
        page: Its path.
        number: Which one of the page, from 1.
        blocks: In their order.
    """

    page: str
    number: int
    blocks: list[Block] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Page and number."""
        return f"{self.page}-{self.number}"


def pages() -> list[Path]:
    """Every page, the readme among them."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def examples() -> list[Example]:
    """Every example of the documentation."""
    return [
        example
        for page in pages()
        for example in examples_in(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())
    ]


def examples_in(text: str, page: str) -> list[Example]:
    """The examples of one page.

    Raises:
        AssertionError: A comment is not followed by a code block.
    """
    return [example for example in _of_page(text, page) if example.blocks]


def play(example: Example, folder: Path) -> None:
    """Do in `folder` what the blocks of an example say.

    Raises:
        AssertionError: Something else came out than the page says, or nothing was run.
    """
    assert any(block.run is not None for block in example.blocks), f"{example.page}: files that nothing runs"
    for block in example.blocks:
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        place = f"{example.page}, line {block.line}"
        if block.run is not None:
            _run(block, folder, place)
        if block.written:
            _compare(block, folder, place)


def _of_page(text: str, page: str) -> Iterator[Example]:
    example = Example(page, 1)
    said: dict[str, list[str]] = {}
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        comment, fence = COMMENT.fullmatch(line), FENCE.fullmatch(line)
        if comment is not None and comment[1] == "folder":
            yield example
            example = Example(page, example.number + 1)
        elif comment is not None:
            said.setdefault(comment[1], []).append(comment[2] or "")
        elif fence is not None:
            block = "".join(f"{inner}\n" for inner in _until(fence[1], lines))
            if said:
                example.blocks.append(_block(number, block, said))
            said = {}
        elif line:
            assert not said, f"{page}, line {number}: a code block must follow the comment"
    assert not said, f"{page}: a code block must follow the last comment"
    yield example


def _until(fence: str, lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if line == fence:
            return
        yield line


def _block(line: int, text: str, said: Mapping[str, list[str]]) -> Block:
    run = said["run"][0] if "run" in said else None
    file, written = said.get("file", [""])[0], said.get("written", [""])[0]
    return Block(line, text, file, run, written, tuple(said.get("expect", ())))


def _run(block: Block, folder: Path, place: str) -> None:
    words = _words(block.run or "")
    commands = _commands(block.text)
    printed = ""
    for at, (command, shown) in enumerate(commands, start=1):
        done = subprocess.run(
            _arguments(command),
            cwd=folder,
            env=_environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
        printed = done.stdout + done.stderr
        told = f"{place}: {command}\n{printed}"
        wanted = int(words.get("exit", "0")) if at == len(commands) else done.returncode
        assert done.returncode == wanted, f"exit code {done.returncode}, not {wanted}: {told}"
        if shown and _is_installed(words):
            line = _first_line_not_printed(shown, printed)
            assert not line, f"the page shows a line that is not printed there, {line!r}: {told}"
    for text in block.expected:
        assert re.search(_inline(text), printed), f"it does not print {text!r}: {place}\n{printed}"


def _compare(block: Block, folder: Path, place: str) -> None:
    name, _, rest = block.written.partition(", ")
    if _is_installed(_words(rest)):
        written = (folder / name).read_text(encoding="utf-8")
        line = _first_line_not_printed(block.text.splitlines(), written)
        assert not line, f"{place}: shows a line that does not stand there in {name}, {line!r}:\n{written}"


def _words(text: str) -> dict[str, str]:
    return dict(word.split(" ", 1) for word in text.split(", ") if word)


def _is_installed(words: Mapping[str, str]) -> bool:
    """Whether the words name the major of the SDK that is here, or none."""
    return version("mcp").partition(".")[0] == words.get("mcp", version("mcp").partition(".")[0])


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that are shown beneath."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def _arguments(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    if program == "pytest":
        return [sys.executable, "-m", "pytest", *arguments]
    assert program == "mcp-conformance", f"only pytest and mcp-conformance are run, not {command!r}"
    script = "from pytest_mcp_conformance.cli import main; main(prog_name='mcp-conformance')"
    return [sys.executable, "-c", script, *arguments]


def _environment() -> dict[str, str]:
    # Only the plugins that the pages use: each run starts in two thirds of the time.
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(PLUGINS), "COLUMNS": "80"}
    foreign = ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "FORCE_COLOR", "PY_COLORS")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, **own, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "ignore"}


def _first_line_not_printed(shown: list[str], printed: str) -> str:
    """The first line of what a page shows at which it leaves what was printed; empty where it does not."""
    lines = "\n".join(shown).rstrip("\n").split("\n")
    for end in range(1, len(lines) + 1):
        pattern = "".join(r"(?:.*\n)*?" if line == "…" else rf"{_inline(line)}[ ]*\n" for line in lines[:end])
        if not re.search(f"^{pattern}", printed, re.MULTILINE):
            return lines[end - 1]
    return ""


def _inline(text: str) -> str:
    """Text as a pattern; rulers and gaps are as long as the line happens to need."""
    wild = {"…": ".*", "=": "={3,}", "_": "_{3,}", " ": " +"}
    return "".join(wild[part[0]] if odd else re.escape(part) for odd, part in _parts(text))


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    for at, part in enumerate(re.split(r"(…|={3,}|_{3,}| {3,})", text)):
        yield at % 2 == 1, part
