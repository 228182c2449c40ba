#!/usr/bin/env python3
"""kill -9 of the orchestrator in the midst of research: each run ends as an undisturbed one, and each search has one
idempotency key, whatever is killed. RENGA_KILLS says how often (a few in the suite, 60 by hand)."""
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orchestrator"))



import grpc

from harness import SLOW, api, check, equal, expect, finish, message
from services import hit, said, services

api.flags = services.flags()
api.start()

KILLS = int(os.environ.get("RENGA_KILLS", "5"))
RUNS = 3  # side by side
TEXTS = {f"{place}": f"The {place} is {distance},400 km away from the earth." for place, distance in
         (("moon", 384), ("mirror", 1500), ("asteroid", 9000), ("probe", 23000), ("comet", 71000), ("station", 420))}
ROUNDS = [["moon", "mirror", "asteroid"], ["probe", "comet"], ["station"]]
random.seed(4711)
keys, sent = {}, {}
lock = threading.Lock()


def pause():
    time.sleep(random.uniform(0, 0.01))


def plan(request, context):
    pause()
    known = {finding.query for finding in request.queries.findings}
    wanted = next((queries for queries in ROUNDS if not known & set(queries)), [])
    return message("PlanResponse")(queries={"queries": wanted}, usage={"model_calls": 1})


def search(request, context):
    """As the tool-runner keeps its record: one search a key, and its answer again."""
    with lock:
        keys.setdefault((request.origin.run_id, request.query), set()).add(request.idempotency_key)
        if request.idempotency_key not in sent:
            sent[request.idempotency_key] = (request.origin.run_id, request.query)
    pause()
    return message("SearchResponse")(hits=[hit(TEXTS[request.query], uri=f"{request.query}.md")])


def chat(request, context):
    pause()
    asked = request.messages[-1].content
    if "<notes>" in asked:
        notes = json.loads(asked.split("<notes>\n")[1].split("\n</notes>")[0])
        return said("\n\n".join(f"## {note['query']}\n\n{note['summary']} Cheese is invented." for note in notes))
    return said("\n".join(one["text"] for one in json.loads(asked.split("<results>\n")[1].split("\n</results>")[0])))


kept = {}


def save(request, context):
    with lock:
        kept.setdefault(request.note.run_id, {})[request.note.step_no] = request.note.query
    return message("SaveNoteResponse")()


for key, behaviour in {"Planner/Plan": plan, "ToolRunner/Search": search, "LlmGateway/Chat": chat, "ToolRunner/SaveNote": save}.items():
    services.on(key, behaviour)


def until_answered(call):
    """Asks again with the same request_id, as a client does."""
    until = time.monotonic() + 60 * SLOW
    while True:
        try:
            return call()
        except (grpc.RpcError, ValueError) as error:  # ValueError: the channel is closed
            expect(time.monotonic() < until, f"{error}")
            time.sleep(0.02)


def study(name, runs):
    request = message("StartRunRequest")(agent="deep_research", request_id=name, input_json=json.dumps({"question": "How far away is it?"}))
    run = until_answered(lambda: api.call("StartRun", request)).run
    until = time.monotonic() + 60 * SLOW
    while time.monotonic() < until:
        now = until_answered(lambda: api.get(run))
        if now.state >= 4:
            break
        time.sleep(0.02)
    runs[name] = now


def plain(run):
    """What must be the same: all but names of runs."""
    result = json.loads(run.output_json or "{}")
    for note in result.get("notes", []):
        note.pop("run_id", None)
    return result


@check(f"after each of {KILLS} kills the runs end as undisturbed, and each search has one key")
def _():
    runs, kills, number = {}, 0, 0
    study("reference", runs)
    reference = plain(runs["reference"])
    equal((reference["cycle"], [n["step_no"] for n in reference["notes"]]), (3, [1, 2, 3, 4, 5, 6]), "the undisturbed run")
    expect("Cheese" not in reference["report_md"] and len(reference["citations"]) == 6, reference["report_md"])
    while kills < KILLS:
        names = [f"r-{number}-{i}" for i in range(RUNS)]
        number += 1
        students = [threading.Thread(target=study, args=(name, runs)) for name in names]
        [one.start() for one in students]
        while any(one.is_alive() for one in students):
            time.sleep(random.uniform(0.002, 0.12))
            if kills < KILLS and any(one.is_alive() for one in students):
                api.kill()
                api.start()
                kills += 1
        for name in names:
            equal(plain(runs[name]), reference, f"{name} after {kills} kills")
            equal(kept[runs[name].run_id], kept[runs["reference"].run_id], f"the notes that are kept of {name}")
    several = {key: found for key, found in keys.items() if len(found) != 1}
    equal((several, len(sent)), ({}, len(keys)), "searches that would be paid for twice")
    return f"{kills} kills, {len(runs)} runs, {len(keys)} searches"


finish()
