#!/usr/bin/env python3
"""Branches of one run in several loops of the process: where they ran, that none holds up another, how they are stopped."""
import signal
import threading
import time

from harness import (SLOW, agent, api, check, equal, expect, finish, in_background, message, nodes, remote, reply, stands, succeeded,
                     wait_until)

BRANCHES = 60
SENT, STARTED = "renga_orchestrator_fanout_sent_total", "renga_orchestrator_loop_attempts_total"
ITEMS = {"items": list(range(BRANCHES))}
api.start()


def fan(name, sub, **more):
    """Each item is a branch: a sub-graph with the field `item` and the output `x`."""
    agent(name, {"state": {"items": {"type": "integer[]"}, "out": {"type": "object[]", "reduce": "append"}}, "output": ["out"],
                 "start": "all", "nodes": {"all": {"kind": "each", "of": "items", "as": "item", "graph": "branch", "into": "out",
                                                   "on": {"done": "end"}}}, **more,
                 "graphs": {"branch": {"state": {"item": {"type": "integer"}, "x": {"type": "integer"}}, "output": ["x"],
                                       "start": "n", "nodes": sub}}})


def answer(call):
    call.sleep(0.1)
    return {"x": call.state["item"]}


@check("branches of one run are at work in several loops, and their results stand in order")
def _():
    fan("wide", {"n": remote()})
    nodes.on("wide", n=answer)
    before = api.metric(STARTED)
    output = succeeded(api.start_run("wide", ITEMS))
    equal([each["x"] for each in output["out"]], ITEMS["items"], "the results")
    began = {loop: count - before.get(loop, 0) for loop, count in api.metric(STARTED).items()}
    sent = api.metric(SENT)[""]
    equal(sum(began.values()), BRANCHES, "the attempts")
    expect(len(began) >= 2 and sent == BRANCHES - max(began.values()), f"{began}, and {sent} were sent")
    equal(api.metric("renga_orchestrator_fanout_away")[""], 0, "what is away")
    return f"{began}"


@check("a slow branch holds up no other, wherever it runs")
def _():
    fan("pair", {"n": remote("m"), "m": remote()})
    for slow in (0, BRANCHES // 2, BRANCHES - 1):
        released = threading.Event()

        def n(call):
            if call.state["item"] == slow:
                released.wait(20 * SLOW)
            return {"x": call.state["item"]}
        nodes.on("pair", n=n, m=answer)
        wanted = nodes.count("pair", "m") + BRANCHES - 1
        run = in_background(lambda: api.start_run("pair", ITEMS))
        wait_until(lambda: nodes.count("pair", "m") >= wanted, f"branch {slow} holds the others", 10 * SLOW)
        equal(nodes.count("pair", "m"), wanted, "the second nodes begun")
        released.set()
        succeeded(run())


@check("tokens and progress of branches elsewhere are shown, in their order")
def _():
    event = message("RunNodeEvent")

    watched = threading.Event()  # tokens are shown to those who are there
    unread = threading.Semaphore(40)  # and to those who keep up: who is 256 events behind reads the log, which has none

    def n(call):
        watched.wait(10 * SLOW)
        for i in range(5):
            for told in ({"token": {"text": f"token {i}"}}, {"progress_json": f"{i}"}):
                unread.acquire(timeout=10 * SLOW)
                yield event(**told)
        yield event(result=reply({"x": call.state["item"]}))
    fan("tells", {"n": remote(stream=True)})
    nodes.on("tells", n=n)
    sent = api.metric(SENT)[""]
    run = api.start_run("tells", ITEMS, wait=False)
    shown = {}
    for each in api.watch(run):
        watched.set()
        if each.WhichOneof("event") in ("progress_json", "token"):
            shown.setdefault(each.path, []).append(each.progress_json or each.token.text)
            unread.release()
    expect(api.metric(SENT)[""] > sent, "nothing was sent to another loop")
    equal(len(shown), BRANCHES, "the branches that told something")
    wanted = [text for i in range(5) for text in (f"token {i}", f"{i}")]
    expect(all(values == wanted for values in shown.values()), f"{shown}")


@check("a run that is cancelled cancels its calls in every loop")
def _():
    fan("long", {"n": remote()})
    nodes.on("long", n=lambda call: call.sleep(20 * SLOW) and {} or {})
    run = api.start_run("long", ITEMS, wait=False)
    wait_until(lambda: nodes.count("long") == BRANCHES, "not all branches began", 10 * SLOW)
    asked = time.monotonic()
    stands(api.ask("CancelRun", run_id=run.run_id, wait=True).run, "CANCELLED")
    calls = nodes.of("long")
    wait_until(lambda: all(call.cancelled for call in calls), "a call was not cancelled", 5 * SLOW)
    return f"the last call heard of it after {(max(call.cancelled for call in calls) - asked) * 1000:.1f} ms"


@check("an attempt whose time is over in another loop has no effect when it ends after all")
def _():
    limit = 1 if SLOW == 1 else 4  # seconds, which the second attempt does not need
    fan("late", {"n": remote(timeout=f"{limit}s", retry={"attempts": 2, "base": "1ms"})})

    def n(call):
        if call.attempt == 1:
            time.sleep(limit + 0.3)
            return {"x": -1}
        return {"x": call.state["item"]}
    nodes.on("late", n=n)
    output = succeeded(api.start_run("late", ITEMS))
    equal([each["x"] for each in output["out"]], ITEMS["items"], "the results")


@check("a drain lets the calls of every loop end, and the run goes on after it")
def _():
    fan("drains", {"n": remote("m"), "m": remote()})
    nodes.on("drains", n=lambda call: call.sleep(0.5) and {"x": call.state["item"]}, m=lambda call: {"x": call.state["item"]})
    run = api.start_run("drains", ITEMS, wait=False)
    wait_until(lambda: nodes.count("drains") == BRANCHES, "not all branches began", 10 * SLOW)
    equal(api.stop(), 0, "the code")
    calls = nodes.of("drains", "n")
    expect(all(call.ended and not call.cancelled for call in calls), "a call was cut")
    api.start()
    output = succeeded(api.stopped(run))
    equal([each["x"] for each in output["out"]], ITEMS["items"], "the results")
    equal((nodes.count("drains", "n"), nodes.count("drains", "m")), (BRANCHES, BRANCHES), "the calls")


@check("a kill in the middle leaves every branch to be done again, once")
def _():
    fan("killed", {"n": remote()})
    nodes.on("killed", n=lambda call: call.sleep(0.5 if call.attempt == 1 else 0) and {"x": call.state["item"]} or {})
    run = api.start_run("killed", ITEMS, wait=False)
    wait_until(lambda: nodes.count("killed") == BRANCHES, "not all branches began", 10 * SLOW)
    api.kill()
    api.start()
    nodes.on("killed", n=lambda call: {"x": call.state["item"]})
    output = succeeded(api.stopped(run))
    equal([each["x"] for each in output["out"]], ITEMS["items"], "the results")
    calls = nodes.of("killed")
    equal(len({call.request.idempotency_key for call in calls}), BRANCHES, "the keys")
    equal(max(call.attempt for call in calls), 2, "the attempts")


@check("where it is switched off, each attempt runs in the loop of its run")
def _():
    api.stop()
    api.flags = ("--orchestrator.fan_out=off",)
    api.start()
    succeeded(api.start_run("wide", ITEMS))
    equal(len(api.metric(STARTED)), 1, "the loops")
    equal(api.metric(SENT)[""], 0, "the attempts sent")
    api.signal(signal.SIGHUP)


finish()
