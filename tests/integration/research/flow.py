#!/usr/bin/env python3
"""Deep research over real documents with a scripted model, from Python and from Node: notes, plans that are too long, queries
that find nothing or take too long, a stream that is cut, threads that are deleted, other tenants. `flow.py one|five`: the
suite in one process, or as five. Needs RENGA_BIN, RENGA_PROTO and NODE (or no Node)."""
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "helpdesk"))
from suite import BIN, SLOW, STORES, Process, Suite, expect, folder, index  # noqa: E402
from documents import docs, lines  # noqa: E402
from checks import check, finish, wait_until  # noqa: E402
from contract import message  # noqa: E402
from slow_tools import SlowTools  # noqa: E402
from model import GATEWAY, QUESTION, Model, call, plan, says  # noqa: E402

HOW = sys.argv[1]
BACKUP, ERROR, SESSION = "夜間バックアップの開始時刻", "error E-1024 license server", "session timeout after minutes"
SENTENCES = {BACKUP: "夜間バックアップの開始時刻は毎日午前2時です。", ERROR: "Error E-1024 means that the license server cannot be reached.",
             SESSION: "A session timeout happens after 20 minutes without activity."}


index()
with open(os.path.join(HERE, "..", "..", "..", "services", "orchestrator", "agents", "deep_research", "graph.json")) as file:
    GRAPH = file.read()
impatient = os.path.join(folder, "agents", "deep_research")  # as it is shipped, but for the time of a search
os.makedirs(impatient)
with open(os.path.join(impatient, "graph.json"), "w") as file:
    quick = re.sub(r'("kind": "search".*?"timeout": )"\w+", "retry": \{[^}]*\}', r'\1"500ms"', GRAPH, count=1, flags=re.S)
    expect(quick != GRAPH, "the document has no search with a timeout")
    file.write(quick)
os.symlink(os.path.join(HERE, "..", "..", "..", "services", "orchestrator", "agents", "deep_research", "prompts"), os.path.join(impatient, "prompts"))

slow = None
suite = Suite(llm_gateway=GATEWAY)
if HOW == "one":
    suite.one()
    tools_port = suite.processes["renga"].port
else:
    suite.start("llm-gateway")
    suite.start("tool-runner")
    tools_port = suite.processes["tool-runner"].port
    slow = SlowTools(tools_port)
    suite.processes["tool-runner"].port = slow.port
    suite.flags["orchestrator"] = [f"--orchestrator.agents={os.path.dirname(impatient)}"]
    for name in ("planner", "reviewer", "orchestrator"):
        suite.start(name)
    suite.open("orchestrator")
PORT = suite.processes["renga" if HOW == "one" else "orchestrator"].port
tools = grpc.insecure_channel(f"127.0.0.1:{tools_port}")


def research(question, timeout=30, **fields):
    request = message("DeepResearchRequest")(question=question, **fields)
    return call(suite.channel, "DeepResearch", "Research", "DeepResearchResponse")(request, timeout=timeout * SLOW, wait_for_ready=True).result


def stream(question, **fields):
    request = message("DeepResearchRequest")(question=question, **fields)
    return call(suite.channel, "DeepResearch", "ResearchStream", "DeepResearchEvent", True)(request, timeout=60 * SLOW, wait_for_ready=True)


def notes_of(thread, metadata=None, channel=None):
    request = message("ListNotesRequest")(thread_id=thread)
    return call(channel or tools, "ToolRunner", "ListNotes", "ListNotesResponse")(request, timeout=20 * SLOW, metadata=metadata).notes


def kinds(events):
    return [event.WhichOneof("event") for event in events if event.WhichOneof("event")]


def is_cited(result):
    """Each citation has words that really stand in its source."""
    expect(result.citations, f"nothing is cited: {result.report_md}")
    for citation in result.citations:
        there = re.sub("<[^>]*>", "", lines(citation.uri, citation.line_from, citation.line_to))
        expect(citation.quote in there, f"{citation.quote!r} is not in {citation.uri}:{citation.line_from}: {there!r}")


@check("D1: each query becomes a note with step_no, query, summary and sources, kept beside the thread and shown in the result")
def _():
    result = research(plan("first", [BACKUP, ERROR], [SESSION]), options={"thread_id": "d1"})
    expect(list(result.queries) == [BACKUP, ERROR, SESSION] and result.cycles == 2, f"{result.queries} in {result.cycles} cycles {result.outcome.degradations} {[k for k, _ in Model.seen]}")
    kept = notes_of("d1")
    expect([(n.step_no, n.query) for n in kept] == [(1, BACKUP), (2, ERROR), (3, SESSION)], f"{kept}")
    for place, note in enumerate(kept):
        expect(SENTENCES[note.query] in note.summary_md and note.sources and note.run_id == result.outcome.run_id, f"{note}")
        shown = result.notes[place]
        expect((shown.step_no, shown.query, shown.summary_md, list(shown.sources)) == (note.step_no, note.query, note.summary_md, list(note.sources)),
               f"{shown} and {note}")
    is_cited(result)
    expect("cheese" not in result.report_md and "invented" not in result.report_md, f"an invention is published: {result.report_md}")
    for sentence in SENTENCES.values():
        expect(says(result.report_md, sentence), f"{sentence} is missing: {result.report_md}")


@check("D2: of seven queries that the planner returns three are searched, and an empty plan is answered at once")
def _():
    words = [BACKUP, ERROR, SESSION, "port 8443", "port 9090", "export reports", "password"]
    seen = list(stream(plan("seven", words)))
    planned = [e.planned for e in seen if e.WhichOneof("event") == "planned"]
    searched = [e.searched.query for e in seen if e.WhichOneof("event") == "searched"]
    expect([list(p.plan.queries) for p in planned] == [words[:3]] and sorted(searched) == sorted(words[:3]), f"{planned} {searched}")
    result = research(plan("empty"))
    expect(result.report_md.strip() == "No detailed research is needed." and not result.queries and not result.notes, f"{result}")
    result = research("ありがとう。" + plan("empty2").replace(QUESTION, ""), options={"language": "ja"})
    expect(result.report_md.strip() == "詳細調査は不要です。", f"{result}")


@check("D3: one query finds nothing and one takes too long; the report is written from the third, and both are told")
def _():
    if slow:
        slow.slow = "holdup"
    second = f"{SESSION} holdup"
    seen = list(stream(plan("third", ["zzqqxx wwkkvv", second, ERROR])))
    result = seen[-1].result
    told = {e.searched.query: e.searched for e in seen if e.WhichOneof("event") == "searched"}
    expect(list(result.empty_queries) == ["zzqqxx wwkkvv"] and told["zzqqxx wwkkvv"].result_count == 0, f"{result.empty_queries} {told}")
    expect(says(result.report_md, SENTENCES[ERROR]), result.report_md)
    if slow:
        slow.slow = None
        late = told[second]
        expect(late.status_code == 4 and late.message and late.result_count == 0, f"{late}")
        expect([n.query for n in result.notes] == [ERROR], f"{result.notes}")
        expect(any(second in d.part and d.status_code == 4 for d in result.outcome.degradations), f"{result.outcome.degradations}")
    is_cited(result)


@check("D4: a client that drops after event 5 and comes back gets 6 and the following ones, each once")
def _():
    gate = threading.Event()
    Model.held["report"] = gate
    question = plan("dropped", [BACKUP, ERROR, SESSION])
    options = {"request_id": "dropped", "keep_running": True}
    live, before = stream(question, options=options), []
    for event in live:
        if event.WhichOneof("event"):
            before.append(event)
        if len(before) == 5:
            break
    live.cancel()
    del Model.held["report"]
    gate.set()
    rest = list(stream(question, options={**options, "after_event_id": before[-1].event_id}))
    order = kinds(before) + kinds(rest)
    expect(order[:2] == ["accepted", "planned"] and order.count("searched") == 3 and order.count("noted") == 3 and order[-1] == "result" and
           order.count("result") == 1 and "report_text" in order, f"{order}")
    ids = [event.event_id for event in before + rest if event.WhichOneof("event")]
    expect(ids == sorted(set(ids)), f"{ids}")
    whole = list(stream(question, options=options))
    expect([e.SerializeToString() for e in whole if e.WhichOneof("event")] == [e.SerializeToString() for e in before + rest if e.WhichOneof("event")],
           "the whole is another")
    expect("".join(e.report_text for e in rest) == rest[-1].result.report_md, "the pieces are not the report")
    expect("cheese" not in rest[-1].result.report_md, "an invented sentence is shown")


@check("a caller that leaves stops the searches and the model at once")
def _():
    if not slow:
        return "only where a search can be held back"
    times = []
    for n in range(3):
        slow.slow, slow.left = f"leaving{n}", []
        live = stream(plan(f"gone{n}", [f"{SESSION} leaving{n}"]))
        for event in live:
            if event.WhichOneof("event") == "planned":
                break
        time.sleep(0.2)  # of the 500 ms of the search
        left = time.monotonic()
        live.cancel()
        wait_until(lambda: slow.left, "the search goes on", 10 * SLOW)
        times.append(slow.left[0] - left)
    slow.slow = None
    expect(min(times) < 0.1 * SLOW, f"it took {times}")
    return f"{min(times) * 1000:.0f} ms"


@check("a further question is answered from the notes, with sources, and nothing is searched or planned")
def _():
    result = research(plan("further", [ERROR]))
    before = sum(kind == "plan" for kind, _ in Model.seen)
    request = message("DeepResearchFollowUpRequest")(run_id=result.outcome.run_id, question="What does E-1024 mean?")
    answer = call(suite.channel, "DeepResearch", "FollowUp", "DeepResearchResponse")(request, timeout=30 * SLOW).result
    expect(says(answer.report_md, SENTENCES[ERROR]) and not answer.queries, f"{answer}")
    is_cited(answer)
    expect(sum(kind == "plan" for kind, _ in Model.seen) == before, "it was planned")


@check("D5: with its thread a run's notes are deleted, and no byte of them is left on the disk")
def _():
    marker = "zyxsecret"
    result = research(plan("deleted", [f"{ERROR} {marker}"]), options={"thread_id": "d5"})
    expect(len(notes_of("d5")) == 1 and len(notes_of("d5-other")) == 0, "no note is kept, or another thread has it")
    expect(marker in result.notes[0].query, f"{result.notes}")
    on_disk = lambda: subprocess.run(["grep", "-rlaF", marker, folder], capture_output=True, text=True).stdout.split()  # noqa: E731
    expect(on_disk(), "it is not on the disk before")
    deleted = call(suite.channel, "Orchestrator", "DeleteThread", "DeleteThreadResponse")(message("DeleteThreadRequest")(thread_id="d5"), timeout=20 * SLOW)
    expect(deleted.deleted and not notes_of("d5"), "the notes are still there")
    wait_until(lambda: not on_disk(), "it is still on the disk", 10 * SLOW, 0.1)


@check("Node asks the same: events in order, the result, a further question, and a wrong field by its name")
def _():
    if not os.environ.get("NODE"):
        return "no Node"
    question = plan("node", [BACKUP, ERROR, SESSION])
    done = subprocess.run([os.environ["NODE"], "--no-deprecation", os.path.join(HERE, "flow.mjs"), f"127.0.0.1:{PORT}", question], capture_output=True,
                          text=True, timeout=120 * SLOW)
    expect(done.returncode == 0, done.stderr)
    told = json.loads(done.stdout)
    expect(told["first"][:2] == ["accepted", "planned"] and len(told["first"]) == 5, f"{told['first']}")
    order = told["first"] + told["rest"]
    expect(order.count("searched") == 3 and order.count("noted") == 3 and order[-1] == "result" and order.count("result") == 1, f"{order}")
    expect(told["ids"] == sorted(set(told["ids"])), f"{told['ids']}")
    expect([n["step_no"] for n in told["notes"]] == [1, 2, 3] and all(n["sources"] for n in told["notes"]), f"{told['notes']}")
    expect(told["answer"] and told["refused"] == {"code": 3, "field": "max_cycles"} and told["unknown"] == 5, f"{told}")


@check("notes of another tenant do not exist for a caller, nor does its run")
def _():
    keys = [{"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": ["*"]} for name, tenant in (("anna", "a"), ("ben", "b"))]
    guarded = Process(f"{BIN}/renga", "serve", "--rpc.listen=127.0.0.1:0", f"--tool_runner.store={folder}/tenants.db", f"--tool_runner.record=sqlite:{folder}/t.db",
                      f"--tool_runner.roots={docs}", "--orchestrator.store=memory:", f"--rpc.keys={json.dumps(keys)}", *GATEWAY)
    channel = grpc.insecure_channel(f"127.0.0.1:{guarded.port}")

    def by(name):
        return [("authorization", "Bearer " + name)]
    fill = call(channel, "ToolRunner", "IndexDocuments", "IndexDocumentsProgress", True)
    list(fill(message("IndexDocumentsRequest")(collection="docs", folder=docs), timeout=30 * SLOW, metadata=by("anna"), wait_for_ready=True))
    ask = call(channel, "DeepResearch", "Research", "DeepResearchResponse")
    request = message("DeepResearchRequest")(question=plan("tenant", [ERROR]), options={"thread_id": "same"})
    result = ask(request, timeout=30 * SLOW, metadata=by("anna")).result
    expect(len(notes_of("same", by("anna"), channel)) == 1 and not notes_of("same", by("ben"), channel), "the other tenant sees notes")
    further = call(channel, "DeepResearch", "FollowUp", "DeepResearchResponse")
    try:
        further(message("DeepResearchFollowUpRequest")(run_id=result.outcome.run_id, question="Why?"), timeout=20 * SLOW, metadata=by("ben"))
        raise AssertionError("the other tenant may ask about the run")
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.NOT_FOUND, f"{error}")
    request = message("DeepResearchRequest")(question=plan("tenant2", [ERROR]), options={"thread_id": "same"})
    other = ask(request, timeout=30 * SLOW, metadata=by("ben")).result
    expect(not other.notes and list(other.empty_queries) == [ERROR], f"{other}")
    expect(len(notes_of("same", by("anna"), channel)) == 1, "the other tenant's run changed the notes")
    channel.close()
    guarded.stop()


suite.stop()
finish()
