#!/usr/bin/env python3
"""How a graph waits for people: questions, answers, who answers what. Numbers are those of the orchestrator's list."""
from harness import (agent, api, check, equal, expect, finish, json, nodes, refused, remote, reply, stands, succeeded,
                     wait_until, word)

api.start()
LIST = {"type": "string[]", "reduce": "append"}


def asks(*keys, **more):
    return reply(interrupts=[{"key": key, "question": f"{key}?", **more} for key in keys])


def ids(run):
    return {interrupt.key: interrupt.interrupt_id for interrupt in run.interrupts}


@check("12: a question is returned, what its node wrote is not applied, and the answer is delivered")
def _():
    agent("ask", {"state": {"log": LIST, "answer": {"type": "string"}}, "start": "a",
                  "nodes": {"a": remote("b"), "b": remote()}})

    def b(call):
        if "name" not in call.answers:
            response = asks("name", payload_json='{"hint": 1}')
            response.update_json = '{"log": ["too early"]}'
            return response
        return {"log": ["b"], "answer": call.answers["name"]}
    nodes.on("ask", a={"log": ["a"]}, b=b)
    run = stands(api.start_run("ask", thread_id="ask"), "WAITING", "QUESTION")
    asked = run.interrupts[0]
    equal((asked.node, asked.key, asked.question, asked.payload_json), ("b", "name", "name?", '{"hint": 1}'), "the question")
    equal(api.state("ask")["log"], ["a"], "the log")
    output = succeeded(api.resume(run, "Basho"))
    equal((output["log"], output["answer"]), (["a", "b"], "Basho"), "log and answer")
    equal((nodes.count("ask", "a"), nodes.count("ask", "b")), (1, 2), "the calls")


@check("12: the kind ask does the same without a node of one's own, and holds answers to its schema")
def _():
    agent("form", {"state": {"age": {"type": "integer"}}, "start": "ask_age",
                   "nodes": {"ask_age": {"kind": "ask", "question": "How old?", "schema": {"type": "integer", "minimum": 0},
                                         "into": "age", "on": {"answered": "end"}}}})
    run = stands(api.start_run("form"), "WAITING", "QUESTION")
    equal(run.interrupts[0].question, "How old?", "the question")
    text = refused("INVALID_ARGUMENT", lambda: api.resume(run, -1))
    expect("minimum" in text or "0" in text, f"the error is: {text}")
    equal(succeeded(api.resume(run, 7))["age"], 7, "age")


@check("12b: without a schema the kind ask holds an answer to its field; a wrong one is refused and the run waits on")
def _():
    fields = {"s": ({"type": "string", "values": ["yes", "no"]}, {"type": "string", "enum": ["yes", "no"]}, "maybe", "no"),
              "i": ({"type": "integer"}, {"type": "integer"}, "7", 7), "b": ({"type": "boolean"}, {"type": "boolean"}, 1, True),
              "l": ({"type": "string[]", "reduce": "append"}, {"type": "array", "items": {"type": "string"}}, "x", ["x"])}
    for name, (field, schema, wrong, right) in fields.items():
        agent(f"form_{name}", {"state": {"x": field}, "start": "a", "nodes": {"a": {"kind": "ask", "question": "x?", "into": "x"}}})
        run = stands(api.start_run(f"form_{name}"), "WAITING", "QUESTION")
        equal(json.loads(run.interrupts[0].answer_schema_json), schema, "the schema")
        refused("INVALID_ARGUMENT", lambda: api.resume(run, wrong))
        equal(succeeded(api.resume(stands(api.get(run), "WAITING", "QUESTION"), right))["x"], right, "the answer")
    agent("form_any", {"state": {"x": {"type": "any"}}, "start": "a", "nodes": {"a": {"kind": "ask", "question": "x?", "into": "x"}}})
    run = stands(api.start_run("form_any"), "WAITING", "QUESTION")
    equal(run.interrupts[0].answer_schema_json, "", "the schema of a field of any type")
    equal(succeeded(api.resume(run, {"a": [1]}))["x"], {"a": [1]}, "the answer")


@check("13: two questions in one node")
def _():
    agent("two", {"state": {"log": LIST}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("two", a=lambda call: {"log": [call.answers["one"], call.answers["two"]]} if len(call.answers) == 2
             else asks("one", "two"))
    run = stands(api.start_run("two"), "WAITING", "QUESTION")
    open_ids = ids(run)
    equal(sorted(open_ids), ["one", "two"], "the questions")
    run = stands(api.resume(run, answers={open_ids["two"]: "second"}), "WAITING", "QUESTION")
    equal(ids(run), {"one": open_ids["one"]}, "the question that is left")
    equal(succeeded(api.resume(run, answers={open_ids["one"]: "first"}))["log"], ["first", "second"], "the log")
    last = nodes.of("two")[-1]
    equal([answer.key for answer in last.request.answers], ["one", "two"], "the order of the answers")


@check("14: five branches ask: five ids; two are answered, later the rest; an answered branch never runs again")
def _():
    agent("five", {"state": {"got": {"type": "any[]", "reduce": "append"}}, "start": "s",
                   "nodes": {"s": remote(may_reach=["w"]), "w": remote()}})
    nodes.on("five", s=reply(sends=[("w", {"i": i}) for i in range(5)]),
             w=lambda call: {"got": [call.answers["q"]]} if call.answers else asks("q"))
    run = stands(api.start_run("five"), "WAITING", "QUESTION")
    by_branch = {interrupt.branch: interrupt.interrupt_id for interrupt in run.interrupts}
    equal((sorted(by_branch), len(set(by_branch.values()))), ([0, 1, 2, 3, 4], 5), "branches and ids")
    run = stands(api.resume(run, answers={by_branch[1]: "one", by_branch[3]: "three"}), "WAITING", "QUESTION")
    equal({i.branch: i.interrupt_id for i in run.interrupts}, {b: by_branch[b] for b in (0, 2, 4)}, "what is open")
    output = succeeded(api.resume(run, answers={by_branch[b]: str(b) for b in (4, 2, 0)}))
    equal(output["got"], ["0", "one", "2", "three", "4"], "the results")
    for branch in range(5):
        equal(len([c for c in nodes.of("five", "w") if c.branch == branch]), 2, f"the calls of branch {branch}")


@check("15: a bare answer while two questions are open is refused, and nothing changes")
def _():
    agent("bare", {"state": {"log": LIST}, "start": ["a", "b"], "nodes": {"a": remote(), "b": remote()}})
    ask_once = {name: (lambda call: {"log": [call.answers["q"]]} if call.answers else asks("q")) for name in ("a", "b")}
    nodes.on("bare", **ask_once)
    run = stands(api.start_run("bare"), "WAITING", "QUESTION")
    refused("FAILED_PRECONDITION", lambda: api.resume(run, "x"), "AMBIGUOUS_ANSWER")
    refused("NOT_FOUND", lambda: api.resume(run, answers={"nobody": "x"}))
    again = stands(api.get(run), "WAITING", "QUESTION")
    equal(len(again.interrupts), 2, "the open questions")
    both = {interrupt.interrupt_id: interrupt.node for interrupt in again.interrupts}
    equal(succeeded(api.resume(run, answers=both))["log"], ["a", "b"], "the log")
    refused("FAILED_PRECONDITION", lambda: api.resume(run, answers=both))


@check("16: a slow sibling of a node that asks finishes, and is not run again")
def _():
    agent("slow", {"state": {"log": LIST}, "start": ["ask", "slow"], "nodes": {"ask": remote(), "slow": remote()}})

    def slow(call):
        return {"log": ["slow"]} if call.sleep(0.3) else None
    nodes.on("slow", ask=lambda call: {"log": ["asked"]} if call.answers else asks("q"), slow=slow)
    run = stands(api.start_run("slow"), "WAITING", "QUESTION")
    equal(nodes.of("slow", "slow")[0].cancelled, None, "the moment the slow one was cancelled")
    equal(succeeded(api.resume(run, 1))["log"], ["asked", "slow"], "the log")
    equal(nodes.count("slow", "slow"), 1, "the calls of the slow one")


@check("17: resuming without an answer repeats the question under its id; new input on the thread starts it anew")
def _():
    agent("repeat", {"state": {"name": {"type": "string"}, "log": LIST}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("repeat", a=lambda call: {"log": [call.state["name"]]} if call.answers else asks("q"))
    first = stands(api.start_run("repeat", {"name": "one"}, thread_id="repeat"), "WAITING", "QUESTION")
    again = stands(api.resume(first), "WAITING", "QUESTION")
    equal(ids(again), ids(first), "the questions")
    second = stands(api.start_run("repeat", {"name": "two"}, thread_id="repeat"), "WAITING", "QUESTION")
    stands(api.get(first), "CANCELLED", "REPLACED")
    expect(ids(second) != ids(first), "the new run asks under the old id")
    refused("FAILED_PRECONDITION", lambda: api.resume(first, "x"), "NOT_RESUMABLE")
    equal(succeeded(api.resume(second, "yes"))["log"], ["two"], "the log")


@check("18: 0, false, \"\" and null are answers")
def _():
    agent("empty", {"state": {"got": {"type": "any"}}, "start": "a", "nodes": {"a": remote()}})
    nodes.on("empty", a=lambda call: {"got": [call.answers["q"]]} if "q" in call.answers else asks("q"))
    for answer in (0, False, "", None):
        run = stands(api.start_run("empty"), "WAITING", "QUESTION")
        equal(json.dumps(succeeded(api.resume(run, answer))["got"]), json.dumps([answer]), "what came")


@check("a run that stops before or after a node, as asked, goes on by ResumeRun alone")
def _():
    agent("static", {"state": {"log": LIST}, "start": "a", "nodes": {"a": remote("b"), "b": remote("c"), "c": remote()}})
    nodes.on("static", **{name: {"log": [name]} for name in ("a", "b", "c")})
    run = stands(api.start_run("static", interrupt_before=["b"], interrupt_after=["b"], thread_id="static"),
                 "WAITING", "INTERRUPT_BEFORE")
    equal((run.interrupts[0].node, api.state("static")["log"]), ("b", ["a"]), "node and log")
    run = stands(api.resume(run), "WAITING", "INTERRUPT_AFTER")
    equal(api.state("static")["log"], ["a", "b"], "the log")
    equal(succeeded(api.resume(run))["log"], ["a", "b", "c"], "the log")


@check("a request_id makes StartRun and ResumeRun safe to repeat")
def _():
    request = api.start_request("ask", request_id="only-once")
    first, second = api.call("StartRun", request), api.call("StartRun", request)
    equal((first.run.run_id, first.repeated_request, second.repeated_request), (second.run.run_id, False, True), "answers")
    request.input_json = '{"log": ["other"]}'
    refused("INVALID_ARGUMENT", lambda: api.call("StartRun", request))
    done = [succeeded(api.resume(first.run, "x", request_id="answer-once")) for _ in range(2)]
    equal(done[0], done[1], "the output")


@check("a watcher that comes back with the last id it saw misses nothing and sees nothing twice")
def _():
    run = stands(api.start_run("ask"), "WAITING")
    succeeded(api.resume(run, "x"))
    whole = [event for event in api.watch(run, follow=True)]
    kinds = [event.WhichOneof("event") for event in whole]
    equal((kinds[0], kinds[-1]), ("started", "stopped"), "first and last")
    equal(sorted({event.event_id for event in whole}), [event.event_id for event in whole], "the ids")
    for cut in range(len(whole)):
        rest = [event.event_id for event in api.watch(run, follow=True, after_event_id=whole[cut].event_id)]
        equal(rest, [event.event_id for event in whole[cut + 1:]], f"what comes after event {cut}")
    only = [event.WhichOneof("event") for event in api.watch(run, follow=True, kinds=[12])]
    expect(set(only) == {"checkpoint", "stopped"} and only.count("checkpoint") >= 2, f"of checkpoints only: {only}")
    refused("OUT_OF_RANGE", lambda: list(api.watch(run, after_event_id=whole[-1].event_id + 1000000)))


@check("a watcher that follows stays while the run waits, with heartbeats")
def _():
    run = stands(api.start_run("ask"), "WAITING")
    short = [event.WhichOneof("event") for event in api.watch(run)]
    equal((short[-1], short.count("interrupted")), ("stopped", 1), "without follow")
    seen = []
    stream = api.watch(run, follow=True, heartbeat_ms=1000)
    for event in stream:
        seen.append(event)
        if event.WhichOneof("event") == "heartbeat":
            equal(word("RunState", event.heartbeat.state), "RUN_STATE_WAITING", "the state in the heartbeat")
            equal(event.event_id, seen[-2].event_id, "the heartbeat's id")
            api.resume(run, "x", wait=False)
    equal(word("RunState", seen[-1].stopped.state), "RUN_STATE_SUCCEEDED", "the end")
    wait_until(lambda: not api.get(run).interrupts, "the question is still open")


finish()
