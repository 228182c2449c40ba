#!/usr/bin/env python3
"""How a graph is run: steps, joins, sends, sub-graphs, limits. Numbers are those of the orchestrator's own list."""
import random

from harness import agent, api, check, equal, expect, finish, message, nodes, number, remote, reply, stands, succeeded

api.start()
LIST = {"type": "string[]", "reduce": "append"}


def slow(seconds, update):
    def run(call):
        call.sleep(seconds)
        return update
    return run


@check("1: parallel appends of a, b, c that finish as c, b, a give a, b, c")
def _():
    agent("appends", {"state": {"log": LIST}, "start": ["a", "b", "c"],
                      "nodes": {"a": remote(), "b": remote(), "c": remote()}})
    nodes.on("appends", a=slow(0.3, {"log": ["a"]}), b=slow(0.15, {"log": ["b"]}), c={"log": ["c"]})
    run = api.start_run("appends")
    equal(succeeded(run)["log"], ["a", "b", "c"], "the log")
    ended = sorted(nodes.of("appends"), key=lambda call: call.ended)
    equal([call.node for call in ended], ["c", "b", "a"], "the order of ending")


@check("2: two plain writers of a field are an error that names it; the state stays, and the thread goes on")
def _():
    agent("conflict", {"state": {"x": {"type": "integer", "initial": 7}, "calm": {"type": "boolean"}}, "start": ["a", "b"],
                       "nodes": {"a": remote(), "b": remote()}})
    nodes.on("conflict", a={"x": 1}, b=lambda call: None if call.state.get("calm") else {"x": 2})
    run = stands(api.start_run("conflict", {}, thread_id="conflict"), "FAILED", "STATE_CONFLICT")
    for name in ("'x'", "'a'", "'b'"):
        expect(name in run.stop_text, f"{name} is not in: {run.stop_text}")
    equal(api.state("conflict")["x"], 7, "x")
    equal(succeeded(api.start_run("conflict", {"calm": True}, thread_id="conflict"))["x"], 1, "x")


@check("3: one sibling succeeds, one fails twice; resuming runs only the one that failed")
def _():
    agent("sibling", {"state": {"log": LIST}, "start": ["good", "bad"], "nodes": {"good": remote(), "bad": remote()}})

    def bad(call):
        if nodes.count("sibling", "bad") <= 2:
            call.fail("INTERNAL", "not yet")
        return {"log": ["bad"]}
    nodes.on("sibling", good={"log": ["good"]}, bad=bad)
    run = stands(api.start_run("sibling"), "FAILED", "NODE_FAILED")
    equal([(failure.node, failure.status_code) for failure in run.failures], [("bad", 13)], "the failures")
    stands(api.resume(run), "FAILED", "NODE_FAILED")
    equal(succeeded(api.resume(run))["log"], ["good", "bad"], "the log")
    equal((nodes.count("sibling", "good"), nodes.count("sibling", "bad")), (1, 3), "the calls of good and bad")


@check("4: a failing node is tried as often as its policy says, and an error outside the policy ends at once")
def _():
    policy = {"attempts": 3, "base": "10ms", "max": "20ms", "codes": ["UNAVAILABLE"]}
    agent("retries", {"state": {"code": {"type": "string"}}, "start": "a", "nodes": {"a": remote(retry=policy)}})
    nodes.on("retries", a=lambda call: call.fail(call.state["code"]))
    run = stands(api.start_run("retries", {"code": "UNAVAILABLE"}), "FAILED", "NODE_FAILED")
    equal(run.failures[0].attempts, 3, "the attempts")
    calls = nodes.of("retries", run_id=run.run_id)
    equal([call.attempt for call in calls], [1, 2, 3], "the attempts as the node saw them")
    equal(len({call.request.idempotency_key for call in calls}), 1, "the number of idempotency keys")
    run = stands(api.start_run("retries", {"code": "FAILED_PRECONDITION"}), "FAILED", "NODE_FAILED")
    equal((len(nodes.of("retries", run_id=run.run_id)), run.status_code), (1, 9), "calls and code")


@check("5: parallel nodes read the state as it was before the step")
def _():
    agent("before", {"state": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "start": ["a", "b"],
                     "nodes": {"a": remote(), "b": remote()}, "max_concurrency": 1})
    nodes.on("before", a={"x": 2}, b=lambda call: {"y": call.state["x"]})
    output = succeeded(api.start_run("before", {"x": 1}))
    equal((output["x"], output["y"]), (2, 1), "x and y")


@check("6: a list join fires once, two edges of different length twice")
def _():
    for name, join, times in (("joined", {"join": ["a", "b2"]}, 1), ("edges", {}, 2)):
        agent(name, {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": ["a", "b"],
                     "nodes": {"a": remote("j"), "b": remote("b2"), "b2": remote("j"), "j": remote(**join)}})
        nodes.on(name, a={}, b={}, b2={}, j={"n": 1})
        equal(succeeded(api.start_run(name))["n"], times, f"n of {name}")
        equal(nodes.count(name, "j"), times, f"the calls of j of {name}")


@check("7: a deferred node runs once, last")
def _():
    agent("deferred", {"state": {"log": LIST}, "start": ["a", "b"],
                       "nodes": {"a": remote("last"), "b": remote("b2"), "b2": remote("b3"), "b3": remote("last"),
                                 "last": remote(defer=True)}})
    nodes.on("deferred", **{name: {"log": [name]} for name in ("a", "b", "b2", "b3", "last")})
    equal(succeeded(api.start_run("deferred"))["log"], ["a", "b", "b2", "b3", "last"], "the log")


@check("8: twenty sends with random delays: results in the order of the sends, and what follows runs once")
def _():
    agent("sends", {"state": {"got": {"type": "integer[]", "reduce": "append"}, "joins": {"type": "integer", "reduce": "sum"}},
                    "start": "s", "nodes": {"s": remote(may_reach=["w"]), "w": remote("j"), "j": remote()}})

    def work(call):
        call.sleep(random.random() * 0.1)
        return {"got": [call.state["i"]]}
    nodes.on("sends", s=reply(sends=[("w", {"i": i}) for i in range(20)]), w=work, j={"joins": 1})
    output = succeeded(api.start_run("sends"))
    equal(output["got"], list(range(20)), "the results")
    equal(output["joins"], 1, "the joins")
    equal(sorted(call.branch for call in nodes.of("sends", "w")), list(range(20)), "the branches")


@check("9: sends mixed with an edge run in the same step")
def _():
    agent("mixed", {"state": {"log": LIST}, "start": "s",
                    "nodes": {"s": remote("x", may_reach=["w"]), "w": remote(), "x": remote()}})
    nodes.on("mixed", s=reply(sends=[("w", {"i": i}) for i in range(2)]), x={"log": ["x"]},
             w=lambda call: {"log": [f"w{call.state['i']}"]})
    equal(sorted(succeeded(api.start_run("mixed"))["log"]), ["w0", "w1", "x"], "the log")
    equal({call.step for call in nodes.of("mixed") if call.node != "s"}, {2}, "their steps")


@check("10: a sub-graph that jumps to its parent drops what its step wrote")
def _():
    agent("jump", {
        "state": {"log": LIST, "note": {"type": "string"}}, "start": "sub",
        "nodes": {"sub": {"kind": "graph", "graph": "inner", "on": {"done": "not_here"}, "may_reach": ["after"]},
                  "after": remote(), "not_here": remote()},
        "graphs": {"inner": {"state": {"log": LIST}, "start": ["a", "b"], "nodes": {"a": remote(), "b": remote()}}}})
    nodes.on("jump", a=reply({"note": "from a"}, goto_parent="after"), b={"log": ["b"]}, after={"log": ["after"]},
             not_here={"log": ["not_here"]})
    output = succeeded(api.start_run("jump"))
    equal((output["log"], output.get("note")), (["after"], "from a"), "log and note")


@check("11: at limit 4 a loop ends with an error of its own and 4 steps saved; resuming goes on")
def _():
    agent("loop", {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "a", "recursion_limit": 4,
                   "nodes": {"a": remote({"done": "end", "again": "a"})}})
    nodes.on("loop", a=lambda call: reply({"n": 1}, outcome="again" if call.state.get("n", 0) < 6 else "done"))
    run = stands(api.start_run("loop", thread_id="loop"), "FAILED", "RECURSION_LIMIT")
    steps = [c for c in api.checkpoints("loop") if c.cause == number("CheckpointCause", "CHECKPOINT_CAUSE_STEP")]
    equal((len(steps), run.step, api.state("loop")["n"]), (4, 4, 4), "steps saved, step, n")
    equal(succeeded(api.resume(run))["n"], 7, "n")
    equal(nodes.count("loop", "a"), 7, "the calls")


@check("22: the memory of a sub-graph is fresh or lasts, as the document asks")
def _():
    for name, memory, wanted in (("fresh", "fresh", [1, 1]), ("lasting", "thread", [1, 2])):
        agent(name, {
            "state": {"seen": {"type": "integer[]", "reduce": "append"}}, "start": "sub",
            "nodes": {"sub": {"kind": "graph", "graph": "inner", "in": {}, "out": {}, "on": {"done": "end"}}},
            "graphs": {"inner": {"state": {"n": {"type": "integer", "reduce": "sum"}}, "memory": memory, "start": "a",
                                 "nodes": {"a": remote("b"), "b": remote()}}}})
        nodes.on(name, a={"n": 1}, b={})
        for _ in range(2):
            succeeded(api.start_run(name, {}, thread_id=name))
        equal([call.state["n"] for call in nodes.of(name, "b")], wanted, f"n of {name}")


@check("26: in dataflow mode the successor of a fast branch starts before the slow branch ends")
def _():
    agent("flow", {"state": {"log": LIST}, "start": ["fast", "slow"], "mode": "dataflow",
                   "nodes": {"fast": remote("next"), "next": remote(), "slow": remote()}})
    nodes.on("flow", fast={"log": ["fast"]}, next={"log": ["next"]}, slow=slow(0.5, {"log": ["slow"]}))
    equal(sorted(succeeded(api.start_run("flow"))["log"]), ["fast", "next", "slow"], "the log")
    after, late = nodes.of("flow", "next")[0], nodes.of("flow", "slow")[0]
    expect(after.began < late.ended - 0.2, f"next began {after.began - late.ended:.3f} s after slow ended")


@check("a node that streams shows tokens and progress, and its result is what counts")
def _():
    agent("stream", {"state": {"text": {"type": "string"}}, "start": "a", "nodes": {"a": remote(stream=True)}})
    event = message("RunNodeEvent")

    def a(call):
        for piece in ("one ", "two"):
            yield event(token={"text": piece})
        yield event(progress_json='{"half": true}')
        yield event(result=reply({"text": "one two"}))
    nodes.on("stream", a=a)
    run = api.start_run("stream", wait=False)
    shown = list(api.watch(run))
    equal(succeeded(api.stopped(run))["text"], "one two", "the text")
    equal([e.progress_json for e in shown if e.WhichOneof("event") == "progress_json"], ['{"half": true}'], "the progress")
    equal(shown[-1].WhichOneof("event"), "stopped", "the last event")


@check("a node without an answer fails with what is wrong")
def _():
    agent("broken", {"state": {"x": {"type": "integer"}}, "start": "a", "nodes": {"a": remote()}})
    for answer, code, part in ((reply({"x": "one"}), 3, "x"), (reply({"y": 1}), 3, "y"), (reply({}, outcome="no"), 3, "no")):
        nodes.on("broken", a=answer)
        run = stands(api.start_run("broken"), "FAILED")
        expect(run.status_code == code and part in run.stop_text, f"{run.status_code}: {run.stop_text}")
    equal(nodes.count("broken"), 3, "the calls: such a node is not tried again")


finish()
