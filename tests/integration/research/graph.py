#!/usr/bin/env python3
"""The agent deep_research as a graph: a planner, searches and a model that the test scripts."""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orchestrator"))

from harness import api, check, equal, expect, finish, message, succeeded, word
from services import hit, said, services

api.flags = services.flags()
api.start()

TEXTS = {"moon": "The moon is 384,400 km away from the earth.", "mars": "Mars has two moons, Phobos and Deimos.",
         "venus": "A day on Venus lasts 243 days of the earth."}
QUESTION = "How far is the moon, and what is known of Mars and Venus?"


def queries(*rounds, gaps=()):
    """A planner that has these queries in its cycles, and then none."""
    left = [list(one) for one in rounds]
    lock = threading.Lock()

    def plan(request, context):
        with lock:
            wanted = left.pop(0) if left else []
        return message("PlanResponse")(queries={"queries": wanted, "gaps": gaps, "reasoning": "because"}, usage={"model_calls": 1})
    return plan


def search(request, context):
    found = [hit(text, uri=f"{word}.md") for word, text in TEXTS.items() if word in request.query]
    return message("SearchResponse")(hits=found)


def model(request, context):
    asked = request.messages[-1].content
    if "<notes>" in asked:
        notes = json.loads(asked.split("<notes>\n")[1].split("\n</notes>")[0])
        return said("\n\n".join(f"## {note['query']}\n\n{note['summary']}" for note in notes))
    results = json.loads(asked.split("<results>\n")[1].split("\n</results>")[0])
    return said("\n".join(one["text"] for one in results))


def save(request, context):
    return message("SaveNoteResponse")()


def script(**methods):
    services.forget()
    for key, behaviour in {"Planner/Plan": queries(["moon", "mars"]), "ToolRunner/Search": search, "LlmGateway/Chat": model,
                           "ToolRunner/SaveNote": save}.items():
        services.on(key, methods.get(key.split("/")[1].lower(), behaviour))


def study(**fields):
    return api.start_run("deep_research", {"question": QUESTION, **fields})


def shown(run):
    """What a watcher of the run is shown."""
    return [json.loads(event.progress_json) for event in api.watch(run) if event.WhichOneof("event") == "progress_json"]


@check("queries are searched and summarised side by side, kept as notes, and become a report in which sentences have sources")
def _():
    both = threading.Barrier(2, timeout=10)

    def meet(request, context):
        both.wait()
        return search(request, context)
    script(search=meet)
    result = succeeded(study())
    equal(result["queries"], ["moon", "mars"], "the queries")
    equal([(n["step_no"], n["query"], n["summary_md"], [s["uri"] for s in n["sources"]]) for n in result["notes"]],
          [(1, "moon", TEXTS["moon"], ["moon.md"]), (2, "mars", TEXTS["mars"], ["mars.md"])], "the notes")
    equal(sorted((r.note.step_no, r.note.query) for r in services.of("ToolRunner/SaveNote")), [(1, "moon"), (2, "mars")], "kept notes")
    expect(TEXTS["moon"][:-1] in result["report_md"] and TEXTS["mars"][:-1] in result["report_md"], result["report_md"])
    equal(sorted({c["uri"] for c in result["citations"]}), ["mars.md", "moon.md"], "the sources")
    equal([(s["cycle"], s["query"], s["result_count"]) for s in result["searches"]], [(1, "moon", 1), (1, "mars", 1)], "the searches")
    equal(len(services.of("Planner/Plan")), 2, "how often the planner was asked")


@check("a watcher sees the plan of a cycle, each search, each note, and then the report in pieces")
def _():
    script(plan=queries(["moon"], ["mars"]))
    run = study()
    result = succeeded(run)
    seen = shown(run)
    kinds = ["plan" if "queries" in one else "note" if "summary_md" in one else "search" if "query" in one else "text" for one in seen]
    equal(kinds, ["plan", "search", "note"] * 2 + ["text"], "the order")
    equal((seen[3]["cycle"], seen[3]["queries"], seen[3]["reasoning"]), (2, ["mars"], "because"), "the second plan")
    equal((seen[4]["cycle"], seen[4]["query"], seen[4]["result_count"], seen[5]["step_no"]), (2, "mars", 1, 2), "its search and note")
    equal("".join(one["text"] for one in seen if "text" in one), result["report_md"], "the pieces")


@check("an empty plan is no error: nothing is searched, and the report says that no research is needed, in the question's language")
def _():
    script(plan=queries())
    result = succeeded(study())
    equal((result["report_md"], result["queries"]), ("No detailed research is needed.", []), "in English")
    result = succeeded(api.start_run("deep_research", {"question": "1+1はいくつですか"}))
    equal((result["report_md"], services.of("ToolRunner/Search")), ("詳細調査は不要です。", []), "in Japanese")


@check("a query that finds nothing is passed over, one that fails is left out and told, and the third makes the report")
def _():
    def fail(request, context):
        if "mars" in request.query:
            context.abort(__import__("grpc").StatusCode.INVALID_ARGUMENT, "mars is out of reach")
        return search(request, context)
    script(search=fail, plan=queries(["pluto", "mars", "venus"]))
    run = study()
    result = succeeded(run)
    equal([(n["step_no"], n["query"]) for n in result["notes"]], [(3, "venus")], "the notes")
    equal(result["empty_queries"], ["pluto"], "the empty queries")
    told = {s["query"]: (s.get("result_count", 0), s.get("status_code", 0), s.get("message", "")) for s in result["searches"]}
    equal(told, {"pluto": (0, 0, ""), "mars": (0, 3, "mars is out of reach"), "venus": (1, 0, "")}, "the searches")
    equal([(d.part, d.status_code) for d in run.degradations if d.part == "mars"] or [d for d in run.degradations], [("mars", 3)], "the degradation")
    expect(TEXTS["venus"][:-1] in result["report_md"], result["report_md"])


@check("gaps are searched again with what was found, up to max_cycles, and note numbers go on from cycle to cycle")
def _():
    script(plan=queries(["moon"], ["mars"], ["venus"], ["pluto"], gaps=["pluto is not known"]))
    result = succeeded(study())
    equal((result["cycle"], result["queries"], [n["step_no"] for n in result["notes"]]), (3, ["moon", "mars", "venus"], [1, 2, 3]), "three cycles")
    equal(result["gaps"], ["pluto is not known"], "the gaps")
    told = services.of("Planner/Plan")[1].queries
    equal([(f.query, f.summary_md) for f in told.findings], [("moon", TEXTS["moon"])], "what the planner is told")
    script(plan=queries(["moon"], ["mars"]))
    equal(succeeded(study(max_cycles=1))["queries"], ["moon"], "one cycle")


def breaking(*rounds):
    """A planner that has these queries in its first cycles, and then breaks."""
    plan = queries(*rounds)

    def one(request, context):
        if len(services.of("Planner/Plan")) > len(rounds):
            context.abort(__import__("grpc").StatusCode.INTERNAL, "a bug of the planner")
        return plan(request, context)
    return one


@check("a planner that breaks costs no report: the question itself is searched for, or what was found is the report, and it is told")
def _():
    for rounds, wanted, parts in (((), [QUESTION], ["FALLBACK", "SKIPPED"]), ((["moon"],), ["moon"], ["SKIPPED"])):
        script(plan=breaking(*rounds), search=lambda r, c: message("SearchResponse")(hits=[hit(TEXTS["moon"], uri="moon.md")]))
        run = study()
        result = succeeded(run)
        equal((result["queries"], TEXTS["moon"][:-1] in result["report_md"]), (wanted, True), f"what was done after {len(rounds)} cycles")
        told = [(d.part, word("DegradationKind", d.kind), d.status_code) for d in run.degradations if "a bug of the planner" in d.reason]
        equal(told, [("plan", f"DEGRADATION_KIND_{kind}", 13) for kind in parts], "what is told")


@check("when nothing is found at all, the report says honestly what was searched for")
def _():
    script(plan=queries(["pluto", "ceres"], ["eris"]))
    result = succeeded(study())
    equal((result["notes"], result["citations"]), ([], []), "notes and citations")
    for query in ("pluto", "ceres", "eris"):
        expect(f"- {query}" in result["report_md"], result["report_md"])
    equal(services.of("LlmGateway/Chat"), [], "the model's calls")


@check("a summary is held to summary_tokens, whatever the model writes")
def _():
    long = " ".join(f"The moon is 384,400 km away from the earth, as measurement {n} says." for n in range(400))
    script(chat=lambda request, context: said(long), plan=queries(["moon"]))
    result = succeeded(study(summary_tokens=100))
    equal({c.max_output_tokens for c in services.of("LlmGateway/Chat")[:1]}, {100}, "the bound")
    expect(0 < len(result["notes"][0]["summary_md"]) < 600 and result["notes"][0]["summary_md"].endswith("."), result["notes"][0]["summary_md"])


@check("a long report is shown in pieces of whole characters, in which there is no sentence without a source")
def _():
    facts = [f"月の観測所{n}号は第{n}の丘に立つ。" for n in range(1, 900)]

    def write(request, context):
        return said("".join(f"- {fact}\n- マルスの観測所{fact[5:]}\n" for fact in facts) if "<notes>" in request.messages[-1].content else facts[0])
    script(chat=write, plan=queries(["月"]), search=lambda r, c: message("SearchResponse")(hits=[
        hit("\n\n".join(facts[at:at + 90]), uri=f"{at}.md") for at in range(0, 900, 90)]))
    run = api.start_run("deep_research", {"question": "月の観測所はどこにありますか"})
    result = succeeded(run)
    pieces = [one["text"] for one in shown(run) if "text" in one]
    expect(len(pieces) > 5 and all(len(piece.encode()) <= 65536 for piece in pieces), f"{[len(piece) for piece in pieces]}")
    equal("".join(pieces), result["report_md"], "the whole")
    expect("マルス" not in result["report_md"] and "## 参考文献" in result["report_md"], result["report_md"][-400:])
    equal(len(result["citations"]), len(facts), "the citations")


@check("without a model the report is made of the sources' own sentences, and says so")
def _():
    def embedded(request, context):
        answer = said("anything")
        answer.finish.answered_by.provider = "extractive"
        return answer
    script(chat=embedded)
    run = study()
    result = succeeded(run)
    expect(TEXTS["mars"][:-1] in result["report_md"], result["report_md"])
    equal({d.kind for d in run.degradations}, {1}, "the degradations")
    script(chat=lambda request, context: context.abort(__import__("grpc").StatusCode.INVALID_ARGUMENT, "no such model"))
    run = study()
    expect(TEXTS["mars"][:-1] in succeeded(run)["report_md"] and {d.kind for d in run.degradations} == {1}, f"{run.degradations}")


@check("without a model, a single step of a list has no number, and steps that follow each other keep theirs")
def _():
    steps = "1. Point the telescope at the moon.\n2. Note how far the moon is.\n"
    for text, wanted in ((steps.split("\n")[0], "- Point the telescope at the moon"), (steps, "- 1. Point the telescope at the moon")):
        script(chat=lambda request, context: context.abort(__import__("grpc").StatusCode.INVALID_ARGUMENT, "no such model"), plan=queries(["telescope moon"]),
               search=lambda request, context, text=text: message("SearchResponse")(hits=[hit(text, uri="telescope.md")]))
        expect(wanted in (report := succeeded(study())["report_md"]), repr(report))


@check("a report of a question alone, which a source has, is no report: the notes stand in")
def _():
    asked = "How far is the moon?"
    script(chat=lambda request, context: said(asked) if "<notes>" in request.messages[-1].content else model(request, context),
           search=lambda request, context: message("SearchResponse")(hits=[hit(f"{asked} {TEXTS['moon']}", uri="faq.md")]), plan=queries(["moon"]))
    expect(TEXTS["moon"][:-1] in (report := succeeded(study())["report_md"]), repr(report))


@check("a further question on the thread is answered from the notes and sources, without a search")
def _():
    script()
    first = study()
    succeeded(first)
    services.forget()
    services.on("LlmGateway/Chat", lambda request, context: said("Mars has two moons, Phobos and Deimos."))
    second = api.start_run("deep_research", {"follow_up": "Which moons does Mars have?"}, thread_id=first.thread_id)
    result = succeeded(second)
    expect("Phobos" in result["report_md"] and result["citations"][0]["uri"] == "mars.md", f"{result}")
    equal(services.of("ToolRunner/Search") + services.of("Planner/Plan"), [], "searches and plans")
    services.on("LlmGateway/Chat", lambda request, context: said("Jupiter is made of cheese."))
    third = api.start_run("deep_research", {"follow_up": "What is Jupiter made of?"}, thread_id=first.thread_id)
    expect("cheese" not in succeeded(third)["report_md"], "an invention")


finish()
