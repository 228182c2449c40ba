#!/usr/bin/env python3
"""Two orchestrators on one Redis: calls go to whoever has the thread, the dead one's runs are taken up, and what a frozen
one writes after its lease is refused."""
import atexit
import hashlib
import json
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import grpc

from harness import (SLOW, Orchestrator, check, checks, equal, expect, free_port, in_background, message, nodes, number,
                     refused, remote, stands, succeeded, wait_until)

redis_folder, redis_port = tempfile.mkdtemp(prefix="renga-redis-"), free_port()
redis = subprocess.Popen(["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--dir", redis_folder,
                          "--appendonly", "yes", "--appendfsync", "always", "--save", ""], stdout=subprocess.DEVNULL)
atexit.register(lambda: (redis.kill(), redis.wait(), shutil.rmtree(redis_folder, ignore_errors=True)))


def key(name, tenant, *methods):
    return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": methods}


KEYS = [key("anna", "acme", "renga.v1.Orchestrator/*"), key("bert", "other", "renga.v1.Orchestrator/*"),
        key("fellow", "", "renga.v1.Orchestrator/*", "renga.v1.Orchestrator/forward")]
LEASE = 0.6


def sharer(shown="fellow"):
    made = Orchestrator(None, f"--orchestrator.store=redis://127.0.0.1:{redis_port}", "--orchestrator.address=127.0.0.1:{port}",
                        f"--orchestrator.lease={int(1000 * LEASE * SLOW)}ms", "--drain.limit=1s",
                        "--rpc.keys=" + json.dumps(KEYS), f"--peers.key={shown}")
    made.metadata = (("authorization", "Bearer anna"),)
    for name, document in AGENTS.items():
        made.write_agent(name, json.dumps({"agent": name, **document}))
    return made.start()


def of(which, other):
    """The same orchestrator as another client."""
    seen = object.__new__(Orchestrator)
    seen.__dict__ = {**which.__dict__, "metadata": (("authorization", f"Bearer {other}"),)}
    return seen


AGENTS = {
    "steps": {"state": {"log": {"type": "string[]", "reduce": "append"}}, "start": "a",
              "nodes": {"a": remote("b"), "b": remote("c"), "c": remote()}},
    "asks": {"state": {"x": {"type": "any"}}, "start": "q", "nodes": {"q": {"kind": "ask", "question": "?", "into": "x"}}},
    "sum": {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "a",
            "nodes": {"a": {"kind": "set", "values": {"n": 1}}}},
}
gate = threading.Event()


def held(call):
    """Until the gate is opened; whoever waits no more is let go."""
    while not gate.is_set() and call.context.is_active():
        time.sleep(0.005)
    return {"log": [call.node]}


nodes.on("steps", a={"log": ["a"]}, b=held, c={"log": ["c"]})
one, two = sharer(), sharer()


def begun():
    gate.clear()
    run = one.start_run("steps", wait=False)
    wait_until(lambda: nodes.of("steps", "b", run.run_id), "the second step does not begin", 10 * SLOW)
    return run


@check("a run at work is read, watched and waited for wherever one asks")
def _():
    run = begun()
    equal(two.get(run).step, 1, "the step")
    expect(two.get(run).fencing_token > 0, "it has no fencing token")
    events = []
    watched = in_background(lambda: events.extend(two.watch(run)))
    repeated = in_background(lambda: two.start_run("steps", thread_id=run.thread_id, on_busy=number("OnBusy", "ON_BUSY_ENQUEUE")))
    wait_until(lambda: one.ask("ListRuns", thread_id=run.thread_id).runs[0].run_id != run.run_id, "it is not queued", 5 * SLOW)
    gate.set()
    equal(succeeded(repeated())["log"], ["a", "b", "c"] * 2, "what the next run on the thread came to")
    watched()
    equal(events[-1].WhichOneof("event"), "stopped", "the last event")
    expect(sum(two.metric("renga_orchestrator_forwarded_total").values()) >= 3, "nothing was handed on")


@check("cancelling elsewhere stops it, and a name of an error comes through")
def _():
    run = begun()
    refused("ABORTED", lambda: two.start_run("steps", thread_id=run.thread_id), "THREAD_BUSY")
    stands(two.ask("CancelRun", run_id=run.run_id, wait=True).run, "CANCELLED")
    stands(one.get(run), "CANCELLED")


@check("other tenants do not reach it through another orchestrator, and nobody can claim to be one")
def _():
    run = begun()
    refused("NOT_FOUND", lambda: of(two, "bert").get(run))
    forged = of(one, "bert")
    forged.metadata += (("renga-forwarded-bin", b"acme\0anna"),)
    expect("on behalf of others" in refused("PERMISSION_DENIED", lambda: forged.get(run)), "it was refused for something else")
    gate.set()
    succeeded(one.stopped(run))


@check("who waits for a person is answered at any of them, and the thread goes on there")
def _():
    run = stands(one.start_run("asks"), "WAITING")
    equal(succeeded(two.resume(run, answer=7)), {"x": 7}, "the output")
    equal(one.state(run.thread_id), {"x": 7}, "the state")


@check("of 400 runs on one thread over both, 16 at once, each counts once and none fails, and the thread stays where it is")
def _():
    counted = [f"renga_orchestrator_{name}_total" for name in ("threads_lost", "forwarded")]
    before = [sum(sum(each.metric(name).values()) for each in (one, two)) for name in counted]
    enqueue = number("OnBusy", "ON_BUSY_ENQUEUE")
    calls = []
    for i in range(400):
        calls.append((one, two)[i % 2].begin("StartRun", one.start_request("sum", thread_id="race", on_busy=enqueue)))
        if len(calls) == 16:
            succeeded(calls.pop(0).result().run)
    for call in calls:
        succeeded(call.result().run)
    equal(one.state("race"), {"n": 400}, "the sum")
    lost, handed_on = (sum(sum(each.metric(name).values()) for each in (one, two)) - was for name, was in zip(counted, before))
    expect(lost < 40, f"the thread was lost {lost:g} times")
    return f"{handed_on:g} were handed on, and the thread was lost {lost:g} times"


@check("of many runs on one thread at one orchestrator none is asked anew")
def _():
    lost = sum(one.metric("renga_orchestrator_threads_lost_total").values())
    enqueue = number("OnBusy", "ON_BUSY_ENQUEUE")
    calls = []
    for _ in range(400):
        calls.append(one.begin("StartRun", one.start_request("sum", thread_id="crowd", on_busy=enqueue)))
        if len(calls) == 16:
            succeeded(calls.pop(0).result().run)
    for call in calls:
        succeeded(call.result().run)
    equal(one.state("crowd"), {"n": 400}, "the sum")
    equal(sum(one.metric("renga_orchestrator_threads_lost_total").values()) - lost, 0, "how often the thread was taken for lost")


@check("a frozen one's runs go on elsewhere, and what it writes when it thaws is refused")
def _():
    run = begun()
    waiting = one.begin("StartRun", one.start_request("steps", thread_id="frozen"), 60)
    wait_until(lambda: len([c for c in nodes.of("steps", "b") if c.request.position.thread_id == "frozen"]) == 1, "it begins", 5 * SLOW)
    one.signal(signal.SIGSTOP)
    wait_until(lambda: len(nodes.of("steps", "b", run.run_id)) == 2, "nobody takes it up", 5 * LEASE * SLOW)
    first, second = nodes.of("steps", "b", run.run_id)
    equal(second.request.idempotency_key, first.request.idempotency_key, "the idempotency key")
    expect(second.request.fencing_token > first.request.fencing_token, "the fencing token has not grown")
    gate.set()
    succeeded(two.stopped(run))
    one.signal(signal.SIGCONT)
    try:
        waiting.result()
        raise AssertionError("the frozen one answered for a run that it had no more")
    except grpc.RpcError as error:
        equal(error.code(), grpc.StatusCode.UNAVAILABLE, "how the caller hears of it")
    equal(succeeded(one.get(run))["log"], ["a", "b", "c"], "the output")
    equal(len(nodes.of("steps", "a", run.run_id)), 1, "runs of the first step")
    wait_until(lambda: sum(one.metric("renga_orchestrator_threads_lost_total").values()) >= 1, "nothing was refused", 5 * SLOW)


def rest_at_one(*names):
    """Threads at rest there, and calls that come to the other are handed on."""
    for name in names:
        succeeded(one.start_run("sum", thread_id=name))

    def asked():
        before = sum(two.metric("renga_orchestrator_forwarded_total").values())
        equal(two.state(names[0]), {"n": 1}, "the state")
        return sum(two.metric("renga_orchestrator_forwarded_total").values()) > before
    wait_until(asked, "nothing is handed on", 10 * SLOW)


@check("a thread at rest is served though the one that had it is frozen, and what lay there is not done when it thaws")
def _():
    rest_at_one("still", "still too")
    one.signal(signal.SIGSTOP)
    frozen = time.monotonic()
    runs = [two.begin("StartRun", two.start_request("sum", thread_id=name), 30) for name in ("still", "still too")]
    for run in runs:
        equal(succeeded(run.result().run), {"n": 2}, "the output")
    took = time.monotonic() - frozen
    one.signal(signal.SIGCONT)
    for name in ("still", "still too"):
        equal(succeeded(one.start_run("sum", thread_id=name)), {"n": 3}, "what the run comes to that lay at the frozen one")
    return f"{took:.1f} s"


@check("a thread at rest is served at once though the one that had it was killed just now")
def _():
    global one
    rest_at_one("left", "left too")
    one.kill()
    killed = time.monotonic()
    for i, name in enumerate(("left", "left too", "left", "left too")):
        equal(succeeded(two.start_run("sum", thread_id=name)), {"n": 2 + i // 2}, "the output")
    took = time.monotonic() - killed
    one = sharer()
    return f"{took:.2f} s"


@check("a thread that is asked for at the other alone comes to it after a while")
def _():
    rest_at_one("followed")
    before = sum(two.metric("renga_orchestrator_forwarded_total").values())
    for i in range(2, 102):
        equal(succeeded(two.start_run("sum", thread_id="followed")), {"n": i}, "the output")
    handed_on = sum(two.metric("renga_orchestrator_forwarded_total").values()) - before
    expect(50 < handed_on < 80, f"{handed_on:g} of 100 were handed on")


@check("one that may not hand calls on serves threads at rest by itself, after one try for a thread")
def _():
    distrusted, names = sharer("anna"), (f"moved {number}" for number in range(100))

    def rise():
        """Of its tries, over two runs on a thread that rests at the other."""
        name, before = next(names), sum(distrusted.metric("renga_orchestrator_forwarded_total").values())
        succeeded(one.start_run("sum", thread_id=name))
        for i in range(2, 4):
            equal(succeeded(distrusted.start_run("sum", thread_id=name)), {"n": i}, "the output")
        return sum(distrusted.metric("renga_orchestrator_forwarded_total").values()) - before

    risen = []
    wait_until(lambda: risen.append(rise()) or risen[-1], "it never tries", 10 * SLOW)  # until it has read who the others are
    expect(max(risen) == 1, f"how often it has tried: {risen}")
    equal(distrusted.stop(), 0, "how it ended")


@check("a killed one's runs are taken up from their last step")
def _():
    global one
    gate.clear()
    runs = [one.start_run("steps", wait=False) for _ in range(20)]
    wait_until(lambda: all(nodes.of("steps", "b", run.run_id) for run in runs), "they do not begin", 10 * SLOW)
    one.kill()
    gate.set()
    for run in runs:
        equal(succeeded(two.stopped(run, 10))["log"], ["a", "b", "c"], "the output")
        equal(len(nodes.of("steps", "a", run.run_id)), 1, "runs of the first step")
    one = sharer()


@check("one that is told to end hands its runs over at once")
def _():
    global one
    run = begun()
    before = time.monotonic()
    ended = in_background(one.stop)
    wait_until(lambda: len(nodes.of("steps", "b", run.run_id)) == 2, "nobody takes it up", 40 * SLOW)
    gate.set()
    succeeded(two.stopped(run))
    ended()
    one = sharer()
    return f"{time.monotonic() - before:.1f} s with the drain"


@check("both end with 0 on SIGTERM, and no sanitizer has complained")
def _():
    for each in (one, two):
        code = each.stop()
        complaints = [line for line in each.log if "Sanitizer" in line or "runtime error" in line]
        expect(code == 0 and not complaints, f"it ended with {code}: {complaints[:3]} {''.join(each.log[-8:])[-1500:]}")


checks.finish()
