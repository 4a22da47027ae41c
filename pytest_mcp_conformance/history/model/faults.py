"""The faults that a history can prove, with the rules that they break."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAULTS", "Fault"]


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes:
        name: Its name in a finding.
        rules: The rules that it may cite; which one depends on the case.
        text: What it is.
        needs: The claims without which nobody is accused of it; empty where every wrapper is held to it.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    needs: tuple[str, ...] = ()


_ALL = (
    Fault(
        "stale-after-notice",
        ("CCH-12",),
        "A list from before a notice was served to somebody who asked after it.",
        ("reacts_to_list_changed",),
    ),
    Fault(
        "stale-after-invalidate",
        ("CCH-24",),
        "A list from before `invalidate` was served to somebody who asked after it.",
    ),
    Fault(
        "stale-after-refresh",
        ("CCH-24",),
        "A list from before `refresh` was served to somebody who asked after it.",
    ),
    Fault(
        "stale-after-lapse",
        ("CCH-5", "CCH-8", "CCH-9"),
        "A list whose lifetime had run out was served, and the server was not asked.",
        ("clock",),
    ),
    Fault(
        "overtaken-listing-kept",
        ("CCH-13",),
        "A listing was out when its list was invalidated, and was kept and served all the same.",
    ),
    Fault(
        "older-fetch-joined",
        ("CCH-14",),
        "Somebody who asked after a change was served by a fetch that had begun before it.",
    ),
    Fault(
        "older-listing-written",
        ("CCH-15",),
        "An older fetch was answered last, and replaced what the later one had brought.",
        ("caches_listings",),
    ),
    Fault(
        "two-generations-glued",
        ("PAG-9",),
        "Pages from before and from behind a change were served as one list.",
        ("reacts_to_list_changed",),
    ),
    Fault(
        "old-tool-in-a-new-list",
        ("TOOL-3", "TOOL-6"),
        "A list was fetched anew, and tools from before were served among the new ones.",
    ),
    Fault(
        "list-of-a-dead-connection",
        ("CCH-22",),
        "A list without a lifetime was served after its connection had been replaced by another.",
    ),
    Fault(
        "list-of-another-principal",
        ("CCH-3", "TEN-4"),
        "A tool was served that the server had listed to another principal alone.",
        ("isolates_principals",),
    ),
    Fault(
        "judged-by-another-listing",
        ("CHK-3",),
        "A good answer was refused, though the tool is listed without an output schema: an older one judged.",
    ),
    Fault(
        "call-sent-twice", ("CALL-1",), "One call went out twice, and nothing that is allowed explains it."
    ),
    Fault("call-not-sent", ("CALL-1",), "A call was answered out of what an equal call had brought before."),
    Fault("result-lost", ("CALL-2",), "The server's good answer had come, and the caller was not given it."),
    Fault("answer-of-another-call", ("CALL-3",), "A caller was handed what another call was answered."),
    Fault(
        "id-used-again", ("CALL-4",), "A request had the id of one that was still open, or of its session."
    ),
    Fault(
        "cancelled-what-is-not-open",
        ("CALL-7",),
        "The client cancelled what it had not asked or what was answered.",
    ),
    Fault("answer-to-nobody", ("NTC-15",), "The client answered something that was no request."),
    Fault(
        "lease-of-a-dead-connection",
        ("CONN-6",),
        "Verb after verb failed on a connection that was known to be dead, and nobody dialled.",
        ("redials",),
    ),
    Fault("connection-never-closed", ("CONN-9",), "Every holder had left, and a connection stayed open."),
)

FAULTS = {fault.name: fault for fault in _ALL}
"""Every fault by its name."""
