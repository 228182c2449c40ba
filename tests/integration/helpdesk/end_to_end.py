#!/usr/bin/env python3
"""Questions over real documents through the whole suite, without a model: in one process, and as five."""
import json
import os
import re
import signal
import subprocess
import sys
import types

import grpc

from suite import HERE, SERVICES, SLOW, Suite, expect, index
from documents import lines
import checks
import collector
from checks import check, wait_until

JAPANESE = "夜間バックアップの開始時刻は何時ですか。パスワードを忘れた場合はどうすればよいですか。"
ENGLISH = "What does error E-1024 mean? After how many minutes does a session timeout happen?"

QUESTIONS = (("Japanese", JAPANESE, {"manual/backup.md", "manual/password.md"}),
             ("English", ENGLISH, {"guide/network.md", "guide/sessions.html"}))

index()
suite = Suite().one() if sys.argv[1] == "one" else Suite().five()


def is_cited(result):
    """Every sentence of the answer, to a place that has the words."""
    expect(result.citations, f"nothing is cited: {result.answer}")
    for citation in result.citations:
        expect(citation.sentence in result.answer, f"{citation.sentence!r} is not in the answer")
        there = re.sub("<[^>]*>", "", lines(citation.uri, citation.line_from, citation.line_to))
        expect(citation.line_from > 0 and citation.quote in there, f"{citation.quote!r} is not in lines {citation.line_from}-{citation.line_to}: {there!r}")
    rest = result.answer
    for citation in result.citations:
        rest = rest.replace(citation.sentence, "")
    expect(not rest.strip(" \n-"), f"without a source stands {rest!r}")


def spans_overlap(trace):
    """That the trace goes through all services, and that the spans of two subtasks in it, each with tools, overlap."""
    services = {"renga"} if sys.argv[1] == "one" else {f"renga-{name}" for name in SERVICES}
    spans = []

    def is_whole():
        spans[:] = [span for span in collector.spans if span["traceId"] == trace]
        known = {span["spanId"] for span in spans} | {"00f067aa0ba902b7"}
        return ({span["service"] for span in spans} >= services and all(span["parentSpanId"] in known for span in spans) and
                sum(span["name"] == "execute_tool search_documents" for span in spans) >= 2)

    wait_until(is_whole, "the trace is told by all services", 10 * SLOW, 0.02)
    above = {span["spanId"]: span["parentSpanId"] for span in spans}

    def subtasks_above(span):
        at, found = span["spanId"], set()
        while at in above:
            at = above[at]
            found |= {subtask["spanId"] for subtask in subtasks if subtask["spanId"] == at}
        return found

    subtasks = sorted((span for span in spans if span["name"] == "graph subtask"), key=lambda span: int(span["startTimeUnixNano"]))
    expect(len(subtasks) == 2, f"{len(subtasks)} subtasks in {sorted(span['name'] for span in spans)}")
    expect(int(subtasks[1]["startTimeUnixNano"]) < int(subtasks[0]["endTimeUnixNano"]), "one began when the other had ended")
    tools = [span for span in spans if span["name"] == "execute_tool search_documents"]
    expect(set().union(*map(subtasks_above, tools)) == {subtask["spanId"] for subtask in subtasks}, "tools that no subtask called")


def overlap(events):
    """That a subtask was at work while another one was."""
    open_ones, together = set(), 0
    for event in events:
        if event.WhichOneof("event") != "subtask":
            continue
        if event.subtask.stage >= 6:
            open_ones.discard(event.subtask.subtask_number)
        else:
            open_ones.add(event.subtask.subtask_number)
        together = max(together, len(open_ones))
    expect(together >= 2, "no two subtasks were at work at the same time")


for language, question, files in QUESTIONS:
    @check(f"a two-part {language} question: subtasks side by side, each sentence cited to its line")
    def _(question=question, files=files):
        trace = os.urandom(16).hex()
        events = list(suite.watch(question, trace=trace))
        result = events[-1].result
        expect(len(result.subtasks) >= 2, f"the plan is {list(result.plan.subtasks)}")
        expect(all(subtask.is_completed for subtask in result.subtasks),
               [(s.task_name, s.subtask_answer, [r.advice for r in s.reflection_results]) for s in result.subtasks])
        overlap(events)
        spans_overlap(trace)
        is_cited(result)
        expect({citation.uri for citation in result.citations} == files, {c.uri for c in result.citations})
        expect("".join(event.answer_text for event in events) == result.answer, "the text as it was written is another")
        expect(any(d.part == "extractive" for d in result.outcome.degradations), "it does not say that no model answered")


@check("what the documents do not say is not answered: three tries, then what was looked for")
def _():
    result = suite.ask("Who won the football world cup in 1990?")
    expect("No information was found" in result.answer and "football" in result.answer, result.answer)
    expect(not result.citations and not result.subtasks[0].is_completed, "it claims to have found something")
    expect(result.subtasks[0].challenge_count == 3, f"{result.subtasks[0].challenge_count} tries")
    expect(not result.found and list(result.not_found.looked_for) == [result.question], result.not_found)
    nearest = result.not_found.nearest
    expect(0 < len(nearest) <= 3 and all(a.score >= b.score for a, b in zip(nearest, nearest[1:])), nearest)
    for hit in nearest:
        there = lines(hit.uri, hit.line_from, hit.line_to)
        expect(hit.quote and (hit.quote in there or hit.quote in re.sub("<[^>]*>", "", there)), hit)


@check("a collection that is not there ends the call, also beside one that is: the field and those there are are named")
def _():
    expect("E-1024 means" in suite.ask("What does error E-1024 mean?", collections=["docs"]).answer, "not found in its own")
    for wanted, hint in ((["elsewhere"], "there is 'docs'"), (["docs", "dosc"], "did you mean 'docs'?")):
        try:
            suite.ask("What does error E-1024 mean?", collections=wanted)
            expect(False, f"{wanted} was searched")
        except grpc.RpcError as error:
            said = f"collections[{len(wanted) - 1}]: there is no collection '{wanted[-1]}'; {hint}"
            expect((error.code().name, error.details()) == ("NOT_FOUND", said), error)


@check("orders in a document change neither plan nor tools")
def _():
    result = suite.ask("What do the release notes say about instructions?")
    expect(list(result.plan.subtasks) == ["What do the release notes say about instructions?"], list(result.plan.subtasks))
    tools = {tool.tool_name for subtask in result.subtasks for one in subtask.tool_results for tool in one.results}
    expect(tools == {"search_documents", "lookup_qa"}, f"{tools} were run")
    found = {hit.uri for subtask in result.subtasks for one in subtask.tool_results for tool in one.results for hit in tool.results}
    expect("guide/orders.md" in found, f"the orders were not even found, but {found}")
    expect(len(result.subtasks) == 1, "a document added a subtask")


def as_object(tree):
    """JSON as python's own messages are read."""
    return json.loads(json.dumps(tree), object_hook=lambda pairs: types.SimpleNamespace(**pairs))


def ask_in_node(question, files):
    node = os.path.join(HERE, "..", "node_modules", ".bin", "node")
    port = suite.processes["renga" if sys.argv[1] == "one" else "orchestrator"].port
    done = subprocess.run([node, os.path.join(HERE, "ask.mjs"), f"127.0.0.1:{port}", question], capture_output=True, text=True,
                          timeout=60 * SLOW)
    expect(done.returncode == 0, done.stderr)
    seen = json.loads(done.stdout)
    kinds = [event["event"] for event in seen["events"]]
    expect(kinds[:2] == ["accepted", "planned"] and kinds[-1] == "result", kinds)
    stages = {event["subtask"]["stage"] for event in seen["events"] if event["event"] == "subtask"}
    expect({"SUBTASK_STAGE_RUNNING_TOOLS", "SUBTASK_STAGE_DONE"} <= stages, stages)
    result = seen["events"][-1]["result"]
    expect(len(result["subtasks"]) >= 2 and all(subtask["is_completed"] for subtask in result["subtasks"]), result["plan"])
    is_cited(as_object(result))
    expect({c["uri"] for c in result["citations"]} == files, result["answer"])
    expect(seen["refused"] == 3, f"a blank question ended with {seen['refused']}")


for language, question, files in QUESTIONS:
    @check(f"a Node client sees the same of the {language} question")
    def _(question=question, files=files):
        ask_in_node(question, files)


if sys.argv[1] == "five":
    @check("the planner is killed in the middle, and comes back: the answer still comes")
    def _():
        planner = suite.processes["planner"].process
        planner.send_signal(signal.SIGSTOP)
        events = suite.watch(ENGLISH, timeout=60)
        expect(next(events).accepted.run_id, "it was not accepted")
        suite.restart("planner")
        is_cited(list(events)[-1].result)

    @check("the planner freezes for longer than it is tried: the question stays whole, it is told, and the answer comes")
    def _():
        planner = suite.processes["planner"].process
        planner.send_signal(signal.SIGSTOP)
        result = suite.ask(ENGLISH, timeout=60)
        planner.send_signal(signal.SIGCONT)
        expect(list(result.plan.subtasks) == [ENGLISH], list(result.plan.subtasks))
        expect(any("the question was kept whole" in d.reason and d.status_code == 14 for d in result.outcome.degradations), result.outcome)
        is_cited(result)

    @check("the orchestrator is killed in the middle, and comes back: the same request gets the answer")
    def _():
        options = {"request_id": "killed", "keep_running": True}
        reviewer = suite.processes["reviewer"].process
        reviewer.send_signal(signal.SIGSTOP)
        events = suite.watch(ENGLISH, options=options)
        run_id = next(events).accepted.run_id
        for event in events:
            if event.subtask.stage == 4:
                break
        suite.channel.close()
        suite.processes["orchestrator"].kill()
        reviewer.send_signal(signal.SIGCONT)
        suite.start("orchestrator")
        suite.open("orchestrator")
        result = suite.ask(ENGLISH, timeout=60, options=options)
        expect(result.outcome.run_id == run_id, f"another run: {result.outcome.run_id}, {run_id}")
        is_cited(result)


@check("all processes end with 0 on SIGTERM, and no sanitizer has complained")
def _():
    suite.stop()


checks.finish()
