#!/usr/bin/env python3
"""`renga runs diff`: two runs compared by plan, sources, sentences and values. The agent gives what it is given."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "orchestrator"))
from harness import BIN, SLOW, agent, api, check, expect, finish  # noqa: E402

FIELDS = {"task_plan": "object", "research_data": "object[]", "current_draft": "string", "stop_reason": "string", "extra": "string"}
api.start()
agent("mirror", {"agent": "mirror", "state": {name: {"type": type} for name, type in FIELDS.items()}, "input": list(FIELDS),
                 "output": list(FIELDS), "start": "rest", "nodes": {"rest": {"kind": "noop", "on": {"done": "end"}}}})
PLAN = {"task_plan": {"search_queries": ["backups", "restore"]}, "stop_reason": "approved", "extra": "x",
        "research_data": [{"url": "https://a.example/p?utm_source=x", "title": "A"}, {"url": "https://b.example/", "title": "B"}],
        "current_draft": "Backups are kept for 35 days. They are encrypted. Each Sunday a full one is taken."}
OTHER = {"task_plan": {"search_queries": ["restore", "keys"]}, "stop_reason": "max_iterations", "extra": "y",
         "research_data": [{"url": "http://www.a.example/p/", "title": "A"}, {"url": "https://c.example/\x1b[31m", "title": "C"}],
         "current_draft": "Backups are kept for 30 days. They are encrypted. Each Sunday a full one is taken. Keys are not in them."}
runs = {}


def diff(a, b, *more, code=0):
    done = subprocess.run([f"{BIN}/renga", "runs", "diff", runs.get(a, a), runs.get(b, b), "--connect", f"127.0.0.1:{api.port}", *more],
                          capture_output=True, text=True, timeout=60 * SLOW, stdin=subprocess.DEVNULL)
    expect(done.returncode == code, f"it ended with {done.returncode}: {done.stdout[-800:]} {done.stderr[-800:]}")
    return done


@check("runs with the same output are the same, and the command ends with 0")
def _():
    for name, given in (("a", PLAN), ("again", PLAN), ("b", OTHER)):
        runs[name] = api.start_run("mirror", given).run_id
    expect("the runs are the same" in diff("a", "again").stdout, "they are not")


@check("a difference ends with 1: queries and sources as sets, addresses by their canonical form, the draft by sentence")
def _():
    lines = diff("a", "b", code=1).stdout.splitlines()
    for line in ("  − backups", "  + keys", "  + Keys are not in them.", "  − Backups are kept for 35 days.",
                 "  + Backups are kept for 30 days.", 'stop reason "approved" → "max_iterations"', 'extra "x" → "y"'):
        expect(line in lines, f"{line!r} is not in {lines}")
    text = "\n".join(lines)
    expect("a.example" not in text and "B (https://b.example/)" in text and "\x1b" not in text, text)


@check("--json has the same as one object")
def _():
    found = json.loads(diff("a", "b", "--json", code=1).stdout)
    expect(found["queries"] == {"removed": ["backups"], "added": ["keys"], "same": 1, "cut": False}, f"{found['queries']}")
    expect(found["report"]["same"] == 2 and not found["same"] and found["extra"] == {"a": '"x"', "b": '"y"'}, f"{found}")
    expect(json.loads(diff("a", "again", "--json").stdout)["same"], "they differ")


@check("thousands of sentences are compared in bounded time, and the rest is told to be left out")
def _():
    for name, number in (("long", 0), ("longer", 1)):
        draft = " ".join(f"Sentence {i + number} of many stands here." for i in range(9000))
        runs[name] = api.start_run("mirror", {**PLAN, "current_draft": draft}).run_id
    text = diff("long", "longer", code=1).stdout
    expect("(1999 the same)" in text and "only the first 2000 entries are compared" in text, text[-600:])


@check("a run that does not exist ends with 2, as does a comparison with one run alone")
def _():
    expect("NOT_FOUND" in diff("a", "nope", code=2).stderr, "no NOT_FOUND")
    done = subprocess.run([f"{BIN}/renga", "runs", "diff", runs["a"], "--connect", f"127.0.0.1:{api.port}"], capture_output=True, text=True)
    expect(done.returncode == 2 and "renga runs diff A B" in done.stderr, done.stderr)


finish()
