#!/usr/bin/env python3
"""Runs that stand before a node for as long as interrupt_timeout allows, where two orchestrators share a Redis: whichever sweeps, and
also when the one that had the run is dead."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from redis_server import RedisServer  # noqa: E402

redis = RedisServer().__enter__()
os.environ["RENGA_REDIS"] = redis.url  # for the harness
from harness import SLOW, Orchestrator, check, checks, equal, expect, stands, wait_until  # noqa: E402

FLAGS = ("--orchestrator.address=127.0.0.1:{port}", f"--orchestrator.lease={600 * SLOW}ms")
first = Orchestrator(None, *FLAGS)
second = Orchestrator(first.folder, *FLAGS)
first.write_agent("w", json.dumps({
    "agent": "w", "state": {"log": {"type": "string[]", "reduce": "append"}}, "start": "a",
    "nodes": {"a": {"kind": "set", "values": {"log": ["a"]}, "on": {"done": "b"}}, "b": {"kind": "set", "values": {"log": ["b"]}}}}))
first.start()
second.start()


def standing(which, ms):
    run = which.start_run("w", {}, interrupt_before=["b"], interrupt_timeout={"after_ms": ms, "update": {"update_json": '{"log": ["late"]}'}})
    return stands(run, "WAITING", "INTERRUPT_BEFORE")


def ends(which, run):
    done = wait_until(lambda: (lambda now: now.state >= 4 and now)(which.get(run)), "it stands for ever", 20 * SLOW)
    equal((json.loads(done.output_json)["log"], [(one.timed_out, one.node) for one in done.resumptions]), (["a", "late", "b"], [(True, "b")]), "the end")


@check("a run goes on when its stop has lasted long enough, whichever of the two has it, and only once")
def _():
    for which, other in ((first, second), (second, first)):
        runs = [standing(which, 200) for _ in range(3)]
        for run in runs:
            ends(other, run)
            ends(which, run)


@check("a person's answer that comes first holds, and the time-out does nothing more")
def _():
    run = standing(first, 600)
    done = second.resume(run)
    equal((json.loads(done.output_json)["log"], [one.timed_out for one in done.resumptions]), (["a", "b"], [False]), "the answer")
    again = standing(second, 200)  # its time is over later than that of the first one would be: the sweep has been there
    ends(first, again)
    equal(len(first.get(run).resumptions), 1, "resumptions")


@check("the time passes also while nobody has the run: its orchestrator was killed, and the other one lets it go on")
def _():
    run = standing(first, 1000)
    first.kill()
    ends(second, run)


@check("the orchestrator ends with 0 on SIGTERM, and no sanitizer has complained")
def _():
    equal(second.stop(), 0, "the exit code")
    expect(not [line for line in second.log if "Sanitizer" in line or "runtime error" in line], f"{second.log[-3:]}")


redis.__exit__(None, None, None)
checks.finish()
