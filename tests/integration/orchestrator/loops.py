#!/usr/bin/env python3
"""Models that work with tools until they have an answer; what is shown and noted on the way; what failures have cost."""
import json
import os
import sys
import threading

import grpc

from harness import (HERE, SLOW, Orchestrator, agent, api, check, equal, expect, finish, message, nodes, number, refused, remote,
                     stands, succeeded, wait_until)
from services import called, found, hit, said, services, tool

sys.path.insert(0, os.path.join(HERE, "..", "tool_runner"))
from runner import Runner  # noqa: E402

api.flags = services.flags()
api.start()

TURNS = {"type": "object[]", "reduce": "append"}


def prompts(name, target=api, **texts):
    for prompt, text in texts.items():
        file = os.path.join(target.agents, name, "prompts", "en", prompt + ".md")
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as out:
            out.write(text)


def looping(name, **parameters):
    prompts(name, ask="<question>{question}</question>", rules="Be exact.")
    agent(name, {"state": {"question": {"type": "string"}, "turns": TURNS, "found": TURNS, "answer": {"type": "string"}},
                 "start": "work", "nodes": {"work": {
                     "kind": "agent_loop", "prompt": "ask", "system": "rules", "turns": "turns", "into": "answer", "found": "found",
                     "visits": {"max": 20}, "on": {"again": "work", "replied": "end"}, **parameters}}})


def model(*turns):
    """Says or calls these one after the other, whoever asks."""
    left = list(turns)
    services.forget()
    services.on("LlmGateway/Chat", lambda request, context: left.pop(0))
    services.on("ToolRunner/ListTools", lambda r, c: message("ListToolsResponse")(tools=[tool("search"), tool("count")]))
    services.on("ToolRunner/RunTools", found(hit("A frog jumps in.")))


def roles(turns):
    return [turn["role"] for turn in turns]


@check("a model works with tools, turn by turn, until it has an answer")
def _():
    looping("worker")
    model(called(("search", '{"query": "frog"}'), ("count", "{}")), called(("search", '{"query": "pond"}')), said("It jumps in."))
    run = api.start_run("worker", {"question": "What does the frog do?"})
    result = succeeded(run)
    equal((result["answer"], roles(result["turns"])),
          ("It jumps in.", ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]), "the conversation")
    equal((run.step, run.usage.model_calls, run.usage.tool_calls), (3, 3, 3), "what it cost")
    equal([len(round["results"]) for round in result["found"]], [2, 1], "what was found")
    asked = services.of("LlmGateway/Chat")
    equal([(chat.messages[0].content, chat.messages[1].content) for chat in asked],
          [("Be exact.", "<question>What does the frog do?</question>")] * 3, "the rules and the question, each once")
    equal([len(chat.messages) for chat in asked], [2, 5, 7], "the length of the conversation")
    tools = services.of("ToolRunner/RunTools")
    equal([[c.call.name for c in t.calls] for t in tools], [["search", "count"], ["search"]], "what was run")
    expect(tools[0].idempotency_key != tools[1].idempotency_key, "two rounds have one idempotency key")


@check("the last turn that it may have is without tools")
def _():
    looping("short", most_turns=2)
    model(called(("search", "{}")), said("Enough."))
    equal(succeeded(api.start_run("short", {"question": "?"}))["answer"], "Enough.", "the answer")
    first, last = services.of("LlmGateway/Chat")
    none = number("ToolChoiceMode", "TOOL_CHOICE_MODE_NONE")
    equal((first.HasField("tool_choice"), last.tool_choice.mode, len(last.tools)), (False, none, 2), "the choice of tools")
    model(called(("search", "{}")), called(("search", "{}")))
    run = stands(api.start_run("short", {"question": "?"}), "FAILED", "NODE_FAILED")
    equal((run.failures[0].status_code, run.usage.model_calls, run.usage.tool_calls), (15, 2, 1), "a model that will not stop")


@check("visits and the budget bound it as any node")
def _():
    looping("bounded", visits={"max": 2, "then": "end"})
    model(*[called(("search", "{}"))] * 9)
    run = api.start_run("bounded", {"question": "?"})
    equal((roles(succeeded(run)["turns"]), len(services.of("LlmGateway/Chat"))), (["user", "assistant", "tool", "assistant"], 2), "two visits")
    model(*[called(("search", "{}"))] * 9)
    run = stands(api.start_run("bounded", {"question": "?"}, budget={"model_calls": 1}), "SUCCEEDED", "BUDGET_MODEL_CALLS")
    equal(len(services.of("LlmGateway/Chat")), 1, "calls of the model")


@check("it may ask a person in the middle: the answer becomes the tool's result, and other tools run once")
def _():
    looping("asker", ask="When the question may mean two things.")
    model(called(("ask_person", '{"question": "Which pond?"}'), ("search", '{"query": "pond"}'), ("ask_person", "nonsense")), said("The old one."))
    run = stands(api.start_run("asker", {"question": "Where?"}), "WAITING", "QUESTION")
    equal([i.question for i in run.interrupts], ["Which pond?"], "the question")
    equal(len(services.of("ToolRunner/RunTools")), 0, "tools that ran before the answer")
    result = succeeded(api.resume(run, "the old one"))
    equal(result["answer"], "The old one.", "the answer")
    first, second = services.of("LlmGateway/Chat")
    equal([t.name for t in first.tools], ["search", "count", "ask_person"], "the tools on offer")
    answers = second.messages[3:]
    equal([(t.tool_call_id, t.content[:12], t.tool_failed) for t in answers],
          [("c0", "the old one", False), ("c1", answers[1].content[:12], False), ("c2", "INVALID_ARGU", True)], "the results")
    equal(len(services.of("ToolRunner/RunTools")), 1, "how often tools ran")


@check("after a kill the calls of a turn go out again as they were, and the model is not asked for them anew")
def _():
    looping("killed")
    model(called(("search", '{"query": "once"}')), called(("search", '{"query": "not this"}')), said("Done."))
    runs, begun = found(hit("A frog.")), threading.Event()

    def hang(request, context):
        begun.set()
        while context.is_active():
            context_over.wait(0.01)
        return runs(request, context)
    context_over = threading.Event()
    services.on("ToolRunner/RunTools", hang)
    run = api.start_run("killed", {"question": "?"}, wait=False)
    expect(begun.wait(10 * SLOW), "no tool was run")
    api.kill()
    services.on("ToolRunner/RunTools", runs)
    api.start()
    stands(api.stopped(run), "SUCCEEDED")
    one, again, other = services.of("ToolRunner/RunTools")
    equal([(t.idempotency_key, t.calls[0].call.arguments_json) for t in (one, again)],
          [(one.idempotency_key, '{"query": "once"}')] * 2, "the calls")
    expect(again.attempt > one.attempt, "the attempt does not grow")
    equal(len(services.of("LlmGateway/Chat")), 3, "how often the model was asked")
    expect(other.idempotency_key != one.idempotency_key, "the next round has the key of the first")


@check("progress shows a text or a field when it is on disk, and again to whoever reads the run later")
def _():
    prompts("shower", tell="Looking for {what}.")
    agent("shower", {"state": {"what": {"type": "string"}, "plan": {"type": "object"}}, "start": "tell", "nodes": {
        "tell": {"kind": "progress", "prompt": "tell", "on": {"shown": "give"}},
        "give": {"kind": "progress", "of": "plan", "on": {"shown": "end"}}}})
    run = api.start_run("shower", {"what": "frogs", "plan": {"steps": [1, 2]}}, wait=False)
    for again in range(2):
        events = list(api.watch(run))
        shown = [(e.node, json.loads(e.progress_json), e.provisional) for e in events if e.WhichOneof("event") == "progress_json"]
        equal(shown, [("tell", {"text": "Looking for frogs."}, False), ("give", {"steps": [1, 2]}, False)], "what is shown")
    run = api.start_run("shower", {"what": "frogs", "plan": {"long": "x" * 70000}})
    equal([d.part for d in run.degradations], ["give"], "what is too large to be shown")


@check("what a failed attempt has spent counts, is told with it, and survives a crash")
def _():
    spent = message("Usage")(model_calls=2, input_tokens=100)
    detail = message("google.rpc.Status")(code=14, message="not now")
    detail.details.add(type_url="type.googleapis.com/renga.v1.Usage", value=spent.SerializeToString())

    def fail(call):
        if call.attempt < 3:
            call.context.set_trailing_metadata((("grpc-status-details-bin", detail.SerializeToString()),))
            call.fail("UNAVAILABLE", "not now")
        return {}
    nodes.on("costly", a=fail, b={})
    agent("costly", {"start": "a", "nodes": {"a": remote("b", retry={"attempts": 3, "base": "10ms"}), "b": remote()}, "interrupt_before": ["b"]})
    run = stands(api.start_run("costly"), "WAITING")
    equal((run.usage.model_calls, run.usage.input_tokens), (4, 200), "what it has spent")
    retried = [e.node_retried.usage.model_calls for e in api.watch(run) if e.WhichOneof("event") == "node_retried"]
    equal(retried, [2, 2], "what was told with the failures")
    api.kill()
    api.start()
    equal(api.get(run).usage.model_calls, 4, "what it has spent, after the crash")
    equal(stands(api.resume(run), "SUCCEEDED", "COMPLETED").usage.model_calls, 4, "at its end")
    run = stands(api.start_run("costly", budget={"model_calls": 3}), "SUCCEEDED", "BUDGET_MODEL_CALLS")
    equal((run.usage.model_calls, len(nodes.of("costly", "a", run.run_id))), (4, 2), "attempts within the budget")


@check("notes are kept beside the thread, replaced by their number, and gone when it is deleted")
def _():
    with Runner() as tools:
        other = Orchestrator(None, f"--peers.tool_runner=ipv4:127.0.0.1:{tools.port}")
        other.write_agent("noter", json.dumps({"agent": "noter", "state": {"notes": TURNS}, "start": "keep", "nodes": {
            "keep": {"kind": "note", "of": "notes", "on": {"noted": "end"}}}}))
        other.start()
        notes = [{"query": f"query {i}", "summary_md": f"- {i}", "sources": [{"uri": "a.md", "title": "A"}]} for i in range(3)]
        run = stands(other.start_run("noter", {"notes": notes}, thread_id="research"), "SUCCEEDED")

        def kept(**fields):
            return tools.method("ListNotes", "ListNotesRequest", "ListNotesResponse")(
                tool_message("ListNotesRequest")(thread_id="research", **fields), timeout=10 * SLOW)

        def tool_message(name):
            return message(name)
        equal([(n.run_id, n.step_no, n.query, n.sources[0].uri) for n in kept().notes],
              [(run.run_id, i + 1, f"query {i}", "a.md") for i in range(3)], "the notes")
        page = kept(page_size=2)
        equal([[n.step_no for n in page.notes], [n.step_no for n in kept(page_size=2, page_token=page.next_page_token).notes]],
              [[1, 2], [3]], "the pages")
        again = stands(other.start_run("noter", {"notes": notes[:1]}, thread_id="research"), "SUCCEEDED")
        equal([len(kept(run_id=r.run_id).notes) for r in (run, again)], [3, 4], "the notes of each run")
        tools.kill()
        text = refused("UNAVAILABLE", lambda: other.ask("DeleteThread", thread_id="research"))
        expect("tool-runner" in text and other.state("research"), text)
        tools.start()
        other.kill()
        other.flags = (f"--peers.tool_runner=ipv4:127.0.0.1:{tools.port}",)
        other.start()
        equal((other.ask("DeleteThread", thread_id="research").deleted, len(kept().notes)), (True, 0), "what is left")
        other.kill()


@check("documents that cannot be say what is wrong")
def _():
    import signal
    state = {"q": {"type": "string"}, "t": TURNS, "a": {"type": "string"}}
    loop = {"kind": "agent_loop", "turns": "t", "into": "a", "on": {"again": "n", "replied": "end"}}
    for count, (wanted, node) in enumerate((
            ("goes round", loop), ("at most 100", {**loop, "visits": {"max": 9}, "most_turns": 101}),
            ("no edge for the outcome 'again'", {**loop, "on": {"replied": "end"}}),
            ("give one of them", {"kind": "progress", "on": {"shown": "end"}}),
            ("give one of them", {"kind": "progress", "prompt": "x", "of": "q", "on": {"shown": "end"}}),
            ("list of objects", {"kind": "note", "of": "q", "on": {"noted": "end"}}))):
        name = f"wrong{count}"
        prompts(name, x="x")
        api.write_agent(name, json.dumps({"agent": name, "state": state, "start": "n", "nodes": {"n": node}}))
        api.signal(signal.SIGHUP)
        problem = wait_until(lambda: [p.message for p in api.ask("ListAgents").problems if p.agent == name], "no problem", 5 * SLOW)
        expect(wanted in " ".join(problem), f"{wanted!r} is not in {problem}")


finish()
