#!/usr/bin/env python3
"""Atomic agents on a server that is killed: each run has been, or it has not. RENGA_KILLS is how often it is killed."""
import os
import random
import time

from harness import agent, api, check, equal, expect, finish, nodes, remote, reply, stands

KILLS = int(os.environ.get("RENGA_KILLS", "8"))
api.start()


def write(call):
    call.sleep(random.uniform(0, 0.01))
    return reply({"log": [call.node]})


@check("whenever the server is killed, a run that fails or is cancelled leaves nothing, and one that succeeds is whole")
def _():
    agent("steady", {"atomic": True, "state": {
        "log": {"type": "string[]", "reduce": "append"}, "fails": {"type": "boolean"}}, "start": "a", "nodes": {
            "a": remote("b"), "b": remote("c"), "c": remote("judge"),
            "judge": {"kind": "choose", "cases": [{"when": {"field": "fails", "equals": True}, "outcome": "bad"}], "else": "good",
                      "on": {"bad": "give_up", "good": "end"}},
            "give_up": remote("end")}})
    nodes.on("steady", a=write, b=write, c=write, give_up=lambda call: call.fail("FAILED_PRECONDITION"))
    whole, seed = 0, random.randrange(10**9)
    random.seed(seed)
    for kill in range(KILLS):
        way = kill % 4  # it fails, succeeds, is cancelled, fails with each step on disk
        run = api.start_run("steady", {"fails": way in (0, 3)}, thread_id="t", wait=False, durability=1 if way == 3 else 2)
        time.sleep(random.uniform(0, 0.05))
        if way == 2:
            api.ask("CancelRun", run_id=run.run_id)
        api.kill()
        api.start()
        stopped = api.stopped(run)
        whole += stopped.state == 4
        if way in (0, 3):
            expect(stands(stopped, "FAILED", "NODE_FAILED").undone, f"a run that failed counts, seed {seed}")
        equal(api.state("t").get("log", []), ["a", "b", "c"] * whole, f"the state after kill {kill}, way {way}, seed {seed}")
    expect(whole >= KILLS // 4, f"{whole} runs came to their end")
    expect(sum(run.undone for run in api.ask("ListRuns", thread_id="t", page_size=100).runs) >= KILLS // 2, "undone runs are listed")


finish()
