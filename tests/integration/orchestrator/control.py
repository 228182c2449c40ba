#!/usr/bin/env python3
"""How a graph is stopped, gone back in, forked and kept within bounds. Numbers are those of the orchestrator's list."""
import json
import signal
import threading
import time
import urllib.request

import grpc

from harness import (SLOW, agent, api, check, equal, expect, finish, message, nodes, number, refused, remote,
                     reply, stands, succeeded, wait_until)

api.start()
LIST = {"type": "string[]", "reduce": "append"}
SUM = {"type": "integer", "reduce": "sum"}
SOON = 5 * SLOW  # far from the 20 s that the nodes sleep; the figure behind the sentence says how soon it was


def sleeps(call):
    call.sleep(20)


@check("19: a node that fails cancels its siblings, in sub-graphs too, at once")
def _():
    agent("fail_fast", {
        "state": {"log": LIST}, "start": ["bad", "slow", "sub"], "fail_fast": True,
        "nodes": {"bad": remote(), "slow": remote(), "sub": {"kind": "graph", "graph": "inner", "on": {"done": "end"}}},
        "graphs": {"inner": {"state": {"log": LIST}, "start": "deep", "nodes": {"deep": remote()}}}})
    failed = []

    def bad(call):
        wait_until(lambda: nodes.count("fail_fast") == 3, "not all have begun", 5 * SLOW)
        time.sleep(0.05)
        failed.append(time.monotonic())
        call.fail("INTERNAL")
    nodes.on("fail_fast", bad=bad, slow=sleeps, deep=sleeps)
    run = stands(api.start_run("fail_fast"), "FAILED", "NODE_FAILED")
    equal(run.failures[0].node, "bad", "the node that failed")
    for name in ("slow", "deep"):
        call = nodes.of("fail_fast", name)[0]
        wait_until(lambda: call.cancelled, f"{name} is not cancelled")
        expect(call.cancelled - failed[0] < SOON, f"{name} was cancelled after {call.cancelled - failed[0]:.3f} s")
    return f"{max(nodes.of('fail_fast', n)[0].cancelled - failed[0] for n in ('slow', 'deep')) * 1000:.0f} ms"


def chain(name):
    agent(name, {"state": {"log": LIST, "mark": {"type": "string", "initial": "none"}}, "start": "a",
                 "nodes": {"a": remote("b"), "b": remote("c"), "c": remote()}})
    nodes.on(name, **{node: (lambda call: {"log": [f"{call.node}:{call.state['mark']}"]}) for node in ("a", "b", "c")})
    return succeeded(api.start_run(name, {}, thread_id=name))


def before(name, node):
    return next(c for c in api.checkpoints(name) if list(c.next_nodes) == [node])


@check("20: a replay from before b runs b and c but not a; the old checkpoints stay")
def _():
    equal(chain("replay")["log"], ["a:none", "b:none", "c:none"], "the log")
    old = [c.checkpoint_id for c in api.checkpoints("replay")]
    run = api.start_run("replay", thread_id="replay", checkpoint_id=before("replay", "b").checkpoint_id)
    equal(succeeded(run)["log"], ["a:none", "b:none", "c:none"], "the log")
    equal([nodes.count("replay", node) for node in "abc"], [1, 2, 2], "the calls of a, b, c")
    now = [c.checkpoint_id for c in api.checkpoints("replay")]
    expect(set(old) < set(now), "old checkpoints are gone")
    equal(api.state("replay", checkpoint_id=old[0])["log"], ["a:none", "b:none", "c:none"], "the state at the old head")


@check("21: two forks stay independent of each other and of the thread")
def _():
    chain("forks")
    here = before("forks", "b").checkpoint_id
    for name in ("left", "right"):
        thread = api.ask("ForkThread", thread_id="forks", checkpoint_id=here, new_thread_id=name).thread
        equal(thread.thread_id, name, "the thread")
        api.ask("UpdateState", thread_id=name, update_json=f'{{"mark": "{name}"}}')
        stands(api.start_run("forks", thread_id=name, checkpoint_id=api.checkpoints(name)[0].checkpoint_id), "SUCCEEDED")
    for name in ("left", "right"):
        equal(api.state(name)["log"], ["a:none", f"b:{name}", f"c:{name}"], f"the log of {name}")
    equal(api.state("forks")["log"], ["a:none", "b:none", "c:none"], "the log of the thread")
    refused("ALREADY_EXISTS", lambda: api.ask("ForkThread", thread_id="forks", new_thread_id="left"))


@check("23: an attempt that timed out never has its late result applied")
def _():
    agent("late", {"state": {"log": LIST}, "start": "a", "nodes": {
        "a": remote("b", timeout="400ms", retry={"attempts": 5, "base": "10ms", "codes": ["DEADLINE_EXCEEDED"]}),
        "b": remote()}})

    def a(call):
        if call.attempt == 1:
            time.sleep(0.8)
            return {"log": ["late"]}
        return {"log": ["in time"]}
    nodes.on("late", a=a, b=lambda call: {"log": ["b"]} if call.sleep(0.7) else None)
    equal(succeeded(api.start_run("late", thread_id="late"))["log"], ["in time", "b"], "the log")
    expect(nodes.of("late", "a")[0].cancelled, "the first attempt was not cancelled")


@check("24: max_concurrency 4, 2 and 1 with 12 branches: never above, and all run")
def _():
    agent("bounded", {"state": {"n": SUM}, "start": "s", "nodes": {"s": remote(may_reach=["w"]), "w": remote()}})

    def w(call):  # the first ones wait for each other
        wait_until(lambda: len(nodes.of("bounded", "w", call.run_id)) >= most, f"{most} are not at work at once", 10 * SLOW)
        return {"n": 1} if call.sleep(0.03) else None
    nodes.on("bounded", s=reply(sends=[("w", {}) for _ in range(12)]), w=w)
    for most in (4, 2, 1):
        run = api.start_run("bounded", max_concurrency=most)
        equal(succeeded(run)["n"], 12, "n")
        calls = nodes.of("bounded", "w", run.run_id)
        at_once = max(sum(o.began <= c.began < o.ended for o in calls) for c in calls)
        expect(at_once <= most, f"{at_once} were at work at once, {most} were allowed")
        equal(at_once, most, "the most that were at work at once")


@check("25: twenty runs at once on a thread are serialised or refused, as asked, and the sum is that of the successes")
def _():
    agent("busy", {"state": {"n": SUM}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("busy", a=lambda call: {"n": 1} if call.sleep(0.01) else None)
    for policy, all_run in (("ON_BUSY_ENQUEUE", True), ("ON_BUSY_REJECT", False)):
        calls = [api.begin("StartRun", api.start_request("busy", {}, thread_id=policy, on_busy=number("OnBusy", policy)))
                 for _ in range(20)]
        successes = 0
        for call in calls:
            try:
                stands(call.result().run, "SUCCEEDED")
                successes += 1
            except grpc.RpcError as error:
                equal(error.code(), grpc.StatusCode.ABORTED, "the error")
        equal(api.state(policy)["n"], successes, "the sum")
        expect(successes == 20 if all_run else 1 <= successes <= 20, f"{successes} of 20 ran")
        runs = api.ask("ListRuns", thread_id=policy).runs
        equal(len(runs), successes, "the runs that are listed")


@check("27: cancelling reaches a node RPC inside a sub-graph inside a fan-out")
def _():
    agent("deep", {
        "state": {"items": {"type": "integer[]"}, "out": {"type": "object[]", "reduce": "append"}}, "start": "all",
        "nodes": {"all": {"kind": "each", "of": "items", "as": "item", "graph": "middle", "into": "out", "on": {"done": "end"}}},
        "graphs": {"middle": {"state": {"item": {"type": "integer"}}, "start": "sub",
                              "nodes": {"sub": {"kind": "graph", "graph": "inner", "on": {"done": "end"}}}},
                   "inner": {"state": {"item": {"type": "integer"}}, "start": "w", "nodes": {"w": remote()}}}})
    nodes.on("deep", w=sleeps)
    run = api.start_run("deep", {"items": [1, 2, 3]}, wait=False)
    calls = wait_until(lambda: len(nodes.of("deep", "w")) == 3 and nodes.of("deep", "w"), "not all have begun", 5 * SLOW)
    equal(sorted(call.path for call in calls), [f"all[{i}]/sub" for i in range(3)], "the paths")
    began = time.monotonic()
    run = stands(api.ask("CancelRun", run_id=run.run_id, reason="enough", wait=True).run, "CANCELLED", "CANCELLED")
    expect("enough" in run.stop_text, f"the text is {run.stop_text}")
    for call in calls:
        wait_until(lambda: call.cancelled, "a node is not cancelled")
    slowest = max(call.cancelled - began for call in calls)
    expect(slowest < SOON, f"it took {slowest:.3f} s")
    equal(nodes.count("deep"), 3, "the calls")
    return f"{slowest * 1000:.0f} ms"


@check("a caller that waits and leaves takes its run with it where it asked for that, and only there")
def _():
    agent("leaver", {"state": {"n": SUM}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("leaver", a=lambda call: {"n": 1} if call.sleep(20 if takes else 0.5) else None)
    for takes in (True, False):
        request = api.start_request("leaver", cancel_on_disconnect=takes, thread_id=f"leaver {takes}")
        call = api.begin("StartRun", request)
        wait_until(lambda: any(c.request.position.thread_id == request.thread_id for c in nodes.of("leaver")), "it starts")
        call.cancel()
        run = api.ask("ListRuns", thread_id=request.thread_id).runs[0]
        stands(api.stopped(run), *(("CANCELLED", "CALLER_LEFT") if takes else ("SUCCEEDED", "COMPLETED")))


@check("a run that its caller has left before it began is begun by the repetition of the call")
def _():
    agent("queued", {"state": {"n": SUM}, "start": "a", "nodes": {"a": remote()}})
    free = threading.Event()
    nodes.on("queued", a=lambda call: {"n": 1} if free.wait(20) else None)
    first = api.start_run("queued", {}, thread_id="queued", wait=False)
    request = api.start_request("queued", {}, thread_id="queued", request_id="left-in-queue", cancel_on_disconnect=True,
                                on_busy=number("OnBusy", "ON_BUSY_ENQUEUE"))
    call = api.begin("StartRun", request)
    left = wait_until(lambda: next((r for r in api.ask("ListRuns", thread_id="queued").runs if r.run_id != first.run_id), None), "it is queued")
    call.cancel()
    stands(api.stopped(left), "CANCELLED", "CALLER_LEFT")
    again = api.begin("StartRun", request)
    wait_until(lambda: len(api.ask("ListRuns", thread_id="queued").runs) == 3, "nothing is queued in its place")
    free.set()
    run = again.result().run
    equal((succeeded(run)["n"], succeeded(api.stopped(first))["n"], run.run_id == left.run_id), (2, 1, False), "the runs")
    same = api.call("StartRun", request)
    equal((same.run.run_id, same.repeated_request), (run.run_id, True), "a further repetition")


@check("a run on a busy thread may interrupt the one that is there, or undo it")
def _():
    agent("taken", {"state": {"log": LIST}, "start": "a", "nodes": {"a": remote("b"), "b": remote()}})
    nodes.on("taken", a={"log": ["a"]},  # the b of each first run is cut short by the second
             b=lambda call: call.sleep(20 if nodes.count("taken", "b") % 2 else 0.1) and {"log": ["b"]} or None)
    for policy, reason, log in (("ON_BUSY_INTERRUPT", "REPLACED", ["a", "a", "b"]), ("ON_BUSY_ROLLBACK", "ROLLED_BACK", ["a", "b"])):
        first = api.start_run("taken", {}, thread_id=policy, wait=False)
        wait_until(lambda: nodes.of("taken", "b", first.run_id), "b begins")
        second = api.start_run("taken", {}, thread_id=policy, on_busy=number("OnBusy", policy))
        equal(succeeded(second)["log"], log, f"the log after {policy}")
        stands(api.get(first), "CANCELLED", reason)


@check("a thread that is deleted is gone, with its runs")
def _():
    run = api.start_run("busy", {}, thread_id="gone")
    equal(api.ask("DeleteThread", thread_id="gone").deleted, True, "deleted")
    refused("NOT_FOUND", lambda: api.state("gone"))
    refused("NOT_FOUND", lambda: api.get(run))
    equal(api.ask("DeleteThread", thread_id="gone").deleted, False, "deleted again")


@check("a copy of a thread has its history and goes its own way")
def _():
    chain("copied")
    copy = api.ask("CopyThread", thread_id="copied", new_thread_id="the copy").thread.thread_id
    equal(len(api.checkpoints(copy)), len(api.checkpoints("copied")), "the checkpoints")
    stands(api.start_run("copied", {}, thread_id=copy), "SUCCEEDED")
    equal((len(api.state(copy)["log"]), len(api.state("copied")["log"])), (6, 3), "the lengths of the logs")


@check("a wrong request names its field, and what is not there is NOT_FOUND")
def _():
    expect("agent" in refused("INVALID_ARGUMENT", lambda: api.start_run("")), "the field is not named")
    expect("nobody" in refused("NOT_FOUND", lambda: api.start_run("nobody")), "the agent is not named")
    refused("NOT_FOUND", lambda: api.ask("GetRun", run_id="nobody"))
    refused("NOT_FOUND", lambda: api.state("nobody"))
    refused("NOT_FOUND", lambda: list(api.watch(message("Run")(run_id="nobody"))))
    refused("INVALID_ARGUMENT", lambda: api.ask("StartRun", agent="busy", input_json="[]"))


@check("runs are listed newest first, by state and by page")
def _():
    stands(api.start_run("busy", {}, thread_id="listed"), "SUCCEEDED")
    runs = [api.start_run("busy", {}, thread_id="listed") for _ in range(4)]
    page = api.ask("ListRuns", thread_id="listed", page_size=2)
    equal([r.run_id for r in page.runs], [runs[3].run_id, runs[2].run_id], "the first page")
    page = api.ask("ListRuns", thread_id="listed", page_size=2, page_token=page.next_page_token)
    equal([r.run_id for r in page.runs], [runs[1].run_id, runs[0].run_id], "the second page")
    equal(len(api.ask("ListRuns", thread_id="listed", states=[number("RunState", "RUN_STATE_FAILED")]).runs), 0, "failed")


@check("a list of runs needs memory for the runs in it alone, however long their outputs are")
def _():
    agent("verbose", {"state": {"text": {"type": "string"}}, "input": ["text"], "start": "x", "nodes": {"x": {"kind": "noop", "on": {"done": "end"}}}})
    for _ in range(40):  # together more than the memory of a request
        stands(api.start_run("verbose", {"text": "x" * 1000000}), "SUCCEEDED")
    equal(len(api.ask("ListRuns", agent="verbose", page_size=100).runs), 40, "the runs listed")
    equal(len(api.ask("ListRuns", labels={"colour": "red"}).runs), 0, "the runs that fit")


@check("metrics tell runs by how they stopped, steps, attempts by code, and what the store does")
def _():
    with urllib.request.urlopen(f"http://127.0.0.1:{api.http}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    values = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}
    for name, wanted in (('renga_orchestrator_runs_stopped_total{state="CANCELLED",reason="CANCELLED"}', 1),
                         ('renga_orchestrator_runs_stopped_total{state="FAILED",reason="NODE_FAILED"}', 1),
                         ('renga_orchestrator_attempts_total{kind="remote",code="DEADLINE_EXCEEDED"}', 1)):
        expect(values.get(name, 0) >= wanted, f"{name} is {values.get(name)}")
    for name in ("renga_orchestrator_step_seconds_count", "renga_store_transactions_total",
                 'renga_orchestrator_attempts_total{kind="remote",code="OK"}'):
        expect(values.get(name, 0) > 40, f"{name} is {values.get(name)}")
    equal(values["renga_orchestrator_nodes_running"], 0, "the nodes at work")


@check("a run that fails leaves one log line and a count with its agent, without content of its state; others are counted alone")
def _():
    def works(call):
        if word == "fail":
            call.fail("INVALID_ARGUMENT", 'it can\'t take "amber" or \'jade\' now, since {"n": "opal"}')
        return call.sleep(30) and None if word == "sleep" else {"log": ["a"]}
    agent("told", {"state": {"log": LIST}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("told", a=works)
    word = "end"
    stands(api.start_run("told", {}), "SUCCEEDED")
    word = "fail"
    failed = stands(api.start_run("told", {}, thread_id="told of, code OK"), "FAILED", "NODE_FAILED")
    word = "sleep"
    slow = api.start_run("told", {}, wait=False)
    wait_until(lambda: nodes.count("told", "a") == 3, "the third run begins")
    api.ask("CancelRun", run_id=slow.run_id)
    stands(api.stopped(slow), "CANCELLED")
    wait_until(lambda: any(failed.run_id in line for line in api.log), "there is no line")
    lines = [json.loads(line) for line in api.log if '"run.failed"' in line and "agent told," in line]
    equal([line["level"] for line in lines], ["warn"], "the lines of the agent")
    text = lines[0]["text"]
    for part in (failed.run_id, 'thread "told of, code OK", node a,', "INVALID_ARGUMENT", "NODE_FAILED", '"it can\'t take ... or ... now, since ..."'):
        expect(part in text, f"{part} is not in {text}")
    for content in ("amber", "jade", "opal"):
        expect(content not in text, f"{content} is in {text}")
    equal(api.metric("renga_runs_ended_total").items() >= {f'{{agent="told",outcome="{outcome}"}}': 1 for outcome in (
        "SUCCEEDED", "FAILED", "CANCELLED")}.items(), True, "the counts")


@check("a drain lets the step under way commit and begins no other of a run that nobody waits for, which goes on after the "
       "restart; one that is waited for goes on to its end")
def _():
    graph = {"state": {"log": LIST}, "start": "a", "nodes": {"a": remote("b"), "b": remote()}}
    for name, seconds in (("drained", 0.5), ("unwaited", 2)):
        agent(name, graph)
        nodes.on(name, a=lambda call, seconds=seconds: call.sleep(seconds) and {"log": ["a"]} or None, b={"log": ["b"]})
    api.start_run("unwaited", {}, thread_id="unwaited", wait=False)
    waits = api.begin("StartRun", api.start_request("drained", {}, thread_id="drained"))
    wait_until(lambda: nodes.count("drained", "a") and nodes.count("unwaited", "a"), "a begins")
    api.signal(signal.SIGTERM)
    equal(succeeded(waits.result().run)["log"], ["a", "b"], "the log of the run that is waited for")
    equal(api.stop(signalled=True), 0, "the exit code")
    equal((nodes.count("unwaited", "a"), nodes.count("unwaited", "b")), (1, 0), "the calls before the restart")
    api.start()
    run = api.ask("ListRuns", thread_id="unwaited").runs[0]
    equal(succeeded(api.stopped(run))["log"], ["a", "b"], "the log")
    equal((nodes.count("unwaited", "a"), nodes.count("unwaited", "b")), (1, 1), "the calls")
    equal((nodes.count("drained", "a"), nodes.count("drained", "b")), (1, 1), "the calls of the run that is waited for")


@check("a drain whose limit is longer than the age of connections refuses no call until their ages are up")
def _():
    api.flags = ("--rpc.connection_age=3s", "--drain.limit=4500ms")  # half of it is over before the connection is
    api.stop()
    api.start()
    api.ask("ListAgents")
    api.signal(signal.SIGTERM)
    served = 0
    while True:
        try:
            api.channel.unary_unary("/renga.v1.Orchestrator/ListRuns", lambda m: m.SerializeToString(),
                                    message("ListRunsResponse").FromString)(message("ListRunsRequest")(), timeout=20)
        except grpc.RpcError as error:  # nobody listens for the next connection
            expect("draining" not in error.details(), f"call {served} was refused: {error.details()}")
            break
        served += 1
        time.sleep(0.02)
    equal(api.process.wait(30 * SLOW), 0, "the exit code")
    api.flags = ()
    api.channel.close()
    api.start()
    return f"{served} calls were served"


finish()
