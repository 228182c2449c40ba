#!/usr/bin/env python3
"""Runs of agents as LangSmith would show them: whole trees of run, node, and requests to models, tools and searches, with
and without a trace of the caller, over failures, questions, restarts and kills. `run_tree.py one|five`: the suite in one
process, or as five. Needs RENGA_BIN and RENGA_PROTO."""
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
for near in ("helpdesk", "research"):
    sys.path.insert(0, os.path.join(HERE, "..", near))
from suite import BIN, SERVICES, SLOW, Suite, expect, folder, index  # noqa: E402
import collector  # noqa: E402
from checks import check, finish, follow, wait_until  # noqa: E402
from contract import message, number  # noqa: E402
from ports import free_port  # noqa: E402
from model import GATEWAY, Model, call, plan  # noqa: E402

os.environ["OTEL_BSP_SCHEDULE_DELAY"] = "50"  # spans are not waited for
HOW = sys.argv[1]
FIVE = HOW == "five"
CALLER, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
FOREIGN = [("traceparent", f"00-{CALLER}-{SPAN}-01"), ("tracestate", "rojo=1,congo=t61rcWkgMzE")]
PROTOBUF = ["--trace.protocol=protobuf"]
SECRET = "sk-0123456789abcdefghijklmnop"

agents = os.path.join(folder, "agents")
TEXT = {"state": {"x": {"type": "any"}, "text": {"type": "string"}}}
ASK = {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "end"}}
CHAT = {"kind": "chat", "prompt": "say", "into": "text", "model": "scripted", "on": {"replied": "end"}}
DOCUMENTS = {
    "unlucky": {**TEXT, "start": "call", "log": ["text"], "nodes": {"call": {
        "kind": "remote", "address": "127.0.0.1:1", "retry": {"attempts": 2, "base": "1ms"}, "on": {"done": "end"}}}},
    "asks": {**TEXT, "start": "inner", "graphs": {"inner": {**TEXT, "start": "say", "nodes": {"say": {**CHAT, "on": {"replied": "ask"}}, "ask": ASK}}},
             "nodes": {"inner": {"kind": "graph", "graph": "inner", "on": {"done": "end"}}}},
    "says": {**TEXT, "start": "inner", "graphs": {"inner": {**TEXT, "start": "first", "nodes": {"first": {**CHAT, "on": {"replied": "say"}}, "say": {**CHAT, "prompt": "last"}}}},
             "nodes": {"inner": {"kind": "graph", "graph": "inner", "on": {"done": "end"}}}},
    "wide": {"state": {"l": {"type": "any[]", "initial": list(range(60))}, "all": {"type": "object[]", "reduce": "append"}}, "start": "each",
             "graphs": {"one": {**TEXT, "start": "say", "nodes": {"say": CHAT}}}, "max_concurrency": 60, "nodes": {"each": {
                 "kind": "each", "of": "l", "as": "x", "graph": "one", "into": "all", "on": {"done": "end"}}}},
    "counts": {"state": {"n": {"type": "integer", "reduce": "sum"}, "most": {"type": "integer", "initial": 3}, "next": {"type": "string"},
                         "rows": {"type": "object[]", "reduce": "append"}, "more": {"type": "boolean", "initial": True}},
               "log": ["n", "next", "rows"], "log_near": {"n": "most"}, "start": "count", "recursion_limit": 20, "nodes": {
                   "count": {"kind": "set", "values": {"n": 1, "next": f"again {SECRET} " + "あ" * 100, "rows": [{"a": 1}, {"a": 2}]},
                             "visits": {"max": 3, "then": "end"}, "on": {"done": "count"}}}},
}
for name, document in DOCUMENTS.items():
    os.makedirs(os.path.join(agents, name, "prompts", "en"))
    with open(os.path.join(agents, name, "graph.json"), "w") as file:
        json.dump({"agent": name, **document}, file)
    for prompt, words in {"say": "Say it.", "last": "Say the last."}.items():
        with open(os.path.join(agents, name, "prompts", "en", f"{prompt}.md"), "w") as file:
            file.write(words)

summary = Model.summary


class Held:
    """Answers of the model to these words wait until they may go, or the `with` ends."""
    all = {}

    def __init__(self, words):
        self.words, self.asked, self.may = words, threading.Event(), threading.Event()

    def __enter__(self):
        Held.all[self.words] = self
        return self

    def __exit__(self, *_):
        del Held.all[self.words]
        self.may.set()


def answer(self, text):
    for held in [held for words, held in list(Held.all.items()) if words in text]:
        held.asked.set()
        held.may.wait(30)
    return summary(self, text) if "<results>" in text else "It is said."


Model.summary = answer
CONTENT = {"llm_gateway": "--llm_gateway.log_content", "orchestrator": "--orchestrator.trace_content", "tool_runner": "--tool_runner.trace_content"}
suite = None


def serve(**more):
    """The suite for LangSmith, with more options of a service."""
    global suite
    flags = {name.replace("-", "_"): [*collector.LANGSMITH, *more.get(name.replace("-", "_"), [])] for name in SERVICES}
    flags["orchestrator"].append(f"--orchestrator.agents={agents}")
    collector.spans.clear()
    collector.requests.clear()
    suite = Suite(**flags).five() if FIVE else Suite(all=list(dict.fromkeys(sum(flags.values(), [])))).one()


index()
def door():
    return suite.processes["orchestrator" if FIVE else "renga"]


seen = set()  # traces of earlier checks: their spans stay, since some may be late


def is_told(run, roots):
    """Whether all requests and tools that the run has counted so far have come, be it in earlier traces of it."""
    name = run.attributes.get("langsmith.metadata.run_id")
    parts = [root for root in roots if name and root.attributes.get("langsmith.metadata.run_id") == name and root.began <= run.began]
    return all(sum(len(part.below(kind=kind)) for part in parts) >= run.attributes[f"renga.run.{key}_calls"]
               for kind, key in (("llm", "model"), ("tool", "tool"))) if name else True


def trees(count=1, enough=lambda root: True):
    """Waits for so many more whole traces, each with enough in it; gives their roots."""
    def whole():
        roots = collector.trees()
        new = [root for root in roots if root.trace not in seen]
        return new if len(new) >= count and all(is_told(root, roots) and enough(root) for root in new) and not collector.faults() else None
    try:
        roots = wait_until(whole, "whole traces", 20 * SLOW, 0.02)
    except Exception:
        told = "; ".join(collector.faults()[:5]) or "no fault"
        drawn = "\n".join(run.draw() for run in collector.trees() if run.trace not in seen)
        collector.spans.clear()
        expect(False, f"{told}; wanted were {count} traces, not:\n{drawn}")
    seen.update(root.trace for root in roots)
    return roots


def ask(method, request, reply, stream=False, metadata=None, timeout=30, service="Orchestrator"):
    return call(suite.channel, service, method, reply, stream)(request, timeout=timeout * SLOW, wait_for_ready=True, metadata=metadata)


def start(agent, given=None, metadata=None, **fields):
    request = message("StartRunRequest")(agent=agent, input_json=json.dumps(given or {}), wait=True, **fields)
    return ask("StartRun", request, "StartRunResponse", metadata=metadata).run


def resume(run, answer):
    request = message("ResumeRunRequest")(run_id=run.run_id, answer_json=json.dumps(answer), wait=True)
    return ask("ResumeRun", request, "ResumeRunResponse").run


def lines(log, key):
    """What the log lines with this id say, as a list of dictionaries."""
    read = [json.loads(line) for line in log if f'"id":"{key}"' in line]
    return [{**line, **dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line["text"]))} for line in read]


WHOSE = ("of its own", "of a caller that LangSmith does not know")
QUESTION = f"What does error E-1024 mean? After how many minutes does a session timeout happen? {SECRET}"

serve(**{name: [flag] + PROTOBUF for name, flag in CONTENT.items()}, planner=PROTOBUF, reviewer=PROTOBUF)


def shows_content(run, tools, models, found):
    """Each bounded, and without the key in it."""
    expect("E-1024" in run.attributes["input.value"] and "license server" in run.attributes["output.value"], f"{run.attributes}")
    expect(any("E-1024" in one.attributes.get("gen_ai.input.messages", "") for one in models), run.draw())
    expect(all("query" in one.attributes["input.value"] and one.attributes["output.value"] for one in tools), run.draw())
    expect(any("E-1024" in one.attributes.get("retrieval.documents.0.document.content", "") for one in found), run.draw())
    for one in run:
        text = json.dumps({key: value for key, value in one.attributes.items() if not key.startswith("gen_ai.")})
        expect(SECRET not in text and len(text) < 100_000, f"{one.name}: {text[:300]}")


for whose in WHOSE:
    metadata = FOREIGN if "caller" in whose else None

    @check(f"a question to the help desk, with a trace {whose}, is one whole tree")
    def _(metadata=metadata):
        request = message("AskRequest")(question=QUESTION)
        events = list(ask("AskStream", request, "AskEvent", True, metadata, service="Helpdesk"))
        run, = trees(1)
        expect(run.name == "invoke_agent helpdesk" and run.kind == "chain" and not run.above, run.draw())
        expect(run.links == ([(CALLER, SPAN)] if metadata else []), f"links: {run.links}")
        expect(run.attributes.get("langsmith.metadata.caller_trace_id") == (CALLER if metadata else None), f"{run.attributes}")
        expect(run.trace != CALLER and run.attributes["langsmith.metadata.run_id"] == events[0].accepted.run_id, f"{run.attributes}")
        tools, models, found = run.below(kind="tool"), run.below(kind="llm"), run.below(kind="retriever")
        expect(tools and models and found, run.draw())
        expect({one.service for one in run} == ({f"renga-{name}" for name in ("orchestrator", "llm-gateway", "tool-runner")} if FIVE else {"renga"}),
               f"{sorted({one.service for one in run})}\n{run.draw()}")
        expect(all(one.parent.kind == "tool" for one in found), run.draw())
        expect(all("renga.node" in one.parent.attributes for one in tools + models), run.draw())
        expect(not [one for one in run if one.name.startswith("renga.v1.")], f"calls are spans:\n{run.draw()}")
        expect(all(one["content-type"] == "application/x-protobuf" for one in collector.requests), f"{collector.requests}")
        shows_content(run, tools, models, found)
        return f"{len(list(run))} spans"


@check("autonomous research is one whole tree, and each node of its loop has a line with iteration and next action")
def _():
    request = message("AutonomousResearchRequest")(theme="session timeout after minutes", max_iterations=3)
    result = ask("Research", request, "AutonomousResearchResponse", service="AutonomousResearch", metadata=FOREIGN, timeout=60).result
    run, = trees(1)
    expect(run.name == "invoke_agent autonomous_research" and run.attributes["langsmith.metadata.run_id"] == result.outcome.run_id, run.draw())
    expect(run.below(kind="retriever") and run.below(kind="tool") + run.below(kind="llm"), run.draw())
    told = [line for line in lines(door().log, "run.node") if line["agent"] == "autonomous_research"]
    expect({"supervisor", "researcher"} <= {line["node"] for line in told} and all(line["level"] == "info" and int(line["duration_ms"]) >= 0 for line in told),
           f"{[line['text'] for line in told]}")
    expect(any(line["next_action"] == '"research"' for line in told) and told[-1]["iteration_count"] == str(result.iterations), f"{[line['text'] for line in told]}")
    near = [line["text"] for line in lines(door().log, "run.near") if line["agent"] == "autonomous_research"]
    expect([text.split(": ")[-1] for text in near] == ["iteration_count is 2, its limit is 3"], f"{near}")


suite.stop()
serve(llm_gateway=GATEWAY)
for whose in WHOSE:
    metadata = FOREIGN if "caller" in whose else None

    @check(f"deep research with a model, with a trace {whose}, is one whole tree with tokens at each request")
    def _(metadata=metadata):
        question = plan(f"tree {whose}", ["error E-1024 license server"], ["session timeout after minutes"])
        ask("Research", message("DeepResearchRequest")(question=question), "DeepResearchResponse", metadata=metadata, service="DeepResearch")
        run, = trees(1)
        expect(run.links == ([(CALLER, SPAN)] if metadata else []), f"links: {run.links}")
        models = [one for one in run.below(kind="llm") if one.attributes["gen_ai.request.model"] == "scripted"]
        expect(len(models) >= 3, run.draw())
        for one in models:
            used = [one.attributes[f"gen_ai.usage.{key}_tokens"] for key in ("input", "output", "total")]
            expect(used == [20, 10, 30] and one.attributes["gen_ai.response.model"] == "scripted-2026", f"{one.attributes}")
        expect(run.attributes["renga.run.input_tokens"] == 20 * len(models), f"{run.attributes['renga.run.input_tokens']} of {len(models)} requests")
        shown = [key for one in run for key in one.attributes if key in ("input.value", "output.value", "gen_ai.input.messages")
                 or key.startswith("retrieval.documents")]
        expect(not shown, f"content is shown that nobody asked for: {shown}")


@check("a tree without one of its spans is refused, whichever inner one it is; so are two roots, and times the wrong way round")
def _():
    start("says")
    whole, = trees(1)
    given = [run.span for run in whole]
    above = {span.get("parentSpanId") for span in given}
    inner = [span for span in given if span["spanId"] in above]
    expect(len(inner) >= 3, f"{len(inner)} spans with children")
    for gone in inner:
        told = collector.faults([span for span in given if span is not gone])
        expect(any("has not come" in one for one in told), f"without {gone['name']}: {told}")
    root = next(span for span in given if "parentSpanId" not in span)
    expect(any("2 roots" in one for one in collector.faults([*given, {**root, "spanId": "1" * 16}])), "two roots")
    late = [{**span, "startTimeUnixNano": span["endTimeUnixNano"], "endTimeUnixNano": span["startTimeUnixNano"]} for span in given]
    expect(any("it began at" in one for one in collector.faults(late)), "times")


@check("a node that fails twice is two sibling spans with their error, and the run says why it failed")
def _():
    run = start("unlucky", {"text": "a private text"})
    expect(run.status_code == 14, f"{run}")
    tree, = trees(1)
    tries = tree.below(name="call")
    expect([one.attributes["renga.attempt"] for one in tries] == [1, 2] and all(one.parent is tree for one in tries), tree.draw())
    expect(all(one.failed and one.error.startswith("UNAVAILABLE") and one.attributes["error.type"] == "UNAVAILABLE" for one in [*tries, tree]),
           tree.draw())
    failing = lines(door().log, "run.failing")
    expect(len(failing) == 1 and failing[0]["level"] == "warn" and failing[0]["node"] == "call" and failing[0]["code"] == "UNAVAILABLE" and
           failing[0]["attempts"] == "2", f"{failing}")


@check("a run that waits for a person is a whole tree at once, and after its answer a second one; both are of one thread")
def _():
    run = start("asks", thread_id="waits")
    first, = trees(1)
    expect(first.attributes["renga.run.state"] == "RUN_STATE_WAITING" and first.below(kind="llm") and first.below(name="graph inner"), first.draw())
    if FIVE:  # days later, in another process
        suite.channel.close()
        suite.restart("orchestrator")
        suite.open("orchestrator")
    expect(resume(run, 42).state == number("RunState", "RUN_STATE_SUCCEEDED"), "it has not ended")
    second, = trees(1)
    expect(second.below(name="graph inner") and second.below(name="ask") and second.trace != first.trace, second.draw())
    for key in ("langsmith.metadata.thread_id", "langsmith.metadata.run_id"):
        expect(first.attributes[key] == second.attributes[key], f"{key}: {first.attributes[key]}, {second.attributes[key]}")
    expect(first.attributes["langsmith.metadata.thread_id"] == "waits" and second.began >= first.ended, "their order")


def begin(agent, held, **fields):
    """A run, and its model is held."""
    request = message("StartRunRequest")(agent=agent, input_json="{}", **fields)
    run = ask("StartRun", request, "StartRunResponse").run
    expect(held.asked.wait(20 * SLOW), "the request has not come")
    return run


if FIVE:
    @check("an orchestrator is killed in a request to a model: the tree is still whole, with all that the process before has sent")
    def _():
        with Held("Say the last") as held:
            run = begin("says", held, thread_id="killed")
            wait_until(lambda: any(span["name"] == "first" and span["traceId"] not in seen for span in collector.spans), "the first node's span", 20 * SLOW)
            suite.channel.close()
            suite.processes["orchestrator"].kill()
            wait_until(lambda: sum(span["name"] == "chat scripted" and span["traceId"] not in seen for span in collector.spans) >= 2, "the request that was cut", 20 * SLOW)
            expect(any("has not come" in fault for fault in collector.faults()), "no parent is missing: the check proves nothing")
        suite.start("orchestrator")
        suite.open("orchestrator")
        tree, = trees(1, lambda root: len(root.below(kind="llm")) >= 3)
        expect(tree.attributes["langsmith.metadata.run_id"] == run.run_id, tree.draw())
        cut = [one for one in tree.below(name="say") if one.failed]
        expect(len(cut) == 1 and cut[0].below(kind="llm") and "orchestrator ended" in cut[0].error, tree.draw())

    @check("an orchestrator is stopped in the middle of a run: the next one sends the root, once")
    def _():
        with Held("Say it") as held:
            run = begin("says", held, thread_id="stopped")
            suite.channel.close()
            suite.processes["orchestrator"].process.terminate()
            wait_until(lambda: any("daemon.stopping" in line for line in suite.processes["orchestrator"].log), "that it stops", 20 * SLOW)
        suite.processes["orchestrator"].process.wait(30 * SLOW)
        expect(not [one for one in collector.trees() if one.attributes.get("langsmith.metadata.run_id") == run.run_id], "its root is there already")
        suite.start("orchestrator")
        suite.open("orchestrator")
        tree, = trees(1)
        expect(tree.attributes["renga.run.state"] == "RUN_STATE_SUCCEEDED" and len(tree.below(name="graph inner")) == 1, tree.draw())


@check("branches that run in other loops are in the tree, each request below its own node")
def _():
    start("wide")
    tree, = trees(1)
    said = tree.below(kind="llm")
    expect(len(said) == 60 and len({one.parent.id for one in said}) == 60 and all(one.parent.name == "say" for one in said), tree.draw())


@check("a request to a model from outside any run is a tree too, below the call; a caller's trace is a link")
def _():
    if FIVE:
        gateway = grpc.insecure_channel(f"127.0.0.1:{suite.processes['llm-gateway'].port}")
    else:
        gateway = suite.channel
    request = message("ChatRequest")(model="scripted", messages=[message("ChatMessage")(role=2, content="hi")])
    call(gateway, "LlmGateway", "Chat", "ChatResponse")(request, timeout=20 * SLOW, wait_for_ready=True, metadata=FOREIGN)
    tree, = trees(1)
    expect(tree.name == "renga.v1.LlmGateway/Chat" and [one.name for one in tree.below()] == ["chat scripted"], tree.draw())
    expect(tree.links == [(CALLER, SPAN)], f"{tree.links}")


@check("a run from the terminal is a tree")
def _():
    done = subprocess.run([f"{BIN}/renga", "run", "counts", f"--peers.orchestrator=ipv4:127.0.0.1:{door().port}"], capture_output=True,
                          text=True, timeout=30 * SLOW, cwd=folder)
    expect(done.returncode == 0, done.stderr)
    tree, = trees(1)
    expect(tree.name == "invoke_agent counts" and not tree.links, tree.draw())
    del door().log[:]


@check("calls that do no work of an agent are no traces: LangSmith counts each")
def _():
    ask("ListRuns", message("ListRunsRequest")(), "ListRunsResponse", metadata=FOREIGN)
    ask("ListAgents", message("ListAgentsRequest")(), "ListAgentsResponse")
    start("counts")
    found = trees(1)
    expect([run.name for run in found] == ["invoke_agent counts"], f"{[run.name for run in found]}")


@check("each node has its log line with the fields that its document names, bounded and without keys, and a warning before the limit")
def _():
    told = wait_until(lambda: (lambda found: found if len(found) >= 3 else None)([line for line in lines(door().log, "run.node") if line["agent"] == "counts"]),
                      "the lines", 10 * SLOW)
    expect([(line["node"], line["visit"], line["n"], line["outcome"]) for line in told] == [("count", str(i), str(i), "done") for i in (1, 2, 3)], f"{told}")
    expect(all(line["level"] == "info" and line["rows"] == f"[{2 * i + 2}]" and int(line["duration_ms"]) >= 0 for i, line in enumerate(told)), f"{told}")
    expect(all(len(line["next"].encode()) < 80 and "again sk-****" in line["next"] and SECRET not in line["text"] for line in told), f"{told}")
    expect(re.fullmatch("[0-9a-f]{32}", told[0]["trace_id"]), f"{told[0]}")
    near = [line["text"] for line in lines(door().log, "run.near") if line["agent"] == "counts"]
    expect(len(near) == 2 and any(": n is 2, its limit is 3" in text for text in near) and any("visits of count is 2, its limit is 3" in text for text in near),
           f"{near}")
    quiet = [line for line in lines(door().log, "run.node") if line["agent"] in ("says", "helpdesk")]
    expect(not quiet, f"nodes of documents without \"log\" are told: {quiet[:2]}")


@check("the key for LangSmith is in no log line")
def _():
    for process in suite.processes.values():
        expect(not [line for line in process.log if collector.KEY in line or collector.KEY[:12] in line], "it is")


@check("all processes end with 0 on SIGTERM, and no sanitizer has complained")
def _():
    suite.stop()


def hanging():
    """A collector that takes connections and never answers; its port."""
    door = socket.create_server(("127.0.0.1", 0), backlog=512)
    kept.append(door)
    threading.Thread(target=lambda: [kept.append(door.accept()) for _ in range(1000)], daemon=True).start()
    return door.getsockname()[1]


kept = []

if not FIVE:
    @check("a client that passes itself off as one of our services by its tracestate gets a root of its own; a service's key is believed")
    def _():
        rights = {"client": ["renga.v1.LlmGateway/*"], "service": ["renga.v1.LlmGateway/*", "renga.v1.LlmGateway/forward"]}
        keys = [{"name": name, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": methods} for name, methods in rights.items()]
        serve(llm_gateway=[*GATEWAY, f"--rpc.keys={json.dumps(keys)}"])
        request = message("ChatRequest")(model="scripted", messages=[message("ChatMessage")(role=2, content="hi")])
        ours = [("traceparent", f"00-{CALLER}-{SPAN}-01"), ("tracestate", f"renga={SPAN}")]
        chat = call(suite.channel, "LlmGateway", "Chat", "ChatResponse")
        chat(request, timeout=20 * SLOW, wait_for_ready=True, metadata=[*ours, ("authorization", "Bearer client")])
        tree, = trees(1)
        expect(tree.trace != CALLER and tree.links == [(CALLER, SPAN)] and tree.below(kind="llm"), tree.draw())
        chat(request, timeout=20 * SLOW, metadata=[*ours, ("authorization", "Bearer service")])
        told = wait_until(lambda: [span for span in collector.spans if span["traceId"] == CALLER], "the service's trace", 20 * SLOW)
        expect([(span["name"], span["parentSpanId"]) for span in told] == [("chat scripted", SPAN)], f"{told}")
        collector.spans.clear()
        suite.stop()

    @check("a collector that hangs costs spans, bounded memory and no time: runs go on, and what does not fit is counted")
    def _():
        port, http = free_port(), free_port()
        process = subprocess.Popen([f"{BIN}/renga-orchestrator", f"--rpc.listen=127.0.0.1:{port}", f"--http.listen=127.0.0.1:{http}", "--orchestrator.store=memory:",
                                    f"--orchestrator.agents={agents}", f"--trace.endpoint=http://127.0.0.1:{hanging()}", "--trace.roots=runs", "--orchestrator.node_log=off"],
                                   cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            follow("the orchestrator", process)
            suite.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)])
            times, resident = [], []
            for number in range(1200 // SLOW):
                begun = time.monotonic()
                start("counts", {"most": 100})
                times.append(time.monotonic() - begun)
                if number in (1100 // SLOW, 1200 // SLOW - 1):
                    with open(f"/proc/{process.pid}/status") as status:
                        resident.append(int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)))
            with urllib.request.urlopen(f"http://127.0.0.1:{http}/metrics", timeout=20 * SLOW) as answer:
                figures = dict(re.findall(r"^(renga_spans_\w+) (\d+)$", answer.read().decode(), re.M))
            expect(int(figures["renga_spans_queued"]) <= 4096 and int(figures["renga_spans_exported_total"]) == 0, f"{figures}")
            expect(SLOW > 1 or int(figures["renga_spans_dropped_total"]) > 0, f"{figures}")
            expect(SLOW > 1 or resident[-1] < 160 * 1024, f"it has {resident[-1]} KiB")
            expect(max(times[1:]) < 5, f"a run took {max(times):.1f} s")  # a request to the collector takes 10 s
            suite.channel.close()
            begun = time.monotonic()
            process.terminate()
            expect(process.wait(30 * SLOW) == 0 and time.monotonic() - begun < 10 * SLOW, f"its end took {time.monotonic() - begun:.1f} s")
            return f"median {sorted(times)[len(times) // 2] * 1000:.1f} ms, {resident[-1] // 1024} MiB, {figures['renga_spans_dropped_total']} dropped"
        finally:
            process.kill()
            process.wait()
            process.stderr.close()


finish()
