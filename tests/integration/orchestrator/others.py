#!/usr/bin/env python3
"""Orchestrators on a Redis that give each other attempts of fan-outs, over tcp and over TLS: what becomes of a run when
the one that works for it is killed, frozen, or told to end, and what strangers reach at the port."""
import atexit
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from harness import (HERE, SLOW, Orchestrator, check, checks, equal, expect, free_port, in_background, nodes, remote, succeeded,
                     wait_until)

sys.path.insert(0, os.path.join(HERE, "..", "rpc"))
import certificates  # noqa: E402

folder, redis_port = tempfile.mkdtemp(prefix="renga-redis-"), free_port()
redis = subprocess.Popen(["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes",
                          "--appendfsync", "always", "--save", ""], stdout=subprocess.DEVNULL)
atexit.register(lambda: (redis.kill(), redis.wait(), shutil.rmtree(folder, ignore_errors=True)))
certificates.make_set(folder)

BRANCHES, LEASE = 200, 2.0
ITEMS = {"items": list(range(BRANCHES))}
SENT, BEGUN, LINKS = (f"renga_orchestrator_fanout_{name}" for name in ("far_sent_total", "far_begun_total", "links"))
DOCUMENT = {"agent": "wide", "state": {"items": {"type": "integer[]"}, "out": {"type": "object[]", "reduce": "append"}},
            "output": ["out"], "start": "all", "max_concurrency": 256,
            "nodes": {"all": {"kind": "each", "of": "items", "as": "item", "graph": "branch", "into": "out", "on": {"done": "end"}}},
            "graphs": {"branch": {"state": {"item": {"type": "integer"}, "x": {"type": "integer"}, "y": {"type": "integer"}},
                                  "output": ["x", "y"], "start": "n", "nodes": {"n": remote("m"), "m": remote()}}}}
WANTED = [{"x": i, "y": 2 * i} for i in range(BRANCHES)]


def sharer(*flags, has_agent=True, authorities=None):
    made = Orchestrator(None, f"--orchestrator.store=redis://127.0.0.1:{redis_port}?name=runs", "--orchestrator.address=127.0.0.1:{port}",
                        f"--orchestrator.lease={int(1000 * LEASE * SLOW)}ms", "--drain.limit=5s", "--loops=2",
                        "--orchestrator.fan_out_listen=0.0.0.0:0", *flags)
    made.authorities = authorities
    if has_agent:
        made.write_agent("wide", json.dumps(DOCUMENT))
    return made.start()


def linked(*all_of_them):
    """Each loop has its like in each of the others."""
    for each in all_of_them:
        wait_until(lambda: each.metric(LINKS).get("") == 2 * (len(all_of_them) - 1), f"no links: {each.metric(LINKS)}", 10 * SLOW, 0.05)


def total(which, name):
    return which.metric(name).get("", 0)


slow = 0.3


def rest(call, seconds):
    """Until nobody waits any more; unlike call.sleep it leaves this process to the other two hundred."""
    over = threading.Event()
    if call.context.add_callback(over.set):
        over.wait(seconds)
    return call.context.is_active()


def second(call):
    rest(call, slow * SLOW)
    return {"y": 2 * call.state["item"]}


nodes.on("wide", n=lambda call: {"x": call.state["item"]}, m=second)


def whole(run, calls_of=None):
    """Every branch has its result, no first step was repeated, and what was repeated had its own key and the next number."""
    equal(succeeded(run)["out"], WANTED, "the results")
    calls = nodes.of("wide", run_id=run.run_id)
    keys, numbers = {}, {}
    for call in calls:
        keys.setdefault((call.node, call.state["item"]), set()).add(call.request.idempotency_key)
        numbers.setdefault((call.node, call.state["item"]), []).append(call.attempt)
    expect(len(keys) == 2 * BRANCHES and all(len(each) == 1 for each in keys.values()), "a place has several keys")
    expect(all(len(set(each)) == len(each) for each in numbers.values()), "an attempt has the number of another")
    return len(calls) - 2 * BRANCHES


def in_the_middle(api):
    """A run that has its second steps at work."""
    before = nodes.count("wide", "m")
    run = api.start_run("wide", ITEMS, wait=False)
    wait_until(lambda: nodes.count("wide", "m") >= before + BRANCHES, "the second steps do not begin", 20 * SLOW)
    return run


def repeats_only_the_second(run):
    first = [call for call in nodes.of("wide", "n", run.run_id) if call.attempt > 1]
    again = [call for call in nodes.of("wide", "m", run.run_id) if call.attempt > 1]
    expect(not first, f"{len(first)} first steps ran again, which were committed")
    return again


one, two = sharer(), sharer(has_agent=False)


@check("a part of a fan-out runs in the other orchestrator, which has the agent from the store alone")
def _():
    linked(one, two)
    begun = total(two, BEGUN)
    run = one.start_run("wide", ITEMS)
    equal(whole(run), 0, "the attempts that were repeated")
    far = total(two, BEGUN) - begun
    equal((far, total(one, "renga_orchestrator_fanout_away")), (total(one, SENT), 0), "begun there, and still away")
    expect(far >= 32, f"only {far} of {2 * BRANCHES} went there")
    return f"{far:g} of {2 * BRANCHES} attempts"


@check("a run that is cancelled cancels its calls in the other orchestrator, too")
def _():
    nodes.on("wide", m=lambda call: rest(call, 20 * SLOW) and {} or {})
    run = in_the_middle(one)
    expect(total(one, "renga_orchestrator_fanout_away") > 0, "nothing is away")
    one.ask("CancelRun", run_id=run.run_id, wait=True)
    calls = nodes.of("wide", "m", run.run_id)
    wait_until(lambda: all(call.cancelled for call in calls), "a call was not cancelled", 5 * SLOW)
    nodes.on("wide", m=second)


@check("a worker that is killed has what it had done anew, and the run ends by itself")
def _():
    global two, slow
    slow = 1.0
    run = in_the_middle(one)
    away = total(two, BEGUN)
    two.kill()
    killed = time.monotonic()
    whole(one.stopped(run))
    again = repeats_only_the_second(run)
    expect(away and again, "the killed one had nothing")
    figure = f"{len(again)} attempts begun anew, the last {max(call.began for call in again) - killed:.1f} s after the kill"
    two = sharer(has_agent=False)
    linked(one, two)
    return figure


@check("a worker that is frozen has what it had taken over, and what it says when it thaws has no effect")
def _():
    run = in_the_middle(one)
    broken = total(one, "renga_orchestrator_fanout_broken_total")
    two.signal(signal.SIGSTOP)
    frozen = time.monotonic()
    whole(one.stopped(run))
    again = repeats_only_the_second(run)
    expect(again and total(one, "renga_orchestrator_fanout_broken_total") > broken, "the frozen one had nothing")
    latest = max(call.began for call in again) - frozen
    two.signal(signal.SIGCONT)
    linked(one, two)
    whole(one.get(run))
    return f"{len(again)} attempts, the last {latest:.1f} s after the freeze"


@check("an owner that is killed has its run gone on with elsewhere, and what the others did for it is cancelled")
def _():
    global one
    three = sharer()
    linked(one, two, three)
    run = in_the_middle(one)
    one.kill()
    whole(two.stopped(run, 30))
    expect(repeats_only_the_second(run), "nothing was repeated")
    for each in (two, three):
        wait_until(lambda: total(each, "renga_orchestrator_nodes_running") == 0, "something is still at work", 10 * SLOW)
    equal(three.stop(), 0, "the code of the third")
    one = sharer()
    linked(one, two)


@check("a worker that is told to end lets what it has end, and takes no more")
def _():
    global two
    run = in_the_middle(one)
    expect(total(two, BEGUN) > 0, "it has nothing")
    equal(two.stop(), 0, "its code")
    equal(whole(one.stopped(run)), 0, "the attempts that were repeated")
    two = sharer(has_agent=False)
    linked(one, two)


def port_of(which):
    line = next(line for line in which.log if '"fanout.listening"' in line)
    return int(line.rsplit(":", 1)[1].rstrip('"}\n').split('"')[0])


def mail(*bodies):
    """As nng writes it: a handshake of the one that pushes, and messages behind their sizes."""
    return b"\0SP\0" + struct.pack(">HH", 80, 0) + b"".join(struct.pack(">Q", len(body)) + body for body in bodies)


@check("garbage, strangers and letters that show no token change nothing")
def _():
    strange = total(one, "renga_orchestrator_fanout_strange_total")
    head = struct.pack("<I16s40sIIIII", 0x52464f01, b"0" * 16, b"o_stranger", 0, 0, 1, 1, 0)
    given = [os.urandom(4096), b"GET / HTTP/1.1\r\n\r\n", mail(b"", b"\0", os.urandom(500), head, head + b"\xff" * 40),
             mail()[:8] + struct.pack(">Q", 1 << 40) + b"x" * 100, mail()[:8] + struct.pack(">Q", 8 << 20) + b"x"]
    run = in_background(lambda: one.start_run("wide", ITEMS))
    sockets = []
    for _ in range(20):
        for bytes_of_it in given:
            sockets.append(socket.create_connection(("127.0.0.1", port_of(one))))
            sockets[-1].sendall(bytes_of_it)
    wait_until(lambda: total(one, "renga_orchestrator_fanout_strange_total") >= strange + 100, "they were not counted", 10 * SLOW)
    equal(whole(run()), 0, "the attempts that were repeated")
    for each in sockets:
        each.close()
    linked(one, two)


def ended_well(*which):
    for each in which:
        code = each.stop()
        complaints = [line for line in each.log if "Sanitizer" in line or "runtime error" in line]
        expect(code == 0 and not complaints, f"it ended with {code}: {complaints[:3]} {''.join(each.log[-8:])[-1500:]}")


@check("both end with 0 on SIGTERM, and no sanitizer has complained")
def _():
    ended_well(one, two)


def over_tls(which):
    """gRPC over TLS, and the fan-out over mutual TLS with the certificate of this name."""
    files = {"rpc.tls.certificate": "server.pem", "rpc.tls.key": "server.key", "rpc.tls.authorities": "ca.pem",
             "peers.tls.certificate": f"{which}.pem", "peers.tls.key": f"{which}.key", "peers.tls.authorities": "ca.pem"}
    return sharer("--orchestrator.fan_out_listen=tls+tcp://0.0.0.0:0", *(f"--{name}={folder}/{file}" for name, file in files.items()),
                  authorities=f"{folder}/ca.pem")


@check("over TLS the same, and who has no certificate of the authority is not let in")
def _():
    one, two, other = over_tls("client"), over_tls("client"), over_tls("stranger")
    wait_until(lambda: total(one, LINKS) == total(two, LINKS) == 2, "no links", 10 * SLOW, 0.05)
    begun = total(two, BEGUN)
    equal(whole(one.start_run("wide", ITEMS)), 0, "the attempts that were repeated")
    expect(total(two, BEGUN) > begun, "nothing went there")
    equal((total(other, LINKS), total(other, BEGUN)), (0, 0), "what the stranger has")
    two.signal(signal.SIGSTOP)
    whole(one.start_run("wide", ITEMS))
    two.signal(signal.SIGCONT)
    ended_well(one, two, other)


checks.finish()
