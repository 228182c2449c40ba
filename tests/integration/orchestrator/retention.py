#!/usr/bin/env python3
"""What is deleted and what is kept for a time only. Times are short, and nothing is measured."""
import os
import time
import urllib.request

from harness import (SLOW, Orchestrator, agent, api, check, equal, expect, finish, message, refused, stands, succeeded,
                     wait_until)

api.flags = ("--orchestrator.sweep_every=50ms", "--orchestrator.history_checkpoints=5")
api.start()
SECRET = "the-frog-jumps-into-the-old-pond"
agent("note", {"state": {"text": {"type": "string[]", "reduce": "append"}}, "start": "a", "nodes": {
    "a": {"kind": "set", "values": {"text": ["kept"]}, "on": {"done": "b"}},
    "b": {"kind": "noop", "on": {"done": "end"}}}})
agent("asks", {"state": {"x": {"type": "any"}}, "start": "a", "nodes": {
    "a": {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "end"}}}})


def threads():
    return {thread.thread_id: thread for thread in api.ask("ListThreads").threads}


def metric(name):
    page = urllib.request.urlopen(f"http://127.0.0.1:{api.http}/metrics", timeout=5).read().decode()
    return sum(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name))


@check("a thread is deleted when nothing has happened on it for its time to live, and one that waits too")
def _():
    keep = message("Retention")(ttl_ms=400)
    for name, thread in (("note", "short"), ("asks", "waits")):
        run = api.start_run(name, {}, thread_id=thread, retention=keep)
        shown = threads()[thread]
        equal(shown.expires_ms, shown.updated_ms + 400, "when it expires")
    api.start_run("note", {}, thread_id="long")
    wait_until(lambda: not {"short", "waits"} & set(threads()), "threads do not go", 10 * SLOW)
    refused("NOT_FOUND", lambda: api.ask("GetState", thread_id="short"))
    refused("NOT_FOUND", lambda: api.get(run))
    expect("long" in threads(), "a thread without a time to live is gone")
    wait_until(lambda: metric("renga_orchestrator_threads_expired_total") == 2.0, "the sweep does not count them", 10 * SLOW)


@check("as many checkpoints are kept as the server is told, where the thread has no wish of its own")
def _():
    for thread, keep in (("five", None), ("all", message("Retention")(max_checkpoints=-1))):
        for _ in range(4):
            api.start_run("note", {}, thread_id=thread, retention=keep)
    wait_until(lambda: len(api.checkpoints("five")) == 5, "checkpoints do not go", 10 * SLOW)
    equal(len(api.checkpoints("all")), 12, "the checkpoints of the other")
    oldest = api.checkpoints("five")[-1]
    equal(len(api.state("five", checkpoint_id=oldest.checkpoint_id)["text"]), 3, "the texts at the oldest checkpoint")
    expect(metric("renga_orchestrator_records_pruned_total") > 0, "the metric says nothing")
    succeeded(api.start_run("note", {}, thread_id="five"))


def found(which):
    """The files that have the text of such a thread; each has its number in it."""
    texts = [f"{SECRET}-{i:03d}".encode() for i in which]
    return [name for name in sorted(os.listdir(api.folder)) if name.startswith("runs.db") and
            any(text in open(os.path.join(api.folder, name), "rb").read() for text in texts)]


def until_gone(which):
    seen = found(which)
    until = time.monotonic() + 10 * SLOW
    while seen and time.monotonic() < until:
        time.sleep(0.02)
        seen = found(which)
    expect(not seen, f"it is still in {[(name, places(name, which)) for name in seen]} after {10 * SLOW} s")


def places(name, which):
    """Where a file has such a text: the thread, the page of 2 KiB and the place in it."""
    content = open(os.path.join(api.folder, name), "rb").read()
    at = {i: content.find(f"{SECRET}-{i:03d}".encode()) for i in which}
    return [(i, place // 2048, place % 2048) for i, place in at.items() if place >= 0][:4]


def write_threads(which):
    """Four runs each, one after the other through all threads, so that their rows share pages."""
    for size in (1, 7, 60, 300):
        for i in which:
            api.start_run("note", {"text": [f"{SECRET}-{i:03d} " * size]}, thread_id=f"secret {i}", request_id=f"request {i} {size}",
                          retention=message("Retention")(max_checkpoints=-1))


@check("of a deleted thread no file of the store has a word a moment later, while it goes on")
def _():
    write_threads(range(40))
    gone, kept = range(0, 40, 2), range(1, 40, 2)
    expect(found(gone), "the text was never in a file")
    for i in gone:
        expect(api.ask("DeleteThread", thread_id=f"secret {i}").deleted, "there was no such thread")
    refused("NOT_FOUND", lambda: api.state("secret 0"))
    until_gone(gone)
    for i in kept:
        equal(len(api.state(f"secret {i}")["text"]), 8, "the texts of a thread that was kept")
    expect(not any(SECRET in line for line in api.log), "it stands in what the orchestrator logs")


@check("a process that is killed when it has said so forgets after its restart; closed files have nothing either")
def _():
    write_threads(range(40, 44))
    for i in (40, 42):
        expect(api.ask("DeleteThread", thread_id=f"secret {i}").deleted, "there was no such thread")
    api.kill()
    expect(found((40, 42)), "it was too late to ask anything")
    api.start()
    until_gone((40, 42))
    for i in (41, 43):
        api.ask("DeleteThread", thread_id=f"secret {i}")
    equal(api.stop(), 0, "the exit code")
    equal(found(range(40, 44)), [], "files with the text")
    api.start()


finish()
