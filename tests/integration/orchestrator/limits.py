#!/usr/bin/env python3
"""What a run may take: time, budget; where it goes on when a node has failed; and a disk that is full for a while."""
import json
import resource
import time

import grpc

from harness import (SLOW, agent, api, check, equal, expect, finish, message, nodes, refused, remote, reply, stands,
                     succeeded, wait_until)

api.start()
LOG = {"log": {"type": "string[]", "reduce": "append"}}


def chain(name, **more):
    agent(name, {"state": LOG, "start": "a", "nodes": {"a": remote("b"), "b": remote("c"), "c": remote()}, **more})
    nodes.on(name, **{node: {"log": [node]} for node in "abc"})


def sleeps(call):
    call.sleep(20)


def cancelled(call):
    wait_until(lambda: call.cancelled, "the node was not cancelled", 5 * SLOW)


# ---- time

@check("a run that has not ended within its timeout fails, its node is cancelled, and what was committed stays")
def _():
    chain("timeout", timeout="300ms")
    nodes.on("timeout", b=sleeps)
    run = stands(api.start_run("timeout", {}, thread_id="timeout"), "FAILED", "TIMEOUT")
    equal(run.status_code, 4, "the status code")
    expect("300 ms" in run.stop_text, run.stop_text)
    cancelled(nodes.of("timeout", "b")[0])
    equal(api.state("timeout")["log"], ["a"], "the log")
    nodes.on("timeout", b={"log": ["b"]})
    equal(succeeded(api.resume(run, timeout_ms=20000))["log"], ["a", "b", "c"], "the log when it was resumed")
    equal(nodes.count("timeout", "a"), 1, "the calls of a")


@check("a run's own timeout holds before the document's, and waiting for a person does not count")
def _():
    agent("patient", {"state": {"x": {"type": "any"}}, "start": "a", "timeout": "10ms", "nodes": {
        "a": {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "b"}}, "b": remote()}})
    nodes.on("patient", b={})
    run = stands(api.start_run("patient", {}, timeout_ms=2000 * SLOW), "WAITING", "QUESTION")
    time.sleep(0.05)
    equal(succeeded(api.resume(run, 1)), {"x": 1}, "the output")


@check("a run in which nothing happens for its idle timeout fails, one that shows signs of life does not")
def _():
    agent("idle", {"state": LOG, "start": "a", "nodes": {"a": remote(stream=True)}})
    event = message("RunNodeEvent")

    def lively(call):
        for i in range(6):
            time.sleep(0.1)
            yield event(progress_json=str(i))
        yield event(result=reply({"log": ["done"]}))

    def silent(call):
        call.sleep(20)
        yield event(result=reply({}))
    nodes.on("idle", a=lively)
    equal(succeeded(api.start_run("idle", {}, idle_timeout_ms=400 * SLOW))["log"], ["done"], "the log")
    nodes.on("idle", a=silent)
    run = stands(api.start_run("idle", {}, idle_timeout_ms=150), "FAILED", "IDLE_TIMEOUT")
    expect("150 ms" in run.stop_text, run.stop_text)
    cancelled(nodes.of("idle", "a")[-1])


# ---- budgets

@check("a budget that is spent ends the run with what it has, each with its own reason; a new one lets it go on")
def _():
    chain("spends")
    usage = message("Usage")(input_tokens=60, output_tokens=40, model_calls=2, tool_calls=3, cost_micros=500)

    def spends(call):
        response = reply({"log": [call.node]})
        response.usage.CopyFrom(usage)
        return response
    nodes.on("spends", a=spends, b=spends, c=spends)
    budget = message("Budget")
    for limit, reason in (({"model_calls": 4}, "BUDGET_MODEL_CALLS"), ({"tokens": 150}, "BUDGET_TOKENS"),
                          ({"tool_calls": 6}, "BUDGET_TOOL_CALLS"), ({"cost_micros": 1000}, "BUDGET_COST")):
        run = stands(api.start_run("spends", {}, budget=budget(**limit)), "SUCCEEDED", reason)
        equal(json.loads(run.output_json)["log"], ["a", "b"], f"the log with {limit}")
        expect(str(*limit.values()) in run.stop_text, run.stop_text)
        equal([nodes.count("spends", node) for node in "abc"], [1, 1, 0], "the calls")
        left = nodes.of("spends", "b")[0].request.budget_left
        equal(getattr(left, *limit), next(iter(limit.values())) - {"model_calls": 2, "tokens": 100, "tool_calls": 3,
                                                                   "cost_micros": 500}[next(iter(limit))], "what was left")
        done = api.resume(run, budget=budget(**{name: 10 * value for name, value in limit.items()}))
        equal(succeeded(done)["log"], ["a", "b", "c"], "the log when it went on")
        equal(done.usage.tokens if hasattr(done.usage, "tokens") else done.usage.input_tokens, 180, "what was spent in all")
        nodes.calls.clear()


@check("a budget of time is spent while the run works: it ends with what it has")
def _():
    chain("hours", budget={"duration": "100ms"})
    nodes.on("hours", a=lambda call: {"log": ["a"]} if call.sleep(0.15) else None)
    run = stands(api.start_run("hours", {}), "SUCCEEDED", "BUDGET_DURATION")
    equal(json.loads(run.output_json)["log"], ["a"], "the log")
    equal(nodes.count("hours", "b"), 0, "the calls of b")


# ---- when a node has failed

@check("with an error node a run goes on there, and knows what its siblings did")
def _():
    agent("sorry", {"state": LOG, "error_node": "sorry", "start": ["good", "bad"], "nodes": {
        "good": remote(), "bad": remote("never"), "never": remote(), "sorry": remote()}})
    nodes.on("sorry", good={"log": ["good"]}, bad=lambda call: call.fail("INTERNAL", "no luck"), never={},
             sorry=lambda call: {"log": [f"sorry after {call.state['log']}"]})
    equal(succeeded(api.start_run("sorry", {}))["log"], ["good", "sorry after ['good']"], "the log")
    equal(nodes.count("sorry", "never"), 0, "the calls behind the one that failed")
    nodes.on("sorry", sorry=lambda call: call.fail("INTERNAL", "no luck either"))
    run = stands(api.start_run("sorry", {}), "FAILED", "NODE_FAILED")
    equal([f.node for f in run.failures], ["sorry"], "what failed")


# ---- the disk

def files_may_have(size):
    resource.prlimit(api.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def ended(run):
    try:
        now = api.get(run)
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"{error}")  # not yet
        return None
    return now.ended_ms and now


@check("a disk that is full in mid-run: callers hear UNAVAILABLE, and when there is room the run goes on where it was")
def _():
    chain("full")

    def fills(call):
        if call.attempt == 1 and call.request.position.thread_id == "full":
            files_may_have(4096)
        return {"log": ["b"]}
    nodes.on("full", b=fills)
    started = api.start_run("full", {}, thread_id="full", wait=False)
    try:
        wait_until(lambda: any('"thread.broken"' in line for line in api.log), "nobody noticed", 10 * SLOW)
        refused("UNAVAILABLE", lambda: api.start_run("full", {}, thread_id="another"))
        equal(nodes.count("full", "c"), 0, "the calls behind the step that is not on disk")
    finally:
        files_may_have(resource.RLIM_INFINITY)
    run = wait_until(lambda: ended(started), "the run does not go on", 15 * SLOW)
    equal(succeeded(run)["log"], ["a", "b", "c"], "the log")
    equal([nodes.count("full", node) for node in "abc"], [1, 2, 1], "the calls")
    keys = {call.request.idempotency_key for call in nodes.of("full", "b")}
    equal(len(keys), 1, "the keys of b")
    succeeded(api.start_run("full", {}, thread_id="another"))


finish()
