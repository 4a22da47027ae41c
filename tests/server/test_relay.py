"""The relay alone, with this test as its client and as its way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from pytest_mcp_conformance.server.ways import _relay

LONG = b"x" * 20_000

large_pipes = pytest.mark.skipif(sys.platform != "linux", reason="makes a pipe larger, as Linux can")


class Relayed:
    """A relay, its client's ends of the pipes, and the socket to its way."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = str(listening.getsockname()[1])
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", _relay.__file__, port, "token"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            )  # fmt: skip
            listening.settimeout(30)
            self.way, _ = listening.accept()
        self.way.settimeout(30)
        self._received = bytearray()
        assert self.next() == (_relay.HELLO, f"token {self.process.pid}".encode())

    def order(self, *orders):
        self.way.sendall(b"".join(_relay.packed(*order) for order in orders))

    def next(self):
        while (message := _relay.taken(self._received)) is None:
            self._received += self.way.recv(65536) or pytest.fail("the relay hung up")
        return message

    def until_probe(self, name):
        heard = b""
        while (message := self.next()) != (_relay.PROBE, name):
            assert message[0] == _relay.HEARD
            heard += message[1]
        return heard


@pytest.fixture
def relayed():
    relayed = Relayed()
    yield relayed
    relayed.way.close()
    with relayed.process as process:
        process.kill()


def enlarge(pipe):
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1_000_000)


def in_the_pipe(file):
    """What can be read without waiting."""
    os.set_blocking(file.fileno(), False)
    return file.read() or b""


@large_pipes
def test_at_the_answer_to_a_probe_everything_said_is_in_the_pipe(relayed):
    enlarge(relayed.process.stdout)
    relayed.order(
        (_relay.SAY, LONG * 40), (_relay.COMPLAIN, LONG), (_relay.PROBE, b"1"), (_relay.SAY, b"later")
    )
    assert relayed.next() == (_relay.PROBE, b"1")
    assert in_the_pipe(relayed.process.stdout).startswith(LONG * 40)
    assert in_the_pipe(relayed.process.stderr) == LONG


@large_pipes
def test_the_answer_to_a_probe_comes_behind_everything_that_the_client_had_written(relayed):
    enlarge(relayed.process.stdin)
    relayed.process.send_signal(signal.SIGSTOP)
    relayed.process.stdin.write(b"y" * 300_000)
    relayed.order((_relay.PROBE, b"1"))
    relayed.process.send_signal(signal.SIGCONT)
    assert len(relayed.until_probe(b"1")) == 300_000


def test_a_client_that_reads_nothing_keeps_no_probe_waiting(relayed):
    relayed.order((_relay.SAY, LONG * 100), (_relay.PROBE, b"1"))
    assert relayed.next() == (_relay.PROBE, b"1")


def test_each_probe_is_answered_in_turn(relayed):
    relayed.order(*((_relay.PROBE, str(number).encode()) for number in range(100)))
    assert [relayed.next()[1] for _ in range(100)] == [str(number).encode() for number in range(100)]


def test_closed_stdout_is_the_end_of_what_was_said(relayed):
    relayed.order((_relay.SAY, LONG), (_relay.CLOSE,), (_relay.SAY, b"into the void"), (_relay.PROBE, b"1"))
    assert relayed.process.stdout.read() == LONG
    assert relayed.next() == (_relay.PROBE, b"1")
    relayed.process.stdin.write(b"still heard")
    assert relayed.next() == (_relay.HEARD, b"still heard")


def test_a_client_that_does_not_listen_any_more_is_still_heard(relayed):
    relayed.process.stdout.close()
    relayed.order((_relay.SAY, LONG), (_relay.PROBE, b"1"))
    assert relayed.next() == (_relay.PROBE, b"1")
    relayed.process.stdin.write(b"word")
    assert relayed.next() == (_relay.HEARD, b"word")


def test_the_end_of_stdin_is_the_end_of_the_relay(relayed):
    relayed.process.stdin.write(b"word")
    relayed.process.stdin.close()
    assert [relayed.next(), relayed.next()] == [(_relay.HEARD, b"word"), (_relay.ENDED, b"")]
    assert relayed.process.wait(30) == 0


@pytest.mark.parametrize("stays", [False, True])
def test_the_end_of_the_way_is_the_end_of_the_relay(relayed, stays):
    if stays:
        relayed.order((_relay.STAY,), (_relay.DEAF,), (_relay.PROBE, b"1"))
        relayed.next()
    relayed.way.close()
    assert relayed.process.wait(30) == 1
    assert relayed.process.stderr.read() == b""
