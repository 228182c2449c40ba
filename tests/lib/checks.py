"""Checks as sentences: each prints `ok - <sentence>` or `not ok - <sentence>: <why>`; finish() ends the program with 1
where one has failed.

    @check("a unary call is answered")
    def _():
        expect(answer == 1, f"the answer was {answer}")

A check runs where it stands. What it returns, if anything, is a figure that is printed behind the sentence.
"""
import sys
import time
import traceback

_counts = {"ok": 0, "not ok": 0}


class Broken(Exception):
    """A check's reason to fail."""


def expect(condition, why):
    if not condition:
        raise Broken(why)


def record(sentence, why=None, figure=None):
    verdict = "not ok" if why else "ok"
    _counts[verdict] += 1
    tail = f": {why}" if why else f" ({figure})" if figure else ""
    print(f"{verdict} - {sentence}{tail}", flush=True)


def check(sentence):
    def at_once(function):
        try:
            figure = function()
        except Broken as broken:
            record(sentence, str(broken))
        except Exception as error:  # whatever a client library raises is a reason too
            place = traceback.extract_tb(error.__traceback__)[-1]
            record(sentence, f"{type(error).__name__}: {' '.join(str(error).split())} ({place.name}:{place.lineno})")
        else:
            record(sentence, figure=figure)
        return function

    return at_once


def wait_until(condition, why, seconds=5.0, every=0.005):
    """Waits for what is about to become true and returns it."""
    until = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        expect(time.monotonic() < until, f"{why} within {seconds:g} s")
        time.sleep(every)


def finish():
    print(f"# {_counts['ok']} ok, {_counts['not ok']} not ok", flush=True)
    sys.exit(1 if _counts["not ok"] or not _counts["ok"] else 0)
