#!/usr/bin/env python3
"""The typed service: questions to the help desk, before services that the test scripts."""
import hashlib
import json
import os
import signal
import threading
import time

import grpc

from harness import (Broken, Orchestrator, SLOW, agent, api, check, equal, expect, finish, message, number, reason_of, refused, succeeded,
                     wait_until, word)
from services import called, found, hit, judged, plan, said, services, tool

SHIPPED = sorted(set(os.listdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "services", "orchestrator", "agents"))) - {"echo"})

api.flags = services.flags()
api.start()

BACKUP = "Backups run every night at 02:00. They are kept for 30 days."
RESET = "To reset a password, open Settings and choose Security."
ANSWERS = {"<results>": "Backups run every night at 02:00. To reset a password, open Settings and choose Security.",
           "When do backups run?\n</subtask>": "Backups run every night at 02:00.",
           "How is a password reset?\n</subtask>": "To reset a password, open Settings and choose Security."}


def chat(request, context):
    if request.tools:
        return called(("search_documents", '{"query": "words"}'))
    asked = "\n".join(turn.content for turn in request.messages)
    return said(next(text for key, text in ANSWERS.items() if key in asked))


def chat_stream(request, context):
    answer = chat(request, context)
    event = message("ChatStreamEvent")
    for at in range(0, len(answer.message.content), 9):
        yield event(text=answer.message.content[at:at + 9])
    yield event(finish=answer.finish)


def script(**methods):
    services.forget()
    services.on("LlmGateway/Chat", methods.get("chat", chat))
    services.on("LlmGateway/ChatStream", chat_stream)
    schema = '{"type": "object", "properties": {"query": {"type": "string"}, "collections": {"type": "array"}}, "required": ["query"]}'
    services.on("ToolRunner/ListTools", lambda r, c: message("ListToolsResponse")(tools=[tool("search_documents", schema)]))
    services.on("ToolRunner/RunTools", methods.get("tools", found(hit(BACKUP), hit(RESET, line=20))))
    services.on("Planner/Plan", methods.get("plan", plan("When do backups run?", "How is a password reset?")))
    services.on("Reviewer/Reflect", methods.get("reflect", judged(True)))


def ask_call(stream=False):
    make = api.channel.unary_stream if stream else api.channel.unary_unary
    return make("/renga.v1.Helpdesk/" + ("AskStream" if stream else "Ask"),
                request_serializer=lambda m: m.SerializeToString() if hasattr(m, "SerializeToString") else m,
                response_deserializer=message("AskEvent" if stream else "AskResponse").FromString)


def ask(question="When do backups run and how is a password reset?", timeout=20, **fields):
    return ask_call()(message("AskRequest")(question=question, **fields), timeout=timeout * SLOW).result


def events(question="When do backups run and how is a password reset?", **fields):
    return ask_call(True)(message("AskRequest")(question=question, **fields), timeout=20 * SLOW)


def stream_until_refused(stream):
    """The events before the stream fails."""
    try:
        yield from stream
    except grpc.RpcError:
        pass


def runs():
    return api.ask("ListRuns", page_size=500).runs


@check("a question is answered with its plan, its subtasks and their tools, citations and what it cost")
def _():
    script()
    result = ask(collections=["manual"])
    equal((result.question, list(result.plan.subtasks)), ("When do backups run and how is a password reset?",
          ["When do backups run?", "How is a password reset?"]), "the question and the plan")
    equal(result.answer, ANSWERS["<results>"], "the answer")
    first = result.subtasks[0]
    equal((first.task_name, first.is_completed, first.challenge_count, first.subtask_answer, first.status_code),
          ("When do backups run?", True, 1, "Backups run every night at 02:00.", 0), "a subtask")
    used = first.tool_results[0].results[0]
    equal((used.tool_name, json.loads(used.args), used.results[0].uri, used.results[0].snippet),
          ("search_documents", {"query": "words", "collections": ["manual"]}, "guide.md", BACKUP), "its tool")
    equal([(c.sentence_number, c.uri, c.line_from, c.quote) for c in result.citations],
          [(1, "guide.md", 10, "Backups run every night at 02:00."), (2, "guide.md", 20, RESET)], "the citations")
    equal([c.quote for c in first.citations], ["Backups run every night at 02:00."], "the subtask's own")
    equal((first.usage.model_calls, first.usage.tool_calls, result.outcome.usage.model_calls), (3, 1, 8), "what it cost")
    equal(word("StopReason", result.outcome.stop_reason), "STOP_REASON_COMPLETED", "why it stopped")
    offered = [c for c in services.of("LlmGateway/Chat") if c.tools][0]
    expect("collections" not in offered.tools[0].parameters_json, "the model could choose the collections")


@check("on the way the caller sees the plan, each subtask's stages, and the answer when it is checked")
def _():
    script(reflect=judged(True, "fine"))
    seen = list(events())
    kinds = [event.WhichOneof("event") for event in seen]
    equal((kinds[0], kinds[1], kinds[-1]), ("accepted", "planned", "result"), "first and last")
    stages = [word("SubtaskStage", e.subtask.stage).removeprefix("SUBTASK_STAGE_") for e in seen
              if e.WhichOneof("event") == "subtask" and e.subtask.subtask_number == 2]
    equal(stages, ["SELECTING_TOOLS", "RUNNING_TOOLS", "ANSWERING", "REFLECTING", "REFLECTED", "DONE"], "the stages")
    tools = [list(e.subtask.tool_names) for e in seen if e.subtask.tool_names]
    equal(tools, [["search_documents"]] * 2, "the tools")
    done = [e.subtask for e in seen if e.WhichOneof("event") == "subtask" and e.subtask.stage == 6]
    equal({d.text for d in done}, {ANSWERS["When do backups run?\n</subtask>"], ANSWERS["How is a password reset?\n</subtask>"]}, "the ends")
    equal("".join(e.answer_text for e in seen), ANSWERS["<results>"], "the text")
    equal(seen[-1].result.answer, ANSWERS["<results>"], "the answer")
    ids = [event.event_id for event in seen]
    expect(ids == sorted(ids), f"ids do not grow: {ids}")


@check("a sentence that no source carries is never shown, not even while the answer is written; who comes back sees each piece once")
def _():
    right = "Backups run every night at 02:00. To reset a password, open Settings and choose Security."
    invented = "The moon is made of cheese."
    script()

    def writes(request, context):
        draft = f"{right} {invented}"
        for at in range(0, len(draft), 9):
            yield message("ChatStreamEvent")(text=draft[at:at + 9])
        yield message("ChatStreamEvent")(finish=said(draft).finish)
    services.on("LlmGateway/ChatStream", writes)  # in case the draft is streamed
    services.on("LlmGateway/Chat", lambda r, c: said(f"{right} {invented}") if "<results>" in r.messages[-1].content
                else chat(r, c))
    options = {"request_id": "checked", "keep_running": True}
    seen = list(events(options=options))
    equal("".join(e.answer_text for e in seen), right, "the text")
    equal(seen[-1].result.answer, right, "the answer")
    expect(not [e for e in seen if invented in str(e)], "it was shown")
    piece = next(e for e in seen if e.answer_text)
    rest = list(events(options={**options, "after_event_id": piece.event_id}))
    equal([e.WhichOneof("event") for e in rest], ["result"], "what comes after the last piece")


@check("the same request_id gets the same run and answer, and a stream that was cut is taken up where it was")
def _():
    script()
    gate = threading.Event()

    def slow(request, context):
        gate.wait(10)
        return found(hit(BACKUP), hit(RESET, line=20))(request, context)
    services.on("ToolRunner/RunTools", slow)
    options = {"request_id": "cut", "keep_running": True}
    stream, before = events(options=options), []
    for event in stream:
        before.append(event)
        if event.subtask.stage == 2:
            break
    stream.cancel()
    gate.set()
    rest = list(events(options={**options, "after_event_id": before[-1].event_id}))
    expect(all(event.event_id > before[-1].event_id for event in rest), "it saw something twice")
    expect("planned" not in [e.WhichOneof("event") for e in rest], "the plan came twice")
    equal(rest[-1].result.outcome.run_id, before[0].accepted.run_id, "the run")
    again = ask(options={"request_id": "cut", "keep_running": True})
    equal((again.outcome.run_id, again.answer), (before[0].accepted.run_id, ANSWERS["<results>"]), "the answer again")
    equal((again.subtasks[0].usage.model_calls, len(services.of("Planner/Plan"))), (3, 1), "what it cost, once")
    refused("INVALID_ARGUMENT", lambda: ask("something else", options={"request_id": "cut"}))


@check("a caller that leaves takes its run along, unless it said keep_running")
def _():
    script()
    stopped = threading.Event()

    def hang(request, context):
        context.add_callback(stopped.set)
        while context.is_active():
            time.sleep(0.005)
        return message("RunToolsResponse")()
    services.on("ToolRunner/RunTools", hang)
    stream = events()
    run_id = next(stream).accepted.run_id
    for event in stream:
        if event.subtask.stage == 2:
            break
    wait_until(lambda: services.of("ToolRunner/RunTools"), "no tool was run", 5 * SLOW, every=0.01)
    stream.cancel()
    expect(stopped.wait(5 * SLOW), "the tools were not told")
    wait_until(lambda: word("RunState", api.ask("GetRun", run_id=run_id).run.state) == "RUN_STATE_CANCELLED",
               "the run goes on", 5 * SLOW, every=0.01)
    refused("DEADLINE_EXCEEDED", lambda: ask(timeout=0.5))
    wait_until(lambda: all(word("RunState", run.state) != "RUN_STATE_RUNNING" for run in runs()), "a run goes on", 5 * SLOW, every=0.01)


def hang_until(gate):
    """Tools that answer once the gate is open, unless their caller leaves before."""
    def tools(request, context):
        while context.is_active() and not gate.wait(0.005):
            pass
        return found(hit(BACKUP), hit(RESET, line=20))(request, context) if gate.is_set() else message("RunToolsResponse")()
    return tools


@check("a call that is repeated goes on with the run that ended with its first caller; a cancelled one stays so")
def _():
    gate = threading.Event()
    script(tools=hang_until(gate))
    stream = events(options={"request_id": "left"})
    run_id = next(stream).accepted.run_id
    wait_until(lambda: services.of("ToolRunner/RunTools"), "no tool was run", 5 * SLOW, every=0.01)
    stream.cancel()
    run = wait_until(lambda: (lambda now: now if now.ended_ms else None)(api.ask("GetRun", run_id=run_id).run), "the run goes on", 5 * SLOW)
    equal((word("RunState", run.state), word("StopReason", run.stop_reason)), ("RUN_STATE_CANCELLED", "STOP_REASON_CALLER_LEFT"), "the run")
    gate.set()
    again = ask(options={"request_id": "left"})
    equal((again.outcome.run_id, again.answer, len(services.of("Planner/Plan"))), (run_id, ANSWERS["<results>"], 1), "the answer, and plans")

    gate.clear()
    refused("DEADLINE_EXCEEDED", lambda: ask(options={"request_id": "late"}, timeout=0.5))
    gate.set()
    equal(ask(options={"request_id": "late"}).answer, ANSWERS["<results>"], "the answer after a deadline")

    gate.clear()
    stream = events(options={"request_id": "stopped"})
    run_id = next(stream).accepted.run_id
    api.ask("CancelRun", run_id=run_id)
    for _ in stream_until_refused(stream):
        pass
    gate.set()
    refused("CANCELLED", lambda: ask(options={"request_id": "stopped"}))


@check("a run that its caller has left, and that is then cancelled, stays cancelled: the call that is repeated does not go on with it")
def _():
    script(tools=hang_until(threading.Event()))
    stream = events(options={"request_id": "left-then-stopped"})
    run_id = next(stream).accepted.run_id
    wait_until(lambda: services.of("ToolRunner/RunTools"), "no tool was run", 5 * SLOW, every=0.01)
    stream.cancel()
    stopped = lambda: word("StopReason", api.ask("GetRun", run_id=run_id).run.stop_reason)
    wait_until(lambda: stopped() == "STOP_REASON_CALLER_LEFT", "the run goes on", 5 * SLOW)
    run = api.ask("CancelRun", run_id=run_id, reason="not wanted any more").run
    equal((word("StopReason", run.stop_reason), run.stop_text, stopped()), ("STOP_REASON_CANCELLED", "not wanted any more", "STOP_REASON_CANCELLED"), "why")
    for _ in range(2):
        expect("not wanted" in refused("CANCELLED", lambda: ask(options={"request_id": "left-then-stopped"})), "it does not say why")
        api.kill()
        api.start()
    equal((stopped(), len(api.ask("GetRun", run_id=run_id).run.resumptions)), ("STOP_REASON_CANCELLED", 0), "the run after a restart")


@check("a caller that repeats the call before its first connection is known to be lost gets the answer")
def _():
    gate = threading.Event()
    script(tools=hang_until(gate))
    first, second = events(options={"request_id": "both"}), events(options={"request_id": "both"})
    run_id = next(first).accepted.run_id
    equal(next(second).accepted.run_id, run_id, "the run of the repetition")
    wait_until(lambda: services.of("ToolRunner/RunTools"), "no tool was run", 5 * SLOW, every=0.01)
    first.cancel()
    wait_until(lambda: api.ask("GetRun", run_id=run_id).run.resumptions, "nobody took the run up again", 5 * SLOW, every=0.01)
    gate.set()
    equal(list(second)[-1].result.answer, ANSWERS["<results>"], "the answer")


@check("callers that leave one after another take the answer from none of those who stay")
def _():
    gate = threading.Event()
    script(tools=hang_until(gate))
    leave, stay = ([events(options={"request_id": "many"}) for _ in range(count)] for count in (5, 40))
    run_id = [next(stream).accepted.run_id for stream in leave + stay][0]
    for at, stream in enumerate(leave, 1):
        wait_until(lambda at=at: len(services.of("ToolRunner/RunTools")) >= at, "no tool was run", 5 * SLOW, every=0.01)
        stream.cancel()
        wait_until(lambda at=at: len(api.ask("GetRun", run_id=run_id).run.resumptions) == at, "nobody took the run up again", 5 * SLOW, every=0.01)
    gate.set()
    equal([list(stream)[-1].result.answer for stream in stay], [ANSWERS["<results>"]] * len(stay), "the answers")


@check("a question that is empty, blank, too long or no UTF-8 is refused at once, and no model is asked")
def _():
    script()
    before = len(runs())
    for question in ("", " \t\n", "　　", "x" * 32769, "x" * (1 << 20)):
        began = time.monotonic()
        expect("question" in refused("INVALID_ARGUMENT", lambda: ask(question)), "the field is not named")
        expect(time.monotonic() - began < 10 * SLOW, "it took its time")
    bad = b"\x0a\x04ab\xff\xfe"
    refused("INVALID_ARGUMENT", lambda: ask_call()(bad, timeout=5))
    refused("INVALID_ARGUMENT", lambda: list(events("")))
    for wrong in ({"collections": ["x"] * 17}, {"collections": [""]}, {"options": {"language": "x" * 40}},
                  {"options": {"timeout_ms": -1}}, {"options": {"after_event_id": -1}}, {"options": {"request_id": "x" * 129}},
                  {"options": {"request_id": "a\nb"}}, {"options": {"budget": {"tokens": -1}}}):
        refused("INVALID_ARGUMENT", lambda: ask("q?", **wrong))
    equal((len(services.of("Planner/Plan")), len(services.of("LlmGateway/Chat")), len(runs())), (0, 0, before), "what was asked")


@check("a run that fails ends the call with the node's error and the run's name")
def _():
    script(plan=lambda request, context: context.abort(grpc.StatusCode.NOT_FOUND, "there is no model 'gone'"))
    try:
        ask("Anything?")
        raise AssertionError("it did not fail")
    except grpc.RpcError as error:
        equal((error.code(), reason_of(error)), (grpc.StatusCode.NOT_FOUND, "RUN_FAILED"), "the error")
        expect("no model 'gone'" in error.details(), error.details())


@check("a planner that breaks leaves the question whole, and it is told")
def _():
    question = "When do backups run?"
    script(plan=lambda request, context: context.abort(grpc.StatusCode.INTERNAL, "a bug of the planner"))
    result = ask(question)
    equal((list(result.plan.subtasks), result.found), ([question], True), "the plan")
    equal([(word("DegradationKind", d.kind), d.status_code) for d in result.outcome.degradations if "a bug of the planner" in d.reason],
          [("DEGRADATION_KIND_FALLBACK", 13)], "what is told")


@check("a collection that the knowledge base does not have is refused, unless a tool server may have it")
def _():
    script()
    services.on("ToolRunner/GetKnowledgeBase", lambda r, c: message("GetKnowledgeBaseResponse")(collections=[{"name": "manual"}]))
    ask(collections=["manual"])
    said = refused("NOT_FOUND", lambda: ask(collections=["manual", "wiki"]))
    equal(said, "collections[1]: there is no collection 'wiki'; there is 'manual'", "what is said")
    schema = '{"type": "object", "properties": {"collections": {"type": "array"}}}'
    services.on("ToolRunner/ListTools", lambda r, c: message("ListToolsResponse")(tools=[tool("search_wiki", schema, server="wiki")]))
    equal(len(ask(collections=["wiki"]).plan.subtasks), 2, "the plan")


SUB = {"state": {"q": {"type": "string"}, "where": {"type": "string[]"}, "hits": {"type": "object[]"}}, "input": ["q", "where"], "output": ["hits"],
       "start": "look", "nodes": {"look": {"kind": "search", "query": "q", "collections": "where", "into": "hits", "on": {"found": "end", "nothing": "end"}}}}
# The sub-graph of a sub-graph searches, under another name of the field; a list of sources may leave the knowledge base out.
OWN = {"state": {"q": {"type": "string"}, "rooms": {"type": "string[]"}}, "input": ["q", "rooms"], "start": "a",
       "nodes": {"a": {"kind": "graph", "graph": "outer", "in": {"q": "q", "where": "rooms"}, "out": {}, "on": {"done": "end"}}},
       "graphs": {"outer": {**SUB, "start": "b", "nodes": {"b": {"kind": "graph", "graph": "inner", "on": {"done": "end"}}}}, "inner": SUB}}


@check("StartRun refuses a collection that is not there, too, before a run begins: of the agent itself, and of a graph that searches in a sub-graph")
def _():
    script()
    services.on("ToolRunner/GetKnowledgeBase", lambda r, c: message("GetKnowledgeBaseResponse")(collections=[{"name": "manual"}]))
    services.on("ToolRunner/Search", lambda r, c: message("SearchResponse")())
    agent("own", OWN)
    before = len(api.ask("ListRuns").runs)
    for name, field, given in (("helpdesk", "collections", {"question": "When do backups run?"}), ("own", "rooms", {"q": "When?"}),
                               ("deep_research", "collections", {"question": "When do backups run?"})):
        said = refused("NOT_FOUND", lambda: api.start_run(name, {**given, field: ["manual", "wiki"]}))
        equal(said, f"input_json.{field}[1]: there is no collection 'wiki'; there is 'manual'", f"of {name}")
    equal(len(api.ask("ListRuns").runs), before, "the runs")
    succeeded(api.start_run("own", {"q": "When?", "rooms": ["manual"]}))
    asked = len(services.of("ToolRunner/GetKnowledgeBase"))
    succeeded(api.start_run("own", {"q": "When?"}))
    equal(len(services.of("ToolRunner/GetKnowledgeBase")), asked, "asked of an input without collections")


@check("a repetition of StartRun is answered with its run after the collection has gone, and a tool-runner that cannot be asked refuses none")
def _():
    script()
    names = ["manual"]
    services.on("ToolRunner/GetKnowledgeBase", lambda r, c: message("GetKnowledgeBaseResponse")(collections=[{"name": n} for n in names]))
    services.on("ToolRunner/Search", lambda r, c: message("SearchResponse")())
    request = api.start_request("own", {"q": "When?", "rooms": ["manual"]}, request_id="once in the manual")
    first = api.call("StartRun", request).run
    names.clear()
    equal(api.call("StartRun", request).run.run_id, first.run_id, "the run")
    said = refused("NOT_FOUND", lambda: api.start_run("own", {"q": "When?", "rooms": ["manual"]}))
    equal(said, "input_json.rooms[0]: there is no collection 'manual'; no documents have been indexed", "what is said")
    services.on("ToolRunner/GetKnowledgeBase", lambda r, c: c.abort(grpc.StatusCode.UNAVAILABLE, "away"))
    succeeded(api.start_run("own", {"q": "When?", "rooms": ["wiki"]}))


@check("a typed call asks for its collections once")
def _():
    script()
    services.on("ToolRunner/GetKnowledgeBase", lambda r, c: message("GetKnowledgeBaseResponse")(collections=[{"name": "manual"}]))
    before = len(services.of("ToolRunner/GetKnowledgeBase"))
    ask(collections=["manual"])
    equal(len(services.of("ToolRunner/GetKnowledgeBase")) - before, 1, "times")


def extractive(text, confidence=0.9):
    """What the gateway's extractive provider says, None: that it found nothing."""
    return said(text or "I found nothing.", finding={"found": text is not None, "confidence": confidence})


def failing(text=None, tools=True, extracts=True):
    """A model that fails where the conversation has this text, with `tools` also where tools are offered; the extractive provider
    answers."""
    def one(request, context):
        asked = "\n".join(turn.content for turn in request.messages)
        if request.model == "extractive" and extracts:
            if request.tools:
                return called(("search_documents", '{"query": "words"}'))
            return extractive(next((text for key, text in ANSWERS.items() if key in asked), None))
        if text and text in asked and (tools or not request.tools):
            context.abort(grpc.StatusCode.DATA_LOSS, "the model said nothing that could be read")
        return chat(request, context)
    return one


def stands_in(result, part=None):
    """The degradations that tell of the documents' own sentences in the place of a model that failed."""
    return [(d.part, d.status_code) for d in result.outcome.degradations if word("DegradationKind", d.kind) == "DEGRADATION_KIND_EXTRACTIVE"
            and "could be read" in d.reason]


@check("where the model fails for one subtask, in any of its steps, the documents' own sentences stand in, and it is told")
def _():
    first = "When do backups run?"
    for name, tools in (("in all steps", True), ("in its answer", False)):
        script(chat=failing(f"<subtask>\n{first}", tools))
        seen = list(events())
        result = seen[-1].result
        equal([(s.found, s.status_code, s.message, s.subtask_answer) for s in result.subtasks],
              [(True, 0, "", ANSWERS[first + "\n</subtask>"]), (True, 0, "", ANSWERS["How is a password reset?\n</subtask>"])], name)
        equal((result.answer, result.found, result.HasField("not_found")), (ANSWERS["<results>"], True, False), name)
        equal(stands_in(result), [(first, 15)], f"what is told {name}")
        expect(not any("review" in d.reason for d in result.outcome.degradations), f"a review is told of that was not made: {result.outcome}")
        ends = {e.subtask.subtask_number: word("SubtaskStage", e.subtask.stage) for e in seen if e.WhichOneof("event") == "subtask"}
        equal(set(ends.values()), {"SUBTASK_STAGE_DONE"}, f"the last stages {name}")
    script(reflect=lambda request, context: context.abort(grpc.StatusCode.DATA_LOSS, "nothing that could be read")
           if request.subtask == first else judged(True)(request, context), chat=failing())
    result = ask()
    equal(([s.found for s in result.subtasks], stands_in(result)), ([True, True], [(first, 15)]), "in its review")


@check("where the model fails for the whole answer, those of the subtasks stand in, and it is told")
def _():
    script(chat=failing("<results>"))
    result = ask()
    equal((result.answer, result.found, len(stands_in(result))), (ANSWERS["<results>"], True, 1), "the answer")
    script(chat=failing("<results>", extracts=False))
    result = ask()
    equal((result.answer, result.found, [c.uri for c in result.citations]), ("\n\n".join(list(ANSWERS.values())[1:]), True, ["guide.md"] * 2),
          "the answer if there is no extractive provider either")


@check("a subtask that broke off, and that the documents do not answer either, says why, and the stream shows it as failed")
def _():
    def broken(request, context):
        if any("When do backups run?\n</subtask>" in turn.content for turn in request.messages):
            context.abort(grpc.StatusCode.DATA_LOSS, "the model said nothing that could be read")
        return chat(request, context)
    script(chat=broken)
    seen = list(events())
    result = seen[-1].result
    equal([(s.status_code, s.is_completed) for s in result.subtasks], [(15, False), (0, True)], "how they ended")
    expect("could be read" in result.subtasks[0].message, result.subtasks[0].message)
    failed = [e.subtask for e in seen if e.WhichOneof("event") == "subtask" and e.subtask.stage == 7]
    equal([(f.subtask_number, "could be read" in f.text) for f in failed], [(1, True)], "what was shown")
    equal(result.answer, ANSWERS["<results>"] + "\n\nNo answer was found in the documents for:\n- When do backups run?", "the answer")
    equal((result.found, list(result.not_found.looked_for)), (True, ["When do backups run?"]), "what was found")


@check("two questions on one thread: the second is told that it is busy")
def _():
    script()
    gate = threading.Event()
    services.on("ToolRunner/RunTools", lambda r, c: (gate.wait(10), found(hit(BACKUP), hit(RESET, line=20))(r, c))[1])
    stream = events(options={"thread_id": "t1"})
    next(stream)
    refused("ABORTED", lambda: ask(options={"thread_id": "t1"}), "THREAD_BUSY")
    gate.set()
    expect(list(stream)[-1].result.answer, "the first has no answer")


@check("the answer is in the language of the question, or in the one that was asked for")
def _():
    script(chat=lambda r, c: called(("search_documents", "{}")) if r.tools else said("飛びます。"), reflect=judged(False))
    expect("見つかりませんでした" in ask("システムは空を飛べますか").answer, "no Japanese answer")
    expect("No information" in ask("システムは空を飛べますか", options={"language": "en-GB"}).answer, "no English answer")
    equal(services.of("Planner/Plan")[1].prompting.language, "en", "the language of the plan")


INVENTED = "The moon is made of cheese and costs 900 dollars."


def desk(answer, quote=None, confidence=0.9, **methods):
    """A model that answers each subtask, and the question, with this text; and the extractive provider beside it."""
    def one(request, context):
        if request.tools:
            return called(("search_documents", "{}"))
        return extractive(quote, confidence) if request.model == "extractive" else said(answer)
    script(chat=one, plan=plan("When do backups run?"), **methods)

    def stream(request, context):
        reply = one(request, context)
        yield message("ChatStreamEvent")(text=reply.message.content)
        yield message("ChatStreamEvent")(finish=reply.finish)
    services.on("LlmGateway/ChatStream", stream)
    return ask("When do backups run?")


@check("a sentence that the model invents between two supported ones is left out, and told")
def _():
    result = desk(f"Backups run every night at 02:00. {INVENTED} They are kept for 30 days.")
    equal((result.answer, result.found, len(result.citations)), (BACKUP, True, 2), "the answer")
    expect(any("left out" in d.reason and "1" in d.reason for d in result.outcome.degradations), result.outcome.degradations)


@check("a model whose answer no source carries is replaced by the documents' own sentences, where they answer")
def _():
    result = desk(INVENTED, BACKUP)
    equal((result.answer, result.found, [c.uri for c in result.citations]), (BACKUP, True, ["guide.md"] * 2), "the answer")
    expect("EXTRACTIVE" in str([word("DegradationKind", d.kind) for d in result.outcome.degradations]), result.outcome.degradations)
    result = desk(INVENTED, None)
    equal((result.found, len(result.citations), result.subtasks[0].found), (False, 0, False), "what was found where they do not")


@check("that a model finds nothing is believed, unless the documents' own sentences clearly answer")
def _():
    declined = "**NOT_FOUND**\nI looked for the backup's time. Backups run every night at 02:00."
    result = desk(declined, BACKUP, 0.95)
    equal((result.subtasks[0].subtask_answer, result.answer), (BACKUP, "Backups run every night at 02:00."), "the answers where they do")
    result = desk(declined, BACKUP, 0.6)
    equal((result.found, len(result.citations), result.subtasks[0].found), (False, 0, False), "what was found where they hardly do")
    expect("No information was found" in result.answer, result.answer)
    equal([(h.uri, h.line_from, h.quote) for h in result.not_found.nearest], [("guide.md", 10, BACKUP), ("guide.md", 20, RESET)],
          "the nearest passages")
    equal(list(result.not_found.looked_for), ["When do backups run?"], "what was looked for")
    equal(desk(declined, None, reflect=judged(True)).found, False, "what was found where the reviewer is content")


@check("a word that begins a sentence declines nothing; alone on its line, or before a stop, it does")
def _():
    code = "NOT_FOUND is the status of a missing backup. Backups run every night at 02:00."
    in_japanese = "NOT_FOUNDは、バックアップがないことを示します。"
    tools = {"tools": found(hit(code), hit(in_japanese, line=20))}
    for answer in (code, in_japanese, "`NOT_FOUND` is the status of a missing backup.", "NOT_FOUND: is the status of a missing backup."):
        result = desk(answer, "Backups run every night at 02:00.", **tools)
        equal((result.found, result.subtasks[0].subtask_answer), (True, answer), f"of {answer!r}")
    for answer in ("NOT_FOUND", "NOT_FOUND.\nBackups run every night at 02:00.", "**NOT_FOUND**: Backups run every night at 02:00.",
                   "NOT_FOUND - Backups run every night at 02:00.", "NOT_FOUND。バックアップを探しました。"):
        result = desk(answer, None)
        equal((result.found, result.subtasks[0].found), (False, False), f"of {answer!r}")


@check("a comparison of which one side is not found is not answered; two questions are, in part")
def _():
    def one(request, context):
        if request.tools:
            return called(("search_documents", "{}"))
        asked = "\n".join(turn.content for turn in request.messages)
        return extractive(BACKUP if "night job?\n</subtask>" in asked or "<results>" in asked else None)
    for question, sides, wanted in (
            ("Which is older, the night job or the day job?", ("How old is the night job?", "How old is the day job?"), False),
            ("夜のnight job?と昼の処理ではどちらが古いですか？", ("処理の時期は night job?", "処理の時期は day job?"), False),
            ("How old is the night job and who runs it?", ("How old is the night job?", "Who runs it?"), True)):
        script(chat=one, plan=plan(*sides))
        result = ask(question)
        equal((result.found, bool(result.citations), list(result.not_found.looked_for)),
              (wanted, wanted, list(sides[wanted:])), question)


@check("what was found stands though the review never takes it, and is marked; a model's own words do not")
def _():
    def without_model(request, context):
        return called(("search_documents", "{}")) if request.tools else extractive(BACKUP)
    script(chat=without_model, plan=plan("When do backups run?"), reflect=judged(False, "Say when."))
    result = ask("When do backups run?")
    subtask, = result.subtasks
    equal((subtask.is_completed, subtask.found, subtask.challenge_count, subtask.subtask_answer), (False, True, 3, BACKUP), "the subtask")
    expect(any(d.part == "subtask 1" and "Say when." in d.reason for d in result.outcome.degradations), result.outcome.degradations)
    equal((result.found, len(result.citations), result.not_found.looked_for), (True, 2, []), "the result")
    result = desk("Backups run every night at 02:00.", None, reflect=judged(False, "Say when."))
    equal((result.found, result.subtasks[0].found), (False, False), "of a model's own words")
    result = desk("Backups run every night at 02:00.", BACKUP, reflect=judged(False, "Say when."))
    equal((result.found, result.answer), (True, "Backups run every night at 02:00."), "where the documents clearly answer")


@check("a budget ends it with what was found by then, and says so")
def _():
    hold = threading.Event()

    def reflect(request, context):  # the first subtask is done; then the second one spends all there is
        if request.subtask.startswith("When"):
            return judged(True)(request, context)
        hold.wait(2)
        return message("ReflectResponse")(reflection={"is_completed": False, "advice": "more"}, usage={"model_calls": 50})
    script(reflect=reflect)
    threading.Timer(0.5, hold.set).start()
    result = ask(options={"budget": {"model_calls": 20}})
    equal(word("StopReason", result.outcome.stop_reason), "STOP_REASON_BUDGET_MODEL_CALLS", "why it stopped")
    equal((result.answer, [(s.is_completed, s.subtask_answer) for s in result.subtasks]),
          (ANSWERS["When do backups run?\n</subtask>"], [(True, "Backups run every night at 02:00."),
                                                         (False, ANSWERS["How is a password reset?\n</subtask>"])]), "what was found")
    equal([(c.sentence_number, c.uri) for c in result.citations], [(1, "guide.md")], "its source")
    equal(result.subtasks[1].usage.model_calls, 52, "what the second one spent")


@check("a question that is under way when the server drains is answered")
def _():
    leaving = Orchestrator(None, *services.flags(), f"--drain.limit={4 * SLOW}s").start()
    begun = threading.Event()

    def slow(request, context):  # longer than new calls may come: half of the limit
        begun.set()
        time.sleep(2.5 * SLOW)
        return plan("When do backups run?", "How is a password reset?")(request, context)
    script(plan=slow)
    call = leaving.channel.unary_unary("/renga.v1.Helpdesk/Ask", request_serializer=lambda m: m.SerializeToString(),
                                       response_deserializer=message("AskResponse").FromString)
    asked = call.future(message("AskRequest")(question="When do backups run and how is a password reset?"), timeout=20 * SLOW)
    expect(begun.wait(5 * SLOW), "nobody planned")
    leaving.signal(signal.SIGTERM)
    equal(asked.result().result.answer, ANSWERS["<results>"], "the answer")
    equal(leaving.stop(signalled=True), 0, "how it ended")


@check("of the shipped agents those that are named are loaded, and the others are not known")
def _():
    few = Orchestrator(None, *services.flags(), "--orchestrator.shipped_only=helpdesk,deep_research").start()
    def call(method, **fields):
        return few.channel.unary_unary(f"/renga.v1.Orchestrator/{method}", request_serializer=lambda m: m.SerializeToString(),
                                       response_deserializer=message(method + "Response").FromString)(message(method + "Request")(**fields), timeout=20 * SLOW)
    equal([a.name for a in call("ListAgents").agents], ["deep_research", "helpdesk"], "the agents")
    refused("NOT_FOUND", lambda: call("StartRun", agent="autonomous_research"))
    equal(few.stop(), 0, "how it ended")


@check("a key that may use some agents alone is refused the others, in every method")
def _():
    def key(name, *methods):
        return {"name": name, "tenant": "t", "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": methods}
    every = ["renga.v1.Orchestrator/*", "renga.v1.Helpdesk/*"]
    keys = [key("desk", *every, "renga.v1.Orchestrator/agent.helpdesk"), key("other", *every, "renga.v1.Orchestrator/agent.other"),
            key("free", *every), key("root", "*")]
    guarded = Orchestrator(None, *services.flags(), "--rpc.keys=" + json.dumps(keys)).start()
    script()

    def call(key, method, service="Orchestrator", **fields):
        make = guarded.channel.unary_unary(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(),
                                           response_deserializer=message(method + "Response").FromString)
        return make(message(method + "Request")(**fields), timeout=20 * SLOW, metadata=[("authorization", "Bearer " + key)])
    question = {"question": "When do backups run?"}
    result = call("desk", "Ask", "Helpdesk", **question).result
    run_id, thread_id = result.outcome.run_id, result.outcome.thread_id
    for allowed in ("desk", "free", "root"):
        equal(call(allowed, "GetRun", run_id=run_id).run.run_id, run_id, "the run")
        equal([a.name for a in call(allowed, "ListAgents").agents], ["helpdesk"] if allowed == "desk" else SHIPPED, "the agents")
    expect("agent.helpdesk" in refused("PERMISSION_DENIED", lambda: call("other", "Ask", "Helpdesk", **question)), "no cure")
    for method, fields in (("StartRun", {"agent": "helpdesk"}), ("GetRun", {"run_id": run_id}), ("CancelRun", {"run_id": run_id}),
                           ("GetState", {"thread_id": thread_id}), ("DeleteThread", {"thread_id": thread_id}),
                           ("ListCheckpoints", {"thread_id": thread_id}), ("ResumeRun", {"run_id": run_id}),
                           ("DescribeAgent", {"agent": "helpdesk"}), ("ListRuns", {}), ("ListRuns", {"agent": "helpdesk"}),
                           ("ForkThread", {"thread_id": thread_id, "new_thread_id": "taken"}),
                           ("CopyThread", {"thread_id": thread_id, "new_thread_id": "taken"}), ("ListThreads", {})):
        refused("PERMISSION_DENIED", lambda: call("other", method, **fields))
    refused("NOT_FOUND", lambda: call("free", "GetState", thread_id="taken"))
    watch = guarded.channel.unary_stream("/renga.v1.Orchestrator/WatchRun", request_serializer=lambda m: m.SerializeToString(),
                                         response_deserializer=message("RunEvent").FromString)
    refused("PERMISSION_DENIED", lambda: list(watch(message("WatchRunRequest")(run_id=run_id), timeout=10,
                                                    metadata=[("authorization", "Bearer other")])))
    equal(len(call("other", "ListAgents").agents), 0, "the agents that the other sees")
    equal(len(call("desk", "ListRuns", agent="helpdesk").runs), 1, "the runs")
    for method in ("ForkThread", "CopyThread"):
        equal(call("desk", method, thread_id=thread_id, new_thread_id=method).thread.agent, "helpdesk", "the new thread's agent")
    equal(guarded.stop(), 0, "how it ended")


@check("a document that fails its run gives the caller its own code and reason")
def _():
    folder = os.path.join(api.agents, "helpdesk", "prompts", "en")
    os.makedirs(folder)
    with open(os.path.join(folder, "sorry.md"), "w") as out:
        out.write("No answer to '{question}' after ten rounds.")
    agent("helpdesk", {"state": {"question": {"type": "string"}, "collections": {"type": "string[]"}}, "start": "give_up", "nodes": {
        "give_up": {"kind": "fail", "code": "RESOURCE_EXHAUSTED", "reason": "LOOP_LIMIT", "prompt": "sorry"}}})
    try:
        ask("Why?")
        raise Broken("it is answered")
    except grpc.RpcError as error:
        equal((error.code(), reason_of(error), error.details()),
              (grpc.StatusCode.RESOURCE_EXHAUSTED, "LOOP_LIMIT", "node 'give_up' failed: No answer to 'Why?' after ten rounds."), "the error")
    listed = api.ask("ListRuns", agent="helpdesk", page_size=1).runs[0]
    equal((listed.reason, word("RunState", listed.state), listed.undone), ("LOOP_LIMIT", "RUN_STATE_FAILED", False), "the run in the list")


finish()
