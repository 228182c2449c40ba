#!/usr/bin/env python3
"""kill -9 at random moments of a 100-way fan-out: after the restart every run ends by itself, and nothing that was
committed runs again. RENGA_KILLS says how often; where it does not, 20 times, and 3 under sanitizers."""
import os
import random
import threading
import time

import grpc

from harness import BIN, SLOW, agent, api, check, equal, expect, finish, nodes, remote, reply, succeeded, wait_until

KILLS = int(os.environ.get("RENGA_KILLS", "3" if os.environ.get("RENGA_SANITIZE") else "20"))
RUNS, BRANCHES = 3, 100
api.start()
agent("fan", {"state": {"got": {"type": "integer[]", "reduce": "append"}, "n": {"type": "integer", "reduce": "sum"}},
              "start": "s", "max_concurrency": 40,
              "nodes": {"s": remote("w0", may_reach=["w"]), "w0": remote("m"), "w": remote("m"), "m": remote("t"),
                        "t": remote("u"), "u": remote()}})


def work(call):
    call.sleep(random.random() * 0.05)
    return {"got": [call.state["i"]]}


nodes.on("fan", s=reply({"n": 1}, sends=[("w", {"i": i}) for i in range(BRANCHES)]), w=work,
         **{name: (lambda call: call.sleep(0.01) and {"n": 1} or None) for name in ("w0", "m", "t", "u")})


def follow(run, seen):
    """What a watcher was shown of the run until the orchestrator died: committed steps, finished nodes."""
    try:
        for event in api.watch(run, timeout=60):
            seen.append(event)
    except grpc.RpcError:
        pass


@check(f"after {KILLS} kills in the middle of fan-outs of {BRANCHES}, every run ends and no committed step ran again")
def _():
    repeated = 0
    for kill in range(KILLS):
        runs = [api.start_run("fan", {}, wait=False) for _ in range(RUNS)]
        shown = [[] for _ in runs]
        watchers = [threading.Thread(target=follow, args=pair) for pair in zip(runs, shown)]
        for watcher in watchers:
            watcher.start()
        time.sleep(random.random() * 0.4 * SLOW)
        api.kill()
        for watcher in watchers:
            watcher.join()
        killed = time.monotonic()
        api.start()
        for run, events in zip(runs, shown):
            output = succeeded(api.stopped(run, 30))
            equal((output["got"], output["n"]), (list(range(BRANCHES)), 5), f"the result after kill {kill}")
            calls = nodes.of("fan", run_id=run.run_id)
            committed = max([e.step for e in events if e.WhichOneof("event") == "checkpoint"] +
                            [call.step - 1 for call in calls if call.began < killed], default=0)
            finished = {(e.step, e.node, e.branch) for e in events
                        if e.WhichOneof("event") == "node_finished" and not e.provisional}
            for call in calls:
                if call.began < killed:
                    continue
                repeated += call.attempt > 1
                expect(call.step > committed, f"{call.node} of step {call.step} ran again, {committed} was committed")
                expect((call.step, call.node, call.branch) not in finished,
                       f"{call.node}[{call.branch}] ran again although its result was shown as kept")
    return f"{repeated} attempts were repeated"


@check("attempts count on over crash after crash, and over tries that failed between them, in branches as elsewhere")
def _():
    agent("twice", {"state": {"items": {"type": "integer[]"}, "out": {"type": "object[]"}}, "output": ["out"], "start": ["all", "top"],
                    "nodes": {"all": {"kind": "each", "of": "items", "as": "item", "graph": "branch", "into": "out"},
                              "top": remote(retry={"attempts": 9, "base": "1ms", "max": "1ms"})},
                    "graphs": {"branch": {"state": {"item": {"type": "integer"}, "x": {"type": "integer"}}, "output": ["x"],
                                          "start": "n", "nodes": {"n": remote()}}}})
    nodes.on("twice", n=lambda call: call.sleep(60) and {"x": 1},
             top=lambda call: call.sleep(60) and {} if call.attempt % 2 == 0 else call.fail("UNAVAILABLE"))
    run = api.start_run("twice", {"items": [0, 1]}, wait=False)
    flags, api.flags = api.flags, (*api.flags, "--orchestrator.crashes_max=0")  # no step is committed between three kills

    def wait_for(top, branches):
        wait_until(lambda: (nodes.count("twice", "top"), nodes.count("twice", "n")) == (top, branches), "they are not called", 20 * SLOW)

    wait_for(2, 2)
    for top, branches in ((4, 4), (6, 6)):
        api.kill()
        api.start()
        wait_for(top, branches)
    api.kill()
    nodes.on("twice", n=lambda call: {"x": call.attempt}, top={})
    api.start()
    equal(succeeded(api.stopped(run))["out"], [{"x": 4}, {"x": 4}], "the attempts of the branches")
    attempts = [call.attempt for call in nodes.of("twice", "top")]
    expect(attempts == sorted(set(attempts)), f"the attempts at the other are {attempts}")
    api.flags = flags


if not os.environ.get("RENGA_SANITIZE") and "RENGA_REDIS" not in os.environ:  # LD_PRELOAD is theirs; a Redis has a disk of its own
    @check("a client that saw what a crash has lost comes back with its last id and misses nothing")
    def _():
        agent("lossy", {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "s", "max_concurrency": 60, "nodes": {
            "s": remote("t", may_reach=["w"]), "w": remote("t", retry={"attempts": 9, "base": "1ms", "max": "1ms"}), "t": remote()}})
        nodes.on("lossy", s=reply({}, sends=[("w", {"i": i}) for i in range(60)]), t={"n": 1},
                 w=lambda call: call.sleep(0.003 * call.state["i"]) and call.fail("UNAVAILABLE"))
        api.kill()
        api.environment = {"LD_PRELOAD": f"{BIN}/drill-power.so", "POWER_FOLDER": api.folder, "POWER_JOURNAL": f"{api.folder}/journal",
                           "POWER_SLOW_MS": "300"}  # a slow disk: many records are on their way to it when the process dies
        api.start()
        run, seen = api.start_run("lossy", {}, wait=False), []
        watcher = threading.Thread(target=follow, args=(run, seen))
        watcher.start()
        wait_until(lambda: sum(e.WhichOneof("event") == "node_retried" for e in list(seen)) >= 60, "the nodes do not fail", 20, every=0.001)
        api.kill()
        watcher.join()
        nodes.on("lossy", w={"n": 1})
        api.environment = {}
        api.start()
        seen += list(api.watch(run, after_event_id=max(e.event_id for e in seen)))
        equal(succeeded(api.get(run))["n"], 62, "the sum")
        ids = [e.event_id for e in seen]
        expect(all(a < b for a, b in zip(ids, ids[1:])), f"the events came as {ids}")
        kept = [e.event_id for e in api.watch(run) if e.WhichOneof("event") in ("node_finished", "checkpoint", "state_changed", "stopped")]
        expect(set(kept) <= set(ids), f"{set(kept) - set(ids)} were never shown")


@check("a call that was not answered has the same idempotency key when it is made again")
def _():
    keys = {}
    for call in nodes.of("fan"):
        keys.setdefault((call.run_id, call.step, call.node, call.branch), set()).add(call.request.idempotency_key)
    expect(all(len(values) == 1 for values in keys.values()), "a place has several keys")
    equal(len(set().union(*keys.values())), len(keys), "the number of keys")


finish()
