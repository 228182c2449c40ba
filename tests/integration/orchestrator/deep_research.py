#!/usr/bin/env python3
"""The typed service DeepResearch over a graph of the test, with the fields and the progress that it rests on."""
import hashlib
import json
import threading
import time

import grpc

from harness import (Orchestrator, SLOW, agent, api, check, equal, expect, finish, message, nodes, reason_of, refused, remote, reply,
                     wait_until, word)
from research_graph import CITATION, GRAPH, QUERIES, QUESTION, REPORT, note, script, search, shows, take_notes, write

api.start()

LARGE = 60000  # bytes of a summary

agent("deep_research", GRAPH)


def method(name, reply_type, stream=False, channel=None):
    make = (channel or api.channel).unary_stream if stream else (channel or api.channel).unary_unary
    return make(f"/renga.v1.DeepResearch/{name}", request_serializer=lambda m: m.SerializeToString(),
                response_deserializer=message(reply_type).FromString)


def research(question=QUESTION, timeout=20, **fields):
    return method("Research", "DeepResearchResponse")(message("DeepResearchRequest")(question=question, **fields), timeout=timeout * SLOW).result


def stream(question=QUESTION, **fields):
    return method("ResearchStream", "DeepResearchEvent", True)(message("DeepResearchRequest")(question=question, **fields), timeout=20 * SLOW)


def follow_up(run_id, question="Why?", **fields):
    return method("FollowUp", "DeepResearchResponse")(message("DeepResearchFollowUpRequest")(run_id=run_id, question=question, **fields),
                                                     timeout=20 * SLOW).result


def kinds(events):
    return [event.WhichOneof("event") for event in events if event.WhichOneof("event")]


ORDER = ["accepted", "planned", "searched", "searched", "searched", "noted", "report_text", "report_text", "result"]


@check("a question is answered with its queries, notes, report, citations, gaps and what it cost")
def _():
    script()
    result = research()
    equal((result.question, list(result.queries), result.report_md, list(result.gaps), list(result.empty_queries), result.cycles),
          (QUESTION, QUERIES, REPORT, ["why 30 days"], [QUERIES[1]], 1), "the result")
    kept = result.notes[0]
    equal((kept.step_no, kept.query, kept.summary_md, kept.sources[0].uri, kept.run_id),
          (1, QUERIES[0], "Backups are kept for 30 days.", "backup.md", result.outcome.run_id), "the note")
    cited = result.citations[0]
    equal((cited.reference_number, cited.uri, cited.line_from, cited.quote), (1, "backup.md", 3, CITATION["quote"]), "the citation")
    equal(word("StopReason", result.outcome.stop_reason), "STOP_REASON_COMPLETED", "why it stopped")


@check("the run begins with the fields of the request, with the defaults written out")
def _():
    script()
    research()
    state = nodes.of("deep_research", "plan")[0].state
    equal({key: state.get(key) for key in ("question", "follow_up", "max_cycles", "summary_tokens", "sources", "collections")},
          {"question": QUESTION, "follow_up": "", "max_cycles": 3, "summary_tokens": 512, "sources": ["internal"], "collections": []}, "the input")
    script()
    research(max_cycles=1, summary_tokens=64, sources=[2, 1, 2], collections=["a", "b"])
    state = nodes.of("deep_research", "plan")[0].state
    equal((state["max_cycles"], state["summary_tokens"], state["sources"], state["collections"]), (1, 64, ["internal", "web"], ["a", "b"]), "the input")


@check("events come in order, and each has an id of its own")
def _():
    script()
    seen = list(stream())
    equal(kinds(seen), ORDER, "the events")
    equal((seen[1].planned.cycle, list(seen[1].planned.plan.queries), seen[1].planned.plan.reasoning), (1, QUERIES, "three sides of it"), "the plan")
    equal([(e.searched.query, e.searched.result_count, e.searched.status_code) for e in seen[2:5]],
          [(QUERIES[0], 5, 0), (QUERIES[1], 0, 0), (QUERIES[2], 0, 4)], "the searches")
    expect("20 s" in seen[4].searched.message, "the time-out is not told")
    equal("".join(e.report_text for e in seen), REPORT, "the pieces")
    ids = [event.event_id for event in seen]
    expect(ids == sorted(set(ids)), f"ids: {ids}")
    equal(seen[-1].result.report_md, REPORT, "the report")


@check("a client that drops after any event and comes back gets the rest, each event once")
def _():
    script()
    whole = list(stream(options={"request_id": "whole", "keep_running": True}))
    for last in range(1, len(whole)):
        rest = list(stream(options={"request_id": "whole", "keep_running": True, "after_event_id": whole[last - 1].event_id}))
        equal([e.SerializeToString() for e in rest], [e.SerializeToString() for e in whole[last:]], f"what comes after event {last}")
    gate = threading.Event()

    def held(call):
        gate.wait(20)
        return take_notes(call)
    script(take_notes=held)
    options = {"request_id": "cut", "keep_running": True}
    live, before = stream(options=options), []
    for event in live:
        before.append(event)
        if len(before) == 5:
            break
    live.cancel()
    gate.set()
    rest = list(stream(options={**options, "after_event_id": before[-1].event_id}))
    equal(kinds(before) + kinds(rest), ORDER, "both parts")
    equal(len(nodes.of("deep_research", "search")), 1, "the searches")


@check("a report is never streamed from the tokens of a model")
def _():
    def tokens(call):
        yield message("RunNodeEvent")(token={"text": "an unchecked sentence"})
        yield message("RunNodeEvent")(result=write(call))
    nodes.on("deep_research", tokens=tokens)
    agent("deep_research", {"state": GRAPH["state"], "start": "tokens", "nodes": {"tokens": remote(stream=True)}})
    seen = list(stream())
    expect("unchecked" not in "".join(e.report_text for e in seen), "an unchecked sentence is shown")
    equal("".join(e.report_text for e in seen), REPORT, "the pieces")


agent("deep_research", {"description": "as before", **GRAPH})

WRONG = {
    "question": [{"question": ""}, {"question": " \t　"}, {"question": "x" * 32769}],
    "max_cycles": [{"max_cycles": 4}, {"max_cycles": -1}],
    "summary_tokens": [{"summary_tokens": 63}, {"summary_tokens": 4097}, {"summary_tokens": -1}],
    "sources[1]": [{"sources": [1, 0]}, {"sources": [2, 7]}, {"sources": [2, -1]}],
    "sources": [{"sources": [1] * 9}],
    "collections": [{"collections": ["x"] * 17}],
    "collections[0]": [{"collections": [""]}, {"collections": ["x" * 65]}],
    "options.after_event_id": [{"options": {"after_event_id": -1}}],
    "options.language": [{"options": {"language": "x" * 40}}],
}


@check("a wrong field is named, with its value and the right ones, and no run is started")
def _():
    script()
    before = len(api.ask("ListRuns", page_size=500).runs)
    for field, wrong in WRONG.items():
        for fields in wrong:
            told = refused("INVALID_ARGUMENT", lambda: research(**{"question": QUESTION, **fields}))
            expect(told.startswith(f"{field} ") or f"{field}:" in told or f"'{field}'" in told, f"{fields}: {told}")
            refused("INVALID_ARGUMENT", lambda: list(stream(**{"question": QUESTION, **fields})))
    expect("_INTERNAL (1), DEEP_RESEARCH_SOURCE_WEB (2)" in refused("INVALID_ARGUMENT", lambda: research(sources=[9])), "the right values are not named")
    for fields in ({"run_id": ""}, {"run_id": "x" * 65}, {"run_id": "a\nb"}, {"run_id": "r", "question": " "},
                   {"run_id": "r", "options": {"thread_id": "t"}}):
        refused("INVALID_ARGUMENT", lambda: follow_up(**fields))
    equal(len(api.ask("ListRuns", page_size=500).runs), before, "the runs")


@check("a further question is answered from the notes of the run that it names, also when the thread has gone on")
def _():
    script()
    first = research(options={"thread_id": "studied"})
    result = follow_up(first.outcome.run_id)
    equal((result.question, result.report_md), ("Why?", f"Why?: 1 notes of {QUESTION}"), "the answer")
    equal((list(result.queries), result.cycles, list(result.empty_queries), [n.run_id for n in result.notes], result.outcome.thread_id),
          ([], 0, [], [first.outcome.run_id], "studied"), "the rest of it")
    script(take_notes=lambda call: reply({"notes": [note(1), note(2)]}))
    second = research("Another one?", options={"thread_id": "studied"})
    equal(len(second.notes), 2, "the notes of the second")
    equal(follow_up(first.outcome.run_id).report_md, f"Why?: 1 notes of {QUESTION}", "of the first")
    equal(follow_up(second.outcome.run_id).report_md, "Why?: 2 notes of Another one?", "of the second")
    equal(follow_up(result.outcome.run_id, "And then?").report_md, f"And then?: 1 notes of {QUESTION}", "of an answer")
    equal(len(nodes.of("deep_research", "search")), 1, "the searches since")
    again = research(options={"thread_id": "studied"})
    equal(again.report_md, REPORT, "a question after it")


@check("a further question with a request_id is asked once")
def _():
    script()
    run_id = research().outcome.run_id
    first = follow_up(run_id, options={"request_id": "further"})
    again = follow_up(run_id, options={"request_id": "further"})
    equal((again.outcome.run_id, len(nodes.of("deep_research", "answer"))), (first.outcome.run_id, 1), "the run")
    refused("INVALID_ARGUMENT", lambda: follow_up(run_id, "Something else?", options={"request_id": "further"}))


@check("a further question to a run that is not there, not of deep research, not finished or failed is refused with the reason")
def _():
    expect("never" in refused("NOT_FOUND", lambda: follow_up("never")), "the run is not named")
    agent("other", {"state": {"a": {"type": "string"}}, "start": "n", "nodes": {"n": {"kind": "noop"}}})
    other = api.start_run("other", {})
    expect("'other'" in refused("NOT_FOUND", lambda: follow_up(other.run_id)), "the agent is not named")
    gate = threading.Event()
    script(search=lambda call: (gate.wait(20), search(call))[1])
    live = stream()
    run_id = next(live).accepted.run_id
    refused("FAILED_PRECONDITION", lambda: follow_up(run_id), "RUN_NOT_FINISHED")
    gate.set()
    list(live)
    expect(follow_up(run_id).report_md, "no answer when it is finished")
    script(search=lambda call: call.fail("NOT_FOUND", "there is no index 'x'"))
    failed = None
    try:
        research()
    except grpc.RpcError as error:
        equal((error.code(), reason_of(error)), (grpc.StatusCode.NOT_FOUND, "RUN_FAILED"), "the error")
        failed = api.ask("ListRuns", agent="deep_research", page_size=1).runs[0]
    told = refused("FAILED_PRECONDITION", lambda: follow_up(failed.run_id), "RUN_NOT_FINISHED")
    expect("no index 'x'" in told and "resume the run" in told, told)


@check("a run that failed or was cancelled goes on by ResumeRun, and the stream of its request shows the rest, each event once")
def _():
    for code in ("NOT_FOUND", "CANCELLED"):
        begun = threading.Event()
        options = {"request_id": f"resumed {code}", "keep_running": True}

        def broken(call):
            if code == "NOT_FOUND":
                call.fail(code, "there is no index 'x'")
            begun.set()
            call.sleep(20)
            return search(call)
        script(search=broken)
        before, live = [], stream(options=options)
        try:
            for event in live:
                before.append(event)
                if event.WhichOneof("event") == "planned" and code == "CANCELLED":
                    expect(begun.wait(10 * SLOW), "it does not search")
                    api.ask("CancelRun", run_id=before[0].accepted.run_id)
            raise AssertionError("the stream did not end with the run's error")
        except grpc.RpcError as error:
            equal((error.code().name, reason_of(error)), (code, "RUN_FAILED"), "the error")
        script()
        api.ask("ResumeRun", run_id=before[0].accepted.run_id)
        rest = list(stream(options={**options, "after_event_id": before[-1].event_id}))
        equal(kinds(before) + kinds(rest), ORDER, "both parts")
        equal((rest[-1].result.report_md, len(nodes.of("deep_research", "plan"))), (REPORT, 0), "the report, and what was planned again")


@check("two questions on one thread: the second is told that it is busy")
def _():
    gate = threading.Event()
    script(search=lambda call: (gate.wait(20), search(call))[1])
    live = stream(options={"thread_id": "busy"})
    run_id = next(live).accepted.run_id
    refused("ABORTED", lambda: research(options={"thread_id": "busy"}), "THREAD_BUSY")
    gate.set()
    equal(list(live)[-1].result.outcome.run_id, run_id, "the first")


@check("a caller that leaves stops the nodes within 100 ms, unless it said keep_running")
def _():
    times = []
    for _ in range(5):
        begun, gone = threading.Event(), threading.Event()

        def hang(call):
            call.context.add_callback(gone.set)
            begun.set()
            call.sleep(20)
            return search(call)
        script(search=hang)
        live = stream()
        run_id = next(live).accepted.run_id
        expect(begun.wait(5 * SLOW), "it is not searched")
        left = time.monotonic()
        live.cancel()
        expect(gone.wait(5 * SLOW), "the node was not told")
        times.append(time.monotonic() - left)
        wait_until(lambda: word("RunState", api.ask("GetRun", run_id=run_id).run.state) == "RUN_STATE_CANCELLED", "the run goes on", 5 * SLOW)
    expect(min(times) < 0.1 * SLOW, f"it took {min(times) * 1000:.0f} ms at least")
    script(search=lambda call: (time.sleep(0.3), search(call))[1])
    live = stream(options={"keep_running": True, "request_id": "kept"})
    run_id = next(live).accepted.run_id
    live.cancel()
    wait_until(lambda: word("RunState", api.ask("GetRun", run_id=run_id).run.state) == "RUN_STATE_SUCCEEDED", "it has stopped", 10 * SLOW)
    equal(research(options={"keep_running": True, "request_id": "kept"}).report_md, REPORT, "the report")
    return f"{sorted(times)[2] * 1000:.0f} ms"


def message_size(result):
    return len(message("DeepResearchResponse")(result=result).SerializeToString())


@check("a result has at most 4 MiB: the longest summaries are cut first, then the last citations go, and the outcome says so")
def _():
    sources = [{"uri": f"doc{i}.md", "title": "T" * 500, "source": "documents"} for i in range(64)]

    def notes(report_bytes):
        kept = [{"step_no": i + 1, "query": f"q{i}", "summary_md": "い" * (LARGE // 3 if i else 5), "sources": sources} for i in range(9)]
        return lambda call: reply({"notes": kept, "report_md": "x" * report_bytes})

    def citations(count, size):
        return lambda call: reply({"citations": [{**CITATION, "sentence_number": i + 1, "quote": "q" * size} for i in range(count)]})
    script(take_notes=notes(1000), write=citations(10, 4000))
    result = research()
    equal(([len(n.summary_md) for n in result.notes], len(result.citations)), ([5] + [LARGE // 3] * 8, 10), "a result that fits")
    expect(not result.outcome.degradations, "something is said to be cut")

    script(take_notes=notes(700000), write=citations(950, 3000))
    result = research()
    expect(4.0e6 < message_size(result) <= 4 << 20, f"it has {message_size(result)} bytes")
    lengths = [len(n.summary_md) for n in result.notes]
    expect(lengths[0] == 5 and 5 < lengths[1] < LARGE // 3 and len(set(lengths[1:])) == 1, f"the summaries have {lengths}")
    equal(len(result.citations), 950, "the citations")
    equal([(d.part, word("DegradationKind", d.kind)) for d in result.outcome.degradations], [("notes", "DEGRADATION_KIND_PARTIAL")], "what is told")

    script(take_notes=notes(1040000), write=citations(950, 3000))
    result = research()
    expect(4.0e6 < message_size(result) <= 4 << 20, f"it has {message_size(result)} bytes")
    equal([c.sentence_number for c in result.citations], list(range(1, len(result.citations) + 1)), "the citations that stay")
    expect(800 < len(result.citations) < 950, f"{len(result.citations)} citations stay")
    equal([d.part for d in result.outcome.degradations], ["notes", "citations"], "what is told")


@check("a state that is not that of deep research ends the call and says so")
def _():
    script(write=lambda call: reply({"report_md": REPORT, "citations": [{"sentence_number": "one"}]}))
    told = refused("FAILED_PRECONDITION", research)
    expect("sentence_number" in told, told)


@check("a client that does not read holds the run's events back, and gets all of them when it reads")
def _():
    piece = "p" * 60000

    def pieces(call):
        return shows({"report_md": piece * 15, "citations": []}, *[{"text": piece}] * 50)
    script(write=pieces)
    live = stream()
    time.sleep(1)
    seen = list(live)
    equal(len("".join(e.report_text for e in seen)), 50 * 60000, "the bytes of the report")
    equal(kinds(seen)[-1], "result", "the last event")


@check("a key of another tenant does not find the run, nor its notes")
def _():
    def key(name, tenant):
        return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(),
                "methods": ["renga.v1.Orchestrator/*", "renga.v1.DeepResearch/*"]}
    guarded = Orchestrator(None, "--rpc.keys=" + json.dumps([key("one", "a"), key("two", "b")]))
    guarded.write_agent("deep_research", open(f"{api.agents}/deep_research/graph.json").read())
    guarded.start()
    script()

    def ask(who, name, **fields):
        make = method(name, "DeepResearchResponse", channel=guarded.channel)
        request = message("DeepResearchFollowUpRequest" if name == "FollowUp" else "DeepResearchRequest")
        return make(request(**fields), timeout=20 * SLOW, metadata=[("authorization", "Bearer " + who)], wait_for_ready=True).result
    first = ask("one", "Research", question=QUESTION, options={"thread_id": "t"})
    run_id = first.outcome.run_id
    expect("notes of" in ask("one", "FollowUp", run_id=run_id, question="Why?").report_md, "the own tenant is refused")
    refused("NOT_FOUND", lambda: ask("two", "FollowUp", run_id=run_id, question="Why?"))
    expect(ask("two", "Research", question="Mine?", options={"thread_id": "t"}).outcome.run_id != run_id, "they share a run")
    guarded.stop()


finish()
