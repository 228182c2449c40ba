#!/usr/bin/env python3
"""Who sees what of a run: streams that break and come back, readers that sleep, filters, tenants."""
import hashlib
import json
import random
import threading
import time

import grpc

from harness import (SLOW, Orchestrator, agent, api, check, equal, expect, finish, in_background, message, nodes, refused,
                     remote, reply, stands, succeeded, wait_until)

api.start()
event = message("RunNodeEvent")
KEPT = {"started", "state_changed", "node_finished", "node_failed", "updated", "interrupted", "answered", "checkpoint", "stopped"}


def resident_kib():
    with open(f"/proc/{api.process.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


agent("fan", {"state": {"got": {"type": "integer[]", "reduce": "append"}, "items": {"type": "integer[]"},
                        "out": {"type": "object[]", "reduce": "append"}}, "start": ["s", "all"],
              "nodes": {"s": remote(may_reach=["w"]), "w": remote("e", stream=True), "e": remote(),
                        "all": {"kind": "each", "of": "items", "as": "item", "graph": "inner", "into": "out", "on": {"done": "end"}}},
              "graphs": {"inner": {"state": {"item": {"type": "integer"}}, "start": "i", "nodes": {"i": remote()}}}})


def work(call):
    for piece in range(3):
        call.sleep(random.random() * 0.02)
        yield event(token={"text": f"{piece} "})
    yield event(progress_json='{"at": "the end"}')
    yield event(result=reply({"got": [call.state["i"]]}))


nodes.on("fan", s=reply(sends=[("w", {"i": i}) for i in range(40)]), w=work, e={}, i=lambda call: call.sleep(0.05) and {} or None)


@check("six watchers that leave and come back at random miss no kept event and see none twice")
def _():
    run = api.start_run("fan", {"items": [1, 2, 3]}, wait=False)
    seen = [[] for _ in range(6)]

    def watch(mine):
        while not mine or mine[-1].WhichOneof("event") != "stopped":
            stream = api.watch(run, after_event_id=mine[-1].event_id if mine else 0)
            for _ in range(random.randrange(1, 60)):
                got = next(stream, None)
                if got is None:
                    break
                mine.append(got)
            stream.cancel()
    threads = [threading.Thread(target=watch, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30 * SLOW)
    whole = [e.event_id for e in api.watch(run) if e.WhichOneof("event") in KEPT]
    expect(len(whole) > 90, f"there are only {len(whole)} events")
    for mine in seen:
        kept = [e.event_id for e in mine if e.WhichOneof("event") in KEPT]
        equal(sorted(set(kept)), sorted(kept), "what was seen")
        equal(kept, whole, "the kept events")
        ids = [e.event_id for e in mine]
        expect(ids == sorted(ids), "ids do not grow")


@check("what is read again from disk is never provisional, and has no tokens")
def _():
    run = api.start_run("fan", {"items": [1]})
    again = list(api.watch(run))
    expect(not any(e.provisional for e in again), "something is provisional")
    kinds = {e.WhichOneof("event") for e in again}
    expect("token" not in kinds and {"node_started", "progress_json", "updated", "checkpoint"} <= kinds, f"the kinds are {kinds}")
    finished = [e for e in again if e.WhichOneof("event") == "node_finished" and e.node == "w"]
    equal(sorted(e.branch for e in finished), list(range(40)), "the branches")


@check("sub-graphs are shown with their paths, and left out where that is asked")
def _():
    run = api.start_run("fan", {"items": [1, 2]})
    paths = {e.path for e in api.watch(run)}
    expect({"", "all[0]", "all[1]"} <= paths, f"the paths are {paths}")
    equal({e.path for e in api.watch(run, skip_subgraphs=True)}, {""}, "the paths without sub-graphs")


@check("a watcher of what is yet to come sees nothing of before")
def _():
    run = api.start_run("fan", {"items": []}, wait=False)
    wait_until(lambda: len(nodes.of("fan", "w", run.run_id)) > 10, "it is under way", 5 * SLOW)
    got = list(api.watch(run, after_event_id=-1))
    kinds = [e.WhichOneof("event") for e in got]
    expect("started" not in kinds and kinds[-1] == "stopped", f"it begins with {kinds[0]} and ends with {kinds[-1]}")


@check("a reader that sleeps does not bloat the server, and then gets every kept event")
def _():
    agent("chatty", {"state": {"n": {"type": "integer"}}, "start": "a", "nodes": {"a": remote("b", stream=True), "b": remote()}})

    def a(call):
        for _ in range(30000):
            yield event(token={"text": "x" * 2000})
        yield event(result=reply({"n": 1}))
    nodes.on("chatty", a=a, b={"n": 2})
    before = resident_kib()
    run = api.start_run("chatty", wait=False)
    stream = api.watch(run, timeout=60)
    next(stream)
    stands(api.stopped(run, 40), "SUCCEEDED")
    grown = (resident_kib() - before) // 1024
    expect(SLOW > 1 or grown < 40, f"the server has grown by {grown} MB")  # sanitizers keep what was freed
    kinds = [e.WhichOneof("event") for e in stream]
    equal((kinds.count("node_finished"), kinds.count("checkpoint"), kinds[-1]), (2, 3, "stopped"), "what came")
    return f"{grown} MB, {kinds.count('token')} of 30000 tokens"


@check("a stream lives over a crash: the client comes back with its last id and misses nothing that was kept")
def _():
    run = api.start_run("fan", {"items": [1, 2]}, wait=False)
    seen = []

    def watch():
        while not seen or seen[-1].WhichOneof("event") != "stopped":
            try:
                for e in api.watch(run, after_event_id=seen[-1].event_id if seen else 0):
                    seen.append(e)
            except (grpc.RpcError, ValueError):
                time.sleep(0.05)
    watched = in_background(watch)
    wait_until(lambda: len(seen) > 20, "events come", 5 * SLOW)
    api.kill()
    api.start()
    succeeded(api.stopped(run))
    watched()
    whole = [e.event_id for e in api.watch(run) if e.WhichOneof("event") in KEPT]
    equal([e.event_id for e in seen if e.WhichOneof("event") in KEPT], whole, "the kept events")


@check("tenants see only their own runs and threads")
def _():
    def keyed(name):
        return {"name": name, "tenant": f"tenant {name}", "sha256": hashlib.sha256(f"key {name}".encode()).hexdigest(), "methods": ["*"]}
    other = Orchestrator(None, "--rpc.keys=" + json.dumps([keyed("a"), keyed("b")]))
    other.write_agent("plain", json.dumps({"agent": "plain", "state": {"n": {"type": "integer"}}, "start": "n",
                                           "nodes": {"n": {"kind": "noop"}}}))
    other.start()

    def call(name, method, **fields):
        return other.channel.unary_unary(
            f"/renga.v1.Orchestrator/{method}", request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message(method + "Response").FromString)(
                message(method + "Request")(**fields), timeout=10 * SLOW, metadata=(("authorization", f"Bearer key {name}"),))
    mine = call("a", "StartRun", agent="plain", input_json='{"n": 1}', thread_id="same", request_id="r", wait=True).run
    theirs = call("b", "StartRun", agent="plain", input_json='{"n": 2}', thread_id="same", request_id="r", wait=True).run
    expect(mine.run_id != theirs.run_id, "both have the same run")
    equal([json.loads(call(name, "GetState", thread_id="same").state_json)["n"] for name in "ab"], [1, 2], "the states")
    equal([[r.run_id for r in call(name, "ListRuns").runs] for name in "ab"], [[mine.run_id], [theirs.run_id]], "the lists")
    for method in ("GetRun", "CancelRun", "ResumeRun"):
        refused("NOT_FOUND", lambda: call("b", method, run_id=mine.run_id))
    refused("UNAUTHENTICATED", lambda: call("c", "GetRun", run_id=mine.run_id))
    equal(call("b", "DeleteThread", thread_id="same").deleted, True, "deleted")
    equal(json.loads(call("a", "GetState", thread_id="same").state_json)["n"], 1, "the state of the other tenant")
    other.kill()


finish()
