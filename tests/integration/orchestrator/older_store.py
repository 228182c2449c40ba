#!/usr/bin/env python3
"""A store that an earlier version wrote (data/stores): its runs are listed, watched, resumed, forked and deleted by this one.

`older_store.py write FILE` makes such a store with the programs of RENGA_BIN; an earlier version's programs wrote ours."""
import gzip
import json
import os
import shutil
import sqlite3
import sys

from harness import HERE, SLOW, Orchestrator, check, checks, equal, expect, number, stands, succeeded, wait_until

STORE = os.path.join(HERE, "..", "..", "data", "stores", "runs-2026-11.db.gz")
LIST = {"type": "string[]", "reduce": "append"}
SET_A = {"kind": "set", "values": {"log": ["a"]}, "on": {"done": "b"}}
SET_B = {"kind": "set", "values": {"log": ["b"]}, "on": {"done": "end"}}
AGENTS = {
    "two": {"state": {"log": LIST}, "start": "a", "nodes": {"a": SET_A, "b": SET_B}},
    "asks": {"state": {"x": {"type": "any"}, "log": LIST}, "start": "a", "nodes": {
        "a": {"kind": "ask", "question": "Which?", "into": "x", "on": {"answered": "b"}}, "b": SET_B}},
    "nested": {"state": {"item": {"type": "string"}, "log": LIST}, "start": "g",
               "nodes": {"g": {"kind": "graph", "graph": "inner", "on": {"done": "end"}}},
               "graphs": {"inner": {"state": {"item": {"type": "string"}, "log": LIST}, "start": "a", "nodes": {
                   "a": {"kind": "ask", "question": "And this?", "into": "item", "on": {"answered": "b"}}, "b": SET_B}}}},
    "broken": {"recursion_limit": 5, "state": {"log": LIST}, "start": "a", "nodes": {  # until the limit of steps
        "a": {"kind": "set", "values": {"log": ["a"]}, "on": {"done": "a"}}}},
}


def serve(path=None):
    api = Orchestrator()
    if path:
        with gzip.open(path) as packed, open(f"{api.folder}/runs.db", "wb") as file:
            shutil.copyfileobj(packed, file)
    for name, document in AGENTS.items():
        api.write_agent(name, json.dumps({"agent": name, **document}))
    return api.start()


def write(path):
    api = serve()
    for i in range(3):
        succeeded(api.start_run("two", {"log": [f"ended {i}"]}, thread_id="ended", request_id=f"request {i}"))
    api.ask("UpdateState", thread_id="ended", update_json='{"log": ["by hand"]}')
    api.ask("ForkThread", thread_id="ended", new_thread_id="fork")
    stands(api.start_run("asks", thread_id="asks"), "WAITING", "QUESTION")
    stands(api.start_run("nested", thread_id="nested"), "WAITING", "QUESTION")
    stands(api.start_run("two", {"log": ["before b"]}, thread_id="paused", interrupt_before=["b"]), "WAITING", "INTERRUPT_BEFORE")
    stands(api.start_run("broken", thread_id="broken"), "FAILED")
    succeeded(api.start_run("two", {"log": ["文"]}, thread_id="exit", durability=number("Durability", "DURABILITY_EXIT")))
    equal(api.stop(), 0, "exit code")
    database = sqlite3.connect(f"{api.folder}/runs.db")
    database.execute("VACUUM INTO ?", (f"{api.folder}/packed.db",))
    database.close()
    with open(f"{api.folder}/packed.db", "rb") as file, gzip.GzipFile(path, "wb", mtime=0) as packed:
        shutil.copyfileobj(file, packed)


if sys.argv[1:2] == ["write"]:
    write(sys.argv[2])
    sys.exit(0)

api = serve(STORE)
runs = {}


@check("all runs of the earlier version are listed, as they ended or wait")
def _():
    for run in api.ask("ListRuns", page_size=100).runs:
        runs.setdefault(run.thread_id, []).append(run)
    equal({name: len(found) for name, found in sorted(runs.items())},
          {"asks": 1, "broken": 1, "ended": 3, "exit": 1, "nested": 1, "paused": 1}, "runs of each thread")
    for run in runs["ended"] + runs["exit"]:
        stands(run, "SUCCEEDED", "COMPLETED")
    expect(stands(api.get(runs["broken"][0]), "FAILED").stop_text, "the failed run lost its reason")


@check("the state, each checkpoint and a fork are read, and events are watched from the log")
def _():
    log = ["ended 0", "a", "b", "ended 1", "a", "b", "ended 2", "a", "b", "by hand"]
    equal((api.state("ended")["log"], api.state("fork")["log"], api.state("exit")["log"]), (log, log, ["文", "a", "b"]), "the states")
    states = [json.loads(api.ask("GetState", thread_id="ended", checkpoint_id=one.checkpoint_id).state_json)["log"]
              for one in api.checkpoints("ended")]
    expect(log in states and ["ended 0", "a"] in states, f"checkpoints are missing: {states}")
    ended = min(runs["ended"], key=lambda run: json.loads(api.get(run).output_json)["log"].__len__())
    events = list(api.watch(ended))
    expect(len(events) >= 4, f"{len(events)} events")


@check("runs that waited for an answer or before a node go on, also within a graph, and a thread takes further runs")
def _():
    done = api.resume(api.get(runs["asks"][0]), "this")
    equal((succeeded(done)["x"], succeeded(done)["log"]), ("this", ["b"]), "the answered run")
    equal(succeeded(api.resume(api.get(runs["nested"][0]), "that"))["log"], ["b"], "the run within a graph")
    equal(succeeded(api.resume(api.get(runs["paused"][0])))["log"], ["before b", "a", "b"], "the paused run")
    equal(succeeded(api.start_run("two", {"log": ["new"]}, thread_id="ended"))["log"][-3:], ["new", "a", "b"], "a further run")


@check("a thread of the earlier version is deleted whole")
def _():
    api.ask("DeleteThread", thread_id="fork")
    wait_until(lambda: "fork" not in [one.thread_id for one in api.ask("ListThreads", page_size=100).threads], "the thread stays", 10 * SLOW)
    equal(api.stop(), 0, "exit code")


checks.finish()
