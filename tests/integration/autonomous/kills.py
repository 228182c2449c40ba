#!/usr/bin/env python3
"""kill -9 of the orchestrator in the midst of autonomous research and while it waits for a person, whose answers are repeated under
their request_ids: each run ends as an undisturbed one, each answer counts once, and each search has one idempotency key. RENGA_KILLS
says how often (a few in the suite, 150 by hand); on Redis by ../orchestrator/on_redis.py."""
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orchestrator"))

import grpc

from harness import SLOW, api, check, equal, expect, finish, message, word
from services import hit, said, services

api.flags = services.flags()
api.start()

KILLS = int(os.environ.get("RENGA_KILLS", "6"))
RUNS = 3  # side by side
THEME = "How far away are the bodies of the solar system?"
TEXTS = {place: f"The {place} is {distance},400 km away from the earth." for place, distance in
         (("moon", 384), ("mirror", 1500), ("asteroid", 9000), ("probe", 23000), ("comet", 71000), ("station", 420), ("rocket", 77))}
# What the person decides, one after the other: before the supervisor, or before the writer.
ANSWERS = [{"approve": {"remark": "begin"}}, {"edit": {"search_queries": ["probe", "comet", "moon"], "investigation_points": ["far", "near"]}},
           {"reject": {"reason": "more bodies"}}, {"advise": {"text": "name the station"}}, {"approve": {}}, {"approve": {}}, {"stop": {"reason": "enough"}}]
random.seed(4711)
keys, sent = {}, {}
lock = threading.Lock()


def pause():
    time.sleep(random.uniform(0, 0.01))


def plan(request, context):
    pause()
    queries = ["station", "rocket", "moon"] if "more bodies" in request.research.human_input + request.feedback else ["moon", "mirror", "asteroid"]
    return message("PlanResponse")(research={"theme": THEME, "investigation_points": ["near", "far"], "search_queries": queries, "plan_text": "by body"},
                                   usage={"model_calls": 1}, model="scripted")


def route(request, context):
    pause()
    choice = 4 if request.iteration >= request.max_iterations else 1 if request.progress.data_count < request.min_data_count else 2
    return message("RouteResponse")(next_action=choice, reasoning=f"there are {request.progress.data_count}")


def improve(request, context):
    return message("ImproveQueriesResponse")(queries=list(request.base_queries))


def search(request, context):
    """As the tool-runner keeps its record: one search a key, and its answer again."""
    with lock:
        keys.setdefault((request.origin.run_id, request.query), set()).add(request.idempotency_key)
        sent.setdefault(request.idempotency_key, (request.origin.run_id, request.query))
    pause()
    return message("SearchResponse")(hits=[hit(text, uri=f"https://{place}.example/", collection="", title=place, source="web")
                                           for place, text in TEXTS.items() if place in request.query])


def chat(request, context):
    pause()
    asked = "\n".join(turn.content for turn in request.messages)
    lines = [text for text in TEXTS.values() if text in asked]
    return said("\n".join([f"# {THEME}", "", "## Executive Summary", "", *lines, "", "## Key Findings", "", *(f"- {line}" for line in lines), "",
                           "## Detailed Analysis", "", "### near", "", *lines, "", "### far", "", *lines, "", "## References", ""]))


def review(request, context):
    pause()
    return message("ReviewDraftResponse")(review={"overall_score": 0.5, "feedback": "more", "suggested_action": 1,
                                                  "scores": {"fact_check": 0.5}})


def closed(request, context):
    return message("RunToolsResponse")(results=[{"call_id": call.call.id, "name": call.call.name, "status_code": 5} for call in request.calls])


for name, behaviour in {"Planner/Plan": plan, "Planner/Route": route, "Planner/ImproveQueries": improve, "ToolRunner/Search": search,
                        "LlmGateway/Chat": chat, "Reviewer/ReviewDraft": review, "ToolRunner/RunTools": closed}.items():
    services.on(name, behaviour)


def ask(method, request):
    """Asks again with the same request_id, as a client does, until there is an answer."""
    until = time.monotonic() + 60 * SLOW
    while True:
        try:
            call = api.channel.unary_unary(f"/renga.v1.AutonomousResearch/{method}", request_serializer=lambda m: m.SerializeToString(),
                                           response_deserializer=message("AutonomousResearchResponse").FromString)
            return call(request, timeout=20 * SLOW, wait_for_ready=True).result
        except (grpc.RpcError, ValueError) as error:  # ValueError: the channel is closed
            busy = not isinstance(error, grpc.RpcError) or error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED,
                                                                            grpc.StatusCode.DEADLINE_EXCEEDED)
            expect(busy and time.monotonic() < until, f"{error}")
            time.sleep(0.02)


def study(name, results):
    """A run with its person, who answers each wait, and sends each answer twice."""
    options = {"request_id": name, "keep_running": True}
    now = ask("Research", message("AutonomousResearchRequest")(theme=THEME, max_iterations=20, min_data_count=3, human_intervention=True, options=options))
    for step, decision in enumerate(ANSWERS):
        if not now.HasField("waiting"):
            break
        time.sleep(random.uniform(0, 0.03))  # a person thinks, and the orchestrator may be killed
        request = message("ResumeResearchRequest")(run_id=now.outcome.run_id, decision=decision, interrupt_id=now.waiting.interrupt_id,
                                                   options={"request_id": f"{name}/{step}", "keep_running": True})
        now = ask("Resume", request)
        again = ask("Resume", request)
        equal([d.text for d in again.human_decisions], [d.text for d in now.human_decisions], f"{name}: the same answer once more")
    results[name] = now


def plain(result):
    """What must be the same: all but names of runs, and times."""
    return {"draft": result.draft, "sources": [s.url for s in result.sources], "plan": list(result.plan.search_queries), "iterations": result.iterations,
            "review": result.review.overall_score, "stop": word("ResearchStopReason", result.stop_reason),
            "people": [(d.action, d.text, d.node) for d in result.human_decisions], "choices": [d.next_action for d in result.decisions],
            "searches": sorted(s.query for s in result.searches), "citations": len(result.citations)}


@check(f"after each of {KILLS} kills, in waits and between them, the runs end as undisturbed, each answer counts once, and each search has one key")
def _():
    results, kills, number = {}, 0, 0
    study("reference", results)
    reference = plain(results["reference"])
    equal((reference["stop"], [text for _, text, _ in reference["people"] if text]),
          ("RESEARCH_STOP_REASON_STOPPED", ["begin", "more bodies", "name the station", "enough"]), "the undisturbed run")
    equal({node for _, _, node in reference["people"]}, {"supervisor", "writer"}, "where it waits")
    expect(len(reference["sources"]) >= 5 and reference["draft"], f"{reference}")
    while kills < KILLS:
        names = [f"r-{number}-{i}" for i in range(RUNS)]
        number += 1
        students = [threading.Thread(target=study, args=(name, results)) for name in names]
        [one.start() for one in students]
        while any(one.is_alive() for one in students):
            time.sleep(random.uniform(0.002, 0.15))
            if kills < KILLS and any(one.is_alive() for one in students):
                api.kill()
                api.start()
                kills += 1
        for name in names:
            expect(name in results, f"{name} has no result")
            equal(plain(results[name]), reference, f"{name} after {kills} kills")
    several = {key: found for key, found in keys.items() if len(found) != 1}
    equal(several, {}, "searches that would be paid for twice")
    return f"{kills} kills, {len(results)} runs, {len(keys)} searches"


finish()
