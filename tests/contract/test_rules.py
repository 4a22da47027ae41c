"""The rules as declared are complete, in order and fit to be printed, and some can be picked."""

from __future__ import annotations

import re
from collections import Counter
from types import ModuleType

import pytest

from pytest_mcp_conformance.contract import (
    AREAS,
    BOTH,
    HANDSHAKE,
    KIT,
    MODERN,
    MUST,
    RULES,
    SHOULD,
    Rule,
    UsageError,
    collect_rules,
    issue,
    python,
    sdk,
    seed,
    select_rules,
    spec,
)

# area: (MUST, SHOULD, MUST (kit), SHOULD (kit), core)
COUNTS = {
    "CCH": (4, 9, 10, 1, 7),
    "PAG": (4, 1, 6, 1, 3),
    "NTC": (3, 1, 10, 2, 5),
    "CHK": (2, 1, 10, 5, 6),
    "CALL": (6, 4, 10, 4, 8),
    "CONN": (4, 3, 18, 0, 6),
    "TEN": (2, 0, 9, 0, 3),
    "TOOL": (1, 3, 3, 3, 2),
    "LST": (0, 0, 19, 1, 0),
    "DEF": (0, 0, 36, 2, 0),
    "SHR": (0, 0, 17, 1, 0),
    "MRK": (0, 0, 15, 2, 0),
    "LDG": (0, 0, 11, 0, 0),
    "POOL": (0, 0, 32, 3, 0),
    "KEY": (0, 0, 8, 2, 0),
    "OPN": (0, 0, 14, 1, 0),
}
CORE = {
    "CCH": (3, 12, 13, 15, 16, 18, 22),
    "PAG": (1, 5, 8),
    "NTC": (1, 2, 6, 7, 11),
    "CHK": (1, 3, 4, 8, 9, 13),
    "CALL": (1, 2, 3, 6, 8, 9, 13, 16),
    "CONN": (1, 2, 5, 6, 7, 9),
    "TEN": (1, 3, 8),
    "TOOL": (2, 3),
}

every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))


def made(**changes: object) -> Rule:
    """A good rule, but for `changes`."""
    good: dict[str, object] = {
        "id": "CCH-13",
        "level": MUST,
        "source": KIT,
        "text": "It MUST hold.",
        "why": "Something is lost.",
        "if_broken": ("look here",),
    }
    return Rule(**{**good, **changes})  # type: ignore[arg-type]


def module_of(name: str, **constants: Rule) -> ModuleType:
    """A module that declares `constants`."""
    module = ModuleType(name)
    vars(module).update(constants)
    return module


class TestTheCatalogue:
    def test_has_the_sixteen_areas_in_order(self) -> None:
        assert list(AREAS) == list(COUNTS)
        assert list(dict.fromkeys(rule.area for rule in RULES.values())) == list(COUNTS)

    @pytest.mark.parametrize("area", COUNTS)
    def test_has_as_many_rules_of_each_level_as_were_agreed(self, area: str) -> None:
        rules = [rule for rule in RULES.values() if rule.area == area]
        found = Counter((rule.level, rule.ours) for rule in rules)
        core = sum(rule.core for rule in rules)
        levels = ((MUST, False), (SHOULD, False), (MUST, True), (SHOULD, True))
        assert (*(found[level] for level in levels), core) == COUNTS[area]

    def test_has_140_rules_of_clients_and_164_of_parts(self) -> None:
        assert len(RULES) == 140 + 164

    @pytest.mark.parametrize("area", COUNTS)
    def test_numbers_the_rules_of_an_area_without_a_gap(self, area: str) -> None:
        numbers = [rule.number for rule in RULES.values() if rule.area == area]
        assert numbers == list(range(1, len(numbers) + 1))

    def test_files_each_rule_under_its_id(self) -> None:
        assert all(key == rule.id for key, rule in RULES.items())

    def test_marks_the_forty_that_matter_most(self) -> None:
        core = [rule.id for rule in RULES.values() if rule.core]
        assert core == [f"{area}-{number}" for area, numbers in CORE.items() for number in numbers]
        assert len(core) == 40

    def test_has_rules_of_both_eras_and_of_either(self) -> None:
        clients = list(COUNTS)[:8]
        found = Counter(rule.eras for rule in RULES.values() if rule.area in clients)
        assert found == {BOTH: 110, MODERN: 24, HANDSHAKE: 6}

    def test_has_one_demand_that_was_weaker_in_the_handshake_era(self) -> None:
        assert [rule.id for rule in RULES.values() if rule.should_in] == ["CALL-6"]
        assert RULES["CALL-6"].level_in("handshake") is SHOULD
        assert RULES["CALL-6"].level_in("modern") is MUST

    def test_says_nothing_twice(self) -> None:
        texts = Counter(rule.text for rule in RULES.values())
        assert [text for text, times in texts.items() if times > 1] == []


class TestEachRule:
    @every_rule
    def test_has_a_source_that_can_be_read(self, rule: Rule) -> None:
        assert rule.source.kind in ("kit", "seed", "sdk") or rule.source.url
        assert all(place.kind in ("spec", "python", "sdk", "seed") for place in rule.rests_on)
        assert all(report.kind == "issue" and report.url for report in rule.reports)

    @every_rule
    def test_prints_our_own_demands_as_our_own(self, rule: Rule) -> None:
        assert rule.heading().startswith(f"{rule.id} {rule.level}{' (kit)' if rule.ours else ''}  ")

    @every_rule
    def test_of_one_era_leans_on_that_era_alone(self, rule: Rule) -> None:
        revisions = {str(place)[:10] for place in (rule.source, *rule.rests_on) if place.kind == "spec"}
        known = {"2026-07-28": "modern", "2025-11-25": "handshake"}
        assert len(rule.eras) == 2 or {known[each] for each in revisions} <= rule.eras

    @every_rule
    def test_cites_the_newest_revision_as_its_source(self, rule: Rule) -> None:
        revisions = [str(place)[:10] for place in (rule.source, *rule.rests_on) if place.kind == "spec"]
        assert rule.ours or str(rule.source).startswith(max(revisions))

    @every_rule
    def test_is_worded_in_sentences_and_hints(self, rule: Rule) -> None:
        assert ". " not in rule.text
        assert ". " not in rule.why
        assert rule.text[0].isupper() or rule.text[0] == "`"
        assert rule.why[0].isupper()
        assert 1 <= len(rule.if_broken) <= 3
        assert all(hint[0].islower() and not hint.endswith(".") for hint in rule.if_broken)

    @every_rule
    def test_speaks_of_no_other_level_unless_half_of_it_has_one(self, rule: Rule) -> None:
        other = SHOULD if rule.level is MUST else MUST
        two_levels = {"CALL-6", "CALL-15", "CHK-16", "CONN-20", "CONN-22"}
        assert (rule.id in two_levels) == bool(re.search(rf"\b{other}\b", rule.text))

    @every_rule
    def test_without_a_scenario_says_what_is_missing(self, rule: Rule) -> None:
        assert re.match(r"$|no scenario yet: [^ ]|needs (streamable HTTP|stdio)", rule.untested)

    def test_that_is_core_has_a_scenario(self) -> None:
        assert [rule.id for rule in RULES.values() if rule.core and rule.untested] == []


class TestCollecting:
    def test_refuses_an_id_used_twice_and_names_both_constants(self) -> None:
        module = module_of("caching", FIRST=made(), SECOND=made())
        with pytest.raises(ValueError, match=r"CCH-13 .* caching\.FIRST and by caching\.SECOND"):
            collect_rules({"CCH": module})

    def test_refuses_a_rule_in_the_module_of_another_area(self) -> None:
        with pytest.raises(ValueError, match=r"CCH-13 .* calls\.LOST"):
            collect_rules({"CALL": module_of("calls", LOST=made())})

    @pytest.mark.parametrize("need", ["caches_listing", "refresh or magic", "refresh or", "HTTP"])
    def test_refuses_a_need_that_is_no_claim_no_verb_and_no_way_in(self, need: str) -> None:
        module = module_of("caching", NEEDY=made(needs=frozenset({need})))
        with pytest.raises(ValueError, match=r"caching\.NEEDY, needs '"):
            collect_rules({"CCH": module})

    def test_takes_claims_verbs_ways_in_and_alternatives(self) -> None:
        rule = made(needs=frozenset({"caches_listings", "bind", "http", "clock or stdio"}))
        assert collect_rules({"CCH": module_of("caching", GOOD=rule)}) == {"CCH-13": rule}

    def test_keeps_the_order_of_areas_and_numbers_and_passes_other_names_by(self) -> None:
        tools = module_of("tools", ONLY=made(id="TOOL-1"))
        caching = module_of("caching", B=made(id="CCH-10"), A=made(id="CCH-9"))
        vars(caching)["SOMETHING"] = "else"
        assert list(collect_rules({"TOOL": tools, "CCH": caching})) == ["TOOL-1", "CCH-9", "CCH-10"]


class TestARuleIsRefused:
    @pytest.mark.parametrize("id", ["CCH13", "cch-13", "CCH-0", "CCH-013", "C-1", "CACHE-1", "CCH-13 "])
    def test_for_a_bad_id(self, id: str) -> None:
        with pytest.raises(ValueError, match="AREA-number"):
            made(id=id)

    @pytest.mark.parametrize("text", ["It SHOULD hold.", "It must hold.", "It MUSTER holds."])
    def test_for_a_text_without_its_keyword(self, text: str) -> None:
        with pytest.raises(ValueError, match="must say MUST"):
            made(text=text)

    @pytest.mark.parametrize("changes", [{"text": "It MUST hold"}, {"why": "Something is lost"}, {"why": ""}])
    def test_for_a_sentence_without_its_full_stop(self, changes: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="full stop"):
            made(**changes)

    @pytest.mark.parametrize("hints", [(), "look here"])
    def test_for_hints_that_are_not_a_tuple_of_some(self, hints: object) -> None:
        with pytest.raises(ValueError, match="if_broken"):
            made(if_broken=hints)

    @pytest.mark.parametrize(
        "changes",
        [
            {"eras": frozenset()},
            {"eras": frozenset({"stone"})},
            {"eras": MODERN, "should_in": HANDSHAKE},
        ],
    )
    def test_for_an_era_that_is_not_one(self, changes: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="era"):
            made(**changes)


class TestASource:
    def test_of_the_specification_has_an_address(self) -> None:
        source = spec("2026-07-28", "server/tools#tool-names")
        assert str(source) == "2026-07-28 server/tools#tool-names"
        assert (
            source.url == "https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names"
        )

    def test_that_is_a_report_has_an_address(self) -> None:
        source = issue("modelcontextprotocol/python-sdk", 2107)
        assert str(source) == "modelcontextprotocol/python-sdk#2107"
        assert source.url == "https://github.com/modelcontextprotocol/python-sdk/issues/2107"

    def test_of_python_has_an_address(self) -> None:
        source = python("asyncio-task#task-cancellation")
        assert str(source) == "Python asyncio-task#task-cancellation"
        assert source.url == "https://docs.python.org/3/library/asyncio-task.html#task-cancellation"
        assert python("asyncio").url == "https://docs.python.org/3/library/asyncio.html"

    def test_that_was_run_or_designed_is_named(self) -> None:
        assert str(sdk("mcp", "2.3.0", "Client.list_tools")) == "mcp 2.3.0, Client.list_tools"
        assert str(seed("callMarker")) == "design: callMarker"

    @pytest.mark.parametrize(
        "place", [("2026-01-01", "server/tools"), ("2026-07-28", "server/tools#Tool Names")]
    )
    def test_that_is_no_place_in_the_specification_is_refused(self, place: tuple[str, str]) -> None:
        with pytest.raises(ValueError, match=r"revision|place"):
            spec(*place)

    @pytest.mark.parametrize("place", ["Task Cancellation", "asyncio-task#", "asyncio-task.html#a b"])
    def test_that_is_no_place_in_the_documentation_of_python_is_refused(self, place: str) -> None:
        with pytest.raises(ValueError, match="place"):
            python(place)

    def test_in_a_repository_without_an_owner_is_refused(self) -> None:
        with pytest.raises(ValueError, match="owner/name"):
            issue("python-sdk", 2107)


class TestSelecting:
    def test_by_area_gives_the_area(self) -> None:
        assert [rule.id for rule in select_rules(["TOOL"])] == [f"TOOL-{number}" for number in range(1, 11)]

    def test_by_id_gives_one_rule(self) -> None:
        assert select_rules(["CCH-13"]) == [RULES["CCH-13"]]

    def test_by_glob_gives_areas_and_ids_that_fit(self) -> None:
        assert {rule.area for rule in select_rules(["C?H*"])} == {"CCH"}
        assert {rule.area for rule in select_rules(["C*"])} == {"CCH", "CHK", "CALL", "CONN"}
        assert [rule.id for rule in select_rules(["NTC-1*"])] == ["NTC-1", *(f"NTC-1{n}" for n in range(7))]

    @pytest.mark.parametrize("pattern", ["ten", "Ten-*", " TEN ", "tEN-?*"])
    def test_takes_no_notice_of_case_and_blanks(self, pattern: str) -> None:
        assert select_rules([pattern]) == select_rules(["TEN"])

    def test_by_several_patterns_gives_each_rule_once_in_the_order_of_the_catalogue(self) -> None:
        found = select_rules(["TOOL-1", "CCH-2", "CCH-1", "CCH-2", "CCH-?"])
        assert [rule.id for rule in found] == [*(f"CCH-{number}" for number in range(1, 10)), "TOOL-1"]

    def test_by_no_pattern_gives_every_rule(self) -> None:
        assert select_rules([]) == list(RULES.values())

    @pytest.mark.parametrize(
        ("pattern", "close"), [("CHX", "CHK"), ("cch-99", "CCH-9"), ("TOOLS-*", "TOOL"), ("NOTC*", "NTC")]
    )
    def test_by_an_unknown_pattern_names_it_the_areas_and_what_is_close(
        self, pattern: str, close: str
    ) -> None:
        with pytest.raises(UsageError) as refusal:
            select_rules(["CCH", pattern])
        message = str(refusal.value)
        assert repr(pattern) in message
        assert all(area in message for area in AREAS)
        assert message.endswith(f"did you mean {close}?")

    @pytest.mark.parametrize("pattern", ["", "ZZZ-1", "*-zzz"])
    def test_by_something_like_nothing_makes_no_guess(self, pattern: str) -> None:
        with pytest.raises(UsageError, match="fits no rule") as refusal:
            select_rules([pattern])
        assert "did you mean" not in str(refusal.value)
