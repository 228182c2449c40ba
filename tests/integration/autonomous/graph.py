#!/usr/bin/env python3
"""The agent autonomous_research as a graph: a planner, searches, a model and a reviewer that the test scripts."""
import itertools
import json
import os
import re
import sys
import threading
import time

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orchestrator"))

from harness import api, check, equal, expect, finish, message, number, stands, succeeded
from services import hit, said, services

api.flags = services.flags()
api.start()

PAGES = {"moon": "The moon is 384,400 km away from the earth, as laser ranging has measured since 1969.",
         "mars": "Mars has two small moons, Phobos and Deimos, which Asaph Hall discovered in 1877.",
         "venus": "A day on Venus lasts 243 days of the earth, which is longer than a year of Venus.",
         "sun": "The sun is a star of 4.6 billion years, and its surface has a heat of 5,500 degrees.",
         "saturn": "Saturn has rings of ice and rock, which are 10 m thick and 280,000 km across in all.",
         "pluto": "Pluto was found in 1930 by Clyde Tombaugh, and has been a dwarf planet since 2006."}
THEME = "What is known of the bodies of the solar system?"
PARTS = ["Executive Summary", "Key Findings", "Detailed Analysis", "References"]


def page(word, **fields):
    return hit(PAGES[word], uri=f"https://{word}.example/page", collection="", title=word.title(), source="web", **fields)


def plan(*queries, points=("moons", "planets")):
    return lambda request, context: message("PlanResponse")(research={
        "theme": request.research.theme, "investigation_points": points, "search_queries": queries, "plan_text": "by body"},
        usage={"model_calls": 1}, model="scripted")


def search(request, context):
    return message("SearchResponse")(hits=[page(word) for word in PAGES if word in request.query])


def route(request, context):
    """The planner's rules; a model that would write again."""
    found, most = request.progress.data_count, request.max_iterations or 5
    choice = 4 if request.iteration >= most else 1 if found < request.min_data_count else 2
    return message("RouteResponse")(next_action=choice, reasoning=f"there are {found}")


def improve(request, context):
    return message("ImproveQueriesResponse")(queries=[query + " facts" for query in request.base_queries])


def report(*words):
    """A draft of these pages, as a model writes it."""
    lines = [PAGES[word] for word in words]
    return "\n".join([f"# {THEME}", "", "## Executive Summary", "", *lines, "", "## Key Findings", "", *(f"- {line}" for line in lines), "",
                      "## Detailed Analysis", "", "### moons", "", *lines, "", "### planets", "", *lines, "", "## References", ""])


def writes(*drafts):
    """A model that writes these drafts, one after the other; then the last one again."""
    left, lock = list(drafts), threading.Lock()

    def chat(request, context):
        with lock:
            return said(left.pop(0) if len(left) > 1 else left[0])
    return chat


def judges(*marks, action=2):
    """A reviewer that gives these overall marks; 1 is an approval."""
    left, lock = list(marks), threading.Lock()

    def review(request, context):
        with lock:
            overall = left.pop(0) if len(left) > 1 else left[0]
        good = overall == 1
        return message("ReviewDraftResponse")(review={"approved": good, "overall_score": overall, "feedback": "" if good else f"only {overall}",
                                                      "scores": {"fact_check": overall}, "suggested_action": 4 if good else action})
    return review


def closed(request, context):
    """A tool-runner that reads no pages of the web."""
    return message("RunToolsResponse")(results=[{"call_id": call.call.id, "name": call.call.name, "status_code": 5} for call in request.calls])


def script(**methods):
    services.forget()
    for key, behaviour in {"Planner/Plan": plan("moon", "mars", "venus", "sun", "saturn"), "Planner/Route": route,
                           "Planner/ImproveQueries": improve, "ToolRunner/Search": search, "Reviewer/ReviewDraft": judges(1),
                           "LlmGateway/Chat": writes(report("moon", "mars", "venus")), "ToolRunner/RunTools": closed}.items():
        services.on(key, methods.get(key.split("/")[1], behaviour))


def study(**fields):
    return api.start_run("autonomous_research", {"theme": THEME, **fields})


def shown(run):
    """What a watcher of the run is shown."""
    return [json.loads(event.progress_json) for event in api.watch(run) if event.WhichOneof("event") == "progress_json"]


def kind(one):
    return next(name for name, key in (("plan", "plan_text"), ("decision", "next_action"), ("search", "query"), ("text", "text"),
                                       ("review", "overall_score")) if key in one)


def reasons(run):
    return [d.reason for d in run.degradations]


def expect_report(result):
    """The five parts in their order, and notes that resolve to sources of the run."""
    draft, at = result["current_draft"], 0
    expect(draft.startswith(f"# {THEME}\n"), draft)
    for part in PARTS:
        at = draft.find(f"\n## {part}\n", at)
        expect(at > 0, f"{part} is missing or out of order: {draft}")
    notes = dict(re.findall(r"^\[\^(\d+)\]: .*?(\S+)$", draft, re.M))
    used = set(re.findall(r"\[\^(\d+)\](?!:)", draft))
    equal(used, set(notes), "the notes")
    known = {source["url"] for source in result["research_data"]}
    expect(notes and set(notes.values()) <= known, f"{notes} are not of {known}")
    expect({c["uri"] for c in result["citations"]} <= known and result["citations"], f"{result['citations']}")


@check("a theme is planned, searched, written and reviewed; an approved report has its five parts, and notes that resolve")
def _():
    script()
    run = study()
    result = succeeded(run)
    expect_report(result)
    equal((result["stop_reason"], result["iteration_count"], result["review"]["approved"]), ("approved", 3, True), "the end")
    equal([d["next_action"] for d in result["decisions"]], ["NEXT_ACTION_RESEARCH", "NEXT_ACTION_WRITE"], "the decisions")
    equal(result["decisions"][1], {"next_action": "NEXT_ACTION_WRITE", "reasoning": "there are 5", "iteration": 1,
                                   "progress": {"data_count": 5, "data_quality": 0.5, "coverage": 1}}, "the second one")
    equal([s["url"] for s in result["research_data"]], [f"https://{w}.example/page" for w in ("moon", "mars", "venus", "sun", "saturn")], "the sources")
    equal([(s["query"], s["result_count"], s["new_count"]) for s in result["searches"]][:2], [("moon", 1, 1), ("mars", 1, 1)], "the searches")
    equal((list(run.degradations), result["task_plan"]["plan_text"]), ([], "by body"), "the rest")
    asked = services.of("LlmGateway/Chat")[0]
    expect(all(part in asked.messages[-1].content for part in (THEME, "moons", PAGES["sun"], "https://sun.example/page")), asked.messages[-1].content)
    reviewed = services.of("Reviewer/ReviewDraft")[0]
    equal((reviewed.draft, len(reviewed.sources), len(reviewed.citations)), (result["current_draft"], 5, len(result["citations"])), "what was reviewed")
    messages = api.state(run.thread_id)["messages"]
    equal((messages[0]["role"], messages[0]["content"], {m["role"] for m in messages[1:]}), ("user", THEME, {"assistant"}), "the messages")
    expect(len(messages) >= 6 and any("there are 5" in m["content"] for m in messages), f"{messages}")


@check("a watcher sees the plan, each decision, each search, the checked draft in pieces and the review")
def _():
    script()
    run = study()
    result = succeeded(run)
    seen = shown(run)
    kinds = [kind(one) for one in seen]
    equal(kinds, ["plan", "decision"] + ["search"] * 5 + ["decision"] + ["text"] * kinds.count("text") + ["review"], "the order")
    equal("".join(one["text"] for one in seen if kind(one) == "text"), result["current_draft"], "the pieces")


@check("the best draft is the result when the steps run out, not the last, and the run says so")
def _():
    drafts = [report("moon", "mars", "sun"), report("mars", "venus", "sun"), report("venus", "sun", "saturn")]
    script(Chat=writes(*drafts), ReviewDraft=judges(0.5, 0.75, 0.25))
    run = study(max_iterations=7)
    result = succeeded(run)
    equal((result["stop_reason"], result["iteration_count"], result["review"]["overall_score"]), ("max_iterations", 7, 0.75), "the end")
    best = services.of("Reviewer/ReviewDraft")[1].draft
    expect(result["current_draft"] == best and PAGES["mars"][:-1] in best and PAGES["venus"][:-1] in best and PAGES["moon"][:-1] not in best, result["current_draft"])
    expect_report(result)
    expect(any("limit of steps (7)" in reason for reason in reasons(run)), f"{reasons(run)}")
    told = [r.messages[-1].content for r in services.of("LlmGateway/Chat")]
    expect("only 0.5" not in told[0] and "only 0.5" in told[1] and "only 0.75" in told[2], "the feedback did not reach the model")
    equal([r.earlier_feedback for r in services.of("Reviewer/ReviewDraft")], ["", "only 0.5", "only 0.75"], "the earlier feedback")


@check("a query that fails is told and passed over; a page that was found in two ways is one source")
def _():
    def twice(request, context):
        if "mars" in request.query:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "mars is out of reach")
        extra = [hit("The moon, once more.", uri="http://www.moon.example:80/page/?utm_source=x#top", collection="", source="web")]
        return message("SearchResponse")(hits=search(request, context).hits[:] + (extra if "sun" in request.query else []))
    script(Search=twice, Chat=writes(report("moon", "venus", "sun")))
    run = study(min_data_count=4)
    result = succeeded(run)
    equal([s["url"].split("//")[1].split(".")[0] for s in result["research_data"]], ["moon", "venus", "sun", "saturn"], "the sources")
    rows = {s["query"]: (s.get("result_count", 0), s.get("new_count", 0), s.get("status_code", 0), s.get("message", "")) for s in result["searches"]}
    equal((rows["mars"], rows["sun"]), ((0, 0, 3, "mars is out of reach"), (2, 2, 0, "")), "the searches")
    equal([(d.part, d.status_code) for d in run.degradations], [("mars", 3)], "the degradations")
    expect("once more" in result["research_data"][0]["summary"], f"{result['research_data'][0]}")
    equal(result["decisions"][1]["progress"]["coverage"], 0.8, "the coverage")


@check("where a result tells a line of a page only, the page itself is read; one that cannot be read is told")
def _():
    def fetch(request, context):
        address = json.loads(request.calls[0].call.arguments_json)["url"]
        result = {"call_id": request.calls[0].call.id, "name": "fetch_page"}
        if "mars" in address:
            return message("RunToolsResponse")(results=[{**result, "status_code": 14, "message": "mars.example is down"}])
        text = f"All bodies of the solar system are known since {len(address)} years. " * 30
        return message("RunToolsResponse")(results=[{**result, "hits": [hit(text, uri=address, collection="", source="page")]}])
    script(RunTools=fetch, Search=lambda r, c: message("SearchResponse")(hits=[
        hit("x" * 150 + ".", uri="https://long.example/", collection=""), *search(r, c).hits]), Plan=plan("moon", "mars", "venus", "sun"))
    run = study()
    result = succeeded(run)
    called = [json.loads(r.calls[0].call.arguments_json)["url"] for r in services.of("ToolRunner/RunTools")]
    equal(sorted(called), [f"https://{w}.example/page" for w in ("mars", "moon", "sun", "venus")], "the pages")
    summaries = {s["url"].split("/")[2].split(".")[0]: s["summary"] for s in result["research_data"]}
    expect(summaries["moon"].startswith(PAGES["moon"] + "\n") and "All bodies" in summaries["moon"] and len(summaries["moon"]) <= 500, summaries["moon"])
    equal((summaries["mars"], summaries["long"]), (PAGES["mars"], "x" * 150 + "."), "the others")
    equal([(d.part, d.status_code) for d in run.degradations if d.status_code], [("https://mars.example/page", 14)], "what is told")


@check("where no source is found at all, the run ends with an honest report")
def _():
    script(Search=lambda r, c: message("SearchResponse")())
    run = study()
    result = succeeded(run)
    equal((result["stop_reason"], result["research_data"], result["citations"], result["iteration_count"]), ("no_sources", [], [], 2), "the end")
    expect(result["current_draft"].startswith(f"# {THEME}") and all(f"## {part}" in result["current_draft"] for part in PARTS) and "No source at all" in result["current_draft"], result["current_draft"])
    equal((services.of("LlmGateway/Chat"), services.of("Reviewer/ReviewDraft")), ([], []), "calls of models")
    equal([s["query"] for s in result["searches"]][5:], [q + " facts" for q in ("moon", "mars", "venus", "sun", "saturn")], "the second round")


@check("too few sources are enough when a further round finds no new one, and the run says so")
def _():
    script(Plan=plan("moon", "mars"))
    run = study()
    result = succeeded(run)
    equal((result["stop_reason"], len(result["research_data"]), result["iteration_count"]), ("approved", 2, 4), "the end")
    expect(any("(2 of 5 wanted)" in reason for reason in reasons(run)), f"{reasons(run)}")
    equal(services.of("Planner/Route")[-1].min_data_count, 2, "what is enough")


@check("when the reviewer misses sources, better queries are searched for, each once, and the draft is written again")
def _():
    services_plan = plan("moon", "mars", "venus", "sun", "saturn")
    script(Plan=services_plan, ReviewDraft=lambda r, c: judges(1 if len(r.sources) > 5 else 0.5, action=1)(r, c),
           ImproveQueries=lambda r, c: message("ImproveQueriesResponse")(queries=[*r.base_queries[:4], "pluto"]),
           Chat=writes(report("moon", "mars", "sun"), report("moon", "pluto", "sun")))
    result = succeeded(study(max_iterations=8))
    equal((result["stop_reason"], len(result["research_data"]), result["iteration_count"]), ("approved", 6, 6), "the end")
    equal([s["query"] for s in result["searches"]], ["moon", "mars", "venus", "sun", "saturn", "pluto"], "the searches")
    equal((services.of("Planner/ImproveQueries")[0].feedback, services.of("Planner/ImproveQueries")[0].theme), ("only 0.5", THEME), "the feedback")
    expect(PAGES["pluto"][:-1] in result["current_draft"], result["current_draft"])


@check("where no model chooses, new sources that the reviewer has missed are written from; without new ones the run ends")
def _():
    def rules(request, context):
        answer = route(request, context)
        if request.has_draft:
            answer.next_action, answer.reasoning = 4, "there is a draft"
        return answer
    better = lambda r, c: message("ImproveQueriesResponse")(queries=[*r.base_queries[:4], "pluto"])
    script(Route=rules, ReviewDraft=judges(0.5, 1, action=1), ImproveQueries=better, Chat=writes(report("moon", "mars", "sun"), report("moon", "pluto", "sun")))
    result = succeeded(study(max_iterations=8))
    equal((result["stop_reason"], result["decisions"][-1]["reasoning"]), ("approved", "The last searches have found new sources (1), so the "
                                                                          "draft is written again from all of them."), "the end")
    script(Route=rules, ReviewDraft=judges(0.5, action=1), ImproveQueries=lambda r, c: message("ImproveQueriesResponse")(queries=r.base_queries))
    result = succeeded(study(max_iterations=8))
    equal((result["stop_reason"], result["decisions"][-1]["reasoning"], len(result["searches"])), ("decided", "there is a draft", 5), "without new ones")


@check("a hundred steps are made, if a caller wants them")
def _():
    orders = [report(*words) for words in itertools.islice(itertools.permutations(PAGES, 3), 60)]
    script(Chat=writes(*orders), ReviewDraft=judges(0.5), Plan=plan(*PAGES))
    result = succeeded(study(max_iterations=100))
    equal((result["stop_reason"], result["iteration_count"], len(services.of("LlmGateway/Chat"))), ("max_iterations", 99, 49), "the end")


@check("no more steps are made than a caller allows, and a draft for which no step is left is not reviewed")
def _():
    for most, drafts, reviews in ((1, 0, 0), (2, 1, 0), (3, 1, 1), (4, 1, 1), (5, 2, 2)):
        script(ReviewDraft=judges(0.5), Chat=writes(report("moon", "mars", "sun"), report("sun", "mars", "venus")))
        run = study(max_iterations=most)
        result = succeeded(run)
        expect_report(result)
        equal((result["stop_reason"], len(services.of("LlmGateway/Chat")), len(services.of("Reviewer/ReviewDraft"))), ("max_iterations", drafts, reviews),
              f"{most} steps")
        expect(result["iteration_count"] <= most, f"{result['iteration_count']} steps were made, of {most}")
        expect(any(f"limit of steps ({most})" in reason or "no language model" in reason for reason in reasons(run)), f"{reasons(run)}")


@check("at most five searches run side by side")
def _():
    lock, five, state = threading.Lock(), threading.Event(), {"now": 0, "peak": 0}

    def slow(request, context):
        with lock:
            state["now"] += 1
            state["peak"] = max(state["peak"], state["now"])
            if state["now"] == 5:
                five.set()
        five.wait(20)
        time.sleep(0.2)
        with lock:
            state["now"] -= 1
        return search(request, context)
    script(Search=slow, Plan=plan(*(f"moon {n}" for n in range(4)), *(f"mars {n}" for n in range(4)), "venus", "sun", "saturn"))
    result = succeeded(study())
    equal((state["peak"], len(result["searches"]), len(result["research_data"])), (5, 11, 5), "side by side")


@check("without a model the report is composed of the sources' sentences, and the same draft is not reviewed twice")
def _():
    def embedded(request, context):
        answer = said("anything")
        answer.finish.answered_by.provider = "extractive"
        return answer
    script(Chat=embedded, ReviewDraft=judges(0.7))
    run = study(max_iterations=9)
    result = succeeded(run)
    expect_report(result)
    equal((result["stop_reason"], len(services.of("Reviewer/ReviewDraft")), result["review"]["overall_score"]), ("decided", 1, 0.7), "the end")
    equal(sum("no language model" in reason for reason in reasons(run)), 1, "how often it is told")
    script(Chat=lambda request, context: context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such model"))
    run = study()
    expect_report(succeeded(run))
    expect(any("no such model" in reason for reason in reasons(run)), f"{reasons(run)}")


@check("a planner that fails costs no run: the theme is the plan, and rules alone choose")
def _():
    def fail(request, context):
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no planner today")
    script(Plan=fail, Route=fail, ImproveQueries=fail, Search=lambda r, c: message("SearchResponse")(hits=[page(word) for word in PAGES]))
    run = study()
    result = succeeded(run)
    equal((result["stop_reason"], result["task_plan"]["search_queries"], len(result["research_data"])), ("approved", [THEME], 5), "the end")
    expect_report(result)
    equal([d["next_action"] for d in result["decisions"]], ["NEXT_ACTION_RESEARCH", "NEXT_ACTION_WRITE"], "the decisions")
    equal({d.kind for d in run.degradations}, {2}, "the degradations")


@check("a reviewer that fails costs no draft")
def _():
    script(ReviewDraft=lambda r, c: c.abort(grpc.StatusCode.INVALID_ARGUMENT, "no reviewer today"))
    run = study()
    result = succeeded(run)
    expect_report(result)
    equal((result["stop_reason"], result["review"]), ("failed", {}), "the end")
    expect(any("no reviewer today" in reason for reason in reasons(run)), f"{reasons(run)}")


@check("the budget ends the run with the best draft")
def _():
    drafts = [report("moon", "mars", "venus"), report("mars", "venus", "sun"), report("venus", "sun", "saturn"), report("sun", "saturn", "moon")]
    script(Chat=writes(*drafts), ReviewDraft=judges(0.75, 0.5, 0.25, 0.25))
    run = api.start_run("autonomous_research", {"theme": THEME, "max_iterations": 50}, budget={"model_calls": 4})
    result = json.loads(stands(run, "SUCCEEDED", "BUDGET_MODEL_CALLS").output_json)
    equal((result["review"]["overall_score"], result["stop_reason"]), (0.75, "budget"), "the review")
    expect(result["current_draft"] == services.of("Reviewer/ReviewDraft")[0].draft, result["current_draft"])
    expect(any("the budget is spent" in reason for reason in reasons(run)), f"{reasons(run)}")
    expect_report(result)


@check("a budget that is spent before a draft leaves a report of what was found by then, with a warning; no more is asked for")
def _():
    for budget, reason, sources in (({"model_calls": 1}, "MODEL_CALLS", 0), ({"tool_calls": 1}, "TOOL_CALLS", None), ({"model_calls": 0}, "MODEL_CALLS", 0),
                                    ({"duration_ms": 0}, "DURATION", 0)):
        script(Search=lambda r, c: message("SearchResponse")(hits=search(r, c).hits, usage={"tool_calls": 1}),
               Route=lambda r, c: message("RouteResponse")(next_action=1 if r.progress.data_count < 5 else 2, reasoning="rule"))
        run = api.start_run("autonomous_research", {"theme": THEME}, budget=budget)
        result = json.loads(stands(run, "SUCCEEDED", f"BUDGET_{reason}").output_json)
        asked = len(services.of("LlmGateway/Chat")) + len(services.of("Reviewer/ReviewDraft"))
        equal((result["stop_reason"], asked), ("budget", 0), f"{budget}: the end")
        expect(sources is None or len(result["research_data"]) == sources, f"{budget}: {result['research_data']}")
        expect(any("budget was spent before a draft" in reason for reason in reasons(run)), f"{budget}: {reasons(run)}")
        draft = result["current_draft"]
        expect(draft.startswith(f"# {THEME}") and all(f"## {part}" in draft for part in PARTS), f"{budget}: {draft}")
        if result["research_data"]:
            expect_report(result)
        if "duration_ms" in budget:
            api.kill()
            api.start()
        try:
            api.resume(run, budget=message("Budget")(model_calls=100))
        except grpc.RpcError as error:
            equal(error.code().name, "FAILED_PRECONDITION", "a resumption")
        else:
            expect(False, "a run that has come to its end was resumed")
    script()
    equal(stands(api.start_run("autonomous_research", {"theme": THEME}, budget={"tool_calls": 1000}), "SUCCEEDED").stop_reason,
          number("StopReason", "STOP_REASON_COMPLETED"), "a run within its budget")


@check("a second theme on the thread begins anew")
def _():
    script()
    first = study()
    succeeded(first)
    services.forget()
    second = api.start_run("autonomous_research", {"theme": "月"}, thread_id=first.thread_id)
    result = succeeded(second)
    equal((result["theme"], result["iteration_count"], len(result["decisions"]), len(services.of("Planner/Plan"))), ("月", 3, 2, 1), "the second run")


# ---- a person in the loop --------------------------------------------------------------------------------------------


def supervised(**fields):
    return api.start_run("autonomous_research", {"theme": THEME, **fields}, interrupt_before=["supervisor", "writer"])


def answers(run, **fields):
    """What a person said, and on it goes."""
    equal(stands(run, "WAITING").stop_reason, number("StopReason", "STOP_REASON_INTERRUPT_BEFORE"), "why it waits")
    api.ask("UpdateState", thread_id=run.thread_id, update_json=json.dumps(fields))
    return api.resume(run)


@check("a person sees the plan before anything is searched for, changes it, and gives advice that stays until the writer has read it")
def _():
    script(Plan=plan("moon", "mars", "venus", "sun", "saturn"))
    run = supervised()
    state = api.state(run.thread_id)
    equal((state["task_plan"]["search_queries"][0], state["searches"], services.of("ToolRunner/Search")), ("moon", [], []), "the first wait")
    run = answers(run, human_input="look at moons first", human_action="advise")
    equal(services.of("Planner/Route")[0].human_input, "look at moons first", "the advice to the supervisor")
    state = api.state(run.thread_id)
    equal((state["human_input"], state["human_action"], len(state["research_data"])), ("look at moons first", "", 5), "what is left of it")
    changed = {**state["task_plan"], "search_queries": ["pluto", "moon"]}
    run = answers(run, task_plan=changed, human_action="edit")
    state = api.state(run.thread_id)
    equal(([s["query"] for s in state["searches"]][5:], state["decisions"][-1]["next_action"]), (["pluto"], "NEXT_ACTION_RESEARCH"), "the changed plan")
    run = answers(run, human_action="approve")
    run = answers(run, human_action="approve")
    result = succeeded(run)
    equal((result["stop_reason"], result["task_plan"]["search_queries"], len(services.of("Planner/Plan"))), ("approved", ["pluto", "moon"], 1), "the end")
    expect("look at moons first" in services.of("LlmGateway/Chat")[0].messages[-1].content, "the advice did not reach the model")
    equal(api.state(run.thread_id)["human_input"], "", "the advice behind the writer")


@check("a rejection with a reason is planned or written anew, at most three times")
def _():
    drafts = [report(*words) for words in (("moon",), ("mars",), ("venus",), ("sun",), ("saturn",))]
    script(ReviewDraft=judges(0.5), Chat=writes(*drafts))
    run = answers(supervised(max_iterations=50), human_input="too broad", human_action="reject")
    asked = services.of("Planner/Plan")
    equal((len(asked), asked[1].feedback, services.of("ToolRunner/Search")), (2, "too broad", []), "the second plan")
    equal((stands(run, "WAITING").interrupts[0].node, api.state(run.thread_id)["wish"]), ("supervisor", ""), "where the second plan is shown")
    run = answers(answers(run, human_action="approve"), human_action="approve")
    run = answers(run, human_input="too long", human_action="reject")
    expect("too long" in services.of("LlmGateway/Chat")[-1].messages[-1].content, "the reason did not reach the model")
    run = answers(run, human_input="no", human_action="reject")
    result = succeeded(run)
    equal((result["stop_reason"], result["current_draft"]), ("rejected", services.of("Reviewer/ReviewDraft")[0].draft), "the end")
    equal((len(services.of("LlmGateway/Chat")), api.state(run.thread_id)["rejections"]), (1, 3), "the drafts and rejections")


@check("a plan that a person changes before the writer is searched for first, if it has new queries")
def _():
    script()
    run = answers(answers(supervised(), human_action="approve"), human_action="approve")
    changed = {**api.state(run.thread_id)["task_plan"], "search_queries": ["moon", "pluto"], "investigation_points": ["dwarf planets"]}
    run = answers(run, task_plan=changed, human_action="edit")
    equal(([s["query"] for s in api.state(run.thread_id)["searches"]][5:], services.of("LlmGateway/Chat")), (["pluto"], []), "the new search")
    run = answers(run, human_action="approve")
    changed["investigation_points"] = ["small bodies"]
    result = succeeded(answers(run, task_plan=changed, human_action="edit"))
    equal((result["stop_reason"], len(result["searches"]), len(result["research_data"])), ("approved", 6, 6), "the end")
    expect("small bodies" in services.of("LlmGateway/Chat")[0].messages[-1].content, "the changed point did not reach the model")


@check("a person who stops before the writer gets the best of what there is")
def _():
    script()
    run = answers(answers(supervised(), human_action="approve"), human_action="approve")
    api.ask("UpdateState", thread_id=run.thread_id, as_node="route_supervisor", outcome="end", update_json=json.dumps({"stop_reason": "stopped"}))
    result = succeeded(api.resume(run))
    equal((result["stop_reason"], services.of("LlmGateway/Chat")), ("stopped", []), "the end")
    expect_report(result)


finish()
