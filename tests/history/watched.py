"""The wrong wrappers whose fault a history can show."""

from __future__ import annotations

__all__ = ["WATCHED"]

CHANGED = frozenset(
    {"stale-after-notice", "overtaken-listing-kept", "older-fetch-joined", "two-generations-glued"}
)
TOLD = frozenset({"notice", "invalidate", "glued", "back"})
INVALID = CHANGED | {"stale-after-invalidate", "stale-after-refresh"}


def _by(signs: str, *findings: str) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(signs.split()), frozenset(findings)


WATCHED: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "cch_12_notice_is_only_logged": (frozenset({"notice"}), CHANGED),
    "cch_12_lifetime_outlives_the_notice": (frozenset({"notice"}), CHANGED),
    "cch_13_stored_on_arrival": (TOLD, INVALID),
    "cch_13_keeps_what_it_asked_for": (frozenset({"invalidate"}), INVALID),
    "cch_14_change_counts_from_the_end_of_a_fetch": (TOLD, INVALID),
    "cch_15_last_arrival_wins": _by("back", "older-listing-written"),
    "cch_22_cache_outlives_the_connection": _by("reconnect", "list-of-a-dead-connection"),
    "cch_24_invalidate_waits_for_the_lapse": (frozenset({"invalidate"}), INVALID),
    "cch_24_refresh_from_the_layer_below": (frozenset({"refresh"}), INVALID),
    "cch_5_lives_for_ever": _by("lapse", "stale-after-lapse"),
    "cch_5_lives_for_a_minute_at_least": _by("lapse", "stale-after-lapse"),
    "cch_8_negative_is_read_unsigned": _by("lapse", "stale-after-lapse"),
    "cch_9_fresh_at_the_very_end": _by("lapse", "stale-after-lapse"),
    "cch_9_never_lapses": _by("lapse", "stale-after-lapse"),
    "pag_9_each_page_is_of_its_own_time": _by("glued", "two-generations-glued"),
    "pag_9_looks_before_the_last_page": (TOLD, INVALID),
    "cch_3_one_cache_for_all_principals": _by("another's", "list-of-another-principal"),
    "chk_3_first_schema_for_ever": _by("judged", "judged-by-another-listing", "result-lost"),
    "call_1_failed_call_is_sent_again": _by("twice", "call-sent-twice"),
    "call_1_equal_call_is_not_sent": _by("unsent", "call-not-sent"),
    "call_2_lists_behind_a_call": _by("lost", "result-lost"),
    "call_3_answers_in_order_of_asking": _by("foreign", "answer-of-another-call"),
    "call_4_takes_the_first_free_id": _by("id", "id-used-again"),
    "call_4_resends_under_the_old_id": _by("id", "id-used-again"),
    "call_7_cancels_the_last_request": _by("cancelled", "cancelled-what-is-not-open"),
    "call_7_cancels_what_is_done": _by("cancelled", "cancelled-what-is-not-open"),
    "ntc_15_answers_what_it_does_not_know": _by("reply", "answer-to-nobody"),
    "conn_6_dead_connection_is_used_again": _by("dead", "lease-of-a-dead-connection"),
    "conn_9_close_leaves_the_connection": _by("left", "connection-never-closed"),
}
"""For each its signs, as `truth` names them, and the findings that should come of it."""
