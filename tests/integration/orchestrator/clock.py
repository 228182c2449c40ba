#!/usr/bin/env python3
"""A wall clock that jumps while runs are at work, rest between two tries and wait for a person: nothing changes but the
times that are shown."""
import mmap
import os
import struct
import threading
import time

from harness import BIN, SLOW, agent, api, check, equal, expect, finish, nodes, remote, stands, succeeded, wait_until

HOUR, DAY = 3600, 86400
JUMPS = (("one hour ahead", HOUR), ("two hours back", -2 * HOUR), ("400 days ahead", 400 * DAY), ("back to what it was", 0))
path = os.path.join(api.folder, "jump")
with open(path, "wb") as file:
    file.write(bytes(8))
clock = mmap.mmap(os.open(path, os.O_RDWR), 8)
api.environment = {"LD_PRELOAD": f"{BIN}/drill-jump.so", "JUMP_FILE": path}
api.flags = ("--orchestrator.sweep_every=20ms",)
api.start()
RETRY = {"attempts": 2, "base": "250ms", "max": "250ms"}
agent("works", {"state": {"n": {"type": "integer", "reduce": "sum"}, "x": {"type": "any"}}, "start": ["slow", "again"], "timeout": "60s",
                "nodes": {"slow": remote(timeout="50s", idle_timeout="40s"), "again": remote("ask", retry=RETRY),
                          "ask": {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "last"}}, "last": remote()}})


def fails_once(call):
    if call.attempt == 1:
        call.fail("UNAVAILABLE")
    return {"n": 10}


nodes.on("works", slow=lambda call: call.sleep(0.35) and {"n": 1}, again=fails_once, last=lambda call: {"n": 100})


def jump(seconds):
    clock[:] = struct.pack("=q", seconds)


def event_of(run, kind):
    return [event for event in api.watch(run) if event.WhichOneof("event") == kind]


runs = []
for name, seconds in JUMPS:
    @check(f"a jump {name} changes nothing in runs at work, at rest and waiting")
    def _():
        run = api.start_run("works", {}, wait=False, request_id=f"request {seconds}", thread_id=f"thread {seconds}")
        wait_until(lambda: nodes.of("works", "again", run.run_id), "the run is not at work", 10 * SLOW)
        began = time.monotonic()
        jump(seconds)
        stands(api.stopped(run), "WAITING", "QUESTION")
        expect(0.2 < time.monotonic() - began < 10 * SLOW, f"it waits after {time.monotonic() - began:.2f} s")
        first, second = nodes.of("works", "again", run.run_id)
        expect(0.1 <= second.began - first.ended < 5 * SLOW, f"it was tried again after {second.began - first.ended:.2f} s")
        again = api.call("StartRun", api.start_request("works", {}, wait=False, request_id=f"request {seconds}", thread_id=f"thread {seconds}"))
        expect(again.repeated_request and again.run.run_id == run.run_id, "the request is not known any more")
        runs.append(run)
        shown = api.get(run).updated_ms / 1000 - seconds
        expect(abs(shown - time.time()) < 60 * SLOW, "the time that is shown is another clock's")


@check("a run that is killed under one time and taken up under another goes on, and so does a watcher")
def _():
    jump(400 * DAY)
    run = api.start_run("works", {}, wait=False)
    seen = []
    watcher = threading.Thread(target=lambda: seen.extend(api.watch(run)))
    wait_until(lambda: nodes.of("works", "slow", run.run_id), "the run is not at work", 10 * SLOW)
    api.kill()
    jump(-2 * HOUR)
    api.start()
    watcher.start()
    stands(api.stopped(run), "WAITING", "QUESTION")
    watcher.join()
    ids = [event.event_id for event in seen]
    expect(seen and ids == sorted(set(ids)), f"events came in the order {ids}")
    runs.append(run)


@check("runs that wait since before have their answers after all the jumps, and each is in the list once")
def _():
    for run in runs:
        equal(succeeded(api.resume(run, "yes"))["n"], 111, "the sum")
        equal(len(event_of(run, "stopped")), 2, "how often it stopped")
    listed = [run.run_id for run in api.ask("ListRuns", page_size=100).runs]
    equal(sorted(listed), sorted(run.run_id for run in runs), "the list")


finish()
