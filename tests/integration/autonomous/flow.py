#!/usr/bin/env python3
"""Autonomous research with people in the loop, from Python and from Node: approval, another plan, rejection, time-outs, two persons
at once, repetitions, restarts, tenants. `flow.py one|five stand-in|agent`: the suite in one process, or as five; a stand-in for the
agent (agents/), whose loop ends after six steps, or the agent itself without a model. Needs RENGA_BIN, RENGA_PROTO, NODE (or no Node)."""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "helpdesk"))
sys.path.insert(0, os.path.join(HERE, "..", "research"))
from suite import BIN, SERVICES, SLOW, STORES, Process, Suite, docs, expect, folder  # noqa: E402
from checks import check, finish, wait_until  # noqa: E402
from contract import message, word  # noqa: E402
from slow_tools import SlowTools  # noqa: E402

HOW, STAND_IN = sys.argv[1], sys.argv[2] == "stand-in"
THEME = "session timeout after minutes"
OWN = ("LlmGateway", "ToolRunner", "Planner", "Reviewer", "Orchestrator")


def key(name, tenant, *methods):
    return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": list(methods)}


KEYS = [key("anna", "acme", "*"), key("abel", "acme", "*"), key("bert", "other", "*"),
        key("services", "renga", *(f"renga.v1.{service}/{right}" for service in OWN for right in ("*", "forward")))]
GUARD = [f"--rpc.keys={json.dumps(KEYS)}"] + (["--peers.key=services"] if HOW == "five" else [])
AGENT = [f"--orchestrator.agents={os.path.join(HERE, 'agents')}"] if STAND_IN else []
ROOTS = [f"--tool_runner.roots={docs}"]
suite = Suite(orchestrator=[*AGENT, *GUARD, *ROOTS]) if HOW == "one" else \
    Suite(**{name.replace("-", "_"): [*GUARD, *{"orchestrator": AGENT, "tool-runner": ROOTS}.get(name, [])] for name in SERVICES})
slow = None
if HOW == "one":
    suite.one()
else:
    suite.start("llm-gateway")
    suite.start("tool-runner")
    TOOLS, slow = suite.processes["tool-runner"].port, SlowTools(suite.processes["tool-runner"].port)
    suite.processes["tool-runner"].port = slow.port
    for part in ("planner", "reviewer", "orchestrator"):
        suite.start(part)
    suite.open("orchestrator")
HOST = "renga" if HOW == "one" else "orchestrator"
with grpc.insecure_channel(f"127.0.0.1:{suite.processes['renga'].port if HOW == 'one' else TOOLS}") as tools:
    fill = tools.unary_stream("/renga.v1.ToolRunner/IndexDocuments", request_serializer=lambda m: m.SerializeToString(),
                              response_deserializer=message("IndexDocumentsProgress").FromString)
    list(fill(message("IndexDocumentsRequest")(collection="docs", folder=docs), timeout=30 * SLOW, metadata=[("authorization", "Bearer anna")],
              wait_for_ready=True))


def ask(method, request, who="anna", timeout=30, wait=True):
    stream = method.endswith("Stream")
    make = suite.channel.unary_stream if stream else suite.channel.unary_unary
    reply = message("AutonomousResearchEvent" if stream else "AutonomousResearchResponse")
    stub = make(f"/renga.v1.AutonomousResearch/{method}", request_serializer=lambda m: m.SerializeToString(), response_deserializer=reply.FromString)
    got = stub(request, timeout=timeout * SLOW, metadata=[("authorization", f"Bearer {who}")], wait_for_ready=wait)
    return got if stream else got.result


def orchestrator(method, who="anna", **fields):
    stream = method == "WatchRun"
    make = suite.channel.unary_stream if stream else suite.channel.unary_unary
    stub = make(f"/renga.v1.Orchestrator/{method}", request_serializer=lambda m: m.SerializeToString(),
                response_deserializer=message("RunEvent" if stream else f"{method}Response").FromString)
    got = stub(message(f"{method}Request")(**fields), timeout=60 * SLOW, metadata=[("authorization", f"Bearer {who}")])
    return list(got) if stream else got


def begin(who="anna", **fields):
    """The run as it waits first; a person is asked."""
    return ask("Research", message("AutonomousResearchRequest")(**{"theme": THEME, "max_iterations": 8, "human_intervention": True, **fields}), who)


def answer(run, decision=None, who="anna", **fields):
    request = message("ResumeResearchRequest")(run_id=run.outcome.run_id, **fields)
    for name, value in (decision or {}).items():
        getattr(request.decision, name).SetInParent()
        getattr(request.decision, name).MergeFrom(type(getattr(request.decision, name))(**value))
    return ask("Resume", request, who)


def refused(call):
    """Code and reason of the error."""
    try:
        call()
    except grpc.RpcError as error:
        details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        reasons = [name for name in ("NOT_RESUMABLE", "ALREADY_ANSWERED", "RUN_FAILED") if name.encode() in details]
        return error.code().name, reasons[0] if reasons else ""
    raise AssertionError("it was not refused")


def until(run, node, decision={"approve": {}}, most=6):  # noqa: B006
    """The run as it waits before that node."""
    for _ in range(most):
        if run.waiting.node == node:
            return run
        run = answer(run, decision)
    raise AssertionError(f"it never waits before {node}: {tell(run)}")


END = "MAX_ITERATIONS" if STAND_IN else "DECIDED"  # the documents have little: soon another round changes nothing


def state_of(run):
    return word("RunState", run.outcome.state)


def stop_of(run):
    return word("ResearchStopReason", run.stop_reason).replace("RESEARCH_STOP_REASON_", "")


def tell(run):
    return (f"{state_of(run)} {stop_of(run)} after {run.iterations} steps, waits: {run.waiting.node!r}, {actions(run)}, {len(run.searches)} searches, "
            f"{len(run.sources)} sources, draft {run.draft[:200]!r}")


def actions(run):
    return [word("HumanAction", one.action).replace("HUMAN_ACTION_", "").lower() for one in run.human_decisions]


PARTS = ("Executive Summary", "Key Findings", "Detailed Analysis", "References")


def equal(got, wanted):
    expect(got == wanted, f"{got}, not {wanted}")


def expect_report(run):
    """The five parts in their order, and notes that resolve to sources of the run."""
    at = 0
    for part in PARTS:
        at = run.draft.find(f"\n## {part}\n", at)
        expect(run.draft.startswith(f"# {THEME}\n") and at > 0, f"{part} is missing or out of order: {run.draft}")
    notes, urls = dict(re.findall(r"^\[\^(\d+)\]: (.*)$", run.draft, re.M)), {s.url for s in run.sources}
    expect(notes and set(re.findall(r"\[\^(\d+)\](?!:)", run.draft)) == set(notes), f"the notes: {run.draft}")
    expect(all(any(url in note for url in urls) for note in notes.values()) and {c.uri for c in run.citations} <= urls, f"{notes}")


@check("without a person the loop stops at max_iterations, or when nothing changes, with the best draft, its review and why it stopped")
def _():
    run = begin(human_intervention=False)
    expect(state_of(run) == "RUN_STATE_SUCCEEDED" and stop_of(run) == END and not run.HasField("waiting"), tell(run))
    expect(run.draft and run.review.overall_score and run.decisions and run.searches and not run.human_decisions, tell(run))
    expect(any(s.url == "guide/sessions.html" for s in run.sources), f"{run.sources}")
    if not STAND_IN:
        expect_report(run)
        one = begin(human_intervention=False, max_iterations=3)
        expect(stop_of(one) == "MAX_ITERATIONS" and one.iterations in (3, 4) and one.draft, tell(one))


@check("with a person it waits before the supervisor and before the writer; approved each time it comes to the same end")
def _():
    run = begin()
    expect(state_of(run) == "RUN_STATE_WAITING" and run.waiting.node == "supervisor" and stop_of(run) == "UNSPECIFIED", tell(run))
    expect(run.plan.search_queries and run.plan.theme == THEME and not run.searches and not run.decisions, f"the first wait does not show the plan: {tell(run)}")
    expect(run.waiting.interrupt_id and run.waiting.since_ms and not run.waiting.until_ms and run.waiting.rejections_left == 3, f"{run.waiting}")
    nodes = [run.waiting.node]
    while run.HasField("waiting"):
        run = answer(run, {"approve": {"remark": "good"}})
        nodes += [run.waiting.node] if run.HasField("waiting") else []
    expect("writer" in nodes and stop_of(run) == END and run.draft, f"{nodes} {tell(run)}")
    expect(actions(run) == ["approve"] * len(nodes) and [one.node for one in run.human_decisions] == nodes, f"{run.human_decisions}")
    for one in run.human_decisions:
        expect(one.by == "anna" and one.text == "good" and abs(one.time_ms - time.time() * 1000) < 300000 and not one.timed_out, f"{one}")


@check("a person changes the plan: queries and points stand in their new order, and these are searched")
def _():
    queries = ["error E-1024 license server", "ports web traffic", THEME]
    run = answer(answer(begin()), {"edit": {"search_queries": queries, "investigation_points": ["B", "A"], "advice": "short"}})
    expect(list(run.plan.search_queries) == queries and list(run.plan.investigation_points) == ["B", "A"] and run.plan.theme == THEME, f"{run.plan}")
    found = [s.query for s in run.searches]
    expect(set(queries) <= set(found), f"{found}")
    expect(actions(run) == ["approve", "edit"] and run.human_decisions[1].text == "short", f"{run.human_decisions}")


@check("advice comes to the writer")
def _():
    run = until(begin(), "writer")
    run = answer(run, human_input="Name the ERRAND in the draft.")
    expect(actions(run)[-1] == "advise" and ("ERRAND" in run.draft or not STAND_IN), tell(run))
    run = answer(until(begin(), "writer"), {"advise": {"text": "あ" * 10000}})  # 30,000 bytes
    expect(run.human_decisions[-1].text == "あ" * 1365 and (("あ" * 10000) in run.draft or not STAND_IN), tell(run))


@check("what a person says at two waits, and approves at a third, reaches the writer together")
def _():
    if not STAND_IN:
        return "only where the draft repeats it"
    run = answer(begin(), {"advise": {"text": "Name the ERRAND."}})
    run = answer(run, {"approve": {"remark": "a REMARK"}}) if run.waiting.node == "supervisor" else run
    run = answer(until(run, "writer"), {"edit": {"search_queries": [THEME], "advice": "Name the PRICE."}})
    expect("ERRAND" in run.draft and "PRICE" in run.draft and "REMARK" not in run.draft, tell(run))


@check("a rejection before the writer leads to further searches, and its reason stands in the history; the third one ends the research")
def _():
    run = until(begin(), "writer")
    before, left = len(run.searches), []
    for n in range(3):
        run = until(run, "writer")
        run = answer(run, {"reject": {"reason": f"no {n}"}})
        left.append(run.waiting.rejections_left if run.HasField("waiting") else 0)
    expect(left == [2, 1, 0] and stop_of(run) == "REJECTED" and state_of(run) == "RUN_STATE_SUCCEEDED", f"{left} {tell(run)}")
    expect((len(run.searches) > before or not STAND_IN) and [one.text for one in run.human_decisions if one.text] == ["no 0", "no 1", "no 2"], f"{run.human_decisions}")


@check("a rejection before the supervisor brings a new plan")
def _():
    run = answer(begin())
    old = run.plan.created_ms
    run = answer(run, {"reject": {"reason": "another way"}})
    expect(run.plan.created_ms > old and run.waiting.rejections_left == 2 and actions(run) == ["approve", "reject"], tell(run))
    first = begin()
    again = answer(first, {"reject": {"reason": "another way"}})
    expect(again.waiting.node == "supervisor" and again.waiting.interrupt_id != first.waiting.interrupt_id, tell(again))
    expect(again.plan.created_ms > first.plan.created_ms and not again.searches and not again.decisions, f"the new plan is not shown: {tell(again)}")


@check("a person stops the research; it ends with what there is, and takes no further answer")
def _():
    run = answer(begin())
    done = answer(run, {"stop": {"reason": "enough"}})
    expect(stop_of(done) == "STOPPED" and actions(done) == ["approve", "stop"] and done.human_decisions[1].text == "enough", tell(done))
    expect(refused(lambda: answer(run, {"approve": {}})) == ("FAILED_PRECONDITION", "NOT_RESUMABLE"), "it was resumed")


@check("nobody answers in time: the research goes on as planned, and the history says that nobody did")
def _():
    silent = {"human_timeout_ms": 300, "options": {"request_id": "timed-out"}}
    run = begin(**silent)
    expect(word("HumanDefault", run.waiting.human_default) == "HUMAN_DEFAULT_APPROVE" and run.waiting.until_ms == run.waiting.since_ms + 300, f"{run.waiting}")
    done = orchestrator("WatchRun", run_id=run.outcome.run_id, follow=True)
    expect(word("RunState", done[-1].stopped.state) == "RUN_STATE_SUCCEEDED", f"{done[-1]}")
    result = begin(**silent)
    expect(stop_of(result) == END and set(actions(result)) == {"approve"} and "writer" in [one.node for one in result.human_decisions], tell(result))
    times = [one.time_ms for one in result.human_decisions]
    late = times[0] - run.waiting.until_ms
    expect(0 <= late < 1000 * SLOW, f"its end came {late} ms after its time")
    expect(all(one.timed_out and not one.by for one in result.human_decisions) and times == sorted(times) and times[0] > 0, f"{result.human_decisions}")
    return f"{late} ms late"


@check("nobody answers in time, and the default is to stop: it ends with what there is")
def _():
    run = begin(human_timeout_ms=400, human_default=2, options={"request_id": "stops"})
    expect(word("HumanDefault", run.waiting.human_default) == "HUMAN_DEFAULT_STOP", f"{run.waiting}")
    orchestrator("WatchRun", run_id=run.outcome.run_id, follow=True)
    done = begin(human_timeout_ms=400, human_default=2, options={"request_id": "stops"})
    expect(stop_of(done) == "NO_ANSWER" and actions(done) == ["stop"] and done.human_decisions[0].timed_out, tell(done))
    expect(refused(lambda: answer(run, interrupt_id=run.waiting.interrupt_id))[0] == "FAILED_PRECONDITION", "an answer came too late")


@check("a request that is repeated while its wait comes to its end is answered with how the run stands then")
def _():
    silent = {"human_timeout_ms": 200, "options": {"request_id": "asked all the time"}}
    def ask_on(_):
        run = begin(**silent)
        while run.HasField("waiting"):
            run = begin(**silent)
        return stop_of(run)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        equal(set(pool.map(ask_on, range(8))), {END})


@check("an answer that is sent twice under its request_id has one effect and one result; other content under it is refused")
def _():
    run = begin()
    edit = {"edit": {"search_queries": ["port 8443"], "investigation_points": ["Ports"]}}
    twice = [answer(run, edit, options={"request_id": "same answer"}) for _ in range(2)]
    expect(twice[0].human_decisions == twice[1].human_decisions and twice[0].waiting == twice[1].waiting and actions(twice[1]) == ["edit"], f"{[tell(one) for one in twice]}")
    expect(refused(lambda: answer(run, {"approve": {}}, options={"request_id": "same answer"}))[0] == "INVALID_ARGUMENT", "other content")
    end = answer(twice[0], {"stop": {}}, options={"request_id": "the end"})
    again = answer(run, {"stop": {}}, options={"request_id": "the end"})
    expect(end == again and actions(end) == ["edit", "stop"], tell(again))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        other = begin()
        same = list(pool.map(lambda _: answer(other, edit, options={"request_id": "at once"}), range(4)))
    expect(all(one.human_decisions == same[0].human_decisions and actions(one) == ["edit"] for one in same), f"{[tell(one) for one in same]}")


@check("two persons answer at once: one answer holds, the other one hears that it came second, and by whom it was beaten")
def _():
    for n in range(5):
        run = begin()
        who = ("anna", "abel")

        def one(name):
            try:
                return answer(run, {"advise": {"text": name}}, name, interrupt_id=run.waiting.interrupt_id)
            except grpc.RpcError as error:
                return error
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            got = list(pool.map(one, who))
        failed = [place for place, reply in enumerate(got) if isinstance(reply, grpc.RpcError)]
        expect(len(failed) == 1, f"{got}")
        winner, error = who[1 - failed[0]], got[failed[0]]
        expect(error.code().name == "FAILED_PRECONDITION" and b"ALREADY_ANSWERED" in dict(error.trailing_metadata())["grpc-status-details-bin"] and
               winner in error.details(), f"{error}")
        kept = got[1 - failed[0]].human_decisions
        expect([(one.by, one.text) for one in kept] == [(winner, winner)], f"{kept}")


@check("a run waits over a restart of the orchestrator, killed without a warning, and another client of the tenant answers")
def _():
    run = answer(begin())
    port = suite.processes[HOST].port
    suite.processes[HOST].kill()
    if HOW == "one":
        suite.processes[HOST] = Process(f"{BIN}/renga", "serve", f"--rpc.listen=127.0.0.1:{port}", *STORES,
                                        f"--orchestrator.store=sqlite:{folder}/runs.db", *AGENT, *GUARD, *ROOTS)
    else:
        suite.start(HOST, port)
    suite.channel.close()
    suite.open(HOST)
    done = answer(run, {"stop": {}}, "abel", interrupt_id=run.waiting.interrupt_id)
    expect(stop_of(done) == "STOPPED" and [one.by for one in done.human_decisions] == ["anna", "abel"], f"{done.human_decisions}")


@check("each of the other services is killed while the research waits; it goes on when they are back")
def _():
    if HOW == "one":
        return "only where they are processes of their own"
    run = answer(begin())
    for name in ("planner", "reviewer", "llm-gateway"):
        suite.restart(name)
    suite.processes["tool-runner"].kill()
    suite.start("tool-runner", TOOLS)
    suite.processes["tool-runner"].port = slow.port
    done = answer(run, {"edit": {"search_queries": [THEME], "investigation_points": ["A"]}})
    expect(len(done.searches) > len(run.searches) and actions(done) == ["approve", "edit"], tell(done))


@check("a caller that leaves ends the run; a caller with keep_running comes back and sees each event once")
def _():
    live = ask("ResearchStream", message("AutonomousResearchRequest")(theme=THEME, max_iterations=8, options={"request_id": "back", "keep_running": True}))
    before = []
    for event in live:
        if event.WhichOneof("event"):
            before.append(event)
        if len(before) == 3:
            break
    live.cancel()
    request = message("AutonomousResearchRequest")(theme=THEME, max_iterations=8,
                                                   options={"request_id": "back", "keep_running": True, "after_event_id": before[-1].event_id})
    rest = [event for event in ask("ResearchStream", request) if event.WhichOneof("event")]
    ids = [event.event_id for event in before + rest]
    kinds = [event.WhichOneof("event") for event in before + rest]
    expect(ids == sorted(set(ids)), f"{ids}")
    expect(kinds[:2] == ["accepted", "planned"] and {"decided", "searched", "draft_text", "reviewed"} <= set(kinds) and kinds[-1] == "result", f"{kinds}")


@check("a caller that leaves stops the searches at once, and the run is cancelled")
def _():
    if not slow:
        return "only where a search can be held back"
    slow.slow, slow.left = "leaving", []
    live = ask("ResearchStream", message("AutonomousResearchRequest")(theme=f"{THEME} leaving", max_iterations=8))
    run_id = next(event.accepted.run_id for event in live if event.WhichOneof("event") == "accepted")
    for event in live:
        if event.WhichOneof("event") == "decided":
            break
    time.sleep(0.1)  # the searches are under way, and wait
    left = time.monotonic()
    live.cancel()
    wait_until(lambda: slow.left, "the search goes on", 10 * SLOW)
    took = slow.left[0] - left
    slow.slow = None
    wait_until(lambda: word("RunState", orchestrator("GetRun", run_id=run_id).run.state) == "RUN_STATE_CANCELLED", "it is not cancelled", 10 * SLOW)
    expect(took < 0.5 * SLOW, f"it took {took:.3f} s")
    return f"{took * 1000:.0f} ms"


@check("a budget ends the research with what there is, and tells")
def _():
    run = begin(human_intervention=False, options={"budget": {"duration_ms": 1}})
    expect(state_of(run) == "RUN_STATE_SUCCEEDED" and stop_of(run) == "BUDGET", tell(run))


@check("a result has at most 4 MiB: the longest summaries are cut, then the last citations and sources go, and the outcome says so")
def _():
    run = answer(begin())
    huge = {"research_data": [{"title": f"t{n}", "url": f"u{n}" + "x" * 1500, "summary": "s" * 500} for n in range(1000)],
            "citations": [{"sentence_number": n + 1, "quote": "q" * 1400} for n in range(1900)],
            "searches": [{"query": "w" * 1000} for _ in range(1000)]}
    for field, value in huge.items():
        orchestrator("UpdateState", thread_id=run.outcome.thread_id, update_json=json.dumps({field: value}), overwrite_fields=[field])
    orchestrator("UpdateState", thread_id=run.outcome.thread_id, update_json=json.dumps({"stop_reason": "stopped"}))
    result = answer(run, {"approve": {}} if not STAND_IN else {"stop": {}})
    expect(3 << 20 < result.ByteSize() <= 4 << 20, f"{result.ByteSize()} bytes")
    parts = {d.part for d in result.outcome.degradations if "4 MiB" in d.reason}
    expect({"sources", "citations"} <= parts and len(result.citations) < 1900 and all(s.summary == "" for s in result.sources), f"{parts}")


@check("a wrong request is refused by the name of its field")
def _():
    def field(call):
        try:
            call()
        except grpc.RpcError as error:
            return error.code().name, error.details().replace("'", "").split(":")[0].split(" ")[0]
    run = begin()
    research = lambda **fields: lambda: begin(**fields)  # noqa: E731
    wrong = {"theme": research(theme=" "), "max_iterations": research(max_iterations=101), "max_results_per_query": research(max_results_per_query=21),
             "min_data_count": research(min_data_count=-1), "sources[0]": research(sources=[9]), "collections[0]": research(collections=[""]),
             "human_timeout_ms": research(human_intervention=False, human_timeout_ms=1), "human_default": research(human_default=1),
             "run_id": lambda: ask("Resume", message("ResumeResearchRequest")()),
             "decision": lambda: ask("Resume", message("ResumeResearchRequest")(run_id=run.outcome.run_id, decision={})),
             "human_input": lambda: answer(run, {"approve": {}}, human_input="x"),
             "decision.edit.search_queries": lambda: answer(run, {"edit": {}}),
             "decision.edit.search_queries[1]": lambda: answer(run, {"edit": {"search_queries": ["a", " "]}}),
             "decision.reject.reason": lambda: answer(run, {"reject": {}}), "decision.advise.text": lambda: answer(run, {"advise": {"text": "\n"}}),
             "options.thread_id": lambda: answer(run, {"approve": {}}, options={"thread_id": "t"})}
    for name, call in wrong.items():
        got = field(call)
        expect(got == ("INVALID_ARGUMENT", name), f"{name}: {got}")


@check("runs of another tenant, of another agent and unknown ones are not found")
def _():
    run = begin()
    expect(refused(lambda: answer(run, {"approve": {}}, "bert"))[0] == "NOT_FOUND", "another tenant answers")
    run.outcome.run_id = "never"
    expect(refused(lambda: answer(run, {"approve": {}}))[0] == "NOT_FOUND", "an unknown run")
    run.outcome.run_id = orchestrator("StartRun", agent="helpdesk", input_json='{"question": "When?"}').run.run_id
    expect(refused(lambda: answer(run, {"approve": {}}))[0] == "NOT_FOUND", "a run of the help desk")
    theirs = begin("bert")
    expect(actions(answer(theirs, {"approve": {}}, "bert")) == ["approve"], "the other tenant's own run")


@check("Node asks the same: a person edits, rejects and stops over streams that go on behind the last event seen")
def _():
    if not os.environ.get("NODE"):
        return "no Node"
    done = subprocess.run([os.environ["NODE"], "--no-deprecation", os.path.join(HERE, "flow.mjs"), f"127.0.0.1:{suite.processes[HOST].port}", "anna", THEME],
                          capture_output=True, text=True, timeout=120 * SLOW)
    expect(done.returncode == 0, done.stderr)
    told = json.loads(done.stdout)
    expect(told["first"]["node"] == "supervisor" and told["planned"]["search_queries"], f"{told}")
    expect(told["edited"]["search_queries"] == ["session timeout after minutes", "error E-1024 license server"], f"{told['edited']}")
    expect(told["kinds"].count("result") == 3 and told["kinds"].count("accepted") == 1 and "searched" in told["kinds"], f"{told['kinds']}")
    expect(told["ids"] == sorted(set(told["ids"])) and set(told["ids"]) - set(told["rest"]) <= {i for i, k in zip(told["ids"], told["kinds"]) if k == "result"},
           f"{told['ids']} {told['rest']}")
    expect(told["late"]["code"] == 9 and told["twice"] == [told["run_id"]] * 2 and told["other"]["code"] == 3, f"{told}")
    expect(sorted(one["code"] for one in told["pair"]) == [0, 9], f"{told['pair']}")
    expect(told["end"]["stop_reason"] == "RESEARCH_STOP_REASON_STOPPED" and told["after"]["code"] == 9 and told["wrong"]["code"] == 3, f"{told}")
    expect(told["report"]["stop_reason"] == f"RESEARCH_STOP_REASON_{END}" and "guide/sessions.html" in told["report"]["sources"], f"{told['report']}")
    if not STAND_IN:
        at = [told["report"]["draft"].find(f"\n## {part}\n") for part in PARTS]
        expect(at == sorted(at) and at[0] > 0 and "[^1]: " in told["report"]["draft"] and told["report"]["citations"], f"{told['report']}")
    equal(told["rejected"], {"left": [3, 2, 1], "stop_reason": "RESEARCH_STOP_REASON_REJECTED", "texts": [f"not like this {n}" for n in (1, 2, 3)]})
    equal(told["timed"], {"span": 300, "human_default": "HUMAN_DEFAULT_STOP", "stop_reason": "RESEARCH_STOP_REASON_NO_ANSWER",
                          "decisions": [{"action": "HUMAN_ACTION_STOP", "timed_out": True, "by": ""}]})
    expect([one["action"] for one in told["end"]["decisions"]] == [f"HUMAN_ACTION_{a}" for a in ("APPROVE", "EDIT", "ADVISE", "STOP")], f"{told['end']}")


suite.stop()
finish()
