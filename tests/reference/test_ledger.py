"""What the catalogue cannot see of the ledger: what is kept, the second witness, and odd ends."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from mcp_conformance_reference.ledger import RequestLedger

from pytest_mcp_conformance.scenarios._sdk import Transport, item

PARAMS = {"name": "a", "arguments": {"secret": "s"}}


def states(ledger):
    return [record.state for record in ledger.records()]


def watched(ledger, transport=None):
    return ledger.watch(object(), transport or Transport())[1]


def test_nothing_of_the_payload_is_kept_unless_asked_for():
    async def send(ledger):
        write = watched(ledger)
        with ledger.call(PARAMS) as call:
            await write.send(item(1, call.params))
        return ledger.records()

    (record,) = asyncio.run(send(RequestLedger()))
    assert "secret" not in repr(record)
    (record,) = asyncio.run(send(RequestLedger(keep=lambda params: params)))
    assert record.kept == PARAMS


def test_a_request_without_its_marker_is_known_by_the_call_it_was_written_in():
    async def main():
        ledger = RequestLedger()
        write = watched(ledger)
        with ledger.call(PARAMS) as call:
            await write.send(item(1, PARAMS))
        return call.ref, ledger.records()

    ref, (request, call) = asyncio.run(main())
    assert (request.call, request.within) == (None, ref)
    assert (call.call, call.state, call.request_id) == (ref, "unmatched", None)


def test_another_method_within_a_call_is_not_taken_for_its_request():
    async def main():
        ledger = RequestLedger()
        write = watched(ledger)
        with ledger.call(PARAMS):
            await write.send(item(1, {}, "tools/list"))
        return states(ledger)

    assert asyncio.run(main()) == ["sent", "not sent"]


def test_a_call_inside_a_call_gives_the_outer_one_back():
    ledger = RequestLedger()
    with ledger.call(PARAMS) as outer:
        with ledger.call(PARAMS) as inner:
            assert ledger.witness() == inner.ref
        assert ledger.witness() == outer.ref
    assert ledger.witness() is None


def test_a_request_of_a_call_that_is_over_is_stripped_and_not_waited_for():
    async def main():
        ledger, transport = RequestLedger(), Transport()
        write = watched(ledger, transport)
        with ledger.call(PARAMS) as call:
            pass
        await write.send(item(1, call.params))
        assert call.ref not in repr(transport.items)
        return states(ledger)

    assert asyncio.run(main()) == ["not sent", "abandoned"]


@pytest.mark.parametrize("end", ["aclose", "__aexit__"])
def test_the_end_of_a_connection_ends_what_is_open_on_it(end):
    class Closing(Transport):
        async def __aexit__(self, *exc):
            pass

    async def main():
        ledger = RequestLedger()
        write, other = watched(ledger, Closing()), watched(ledger)
        await write.send(item(1, PARAMS))
        await other.send(item(1, PARAMS))
        await (write.aclose() if end == "aclose" else write.__aexit__(None, None, None))
        return states(ledger)

    assert asyncio.run(main()) == ["lost", "sent"]


def test_the_oldest_open_requests_are_given_up_at_the_limit():
    async def main():
        ledger = RequestLedger(limit=2)
        write = watched(ledger)
        for number in range(5):
            await write.send(item(number, PARAMS))
        return [(record.request_id, record.state) for record in ledger.records()]

    assert asyncio.run(main()) == [(1, "abandoned"), (2, "abandoned"), (3, "sent"), (4, "sent")]


def test_records_of_one_call_are_asked_for_by_its_ref():
    ledger = RequestLedger()
    with ledger.call(PARAMS) as first:
        pass
    with ledger.call(PARAMS) as second:
        pass
    assert [record.call for record in ledger.records(second.ref)] == [second.ref]
    assert [record.call for record in ledger.records()] == [first.ref, second.ref]


def test_a_limit_below_one_is_refused():
    with pytest.raises(ValueError, match="1 or more"):
        RequestLedger(limit=0)


def test_records_are_copies():
    ledger = RequestLedger()
    with ledger.call(PARAMS):
        pass
    ledger.records()[0].state = "answered"
    assert states(ledger) == ["not sent"]


def test_an_error_is_an_answer_with_its_code():
    ledger = RequestLedger()
    number = ledger.connected()
    ledger.departed(ledger.leaving(number, "tools/call", 1, PARAMS, None))
    ledger.heard(number, "1", -32603)
    (record,) = ledger.records()
    assert (record.state, record.error_code) == ("answered", -32603)


def test_a_watched_stream_has_no_way_past_the_watcher():
    send, receive = anyio.create_memory_object_stream(1)
    _, write = RequestLedger().watch(receive, send)
    for name in ("send_nowait", "clone"):
        with pytest.raises(AttributeError, match="past the watcher"):
            getattr(write, name)
    assert write.statistics().max_buffer_size == 1
    send.close()
    receive.close()


def test_looking_on_twice_is_once():
    ledger = RequestLedger()
    pair = ledger.watch(object(), Transport())
    assert ledger.watch(*pair) == pair
    asyncio.run(pair[1].send(item(1, PARAMS)))
    assert len(ledger.records()) == 1
