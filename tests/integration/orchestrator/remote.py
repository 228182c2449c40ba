#!/usr/bin/env python3
"""Nodes in other languages: what they are told, how they fail, streams, signs of life, addresses."""
import json
import re
import time

from harness import SLOW, agent, api, check, equal, expect, finish, free_port, message, nodes, remote, reply, stands, succeeded

api.start()
event = message("RunNodeEvent")
LIST = {"type": "string[]", "reduce": "append"}


@check("a node is told its inputs, parameters, place, configuration, labels, deadline and trace")
def _():
    agent("told", {"state": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "start": "a", "nodes": {"a": remote(
        inputs=["x"], function="other_name", parameters={"style": "short"}, timeout="5s")}})
    nodes.on("told", other_name=lambda call: {"y": call.state["x"] + 1})
    run = api.start_run("told", {"x": 1, "y": 5}, thread_id="told thread", configuration_json='{"user": "u"}', labels={"team": "t"})
    equal(succeeded(run)["y"], 2, "y")
    call = nodes.of("told")[0]
    request, place = call.request, call.request.position
    equal(json.loads(request.state_json), {"x": 1}, "the state")
    equal((json.loads(request.parameters_json), json.loads(request.configuration_json)), ({"style": "short"}, {"user": "u"}),
          "parameters and configuration")
    equal((place.agent, place.graph, place.run_id, place.thread_id, place.node, place.path, place.step, place.branch),
          ("told", "told", run.run_id, "told thread", "a", "", 1, 0), "the place")
    equal((place.graph_version, dict(request.labels), request.attempt), (run.graph_version, {"team": "t"}, 1), "version, labels, attempt")
    left = request.deadline_ms / 1000 - time.time()
    expect(0 < left < 5 and 0 < call.context_time < 5.1, f"{left} s are left, {call.context_time} s by the call's deadline")
    trace = dict(call.metadata).get("traceparent", "")
    expect(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]", trace), f"the trace is {trace!r}")
    expect(0 < len(request.idempotency_key) <= 128, f"the key is {request.idempotency_key!r}")


def asks_for_rest(call):
    """Fails, and asks for a rest of 300 ms."""
    status = message("google.rpc.Status")(code=14, message="soon")
    hint = message("google.rpc.RetryInfo")()
    hint.retry_delay.nanos = 300_000_000
    status.details.add(type_url="type.googleapis.com/google.rpc.RetryInfo", value=hint.SerializeToString())
    call.context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    call.fail("UNAVAILABLE", "soon")


@check("a node that says when to try again is left alone so long; one that asks for more than longest_hint has failed at once")
def _():
    retry = {"attempts": 2, "base": "1ms", "max": "2ms"}
    agent("hint", {"state": {}, "start": "a", "nodes": {"a": remote(retry=retry)}})
    agent("impatient", {"state": {}, "start": "a", "nodes": {"a": remote(retry={**retry, "longest_hint": "299ms"})}})
    agent("patient", {"state": {}, "start": "a", "nodes": {"a": remote(retry={**retry, "longest_hint": "300ms"})}})
    for name in ("hint", "impatient", "patient"):
        nodes.on(name, a=lambda call: asks_for_rest(call) if call.attempt == 1 else {})
    succeeded(api.start_run("hint"))
    first, second = nodes.of("hint")
    expect(0.3 <= second.began - first.ended < 0.3 + 0.3 * SLOW, f"it was {second.began - first.ended:.3f} s")
    equal(stands(api.start_run("impatient"), "FAILED", "NODE_FAILED").status_code, 14, "the code")
    equal(nodes.count("impatient", "a"), 1, "the calls")
    succeeded(api.start_run("patient"))


@check("every status code of a node arrives, and a call that the node gave up is UNAVAILABLE")
def _():
    agent("codes", {"state": {"code": {"type": "string"}}, "start": "a", "nodes": {"a": remote(retry={"attempts": 1})}})
    nodes.on("codes", a=lambda call: call.fail(call.state["code"], "so it is"))
    for code, wanted in (("NOT_FOUND", 5), ("ABORTED", 10), ("DATA_LOSS", 15), ("UNKNOWN", 2), ("CANCELLED", 14)):
        run = stands(api.start_run("codes", {"code": code}), "FAILED", "NODE_FAILED")
        equal(run.status_code, wanted, f"the code after {code}")
        expect("so it is" in run.failures[0].message, f"the message is {run.failures[0].message}")


@check("a node where nobody listens fails with UNAVAILABLE, soon")
def _():
    agent("nobody", {"state": {}, "start": "a", "nodes": {
        "a": {"kind": "remote", "address": f"127.0.0.1:{free_port()}", "on": {"done": "end"}, "retry": {"attempts": 1}}}})
    began = time.monotonic()
    equal(stands(api.start_run("nobody"), "FAILED", "NODE_FAILED").status_code, 14, "the code")
    expect(time.monotonic() - began < 5 * SLOW, "it took longer than 5 s")


@check("a stream breaks no rule unpunished")
def _():
    agent("rules", {"state": {"n": {"type": "integer"}}, "start": "a", "nodes": {"a": remote(stream=True, retry={"attempts": 1})}})
    done = event(result=reply({"n": 1}))
    cases = {"nothing": ([], 15, "without a result"), "after": ([done, event(progress_json="1")], 3, "after the result"),
             "json": ([event(progress_json="{"), done], 3, "progress_json"),
             "long": ([event(token={"text": "x" * 65537}), done], 3, "token.text"),
             "field": ([event(result=reply({"m": 1}))], 3, "m")}
    for events, code, part in cases.values():
        nodes.on("rules", a=lambda call, events=events: iter(events))
        run = stands(api.start_run("rules"), "FAILED")
        expect(run.status_code == code and part in run.failures[0].message, f"{run.status_code}: {run.failures[0].message}")
    nodes.on("rules", a=lambda call: iter([event(), event(token={"text": "t", "channel": "c"}), done]))
    equal(succeeded(api.start_run("rules"))["n"], 1, "n")


@check("an error after the result of a stream fails the attempt")
def _():
    def a(call):
        yield event(result=reply({"n": 1}))
        call.fail("ABORTED", "after all")
    nodes.on("rules", a=a)
    equal(stands(api.start_run("rules"), "FAILED").status_code, 10, "the code")


@check("signs of life keep a node from its idle timeout, silence does not")
def _():
    agent("idle", {"state": {"silent": {"type": "boolean"}}, "start": "a", "nodes": {
        "a": remote(stream=True, idle_timeout="200ms", retry={"attempts": 1})}})

    def a(call):
        for _ in range(6):
            call.sleep(0.08)
            if not call.state.get("silent"):
                yield event()
        yield event(result=reply({}))
    nodes.on("idle", a=a)
    stands(api.start_run("idle", {}), "SUCCEEDED")
    run = stands(api.start_run("idle", {"silent": True}), "FAILED")
    equal(run.status_code, 4, "the code")


@check("all calls to an address share a connection")
def _():
    expect(len({call.peer for call in nodes.of("codes")}) == 1, f"{ {call.peer for call in nodes.of('codes')} }")


@check("a result of 3 MB comes whole, one of 5 MB is refused")
def _():
    agent("big", {"state": {"text": {"type": "string"}, "size": {"type": "integer"}}, "start": "a",
                  "output": ["size"], "nodes": {"a": remote("b", retry={"attempts": 3, "base": "1ms"}), "b": remote(inputs=["text"])}})
    nodes.on("big", a=lambda call: {"text": "x" * call.state["size"]}, b=lambda call: {"size": len(call.state["text"])})
    equal(succeeded(api.start_run("big", {"size": 3_000_000}))["size"], 3_000_000, "the size")
    before = nodes.count("big", "a")
    run = stands(api.start_run("big", {"size": 5 << 20}), "FAILED")
    equal((run.status_code, nodes.count("big", "a") - before), (3, 1), "code and attempts: it would be so at each")
    expect("too large" in run.failures[0].message, run.failures[0].message)


finish()
