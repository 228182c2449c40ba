#!/usr/bin/env python3
"""Two orchestrators on a Redis, and at random moments of fan-outs one is frozen for longer than its lease, or killed, or told
to end, or Redis is killed. What was accepted comes to its end, once: no committed step runs again, and a node that minds
the fencing token hears of no owner that was overtaken; and runs on threads at rest that both are asked for count once,
wherever they are handed on to meanwhile. RENGA_ROUNDS says how often; where it does not, 3 times."""
import atexit
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import grpc

from harness import (SLOW, Broken, Orchestrator, check, checks, equal, expect, message, nodes, number, remote, reply, stands,
                     wait_until)

ROUNDS = int(os.environ.get("RENGA_ROUNDS", "3"))
RUNS, BRANCHES, LEASE = 4, 40, 0.6 * SLOW
random.seed(int(os.environ.get("RENGA_SEED", "0")) or None)
folder = tempfile.mkdtemp(prefix="renga-redis-")
agents = os.path.join(folder, "agents")


class Redis:
    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", f"{folder}/redis", "--dir", folder, "--save", "", "--appendonly", "yes",
             "--appendfsync", "always"], stdout=subprocess.DEVNULL)
        wait_until(lambda: subprocess.run(["redis-cli", "-s", f"{folder}/redis", "ping"], capture_output=True).stdout == b"PONG\n",
                   "Redis does not answer", 10 * SLOW, every=0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()


redis = Redis()
redis.start()
atexit.register(lambda: (redis.kill(), shutil.rmtree(folder, ignore_errors=True)))

# ---- the graph: a step, a fan-out, three steps -----------------------------------------------------------------------

document = {"agent": "fan", "state": {"got": {"type": "integer[]", "reduce": "append"}, "n": {"type": "integer", "reduce": "sum"}},
            "start": "s", "max_concurrency": 16,
            "nodes": {"s": remote("v", may_reach=["w"]), "v": remote("m"), "w": remote("m"), "m": remote("t"), "t": remote("u"), "u": remote()}}
short = {"agent": "sum", "state": {"n": {"type": "integer", "reduce": "sum"}}, "start": "a",
         "nodes": {"a": {"kind": "set", "values": {"n": 1}}}}
for each in (document, short):
    os.makedirs(f"{agents}/{each['agent']}")
    with open(f"{agents}/{each['agent']}/graph.json", "w") as file:
        json.dump(each, file)
greatest, refused, lock = {}, [], threading.Lock()


def fenced(work):
    """As the contract asks of whoever keeps something for a run."""
    def node(call):
        token = call.request.fencing_token
        with lock:
            stale = token < greatest.get(call.run_id, 0)
            greatest[call.run_id] = max(token, greatest.get(call.run_id, 0))
            refused.extend([call] if stale else [])
        call.stale = stale
        if stale:
            call.fail("ABORTED", "an earlier owner's")
        return work(call)
    return node


def linger(call):
    call.sleep(random.random() * 0.03)
    return {"got": [call.state["i"]]}


nodes.on("fan", s=fenced(lambda call: reply({"n": 1}, sends=[("w", {"i": i}) for i in range(BRANCHES)])), w=fenced(linger),
         **{name: fenced(lambda call: call.sleep(0.01) and {"n": 1} or None) for name in "vmtu"})

# ---- the orchestrators -----------------------------------------------------------------------------------------------


def sharer():
    made = Orchestrator(None, f"--orchestrator.agents={agents}", f"--orchestrator.store=unix:{folder}/redis",
                        "--orchestrator.address=127.0.0.1:{port}", f"--orchestrator.lease={int(1000 * LEASE)}ms", "--drain.limit=1s")
    return made.start()


both = [sharer(), sharer()]


def freeze(which):
    both[which].signal(signal.SIGSTOP)
    time.sleep(LEASE * 1.8)
    both[which].signal(signal.SIGCONT)


def kill(which):
    both[which].kill()
    both[which].start()


def end(which):
    both[which].stop()
    both[which].start()


def lose_redis(which):
    redis.kill()
    time.sleep(random.random() * 0.3)
    redis.start()


def follow(run, seen, over):
    """What a watcher was shown, of whom it asked in turn; it comes back with the last event it saw."""
    asked = random.randrange(2)
    while not over.is_set() and not (seen and seen[-1].WhichOneof("event") == "stopped"):
        try:
            for event in both[asked].watch(run, after_event_id=seen[-1].event_id if seen else 0, timeout=10):
                if event.WhichOneof("event") != "heartbeat":
                    seen.append((event))
        except (grpc.RpcError, ValueError):
            time.sleep(0.05)
            asked = 1 - asked


def final(run):
    def look():
        try:
            now = random.choice(both).get(run)
        except (grpc.RpcError, ValueError):
            return None
        return now if now.ended_ms else None
    return wait_until(look, f"run {run.run_id} does not end", 30 * SLOW, every=0.02)


# ---- meanwhile, short runs on few threads, asked for at either ---------------------------------------------------------

THREADS, CLIENTS = 3, 4
answered, lost, ended = [0] * THREADS, [0] * THREADS, threading.Event()


def keep_asking(seed):
    chance = random.Random(seed)
    while not ended.is_set():
        which, thread = chance.choice(both), chance.randrange(THREADS)
        ended.wait(0.02)
        request = which.start_request("sum", thread_id=f"shared{thread}", on_busy=number("OnBusy", "ON_BUSY_ENQUEUE"))
        try:
            call = which.begin("StartRun", request)
        except ValueError:  # it is just being started anew
            continue
        try:
            call.result()
            outcome = answered
        except (grpc.RpcError, grpc.FutureCancelledError):
            outcome = lost  # whether it was done nobody knows
        with lock:
            outcome[thread] += 1


asking = [threading.Thread(target=keep_asking, args=(random.random(),), daemon=True) for _ in range(CLIENTS)]
for client in asking:
    client.start()


counted = {"freeze": 0, "kill": 0, "end": 0, "lose_redis": 0}


@check(f"in {ROUNDS} rounds of freezing, killing and ending, every run ends, and no committed step ran again")
def _():
    repeated = 0
    for number in range(ROUNDS):
        runs = [both[i % 2].start_run("fan", {}, wait=False) for i in range(RUNS)]
        shown, over = [[] for _ in runs], threading.Event()
        watchers = [threading.Thread(target=follow, args=(run, seen, over), daemon=True) for run, seen in zip(runs, shown)]
        for watcher in watchers:
            watcher.start()
        time.sleep(random.random() * 0.12 * SLOW)
        blow = [freeze, kill, lose_redis, end][number % 4]
        began = time.monotonic()
        blow(random.randrange(2))
        counted[blow.__name__] += 1
        for run, seen in zip(runs, shown):
            output = json.loads(stands(final(run), "SUCCEEDED", "COMPLETED").output_json)
            equal((output["got"], output["n"]), (list(range(BRANCHES)), 5), f"the result after round {number}, {blow.__name__}")
        for watcher in watchers:
            watcher.join(15 * SLOW)
        over.set()
        for run, seen in zip(runs, shown):
            equal(seen[-1].WhichOneof("event") if seen else None, "stopped", "the last event that a watcher saw")
            kept = [event.event_id for event in seen if not event.provisional]
            expect(kept == sorted(set(kept)), "a watcher saw events twice, or not in their order")
            last_good = {}
            for call in nodes.of("fan", run_id=run.run_id):
                place = (call.step, call.node, call.branch)
                repeated += call.attempt > 1
                if not call.stale:
                    expect(call.request.fencing_token >= last_good.get(place, 0), f"{place} was called with a token that shrank")
                    last_good[place] = call.request.fencing_token
            committed = {event.step: event.time_ms for event in seen if event.WhichOneof("event") == "checkpoint"}
            for call in nodes.of("fan", run_id=run.run_id):
                shown_ms = committed.get(call.step)
                wall_ms = 1000 * (time.time() - (time.monotonic() - call.began))
                expect(call.stale or not shown_ms or wall_ms < shown_ms + 5,
                       f"{call.node} of step {call.step} ran {wall_ms - (shown_ms or 0):.0f} ms after that was committed")
        print(f"# {blow.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    return f"{counted}, {repeated} attempts were repeated, {len(refused)} of owners that had been overtaken refused by nodes"


def state_of(name):
    try:
        return both[0].state(name)
    except (grpc.RpcError, ValueError):
        return None


@check("runs on threads at rest, asked for at both meanwhile, were done once")
def _():
    ended.set()
    for client in asking:
        client.join(25 * SLOW)
    done = [wait_until(lambda name=f"shared{i}": state_of(name), "it cannot be read", 10 * SLOW)["n"] for i in range(THREADS)]
    for have, sure, unsure in zip(done, answered, lost):
        expect(sure <= have <= sure + unsure, f"{have} runs were done, of {sure} that were answered and {unsure} that were not")
    expect(sum(answered) > 20, f"too few were answered: {answered}")
    return f"{sum(done)} runs, {sum(answered)} answered, {sum(lost)} lost with a connection"


@check("an attempt that is made again has the idempotency key of the first")
def _():
    keys = {}
    for call in nodes.of("fan"):
        keys.setdefault((call.run_id, call.step, call.node, call.branch), set()).add(call.request.idempotency_key)
    expect(all(len(values) == 1 for values in keys.values()), "a place has several keys")
    equal(len(set().union(*keys.values())), len(keys), "the number of keys")


@check("both end with 0 on SIGTERM, and no sanitizer has complained")
def _():
    for each in both:
        code = each.stop()
        complaints = [line for line in each.log if "Sanitizer" in line or "runtime error" in line]
        expect(code == 0 and not complaints, f"it ended with {code}: {complaints[:3]} {''.join(each.log[-8:])[-1500:]}")


checks.finish()
