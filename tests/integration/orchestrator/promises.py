#!/usr/bin/env python3
"""What the contract says, asked from outside: writes that do not go together, sizes, checkpoints, guards, queues."""
import json

from harness import (agent, api, check, equal, expect, finish, message, nodes, number, refused, remote, reply, stands, succeeded,
                     wait_until)

api.start()
LOG = {"type": "string[]", "reduce": "append"}
TALK = {"type": "object[]", "reduce": "messages"}
MOST = 3145728  # bytes of {"NAME":VALUE}


# ---- writes of one step ----------------------------------------------------------------------------------------------


@check("an overwrite beside an append is refused, whichever of the two nodes comes first")
def _():
    for first, second in (("over", "more"), ("more", "over")):
        name = f"{first}-{second}"
        agent(name, {"state": {"log": LOG}, "start": [first, second], "nodes": {first: remote(), second: remote()}})
        nodes.on(name, over=lambda call: reply({"log": ["only"]}, overwrite_fields=["log"]), more=lambda call: {"log": ["m"]})
        run = stands(api.start_run(name, {"log": ["old"]}, thread_id=name), "FAILED", "STATE_CONFLICT")
        expect(all(f"'{part}'" in run.stop_text for part in ("over", "more", "log")), run.stop_text)
        equal(api.state(name), {"log": ["old"]}, "the state")


@check("a message that is not there cannot be removed, by a node or by hand")
def _():
    agent("remover", {"state": {"talk": TALK}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("remover", a=lambda call: {"talk": [{"id": "nobody", "removed": True}]})
    run = stands(api.start_run("remover", {"talk": [{"id": "one"}]}, thread_id="remover"), "FAILED", "STATE_CONFLICT")
    expect("'nobody'" in run.stop_text and "'talk'" in run.stop_text, run.stop_text)
    gone = json.dumps({"talk": [{"id": "other", "removed": True}]})
    text = refused("INVALID_ARGUMENT", lambda: api.ask("UpdateState", thread_id="remover", update_json=gone))
    expect("'other'" in text and "'talk'" in text, text)
    api.ask("UpdateState", thread_id="remover", update_json=json.dumps({"talk": [{"id": "one", "removed": True}]}))
    equal(api.state("remover"), {"talk": []}, "the state")


# ---- sizes -----------------------------------------------------------------------------------------------------------


@check("a field that could not be read again is refused when it is written: by nodes, input, hand, and in parts")
def _():
    agent("large", {"state": {"log": LOG, "n": {"type": "integer"}}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("large", a=lambda call: {"log": ["x" * 1_500_000]})
    run = stands(api.start_run("large", {}, thread_id="large"), "SUCCEEDED")
    run = stands(api.start_run("large", {}, thread_id="large"), "SUCCEEDED")
    run = stands(api.start_run("large", {}, thread_id="large"), "FAILED", "STATE_CONFLICT")
    expect("'log'" in run.stop_text and "4500" in run.stop_text and "31457" in run.stop_text, run.stop_text)
    equal(len(api.state("large")["log"]), 2, "the list")
    more = json.dumps({"log": ["y" * 200_000]})
    text = refused("INVALID_ARGUMENT", lambda: api.ask("UpdateState", thread_id="large", update_json=more))
    expect("'log'" in text and "31457" in text, text)
    run = stands(api.start_run("large", json.loads(more), thread_id="large"), "FAILED", "STATE_CONFLICT")
    expect("'log'" in run.stop_text, run.stop_text)
    equal([len(one) for one in api.state("large", fields=["log"])["log"]], [1_500_000] * 2, "what is read")


@check("the largest field that is taken can be read and sent")
def _():
    agent("edge", {"state": {"text": {"type": "string"}, "n": {"type": "integer"}}, "start": "a", "output": ["n"],
                   "nodes": {"a": remote("b"), "b": remote(inputs=["text"])}})
    most = MOST - len('{"text": ""}')  # as the node's JSON has it
    nodes.on("edge", a=lambda call: {"text": "x" * most}, b=lambda call: {"n": len(call.state["text"])})
    equal(succeeded(api.start_run("edge", {}, thread_id="edge"))["n"], most, "what the node got")
    equal(len(api.state("edge", fields=["text"])["text"]), most, "what is read")


@check("a state that is too large for an answer or a node says which fields are, and what would help")
def _():
    text = {"type": "string"}
    agent("wide", {"state": {"one": text, "two": text, "small": text}, "start": "a", "output": ["small"],
                   "nodes": {"a": remote("b"), "b": remote("c"), "c": remote()}})
    nodes.on("wide", a=lambda call: {"one": "x" * 2_700_000, "small": "s"}, b=lambda call: {"two": "x" * 2_600_000})
    run = stands(api.start_run("wide", {}, thread_id="wide"), "FAILED", "NODE_FAILED")
    expect(all(part in run.stop_text for part in ("'c'", "'one'", "'two'", "3145728", "inputs")), run.stop_text)
    equal(nodes.count("wide", "c"), 0, "calls of the node")
    told = refused("RESOURCE_EXHAUSTED", lambda: api.state("wide"))
    expect(all(part in told for part in ("'one'", "'two'", "3145728")), told)
    equal(len(api.state("wide", fields=["two"])["two"]), 2_600_000, "one of them")


# ---- what nodes say --------------------------------------------------------------------------------------------------


def one_node(name, **more):
    agent(name, {"state": {"log": LOG}, "start": "a", "nodes": {"a": remote(retry={"attempts": 3, "base": "1ms"})}, **more})


@check("a usage that cannot be is refused, and no budget grows by it")
def _():
    agent("spender", {"state": {"log": LOG}, "start": "a", "budget": {"tokens": 100}, "nodes": {
        "a": remote("b", retry={"attempts": 3, "base": "1ms"}), "b": remote()}})
    usage = message("Usage")
    for wrong in ({"input_tokens": -1_000_000}, {"output_tokens": 1 << 62}, {"cost_micros": -1}, {"model_calls": -(1 << 63)}):
        answer = reply({"log": ["a"]})
        answer.usage.CopyFrom(usage(**wrong))
        nodes.on("spender", a=answer)
        before = nodes.count("spender", "a")
        run = stands(api.start_run("spender", {}), "FAILED", "NODE_FAILED")
        (field, count), = wrong.items()
        expect(run.status_code == 3 and f"usage.{field} is {count}" in run.stop_text, f"{run.status_code}: {run.stop_text}")
        equal(nodes.count("spender", "a") - before, 1, "attempts")
        equal((run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_micros), (0, 0, 0), "what it has spent")


@check("progress that is no JSON, or too much of it, is an error of the node")
def _():
    one_node("shower")
    for shown, part in ((["{"], "progress_json[0]"), (["1", "x"], "progress_json[1]"), (["1"] * 101, "101"),
                        (["1", '"' + "x" * 65536 + '"'], "65536")):
        nodes.on("shower", a=lambda call, shown=shown: reply({}, progress_json=shown))
        run = stands(api.start_run("shower", {}), "FAILED", "NODE_FAILED")
        expect(run.status_code == 3 and part in run.stop_text, f"{run.status_code}: {run.stop_text}")
    nodes.on("shower", a=lambda call: reply({}, progress_json=["1", '{"a": 2}']))
    stands(api.start_run("shower", {}), "SUCCEEDED")


@check("pauses between attempts are within half of what the document says and the whole, and differ between branches")
def _():
    agent("pauses", {"state": {"list": {"type": "integer[]"}, "out": {"type": "object[]"}}, "start": "all", "nodes": {
        "all": {"kind": "each", "of": "list", "as": "n", "graph": "one", "into": "out"}}, "graphs": {"one": {
            "state": {"n": {"type": "integer"}}, "start": "a", "nodes": {"a": remote(retry={
                "attempts": 2, "base": "400ms", "max": "400ms"})}}}})
    nodes.on("pauses", a=lambda call: {} if call.attempt > 1 else call.fail("UNAVAILABLE"))
    run = stands(api.start_run("pauses", {"list": list(range(12))}), "SUCCEEDED")
    retried = [event for event in api.watch(run) if event.WhichOneof("event") == "node_retried"]
    rests = [event.node_retried.next_attempt_ms - event.time_ms for event in retried]
    equal(len(rests), 12, "pauses")
    expect(all(190 <= rest <= 410 for rest in rests) and max(rests) - min(rests) > 50, f"the pauses are {rests}")


# ---- questions -------------------------------------------------------------------------------------------------------


@check("an answer to what has its answer is told so: behind each, after its node has gone, and after a restart")
def _():
    agent("asker", {"state": {"list": {"type": "integer[]"}, "out": {"type": "object[]"}}, "start": "all", "nodes": {
        "all": {"kind": "each", "of": "list", "as": "n", "graph": "one", "into": "out"}}, "graphs": {"one": {
            "state": {"n": {"type": "integer"}, "said": {"type": "string"}}, "start": "a", "nodes": {
                "a": {"kind": "ask", "question": "which?", "into": "said"}}}}})
    run = stands(api.start_run("asker", {"list": [1, 2]}), "WAITING", "QUESTION")
    first, second = [asked.interrupt_id for asked in run.interrupts]
    stands(api.resume(run, answers={first: "yes"}), "WAITING", "QUESTION")
    for _ in range(2):
        refused("FAILED_PRECONDITION", lambda: api.resume(run, answers={first: "again"}), "ALREADY_ANSWERED")
        refused("NOT_FOUND", lambda: api.resume(run, answers={"q_never": "asked"}))
        api.stop()
        api.start()
    stands(api.resume(run, answers={second: "yes"}), "SUCCEEDED")


# ---- checkpoints -----------------------------------------------------------------------------------------------------


@check("the checkpoint of a state is the one that ListCheckpoints shows, at the head, before it and after a change by hand")
def _():
    agent("points", {"state": {"log": LOG}, "start": ["a", "b"], "nodes": {"a": remote("c"), "b": remote("c"), "c": remote()}})
    nodes.on("points", a={"log": ["a"]}, b={"log": ["b"]}, c={"log": ["c"]})
    succeeded(api.start_run("points", {}, thread_id="points"))
    change = message("UpdateStateRequest")(thread_id="points", as_node="a", clear_fields=["log"], request_id="change")
    by_hand = [api.call("UpdateState", change).checkpoint for _ in range(2)]  # the second repeats the first
    listed = api.checkpoints("points")
    equal(len(listed), 4, "checkpoints")
    expect(all(one == listed[0] for one in by_hand), f"by hand {by_hand}, listed {listed[0]}")
    equal((list(listed[0].next_nodes), list(listed[0].changed_fields)), (["c"], ["log"]), "due and changed after the change")
    equal(api.ask("GetState", thread_id="points").checkpoint, listed[0], "the head")
    for one in listed:
        equal(api.ask("GetState", thread_id="points", checkpoint_id=one.checkpoint_id).checkpoint, one, "a checkpoint")
    equal([(one.cause, sorted(one.nodes), bool(one.parent_checkpoint_id)) for one in listed],
          [(3, [], True), (2, ["c"], True), (2, ["a", "b"], True), (1, [], False)], "causes, nodes and parents")


# ---- guards ----------------------------------------------------------------------------------------------------------

NESTED = {"state": {"list": {"type": "integer[]"}, "out": {"type": "object[]"}}, "start": "first", "nodes": {
    "first": {"kind": "noop", "on": {"done": "all"}},
    "all": {"kind": "each", "of": "list", "as": "n", "graph": "one", "into": "out"}}, "graphs": {"one": {
        "state": {"n": {"type": "integer"}}, "start": "inner", "nodes": {"inner": {"kind": "noop", "on": {"done": "then"}},
                                                                         "then": {"kind": "noop"}}}}}


@check("a guard that names no node is refused with the nearest name, in sub-graphs too")
def _():
    agent("nested", NESTED)
    for guard, parts in (("frist", ("'frist'", "'first'")), ("all/iner", ("'iner'", "'inner'", "'one'")), ("first/inner", ("first", "holds no")),
                         ("*/nobody", ("'nobody'",)), ("all/inner/then", ("inner", "holds no")), ("all[x]/inner", ("brackets",)),
                         ("", ()), ("all/", ("''",)), ("/inner", ("''",))):
        for field in ("interrupt_before", "interrupt_after"):
            text = refused("INVALID_ARGUMENT", lambda: api.start_run("nested", {"list": [1]}, **{field: ["first", guard]}))
            expect(all(part in text for part in (f"{field}[1]", *parts)), text)


@check("guards hold within sub-graphs: by path, by branch and by * at each depth")
def _():
    def stops(**guards):
        run, seen = api.start_run("nested", {"list": [1, 2]}, **guards), []
        for _ in range(20):
            if run.state == 4:
                return seen
            stands(run, "WAITING")
            seen.append(sorted((one.path, one.node) for one in run.interrupts))
            run = api.resume(run)
        raise AssertionError(f"it stops for ever: {seen}")
    both = lambda node: [("all[0]", node), ("all[1]", node)]  # noqa: E731
    equal(stops(interrupt_before=["all/then"]), [both("then")], "before all/then")
    equal(stops(interrupt_after=["all/inner"]), [both("inner")], "after all/inner")
    equal(stops(interrupt_before=["all[1]/then"]), [[("all[1]", "then")]], "before a branch's then")
    equal(stops(interrupt_before=["all/*"]), [both("inner"), both("then")], "before all/*")
    equal(stops(interrupt_before=["*/then"]), [both("then")], "before */then")
    equal(stops(interrupt_before=["*"]), [[("", "first")], [("", "all")]], "before *")


# ---- durability ------------------------------------------------------------------------------------------------------

EXIT = number("Durability", "DURABILITY_EXIT")


def three(name, **more):
    agent(name, {"state": {"log": LOG}, "start": "a", "nodes": {"a": remote("b", **more), "b": remote("c"), "c": remote()}})
    nodes.on(name, a={"log": ["a"]}, b={"log": ["b"]}, c={"log": ["c"]})


@check("with durability exit steps are written when the run ends, with their whole history")
def _():
    three("exit")
    for durability in (EXIT, 0):
        thread = f"exit-{durability}"
        run = api.start_run("exit", {}, thread_id=thread, durability=durability)
        equal(succeeded(run)["log"], ["a", "b", "c"], "the log")
        equal([sorted(one.nodes) for one in reversed(api.checkpoints(thread))], [[], ["a"], ["b"], ["c"]], "the checkpoints")
        finished = [e.node for e in api.watch(run) if e.WhichOneof("event") == "node_finished"]
        equal(finished, ["a", "b", "c"], "the events")
    api.stop()
    api.start()
    equal(api.state(f"exit-{EXIT}")["log"], ["a", "b", "c"], "the log after a restart")


@check("with durability exit a crash loses steps and not the run: it begins anew, with the same keys")
def _():
    three("crash")
    for durability, times in ((EXIT, 2), (0, 1)):
        nodes.on("crash", c=lambda call: call.sleep(60) and None)
        run = api.start_run("crash", {}, durability=durability, wait=False)
        wait_until(lambda: nodes.of("crash", "c", run.run_id), "c begins")
        api.kill()
        nodes.on("crash", c={"log": ["c"]})
        api.start()
        run = api.stopped(run, 30)
        equal(succeeded(run)["log"], ["a", "b", "c"], "the log")
        for node in ("a", "b"):
            calls = nodes.of("crash", node, run.run_id)
            equal(len(calls), times, f"calls of {node} with durability {durability}")
            equal(len({call.request.idempotency_key for call in calls}), 1, f"keys of {node}")


@check("with durability exit what a reader, a question or another attempt needs is written before")
def _():
    three("reader", retry={"attempts": 2, "base": "1ms"})
    nodes.on("reader", a=lambda call: {"log": ["a"]} if call.attempt > 1 else call.fail("UNAVAILABLE"),
             c=lambda call: call.sleep(60) and None)
    run = api.start_run("reader", {}, thread_id="reader", durability=EXIT, wait=False)
    wait_until(lambda: nodes.of("reader", "c", run.run_id), "c begins")
    equal(api.state("reader")["log"], ["a", "b"], "what is read")  # and so written
    api.kill()
    nodes.on("reader", c={"log": ["c"]})
    api.start()
    equal(succeeded(api.stopped(run, 30))["log"], ["a", "b", "c"], "the log")
    equal([len(nodes.of("reader", node, run.run_id)) for node in "ab"], [2, 1], "the calls")
    agent("exit-asker", {"state": {"said": {"type": "string"}, "log": LOG}, "start": "a", "nodes": {
        "a": remote("q"), "q": {"kind": "ask", "question": "which?", "into": "said"}}})
    nodes.on("exit-asker", a={"log": ["a"]})
    run = stands(api.start_run("exit-asker", {}, durability=EXIT), "WAITING", "QUESTION")
    api.kill()
    api.start()
    equal(succeeded(api.resume(run, "yes")), {"said": "yes", "log": ["a"]}, "the output")
    equal(nodes.count("exit-asker", "a"), 1, "the calls of a")


@check("with durability exit a server that drains loses no step")
def _():
    three("drained")
    nodes.on("drained", c=lambda call: call.sleep(60) and None)
    api.stop()
    flags, api.flags = api.flags, (*api.flags, "--drain.limit=1s")
    api.start()
    run = api.start_run("drained", {}, durability=EXIT, wait=False)
    wait_until(lambda: nodes.of("drained", "c", run.run_id), "c begins")
    api.stop()
    nodes.on("drained", c={"log": ["c"]})
    api.flags = flags
    api.start()
    equal(succeeded(api.stopped(run, 30))["log"], ["a", "b", "c"], "the log")
    equal([len(nodes.of("drained", node, run.run_id)) for node in "ab"], [1, 1], "the calls")


# ---- runs that wait their turn ---------------------------------------------------------------------------------------


@check("a run that takes the place of the one at work leaves those that wait their turn, and goes before them")
def _():
    agent("turns", {"state": {"log": LOG, "who": {"type": "string"}}, "start": "a", "nodes": {"a": remote()}})
    go = {}
    nodes.on("turns", a=lambda call: {"log": [call.state["who"]]} if call.state["who"] != "first" or call.sleep(20) else None)
    for policy, reason in (("ON_BUSY_INTERRUPT", "REPLACED"), ("ON_BUSY_ROLLBACK", "ROLLED_BACK")):
        def start(who, on_busy, wait=False):
            return api.start_run("turns", {"who": who}, thread_id=policy, wait=wait, on_busy=number("OnBusy", on_busy))
        go[policy] = start("first", "ON_BUSY_REJECT")
        wait_until(lambda: nodes.of("turns", "a", go[policy].run_id), "it begins")
        queued = [start(who, "ON_BUSY_ENQUEUE") for who in ("second", "third")]
        new = start("new", policy, wait=True)
        stands(new, "SUCCEEDED", "COMPLETED")
        stands(api.get(go[policy]), "CANCELLED", reason)
        for run in queued:
            stands(api.stopped(run), "SUCCEEDED", "COMPLETED")
        equal(api.state(policy)["log"], ["new", "second", "third"], f"the order after {policy}")


# ---- the error node --------------------------------------------------------------------------------------------------


@check("an error node is told which nodes failed, with which code, why and at which attempt")
def _():
    agent("told", {"state": {"failures": {"type": "object[]", "reduce": "append"}, "log": LOG}, "error_node": "sorry",
                   "error_into": "failures", "start": ["bad", "worse", "good"], "nodes": {
                       "bad": remote("never", retry={"attempts": 2, "base": "1ms"}), "worse": remote("never"),
                       "good": remote(), "never": remote(), "sorry": remote()}})
    nodes.on("told", bad=lambda call: call.fail("UNAVAILABLE", "not here"), worse=lambda call: call.fail("INTERNAL", "broken"),
             good={}, sorry=lambda call: {"log": [f"{f['node']} {f['code']} {f['attempt']} {f['message']}"
                                                  for f in call.state["failures"]]})
    run = api.start_run("told", {}, thread_id="told")
    equal(succeeded(run)["log"], ["bad UNAVAILABLE 2 not here", "worse INTERNAL 1 broken"], "what it was told")
    step = [one for one in api.checkpoints("told") if "sorry" in one.next_nodes][0]
    expect("failures" in step.changed_fields, f"changed are {list(step.changed_fields)}")
    api.stop()
    api.start()
    equal([f["node"] for f in api.state("told")["failures"]], ["bad", "worse"], "what the log has")


@check("an error node is told what failed within a branch")
def _():
    agent("inner", {"state": {"list": {"type": "integer[]"}, "out": {"type": "object[]"}, "failures": {"type": "object[]"},
                              "log": LOG}, "error_node": "sorry", "error_into": "failures", "start": "all", "nodes": {
        "all": {"kind": "each", "of": "list", "as": "n", "graph": "one", "into": "out"}, "sorry": remote()}, "graphs": {"one": {
            "state": {"n": {"type": "integer"}}, "start": "a", "nodes": {"a": remote()}}}})
    nodes.on("inner", a=lambda call: call.fail("DATA_LOSS", "torn") if call.state["n"] == 2 else {},
             sorry=lambda call: {"log": [call.state["failures"][0]["message"]]})
    log = succeeded(api.start_run("inner", {"list": [1, 2, 3]}))["log"]
    expect(all(part in log[0] for part in ("'a'", "branch 1", "DATA_LOSS", "torn")), f"{log}")


finish()
