#!/usr/bin/env python3
"""A copy of the store that is made while runs are at work, and an orchestrator that goes on from it."""
import os
import subprocess
import tempfile
import threading

from harness import (BIN, SLOW, Orchestrator, agent, api, check, equal, expect, finish, nodes, refused, remote, succeeded,
                     wait_until)

api.start()
SECRET = "the-frog-jumps-into-the-old-pond"
LIST = {"type": "string[]", "reduce": "append"}
agent("note", {"state": {"text": LIST}, "start": "a", "nodes": {
    "a": {"kind": "set", "values": {"text": ["kept"]}, "on": {"done": "b"}}, "b": {"kind": "noop", "on": {"done": "end"}}}})
agent("asks", {"state": {"x": {"type": "any"}}, "start": "a", "nodes": {
    "a": {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "end"}}}})
agent("works", {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "a", "nodes": {"a": remote("b"), "b": remote()}})
nodes.on("works", a=lambda call: {"n": 1}, b=lambda call: {"n": 2} if released.is_set() else call.sleep(60) and None)
released = threading.Event()
kept = tempfile.TemporaryDirectory(prefix="renga-backup-")
copy = f"{kept.name}/copy.db"


def backup(store, name):
    done = subprocess.run([f"{BIN}/renga", "backup", store, name], capture_output=True, text=True, timeout=60 * SLOW)
    return done.returncode, done.stderr


store = f"sqlite:{api.folder}/runs.db"
before = []


@check("a copy can be made while runs start and end; what was acknowledged before stands in it")
def _():
    for i in range(50):
        before.append(api.start_run("note", {"text": [f"text {i}"]}, thread_id=f"before {i}"))
    over = threading.Event()

    def go_on():
        while not over.is_set():
            api.start_run("note", {"text": ["x" * 2000]})
    threads = [threading.Thread(target=go_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        equal(backup(store, copy), (0, ""), "code and standard error")
    finally:
        over.set()
        for thread in threads:
            thread.join()
    equal(os.listdir(kept.name), ["copy.db"], "the files")
    equal(os.stat(copy).st_mode & 0o777, 0o600, "who may read it")


@check("a copy has nothing of what was deleted before")
def _():
    api.start_run("note", {"text": [SECRET * 50]}, thread_id="secret")
    api.ask("DeleteThread", thread_id="secret")
    equal(backup(store, f"{kept.name}/later.db")[0], 0, "the code")
    expect(SECRET.encode() not in open(f"{kept.name}/later.db", "rb").read(), "it has")


@check("an orchestrator that starts on a copy has the threads, takes up the runs that were at work, and the answers of those that wait")
def _():
    waits = api.start_run("asks", {}, thread_id="waits")
    works = api.start_run("works", {}, wait=False)
    wait_until(lambda: nodes.count("works", "b") == 1, "the run is not at work", 10 * SLOW)
    place = tempfile.mkdtemp(prefix="renga-restored-")
    equal(backup(store, f"{place}/runs.db")[0], 0, "the code")
    api.kill()
    released.set()
    restored = Orchestrator(place).start()
    equal(succeeded(restored.stopped(works))["n"], 3, "the sum")
    equal([call.attempt for call in nodes.of("works", "b")], [1, 2], "the attempts")
    equal(nodes.count("works", "a"), 1, "how often the step before ran")
    for i, run in enumerate(before):
        equal(succeeded(restored.get(run))["text"], [f"text {i}", "kept"], "a run of before")
    equal(succeeded(restored.resume(waits, "now"))["x"], "now", "the answer")
    equal(restored.stop(), 0, "the exit code")
    restored.clear()
    api.start()


@check("what is no store is refused, and so is a name that is taken; nothing is left behind")
def _():
    other = f"{kept.name}/other"
    with open(other, "w") as file:
        file.write("no database " * 100)
    for source, name, part in ((f"sqlite:{other}", f"{kept.name}/x.db", "not a database"), (f"sqlite:{other}.gone", f"{kept.name}/x.db", "gone"),
                               (store, copy, "copy.db is there"), ("memory:", f"{kept.name}/x.db", "no file"),
                               (store, f"{kept.name}/nowhere/x.db", "nowhere")):
        code, text = backup(source, name)
        expect(code == 1 and part in text, f"{code}: {text!r} for {source} and {name}")
    equal(sorted(os.listdir(kept.name)), ["copy.db", "later.db", "other"], "the files")
    refused("NOT_FOUND", lambda: api.state("secret"))


finish()
