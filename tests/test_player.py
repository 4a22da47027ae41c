"""Whatever a wrapper does, playing a scenario ends, and ends in a verdict that names the step."""

from __future__ import annotations

import asyncio
import gc
import re
import threading
from dataclasses import replace

import pytest
from mcp import ClientSession

from pytest_mcp_conformance.adapters import bundled, sdk_major
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Adapter, AdapterError, Claims, Outcome, Verdict, Wrapper, adapter
from pytest_mcp_conformance.history import Recorder
from pytest_mcp_conformance.scenarios import CATALOGUE, _drawing, _run
from pytest_mcp_conformance.scenarios._player import play
from pytest_mcp_conformance.scenarios._refusals import Refusals
from pytest_mcp_conformance.scenarios._run import _host_of
from pytest_mcp_conformance.server.ways.http import DOMAIN
from tests.cells import cells

HEADERS = next(scenario for scenario in CATALOGUE if scenario.name == "headers_of_a_session")
CLOSES = next(scenario for scenario in CATALOGUE if scenario.name == "close_ends_everything")
OVERTAKEN = next(scenario for scenario in CATALOGUE if scenario.name == "overtaken_listing")
WRONG_TYPE = next(scenario for scenario in CATALOGUE if scenario.name == "answer_of_the_wrong_type")
HANDSHAKE = Claims(eras=("handshake",))
EVERYTHING = Claims(
    caches_listings=True,
    reacts_to_list_changed=0.0,
    redials=True,
    isolates_principals=True,
    own_timeout=30.0,
    clock=True,
    callbacks=True,
    eras=("handshake",),
)


def of(name, play, claims=HANDSHAKE):
    return adapter(name, claims=claims)(play)


def over_the_session(name="session", claims=HANDSHAKE, **verbs):
    """An adapter over the SDK's session, with some verbs replaced."""

    async def play(dial):
        async with dial.session() as session:

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(getattr(tool, "name", tool), arguments)

            yield Wrapper(**{"list_tools": list_tools, "call_tool": call_tool, **verbs})

    return of(name, play, claims)


def catalogue(subject: Adapter):
    """Everything played against `subject`."""
    return [play(s, subject, era=e, variant=v, compare=False) for s, e, v in cells(subject)]


def judgement(scenario, subject, variant=""):
    return play(scenario, subject, era="handshake", variant=variant or scenario.variants[0]).judgements[0]


async def _gives_up(dial):
    async with dial.session() as session:

        async def list_tools():
            return (await session.list_tools()).tools

        async def call_tool(tool, arguments):
            return await asyncio.wait_for(session.call_tool(tool.name, arguments), 30.0)

        yield Wrapper(list_tools=list_tools, call_tool=call_tool)


LIMITED = of("limited", _gives_up, replace(HANDSHAKE, own_timeout=30.0, clock=True))


async def does_nothing(dial):
    async def list_tools():
        return []

    async def call_tool(tool, arguments):
        return None

    yield Wrapper(list_tools=list_tools, call_tool=call_tool)


@pytest.mark.parametrize("claims", [Claims(), HANDSHAKE, EVERYTHING], ids=["silent", "one_era", "boastful"])
def test_the_do_nothing_adapter_keeps_no_rule(claims):
    verdicts = {
        j.verdict for played in catalogue(of("nothing", does_nothing, claims)) for j in played.judgements
    }
    assert Verdict.KEPT not in verdicts
    assert Verdict.NOT_TESTABLE in verdicts


@pytest.mark.parametrize("make", [lambda *_: None, lambda *_: object()], ids=["no_key", "never_the_same"])
def test_a_part_that_makes_no_keys_keeps_no_rule_of_keys(make):
    part = over_the_session("keyless", key_of=make)
    keyed = [s for s in CATALOGUE if any(rule.id.startswith("KEY-") for rule in s.rules)]
    verdicts = {j.verdict for scenario in keyed for j in play(scenario, part, era="handshake").judgements}
    assert Verdict.NOT_TESTABLE in verdicts
    assert verdicts <= {Verdict.NOT_TESTABLE, Verdict.NOT_CLAIMED}  # without a pool nothing can be leased


def test_a_connect_that_raises_is_named():
    async def refuses(dial):
        raise OSError("no route")
        yield

    found = judgement(OVERTAKEN, of("refuses", refuses, EVERYTHING))
    assert found.verdict is Verdict.NOT_TESTABLE
    assert "connect raised OSError: no route" in found.detail


def test_a_connect_that_hangs_is_named_with_the_place():
    async def hangs(dial):
        await asyncio.Event().wait()
        yield

    found = judgement(OVERTAKEN, of("hangs", hangs, EVERYTHING))
    assert found.verdict is Verdict.NOT_TESTABLE
    assert "connect did not end within 1200 s" in found.detail
    assert "hangs (test_player.py:" in found.detail


def test_a_list_tools_that_never_returns_is_named_with_the_place():
    async def forever():
        await asyncio.Event().wait()

    found = judgement(WRONG_TYPE, over_the_session(list_tools=forever))
    assert found.verdict is Verdict.NOT_TESTABLE
    assert "list_tools did not end within 600 s" in found.detail
    assert "forever (test_player.py:" in found.detail


def test_a_plain_function_that_never_returns_is_named_and_left_behind():
    stop = threading.Event()
    try:
        found = judgement(WRONG_TYPE, over_the_session(list_tools=stop.wait))
        assert found.verdict is Verdict.NOT_TESTABLE
        assert "list_tools did not end within 600 s" in found.detail
    finally:
        stop.set()


def test_a_whole_catalogue_of_hangs_ends_in_the_first_meeting():
    async def forever(*_):
        await asyncio.Event().wait()

    hanging = catalogue(over_the_session("hangs", EVERYTHING, list_tools=forever, call_tool=forever))
    assert {j.verdict for played in hanging for j in played.judgements} == {Verdict.NOT_TESTABLE}


def test_a_task_left_behind_breaks_the_rule_on_closing_in_any_scenario():
    async def leaks(dial):
        async with dial.session() as session:
            left.append(asyncio.create_task(asyncio.sleep(86_400), name="my health check"))

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    left = []
    played = play(WRONG_TYPE, of("leaks", leaks), era="handshake")
    closing = next(j for j in played.judgements if j.rule == "CONN-9")
    assert closing.verdict is Verdict.BROKEN
    assert closing.hard
    assert "my health check" in closing.detail


@pytest.mark.parametrize(("seconds", "rests"), [(1.0, False), (3.0, True)])
def test_what_is_about_to_end_when_its_holder_has_closed_is_not_left(seconds, rests):
    async def leaves(dial):
        async with dial.session() as session:

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)
        ending.append(asyncio.create_task(asyncio.sleep(seconds), name="sees to the end"))

    ending = []
    played = play(WRONG_TYPE, of("leaves", leaves), era="handshake")
    assert any(j.rule == "CONN-9" for j in played.judgements) is rests


def test_a_connection_left_open_breaks_the_rule_on_closing():
    async def leaks(dial):
        streams = dial.streams()
        kept.append(streams)
        read, write = await streams.__aenter__()
        async with session_over(read, write) as session:

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    from contextlib import asynccontextmanager

    from mcp import ClientSession

    @asynccontextmanager
    async def session_over(read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            yield session

    kept = []
    played = play(WRONG_TYPE, of("leaks", leaks), era="handshake")
    closing = next(j for j in played.judgements if j.rule == "CONN-9")
    assert "connection 1 is still open" in closing.detail


def test_a_tear_down_that_raises_is_trouble():
    async def raises(dial):
        async with dial.session() as session:

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)
        raise OSError("could not close")

    played = play(WRONG_TYPE, of("raises", raises), era="handshake")
    assert played.trouble == ("tear-down raised OSError: could not close",)


def test_a_wrapper_whose_task_group_dies_is_trouble():
    import anyio

    async def dies(dial):
        async with dial.session() as session, anyio.create_task_group() as group:

            async def fail():
                raise OSError("the actor died")

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                try:
                    return await session.call_tool(tool.name, arguments)
                finally:
                    group.start_soon(fail)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    played = play(WRONG_TYPE, of("dies", dies), era="handshake")
    assert any("the wrapper died" in line and "the actor died" in line for line in played.trouble)


def test_a_wrapper_that_dies_of_an_http_error_is_not_in_trouble_as_well():
    import anyio

    async def dies(dial):
        async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            async with anyio.create_task_group() as group:

                async def fail():
                    raise OSError("the actor died")

                async def list_tools():
                    return (await session.list_tools()).tools

                async def call_tool(tool, arguments):
                    group.start_soon(fail)
                    return await session.call_tool(tool.name, arguments)

                yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    claims = Claims(transports=("http",), follows_pages=False)
    [one_post] = [each for each in CATALOGUE if each.name == "one_call_one_post"]
    played = play(one_post, of("dies", dies, claims), era="handshake", way="http", variant="server_error")
    assert played.trouble == ()


def test_a_set_up_that_dials_behind_itself_and_is_given_up_is_no_death():
    async def dials_behind(dial):
        opened = asyncio.get_running_loop().create_future()

        async def hold():
            async with dial.streams() as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                opened.set_result(session)
                await asyncio.Event().wait()

        held = asyncio.get_running_loop().create_task(hold())

        async def list_tools():
            return (await (await opened).list_tools()).tools

        async def call_tool(tool, arguments):
            return await (await opened).call_tool(tool.name, arguments)

        try:
            yield Wrapper(list_tools=list_tools, call_tool=call_tool)
        finally:
            held.cancel()
            await asyncio.wait({held})

    [given_up] = [each for each in CATALOGUE if each.name == "dial_given_up"]
    played = play(given_up, of("dials-behind", dials_behind), era="handshake", variant="connect")
    assert played.trouble == ()


def test_what_is_left_and_still_asks_for_its_server_is_told_as_left_alone():
    refusals = Refusals(Recorder())
    for host in (f"server-1.{DOMAIN}:80", "example.com:443"):
        refusals.add(f"tried to connect to {host}: no")
    assert len(refusals.told(leaky=False)) == 2
    assert refusals.told(leaky=True) == ["tried to connect to example.com:443: no"]


def test_a_part_that_never_answers_beside_a_heartbeat_is_not_the_end_of_the_run():
    async def beats(dial):
        async def beat():
            while True:  # noqa: ASYNC110 - a heartbeat is the subject
                await asyncio.sleep(1.0)

        async def nothing(*_):
            return []

        heart = asyncio.get_running_loop().create_task(beat())
        async with dial.session() as session:

            async def list_tools():
                return (await session.list_tools()).tools

            yield Wrapper(list_tools=list_tools, call_tool=nothing, generations=Deaf)
        heart.cancel()

    class Deaf:
        async def ask(self, send):
            await asyncio.Event().wait()

        def is_latest(self, generation):
            return False

    settling = next(s for s in CATALOGUE if s.name == "every_way_to_settle")
    verdicts = {judgement(settling, of("beats", beats), variant).verdict for variant in settling.variants}
    assert verdicts <= {Verdict.NOT_TESTABLE, Verdict.BROKEN}


def test_a_verb_that_exits_is_not_the_end_of_the_run():
    async def leaves():
        raise SystemExit(3)

    found = judgement(WRONG_TYPE, over_the_session(list_tools=leaves))
    assert found.verdict is Verdict.NOT_TESTABLE
    assert "SystemExit" in found.detail


def test_plain_functions_are_run_in_threads():
    threads = []

    async def play_(dial):
        async with dial.session() as session:
            loop = asyncio.get_running_loop()

            def run(coroutine):
                threads.append(threading.current_thread())
                return asyncio.run_coroutine_threadsafe(coroutine, loop).result(10)

            yield Wrapper(
                list_tools=lambda: run(session.list_tools()).tools,
                call_tool=lambda tool, arguments: run(session.call_tool(tool.name, arguments)),
            )

    played = play(WRONG_TYPE, of("threads", play_), era="handshake")
    assert played.judgements[0].verdict is Verdict.KEPT
    assert threading.main_thread() not in threads


def test_outcomes_of_any_shape_are_read():
    async def flagged(tool, arguments):
        return Outcome(kind="refused", text="by me")

    played = play(WRONG_TYPE, over_the_session(call_tool=flagged), era="handshake")
    assert played.judgements[0].verdict is Verdict.NOT_TESTABLE
    assert "the call was not sent" in played.judgements[0].detail


async def _yields_nothing(dial):
    return
    yield


async def _yields_twice(dial):
    async with dial.session() as session:

        async def list_tools():
            return (await session.list_tools()).tools

        yield Wrapper(list_tools=list_tools, call_tool=list_tools)
        yield Wrapper(list_tools=list_tools, call_tool=list_tools)


def _blocks_and_yields_nothing(dial):
    return
    yield


def _blocks_and_yields_twice(dial):
    yield Wrapper(list_tools=list, call_tool=print)
    yield Wrapper(list_tools=list, call_tool=print)


async def _yields_a_dict(dial):
    yield {"list_tools": None}


async def _lacks_a_verb(dial):
    async with dial.session() as session:
        yield Wrapper(list_tools=session.list_tools)


async def _misspells_a_verb(dial):
    async with dial.session() as session:
        yield Wrapper(list_tools=session.list_tools, call_tool=session.call_tool, refesh=session.list_tools)


async def _names_no_verb(dial):
    yield Wrapper(print, print)


async def _gives_no_function(dial):
    async with dial.session() as session:
        yield Wrapper(list_tools=session.list_tools, call_tool=session.call_tool, refresh=True)


async def _misspells_the_way_in(dial):
    assert not hasattr(dial, "telephone")
    async with dial.sesion() as session:
        yield Wrapper(list_tools=session.list_tools, call_tool=session.call_tool)


async def _asks_for_a_url(dial):
    yield dial.url


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (_yields_nothing, "ended without a yield"),
        (_yields_twice, "yields twice"),
        (_blocks_and_yields_nothing, "ended without a yield"),
        (_blocks_and_yields_twice, "yields twice"),
        (_yields_a_dict, "yields a dict; yield Wrapper("),
        (_lacks_a_verb, "Wrapper(...): lacks call_tool; give it"),
        (_misspells_a_verb, "Wrapper(refesh=...): no verb is called that; did you mean 'refresh'?"),
        (_names_no_verb, "Wrapper(...): write the name of each verb, as in Wrapper(list_tools=...)"),
        (_misspells_the_way_in, "dial.sesion: a dial has no such thing; did you mean 'session'?"),
        (_gives_no_function, "Wrapper(refresh=True): a verb is a function"),
        (_asks_for_a_url, "asked for dial.url, and this run plays over memory: declare Claims(transports="),
    ],
)
def test_an_adapter_of_the_wrong_shape_is_named_with_its_place(shape, said):
    played = play(WRONG_TYPE, of("odd", shape), era="handshake", way="memory")
    assert said in played.adapter_error
    assert "adapter 'odd' at " in played.adapter_error
    assert "test_player.py:" in played.adapter_error


def test_what_the_set_up_of_an_adapter_that_blocks_raises_is_told():
    def blocks(dial):
        raise OSError("no such host")
        yield

    played = play(WRONG_TYPE, of("odd", blocks), era="handshake", way="memory")
    assert "connect raised OSError: no such host" in played.judgements[0].detail


def test_an_adapter_of_the_wrong_shape_leaves_no_task_to_complain(caplog):
    play(WRONG_TYPE, of("odd", _yields_twice), era="handshake", way="memory")
    gc.collect()
    assert "never retrieved" not in caplog.text


def _prefixing(dial_names):
    async def play_(dial):
        async with dial.session() as session:

            async def list_tools():
                return [dial_names(tool.name) for tool in (await session.list_tools()).tools]

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.rpartition("__")[2], arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    return of("prefixing", play_)


def test_an_adapter_that_hands_out_names_of_its_own_is_told_what_to_write():
    said = play(WRONG_TYPE, _prefixing("mcp__acme__{}".format), era="handshake").adapter_error
    assert "list_tools gave 'mcp__acme__a' where the server lists 'a'" in said
    assert "Tool('a', ..., handle=" in said


def test_an_adapter_that_shows_names_in_another_form_is_none_of_these():
    assert not play(WRONG_TYPE, _prefixing(str.upper), era="handshake").adapter_error


def test_a_limit_of_which_nobody_has_said_how_long_it_is_judges_nothing():
    limited = replace(LIMITED, claims=replace(LIMITED.claims, own_timeout=None))
    [silent_server] = [each for each in CATALOGUE if each.name == "silent_server"]
    said = play(silent_server, LIMITED, era="handshake", variant="call").judgements[0]
    assert said.verdict is Verdict.KEPT
    said = play(silent_server, limited, era="handshake", variant="call").judgements[0]
    assert (said.verdict, said.detail) == (Verdict.NOT_CLAIMED, "own_timeout")


def test_a_misspelt_claim_is_told_with_what_was_meant():
    with pytest.raises(
        AdapterError, match=r"Claims\(cache_listings=\.\.\.\).* did you mean 'caches_listings'"
    ):
        Claims(cache_listings=True)


def test_an_adapter_without_a_name_is_told_with_its_place():
    with pytest.raises(AdapterError, match=r"@adapter at .*test_player\.py:\d+: has no name; write @adapter"):
        adapter(does_nothing)


@pytest.mark.parametrize(
    ("ways", "verdict"),
    [
        (("memory", "http"), Verdict.NOT_CLAIMED),
        (("http",), Verdict.NOT_TESTABLE),
        (("http", "loopback"), Verdict.NOT_TESTABLE),
    ],
    ids=["after another", "alone", "before another"],
)
def test_a_way_in_whose_library_is_missing_says_what_to_install(monkeypatch, ways, verdict):
    there = {"respx": None, "uvicorn": "there"}
    monkeypatch.setattr("pytest_mcp_conformance.server.ways.ways.find_spec", there.get)
    subject = of("over_http", does_nothing, Claims(transports=ways))
    played = play(HEADERS, subject, era="handshake", variant="once")
    assert (played.way, played.judgements[0].verdict) == ("http", verdict)
    assert "pip install 'pytest-mcp-conformance[http]'" in played.judgements[0].detail


def test_a_tool_without_a_name_is_an_error_of_the_adapter():
    async def nameless():
        return [object()]

    played = play(WRONG_TYPE, over_the_session(list_tools=nameless), era="handshake")
    assert "which has no name" in played.adapter_error


def test_an_era_that_is_not_declared_and_not_spoken_is_not_claimed():
    silent = over_the_session("silent", Claims())

    async def speaks_one(dial):
        if dial.era == "modern":
            raise OSError("what is server/discover?")
        async for wrapper in silent.play(dial):
            yield wrapper

    one = of("one", speaks_one, Claims())
    played = play(WRONG_TYPE, one, era="modern")
    assert played.judgements[0].verdict is Verdict.NOT_CLAIMED
    assert "does not speak modern" in played.judgements[0].detail
    assert play(WRONG_TYPE, one, era="handshake").judgements[0].verdict is Verdict.KEPT


def test_the_verdict_beside_the_sdk_is_told():
    async def play_(dial):
        async with dial.session() as session:

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                try:
                    await session.call_tool(tool.name, arguments)
                except RuntimeError:
                    return "fine"

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    found = play(WRONG_TYPE, of("trusting", play_), era="handshake").judgements[0]
    assert found.verdict is Verdict.BROKEN
    assert found.sdk.endswith("alone keeps this rule")
    assert not found.inherited
    assert any("tools/call" in line for line in found.history)


def test_who_claims_no_limit_is_held_against_an_sdk_without_one():
    [last] = [each for each in CATALOGUE if each.name == "result_whatever_else_fails"]
    found = judgement(last, over_the_session(claims=replace(HANDSHAKE, clock=True)), "listing_hangs")
    assert found.verdict is Verdict.BROKEN
    assert "call_tool did not end" in found.detail
    assert found.sdk.endswith("alone breaks this rule too")
    assert found.inherited


def test_what_the_sdk_breaks_at_another_point_is_not_inherited():
    [whole] = [each for each in CATALOGUE if each.name == "definitions_with_more_in_them"]

    def losing(lost):
        async def play_(dial):
            async with dial.session() as session:

                async def list_tools():
                    tools = [tool.model_dump(by_alias=True) for tool in (await session.list_tools()).tools]
                    for each in tools:
                        each["inputSchema"].pop(lost, None)
                    return tools

                yield Wrapper(list_tools=list_tools, call_tool=session.call_tool)

        return play(whole, of("losing", play_), era="handshake").judgements[0]

    assert losing("nothing").inherited == (sdk_major() >= 2)  # 2.x drops the fields that it does not know
    found = losing("$defs")
    assert found.verdict is Verdict.BROKEN
    assert not found.inherited


@pytest.mark.parametrize("name", sorted(set(bundled()) - {"reference"}))
def test_the_claims_of_the_sdk_adapters_agree_with_the_wire(name):
    probes = [probe for played in catalogue(bundled()[name]) for probe in played.probes]
    assert [probe for probe in probes if not probe.agrees] == []


def test_haste_accuses_nobody(monkeypatch):
    """Who has let a whole grace pass is played in haste; what is found so is played again at leisure."""
    session = {}

    def call_tool(tool, arguments):
        threading.Event().wait(0.3)  # a thread that works in real time, and tells nobody how long
        if session["loop"].is_closed():
            return None  # the play was given up meanwhile
        calling = session["call"](getattr(tool, "name", tool), arguments)
        return asyncio.run_coroutine_threadsafe(calling, session["loop"]).result()

    async def connects(dial):
        async with dial.session() as opened:
            session.update(call=opened.call_tool, loop=asyncio.get_running_loop())

            async def list_tools():
                return (await opened.list_tools()).tools

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    slow = of("slow", connects)
    assert judgement(CLOSES, slow, "once").verdict is Verdict.KEPT
    monkeypatch.setattr(_run, "SHORT_GRACE", 0.002)
    hasty = _run.run_once(CLOSES, slow, "handshake", "memory", "once", {}, _run.SHORT_GRACE)
    assert {each.verdict for each in hasty.judgements} == {Verdict.NOT_TESTABLE}
    monkeypatch.setattr(_run, "silent", {slow})
    assert judgement(CLOSES, slow, "once").verdict is Verdict.KEPT


def kept_for_ever():
    """An adapter that serves its first list for ever, and says that it reacts to notices."""
    kept = []

    async def plays(dial):
        async with dial.session() as session:
            kept.clear()

            async def list_tools():
                kept[:] = kept or (await session.list_tools()).tools
                return kept

            async def call_tool(tool, arguments):
                return await session.call_tool(getattr(tool, "name", tool), arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    claims = Claims(caches_listings=True, reacts_to_list_changed=0.0, eras=("handshake",))
    return of("keeps", plays, claims)


def test_a_broken_rule_is_drawn_by_what_proves_it():
    [scenario] = [each for each in CATALOGUE if each.name == "fresh_listing_meets_a_notice"]
    broken = judgement(scenario, kept_for_ever())
    assert broken.verdict is Verdict.BROKEN
    assert broken.drawing[0] == "stale-after-notice (CCH-12)"
    assert any("tools/list_changed" in line for line in broken.drawing)
    numbers = [line.split()[0] for line in broken.drawing[2:]]
    assert [int(each) for each in numbers if each.isdecimal()] == [*broken.proof]


def test_what_cannot_be_drawn_is_broken_all_the_same(monkeypatch):
    def check(*_):
        raise KeyError("a fault of the checker")

    monkeypatch.setattr(_drawing, "check", check)
    [scenario] = [each for each in CATALOGUE if each.name == "fresh_listing_meets_a_notice"]
    broken = judgement(scenario, kept_for_ever())
    assert broken.verdict is Verdict.BROKEN
    assert broken.drawing == ("not drawn, by a fault of the kit: KeyError: 'a fault of the checker'",)


def test_each_play_has_a_host_name_of_its_own():
    plays = [
        (scenario.name, variant, era)
        for scenario in CATALOGUE
        for variant in scenario.variants or ("",)
        for era in sorted(scenario.eras)
    ]
    hosts = [f"server-1.{_host_of(*each)}.{DOMAIN}" for each in plays]
    assert [
        host for host in hosts if not re.fullmatch(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.?)+", host)
    ] == []
    assert len(hosts) == len(set(hosts))
    assert max(map(len, hosts)) < 254
