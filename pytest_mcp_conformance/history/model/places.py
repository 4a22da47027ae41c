"""What belongs to one server and one principal: holders, connections, and the register of what was listed."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_mcp_conformance.history.entry import Listed
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.model.lines import Line
from pytest_mcp_conformance.history.model.pages import Page

__all__ = ["Holder", "Known", "Place"]

MOST_PAGES = 16
MOST_FORMS = 32
MOST_NAMES = 4096


class Holder:
    """One user of the wrapper.

    Attributes:
        who: Its number.
        place: The server and the principal that it is of.
        wild: Whether it may be anybody's by now.
        invalidated: Where its last `invalidate` began and ended.
        reconnected: Where its last `reconnect` began and ended.
        refreshed: Where its last `refresh` began and ended, and what had surely come before that.
        said: Whether there was an `invalidate` or a `refresh`.
        verbatim: Whether calls have given it what was on the wire, and never anything else.
        failures: The verbs in a row that failed without a connection.
        knows: The number of the end of its connection, once a verb has failed behind it.
        odd: Whether calls ended without their answers, so that what others raise may be about those.
        calling: How many calls are under way.
        crowded: Whether there were several at once since there was none.
        mixed: Whether one of those failed, so that what the others raise may be about that.
        suspects: What may be another call's answer, by what was handed out.
        shown: The number of the entry at which it was handed its last list, and that list.
        shows_output: Whether it was ever shown an output schema.
    """

    __slots__ = (
        "calling",
        "crowded",
        "failures",
        "invalidated",
        "knows",
        "mixed",
        "odd",
        "place",
        "reconnected",
        "refreshed",
        "said",
        "shown",
        "shows_output",
        "suspects",
        "verbatim",
        "who",
        "wild",
    )

    def __init__(self, who: int, place: Place) -> None:
        self.who = who
        self.place = place
        self.wild = False
        self.invalidated = (0, 0)
        self.reconnected = (0, 0)
        self.refreshed = (0, 0, 0)
        self.said = False
        self.verbatim: bool | None = None
        self.failures: tuple[int, ...] = ()
        self.shown: tuple[int, tuple[Listed, ...]] = (0, ())
        self.shows_output = False
        self.knows = 0
        self.odd = self.crowded = self.mixed = False
        self.calling = 0
        self.suspects: dict[str, Finding] = {}

    @property
    def unsure(self) -> bool:
        """Whether what a call raises may be about another call."""
        return self.odd or self.mixed

    def is_shown(self, n: int, tools: tuple[Listed, ...]) -> None:
        """It was handed a list."""
        self.shown = (n, tools)
        self.shows_output = self.shows_output or any(tool.output for tool in tools)

    def shows_no_output_of(self, name: str, n: int) -> bool:
        """Whether the list that it was handed at `n` has the tool, once, and surely without a schema."""
        at, tools = self.shown
        named = [tool for tool in tools if tool.name == name]
        return at == n and self.shows_output and len(named) == 1 and not named[0].output


class Known:
    """One tool in one form, and the newest pages on which it was listed.

    Attributes:
        listed: The tool.
        pages: The pages, in the order of their answers.
        blurred: Whether one was forgotten that might still be good.
    """

    __slots__ = ("blurred", "listed", "pages")

    def __init__(self, listed: Listed) -> None:
        self.listed = listed
        self.pages: list[Page] = []
        self.blurred = False

    def forget(self) -> None:
        """Keep half of the pages.

        Of one connection the later page is good for as long as the earlier one, but for its lifetime: that is
        handed on, so that nothing is forgotten that might still be good.
        """
        newest = {page.line: page for page in self.pages}
        kept: list[Page] = []
        surplus = len(self.pages) - MOST_PAGES // 2
        for page in self.pages:
            heir = newest[page.line]
            if heir is page or not surplus:
                kept.append(page)
                continue
            surplus -= 1
            if page.asked > heir.asked:
                self.blurred = True
            elif heir.expires is not None and (page.expires is None or page.expires > heir.expires):
                heir.expires = page.expires
        self.blurred = self.blurred or surplus > 0
        self.pages = kept[surplus:]


class Place:
    """One server as one principal sees it.

    Attributes:
        server: The server's name.
        principal: The principal's name.
        holders: Who is there now.
        entered: How many holders there were.
        many: Whether there was ever more than one.
        lines: The connections that are open.
        used: The number of the last frame that the client sent when it had begun with a connection.
        renewed: The number at which the newest connection was ready, when it opened, and when that was.
        doubt: The number of the last event that may be a reason to serve an old list.
        dead: The number at which the last open connection was ended by the other side; 0 else.
        blurred: Whether something was forgotten or cut that was listed here.
        fetching: The pages that are out, by the numbers of their requests.
        forms: The tools that were listed, by their names, in each of their forms, the newest at the end.
    """

    __slots__ = (
        "blurred",
        "dead",
        "doubt",
        "entered",
        "fetching",
        "forms",
        "holders",
        "lines",
        "many",
        "principal",
        "renewed",
        "server",
        "used",
    )

    def __init__(self, server: str, principal: str) -> None:
        self.server = server
        self.principal = principal
        self.holders: dict[int, Holder] = {}
        self.entered = 0
        self.many = False
        self.lines: dict[int, Line] = {}
        self.renewed = (0, 0, 0.0)
        self.doubt = 0
        self.dead = self.used = 0
        self.blurred = False
        self.fetching: dict[int, Page] = {}
        self.forms: dict[str, list[Known]] = {}

    def lists(self, tools: tuple[Listed, ...], page: Page) -> None:
        """Tools were listed on a page."""
        forms_of = self.forms
        for listed in tools:
            forms = forms_of.get(listed.name)
            if forms is None or (known := forms[-1]).listed != listed:  # as a rule a tool stays what it is
                known = self._form(listed)
            known.pages.append(page)
            if len(known.pages) > MOST_PAGES:
                known.forget()

    def _form(self, listed: Listed) -> Known:
        """A form of a tool, which is the newest from here on."""
        forms = self.forms.get(listed.name)
        if forms is None:
            if len(self.forms) >= MOST_NAMES:
                del self.forms[next(iter(self.forms))]
                self.blurred = True
            forms = self.forms[listed.name] = []
        for at in range(len(forms) - 1, -1, -1):
            held = forms[at].listed
            if (
                held.output == listed.output
                and held.input == listed.input
                and held.description == listed.description
            ):
                known = forms.pop(at)
                break
        else:
            if len(forms) >= MOST_FORMS:
                del forms[0]
                self.blurred = True
            known = Known(listed)
        forms.append(known)
        return known

    def showing(self, tool: Listed) -> Iterator[Known]:
        """The forms that a tool, as it was handed out, may have come from, the newest first."""
        for known in reversed(self.forms.get(tool.name, ())):
            held = known.listed
            if (
                (not tool.output or not held.output or tool.output == held.output)
                and (not tool.input or not held.input or tool.input == held.input)
                and (not tool.description or not held.description or tool.description == held.description)
            ):
                yield known
