#!/usr/bin/env python3
"""A node that ends its orchestrator each time it is called: the run is parked after three deaths, on SQLite and on a Redis
that three orchestrators share, and the other runs go on. Kills from outside fail no run. The cases mostly wait, so they run
beside each other, each with orchestrators of its own. RENGA_KILLS and RENGA_BESIDE say how many kills there are in a series,
and how many runs stand beside."""
import itertools
import json
import os
import random
import signal
import time

import grpc

from harness import (SLOW, Orchestrator, check, checks, equal, expect, in_background, nodes, remote, stands, succeeded, wait_until,
                     word)
from redis_server import RedisServer

LEASE, OTHERS = 0.6, 4
FEW = SLOW > 1  # a sanitizer looks at each path, which fewer kills take as well
KILLS, BESIDE = int(os.environ.get("RENGA_KILLS", 4 if FEW else 6)), int(os.environ.get("RENGA_BESIDE", 20 if FEW else 50))
GUILTY_AMONG = int(os.environ.get("RENGA_BESIDE", 6 if FEW else 12))
AGENTS = {"killer": {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "before",
                     "nodes": {"before": remote("kills"), "kills": remote()}},
          "slow": {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "waits", "nodes": {"waits": remote()}},
          "long": {"state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "a", "nodes": {"a": remote("b"), "b": remote()}}}
cases = []  # sentences and how to wait for what comes of them


def beside(sentence):
    def begin(function):
        cases.append((sentence, in_background(function)))
    return begin


class Case:
    """The orchestrators that share a store, and what nodes do to them."""
    by_key, numbers = {}, itertools.count()  # the bearer keys of their calls

    def __init__(self):
        self.all, self.kills, self.ending, self.both_are_ready, self.slow_is_ready = [], True, signal.SIGKILL, True, False

    @staticmethod
    def of(call):
        """And the orchestrator of it that calls."""
        return Case.by_key[dict(call.metadata)["authorization"].removeprefix("Bearer ")]

    def add(self, *flags):
        key = f"key-{next(Case.numbers)}"  # cases begin at the same time
        which = Orchestrator(None, f"--orchestrator.node_key={key}", *flags)
        for agent, document in AGENTS.items():
            which.write_agent(agent, json.dumps({"agent": agent, **document}))
        Case.by_key[key] = self, which
        self.all.append(which)
        return which.start()

    def clear(self):
        for which in self.all:
            which.clear()


def kill_caller(call):
    case, which = Case.of(call)
    if not case.kills:
        return {"n": 1}
    caller = which.process  # another one may stand in its place when it is its turn to die
    while not case.both_are_ready and call.sleep(0.05):
        pass
    caller.send_signal(case.ending)
    call.sleep(60)
    return {}


def wait_for_ready(call):
    while not Case.of(call)[0].slow_is_ready:
        if not call.sleep(0.05):
            return None
    return {"n": 1}


nodes.on("slow", waits=wait_for_ready)
nodes.on("killer", before={"n": 1}, kills=kill_caller)
nodes.on("long", a=lambda call: call.sleep(1.5) and {"n": 1}, b={"n": 1})


def dies(which):
    wait_until(lambda: which.process.poll() is not None, "it does not die", 20 * SLOW)


def state_of(which, run):
    """As a word; None where nobody answers."""
    try:
        return word("RunState", which.ask("GetRun", timeout=1, run_id=run.run_id).run.state).removeprefix("RUN_STATE_")
    except grpc.RpcError:
        return None


def parked(which, run):
    now = stands(which.stopped(run, 30), "FAILED", "OWNER_CRASHED")
    expect("died 3 times while it worked on node 'kills'" in now.stop_text, now.stop_text)
    expect("resume the run" in now.stop_text, now.stop_text)
    return now


def of_runs(agent, node, runs):
    """The calls of that node in these runs."""
    return sum(len(nodes.of(agent, node, run.run_id)) for run in runs)


def kills_three_times(how):
    case = Case()
    case.ending = how
    which = case.add()
    others = [which.start_run("long", {}, wait=False) for _ in range(OTHERS)]
    wait_until(lambda: of_runs("long", "a", others) == OTHERS, "the others do not begin", 10 * SLOW)
    run = which.start_run("killer", {}, wait=False)
    for _ in range(2):
        dies(which)
        which.kill()
        which.start(may_die=True)
    dies(which)
    which.kill()
    which.start()
    parked(which, run)
    equal(of_runs("killer", "kills", [run]), 3, "the calls of the node")
    for other in others:
        equal(succeeded(which.stopped(other, 60))["n"], 2, "the result of another run")
    equal(sum('"run.parked"' in line for line in which.log), 1, "the lines in the log")
    equal(which.metric("renga_orchestrator_runs_parked_total"), {"": 1}, "the metric")
    which.kill()
    which.start()
    parked(which, run)
    time.sleep(0.5)
    equal(of_runs("killer", "kills", [run]), 3, "the calls of the node after another start")
    case.kills = False
    equal(succeeded(which.resume(run))["n"], 2, "what ResumeRun gives")
    case.clear()


@beside("on SQLite the run is parked after three deaths, told in one log line and a metric, and four others end")
def _():
    kills_three_times(signal.SIGKILL)


@beside("a run that ends its owner with SIGSEGV, or with SIGABRT under a sanitizer, is parked after three deaths, too")
def _():
    kills_three_times(signal.SIGABRT if SLOW > 1 else signal.SIGSEGV)  # a SIGSEGV is a sanitizer's report


@beside(f"of {GUILTY_AMONG} runs and two that kill their owner, two are parked after six deaths at most, and the others end")
def _():
    case = Case()
    case.both_are_ready = False
    which = case.add()
    others = [which.start_run("long", {}, wait=False) for _ in range(GUILTY_AMONG)]
    request = which.start_request("killer", {}, wait=False)
    both = [which.begin("StartRun", request), which.begin("StartRun", request)]
    guilty = [each.result().run for each in both]
    deaths, case.both_are_ready = 0, True
    until = time.monotonic() + (60 + 4 * GUILTY_AMONG) * SLOW
    while time.monotonic() < until and not all(state_of(which, run) == "FAILED" for run in guilty):
        if which.process.poll() is not None:
            deaths += 1
            which.kill()
            which.start(may_die=True)
        time.sleep(0.05)
    for run in guilty:
        parked(which, run)
        expect(of_runs("killer", "kills", [run]) <= 3, "the node was called more than three times")
    for other in others:
        equal(succeeded(which.stopped(other, 60))["n"], 2, "the result of another run")
    expect(deaths <= 6, f"{deaths} deaths")
    case.clear()
    return f"{deaths} deaths"


def outside(case):
    """Kills, one orchestrator at a time: half of them 1 s apart, half at random. None of the runs may have failed."""
    runs = [case.all[i % len(case.all)].start_run("slow", {}, wait=False) for i in range(BESIDE)]
    parked_lines = 0
    for kill in range(KILLS):
        time.sleep(1 if kill < KILLS / 2 else random.uniform(0.2, 3))
        which = random.choice(case.all)
        which.kill()
        parked_lines += sum('"run.parked"' in line for line in which.log)
        which.start()
    case.slow_is_ready = True
    for run in runs:
        equal(succeeded(case.all[0].stopped(run, 180))["n"], 1, "the result of a run that stood beside")
    parked_lines += sum('"run.parked"' in line for which in case.all for line in which.log)
    equal(parked_lines, 0, "the runs that were parked")
    case.clear()


@beside(f"on SQLite {KILLS} kills from outside, 1 s and 0.2 to 3 s apart, fail none of {BESIDE} runs that make no progress")
def _():
    case = Case()
    case.add()
    outside(case)


def three(redis):
    case = Case()
    for _ in range(3):
        case.add(f"--orchestrator.store={redis.url}", "--orchestrator.address=127.0.0.1:{port}",
                 f"--orchestrator.lease={int(1000 * LEASE * SLOW)}ms")
    return case


@beside("on a Redis that three orchestrators share the run is parked after three deaths, and the others' runs end")
def _():
    with RedisServer() as redis:
        case = three(redis)
        others = [case.all[i % 3].start_run("long", {}, wait=False) for i in range(OTHERS)]
        run = case.all[0].start_run("killer", {}, wait=False)
        for _ in range(3):
            wait_until(lambda: any(which.process.poll() is not None for which in case.all), "nobody dies", 60 * SLOW)
            for which in case.all:
                if which.process.poll() is not None:
                    which.kill()
                    which.start(may_die=True)
        parked(case.all[1], run)
        equal(of_runs("killer", "kills", [run]), 3, "the calls of the node")
        for other in others:
            equal(succeeded(case.all[2].stopped(other, 60))["n"], 2, "the result of another run")
        expect(all(which.process.poll() is None for which in case.all), "an orchestrator died once more")
        equal(sum('"run.parked"' in line for which in case.all for line in which.log), 1, "the lines in the logs")
        case.clear()


@beside(f"on a Redis that three orchestrators share {KILLS} kills from outside fail none of {BESIDE} runs that make no progress")
def _():
    with RedisServer() as redis:
        outside(three(redis))


for sentence, result in cases:
    check(sentence)(result)
checks.finish()
