#!/usr/bin/env python3
"""Versions of agents: runs that stay with theirs, runs that are moved, and what is known of them after a restart."""
import json

from harness import (agent, api, check, equal, expect, finish, nodes, refused, remote, stands, succeeded, word)

api.start()
ASKS = {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "last"}}
FIELDS = {"x": {"type": "any"}, "log": {"type": "string[]", "reduce": "append"}}


def document(text, asks="ask", **fields):
    return {"state": {**FIELDS, **fields}, "start": asks, "nodes": {
        asks: ASKS, "last": {"kind": "set", "values": {"log": [text]}, "on": {"done": "end"}}}}


def versions(name):
    return {v.graph_version: v for v in api.ask("DescribeAgent", agent=name).versions}


@check("a run that waits is moved: its question keeps its name, and the answer goes to the new version")
def _():
    agent("moves", document("old"))
    run = stands(api.start_run("moves", {"log": ["begin"]}, thread_id="moves"), "WAITING", "QUESTION")
    agent("moves", document("new", asks="person", more={"type": "string", "initial": "m"}))
    tried = api.ask("MigrateRun", run_id=run.run_id, dry_run=True)
    equal(len(tried.problems), 1, "the problems")
    expect("'ask' is due" in tried.problems[0] and "renamed_nodes" in tried.problems[0], tried.problems[0])
    expect("'ask'" in refused("FAILED_PRECONDITION", lambda: api.ask("MigrateRun", run_id=run.run_id), "DOES_NOT_FIT"),
           "the message does not name the node")
    moved = api.ask("MigrateRun", run_id=run.run_id, renamed_nodes={"ask": "person"}).run
    expect(moved.graph_version != run.graph_version, "it has its old version")
    equal(moved.interrupts[0].interrupt_id, run.interrupts[0].interrupt_id, "the question's name")
    equal(moved.interrupts[0].node, "person", "the node that asks")
    equal(succeeded(api.resume(run, 1)), {"x": 1, "log": ["begin", "new"], "more": "m"}, "the output")
    causes = [word("CheckpointCause", c.cause).removeprefix("CHECKPOINT_CAUSE_") for c in api.checkpoints("moves")]
    equal(causes, ["STEP", "STEP", "MIGRATION", "INPUT"], "what made the checkpoints")
    refused("NOT_FOUND", lambda: api.ask("MigrateRun", run_id=run.run_id[:-1] + ("0" if run.run_id[-1] != "0" else "1")))


@check("a run at work is not moved")
def _():
    agent("works", {"state": FIELDS, "start": "a", "nodes": {"a": remote()}})
    nodes.on("works", a=lambda call: call.sleep(20) and None)
    run = api.start_run("works", {}, wait=False)
    refused("ABORTED", lambda: api.ask("MigrateRun", run_id=run.run_id), "RUN_BUSY")
    api.ask("CancelRun", run_id=run.run_id, wait=True)
    equal(api.ask("MigrateRun", run_id=run.run_id).run.graph_version, run.graph_version, "the version, where it is the current one")


@check("after a restart a version that is on disk no more is found: for open runs, for new ones, and for who asks")
def _():
    agent("stays", document("old"))
    runs = [api.start_run("stays", {}, thread_id=f"stays {i}") for i in range(3)]
    old = runs[0].graph_version
    agent("stays", document("new"))
    succeeded(api.resume(runs[2], 0))
    equal(api.stop(), 0, "the exit code")
    api.start()
    found = versions("stays")
    equal([found[old].open_runs, found[old].current], [2, False], "open runs of the old version")
    equal([v.open_runs for v in found.values() if v.current], [0], "open runs of the current one")
    described = api.ask("DescribeAgent", agent="stays", graph_version=old)
    expect('"old"' in described.graphs[0].document_json, "it is not the old document")
    run = api.start_run("stays", {}, graph_version=old)
    equal(run.graph_version, old, "the version of a new run")
    equal(succeeded(api.resume(run, 2))["log"], ["old"], "its log")
    equal(succeeded(api.resume(runs[0], 1))["log"], ["old"], "the log of one from before")
    listed = api.checkpoints("stays 2")
    equal([list(c.nodes) for c in listed], [["last"], ["ask"], []], "the nodes of checkpoints")
    equal(found[old].open_runs - 1, versions("stays")[old].open_runs, "open runs when one has ended")
    refused("NOT_FOUND", lambda: api.ask("DescribeAgent", agent="stays", graph_version="0" * 64))
    refused("NOT_FOUND", lambda: api.start_run("stays", {}, graph_version="0" * 64))


finish()
