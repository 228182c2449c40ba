#!/usr/bin/env python3
"""Orchestrators on a Redis that give each other attempts of fan-outs, over TLS and plainly: what becomes of a run when
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
certificates.make_authority(folder, "next-ca")
for each in ("next-server", "next-client"):
    certificates.make_certificate(folder, each, "next-ca")
with open(f"{folder}/both.pem", "w", encoding="ascii") as both:
    both.writelines(open(f"{folder}/{name}.pem", encoding="ascii").read() for name in ("ca", "next-ca"))

STAYS = free_port()  # of one that is started again: others have written to it before
BRANCHES, LEASE = 200, 1.8  # seconds; a shorter one may be lost to a busy machine
ITEMS = {"items": list(range(BRANCHES))}
SENT, BEGUN, LINKS, STRANGE, AWAY = (f"renga_orchestrator_fanout_{name}"
                                     for name in ("far_sent_total", "far_begun_total", "links", "strange_total", "away"))
DOCUMENT = {"agent": "wide", "state": {"items": {"type": "integer[]"}, "out": {"type": "object[]", "reduce": "append"}},
            "output": ["out"], "start": "all", "max_concurrency": 256,
            "nodes": {"all": {"kind": "each", "of": "items", "as": "item", "graph": "branch", "into": "out", "on": {"done": "end"}}},
            "graphs": {"branch": {"state": {"item": {"type": "integer"}, "x": {"type": "integer"}, "y": {"type": "integer"}},
                                  "output": ["x", "y"], "start": "n", "nodes": {"n": remote("m"), "m": remote()}}}}
WANTED = [{"x": i, "y": 2 * i} for i in range(BRANCHES)]


def sharer(has_agent=True, certificate="client", name="localhost", drain="5s", server="server", authority="ca", port=0):
    """Without a certificate neither gRPC nor the fan-out is over TLS. They are started together: wait with linked()."""
    flags = ["--orchestrator.fan_out_listen=0.0.0.0:0"]
    if certificate:
        files = {"rpc.tls.certificate": f"{server}.pem", "rpc.tls.key": f"{server}.key", "rpc.tls.authorities": f"{authority}.pem",
                 "peers.tls.certificate": f"{certificate}.pem", "peers.tls.key": f"{certificate}.key",
                 "peers.tls.authorities": f"{authority}.pem"}
        flags = [f"--orchestrator.fan_out_listen=tls+tcp://0.0.0.0:{port}", f"--peers.tls.name={name}", *(f"--{name}={folder}/{file}" for name, file in files.items())]
    made = Orchestrator(None, f"--orchestrator.store=redis://127.0.0.1:{redis_port}?name=runs", "--orchestrator.address=127.0.0.1:{port}",
                        f"--orchestrator.lease={int(1000 * LEASE)}ms", f"--drain.limit={drain}", "--loops=2", *flags)
    made.authorities = f"{folder}/both.pem" if certificate else None
    if has_agent:
        made.write_agent("wide", json.dumps(DOCUMENT))
    return made


def started(*made):
    for ready in [in_background(each.start) for each in made]:
        ready()
    return made


def linked(*made):
    """Each loop has its like in each of the others."""
    for each in made:
        wait_until(lambda: total(each, LINKS) == 2 * (len(made) - 1), f"no links: {each.metric(LINKS)}", 10 * SLOW, 0.02)


def total(which, name):
    return which.metric(name).get("", 0)


gate = threading.Event()


def second(call):
    """Until the gate is open; an attempt that is made anew does not wait."""
    while call.attempt == 1 and call.context.is_active() and not gate.wait(0.1):
        pass
    return {"y": 2 * call.state["item"]}


def whole(run):
    """Every branch has its result; what was repeated had its own key and the next number. The attempts that were."""
    equal(succeeded(run)["out"], WANTED, "the results")
    keys, numbers = {}, {}
    calls = nodes.of("wide", run_id=run.run_id)
    for call in calls:
        keys.setdefault((call.node, call.state["item"]), set()).add(call.request.idempotency_key)
        numbers.setdefault((call.node, call.state["item"]), []).append(call.attempt)
    expect(len(keys) == 2 * BRANCHES and all(len(each) == 1 for each in keys.values()), "a place has several keys")
    expect(all(len(set(each)) == len(each) for each in numbers.values()), "an attempt has the number of another")
    again = [call for call in calls if call.attempt > 1]
    expect(all(call.node == "m" for call in again), "a first step ran again, which was committed")
    equal(len(calls), 2 * BRANCHES + len(again), "the calls")
    return again


def in_the_middle(which):
    """A run that has its second steps at work, some of them in another orchestrator."""
    gate.clear()
    before = nodes.count("wide", "m")
    run = which.start_run("wide", ITEMS, wait=False)
    wait_until(lambda: nodes.count("wide", "m") >= before + BRANCHES, "the second steps do not begin", 20 * SLOW)
    expect(total(which, AWAY) > 0, "nothing is away")
    return run


def ended_well(*made):
    for each in made:
        each.signal(signal.SIGTERM)
    for each in made:
        code = each.stop(signalled=True)
        complaints = [line for line in each.log if "Sanitizer" in line or "runtime error" in line]
        expect(code == 0 and not complaints, f"it ended with {code}: {complaints[:3]} {''.join(each.log[-8:])[-1500:]}")


nodes.on("wide", n=lambda call: {"x": call.state["item"]}, m=second)
gate.set()
one, two, stranger, mistaken = started(sharer(), sharer(has_agent=False), sharer(certificate="stranger"), sharer(name="elsewhere"))


@check("a part of a fan-out runs in the other orchestrator, which has the agent from the store alone")
def _():
    wait_until(lambda: total(one, LINKS) == total(two, LINKS) == 2, "no links", 10 * SLOW, 0.02)
    run = one.start_run("wide", ITEMS)
    equal(whole(run), [], "what was repeated")
    far = total(two, BEGUN)
    equal((far, total(one, AWAY)), (total(one, SENT), 0), "begun there, and still away")
    expect(far >= 16, f"only {far} of {2 * BRANCHES} went there")
    return f"{far:g} of {2 * BRANCHES} attempts"


@check("who has no certificate of the authority is given nothing, and gives nothing")
def _():
    equal((total(stranger, LINKS), total(stranger, BEGUN), total(stranger, SENT)), (0, 0, 0), "what it has")
    ended_well(stranger)


@check("who expects another name in the certificates than they have gives nothing, and is given nothing")
def _():
    equal((total(mistaken, LINKS), total(mistaken, BEGUN), total(mistaken, SENT)), (0, 0, 0), "what it has")
    ended_well(mistaken)


@check("one that is reached by number and names nobody does not start")
def _():
    nameless = sharer(name="")
    nameless.try_start()
    expect(nameless.process.wait(10 * SLOW) != 0, "it ended well")
    said = "".join(nameless.log)
    expect("peers.tls.name" in said, f"it does not say what is missing: {said[-500:]}")


@check("a run that is cancelled cancels its calls in the other orchestrator, too")
def _():
    run = in_the_middle(one)
    one.ask("CancelRun", run_id=run.run_id, wait=True)
    calls = nodes.of("wide", "m", run.run_id)
    wait_until(lambda: all(call.cancelled or not call.context.is_active() for call in calls), "a call was not cancelled", 5 * SLOW)


@check("a worker that is frozen has what it had taken over, and what it says when it thaws has no effect")
def _():
    run = in_the_middle(one)
    two.signal(signal.SIGSTOP)
    frozen = time.monotonic()
    gate.set()
    again = whole(one.stopped(run))
    expect(again, "the frozen one had nothing")
    two.signal(signal.SIGCONT)
    linked(one, two)
    equal(len(whole(one.get(run))), len(again), "what was repeated after it thawed")
    return f"{len(again)} attempts begun anew, the last {max(call.began for call in again) - frozen:.1f} s after the freeze"


@check("a worker that is killed has what it had done anew, and the run ends by itself")
def _():
    global two
    run = in_the_middle(one)
    two.kill()
    killed = time.monotonic()
    gate.set()
    again = whole(one.stopped(run))
    expect(again, "the killed one had nothing")
    two, = started(sharer(has_agent=False, port=STAYS))
    linked(one, two)
    return f"{len(again)} attempts begun anew, the last {max(call.began for call in again) - killed:.1f} s after the kill"


@check("certificates that are replaced are shown to who connects, and by who connects again, without a restart")
def _():
    global two
    two.kill()
    wait_until(lambda: total(one, LINKS) == 0, "the one that is gone is not let go", 10 * SLOW, 0.02)
    for name, to in (("both", "ca"), ("next-server", "server"), ("next-client", "client")):
        for kind in ("pem", "key"):
            if os.path.exists(f"{folder}/{name}.{kind}"):
                shutil.copy(f"{folder}/{name}.{kind}", f"{folder}/{to}.new")
                os.replace(f"{folder}/{to}.new", f"{folder}/{to}.{kind}")
    two, = started(sharer(has_agent=False, certificate="next-client", server="next-server", authority="next-ca", port=STAYS))
    linked(one, two)


@check("an owner that is killed has its run gone on with elsewhere, and what the other did for it is cancelled")
def _():
    run = in_the_middle(one)
    here = [call for call in nodes.of("wide", "m", run.run_id)]
    one.kill()
    wait_until(lambda: all(call.cancelled or not call.context.is_active() for call in here), "a call was not cancelled", 10 * SLOW)
    gate.set()
    expect(whole(two.stopped(run, 30)), "nothing was repeated")
    ended_well(two)


def port_of(which):
    line = next(line for line in which.log if '"fanout.listening"' in line)
    return int(line.rsplit(":", 1)[1].split('"')[0])


def mail(*bodies):
    """As nng writes it: the greeting of one that pushes, and messages behind their sizes."""
    return b"\0SP\0" + struct.pack(">HH", 80, 0) + b"".join(struct.pack(">Q", len(body)) + body for body in bodies)


plain, other = started(sharer(certificate=None), sharer(has_agent=False, certificate=None))


@check("without TLS the same, and garbage, strangers and letters that show no token change nothing")
def _():
    linked(plain, other)
    head = struct.pack("<I16s40sIIIII", 0x52464f01, b"0" * 16, b"o_stranger", 0, 0, 1, 1, 0)
    given = [os.urandom(4096), b"GET / HTTP/1.1\r\n\r\n", mail(b"", b"\0", os.urandom(500), head, head + b"\xff" * 40),
             mail()[:8] + struct.pack(">Q", 1 << 40) + b"x" * 100, mail()[:8] + struct.pack(">Q", 8 << 20) + b"x"]
    run = in_background(lambda: plain.start_run("wide", ITEMS))
    sockets = []
    for _ in range(20):
        for each in given:
            sockets.append(socket.create_connection(("127.0.0.1", port_of(plain))))
            sockets[-1].sendall(each)
    equal(whole(run()), [], "what was repeated")
    wait_until(lambda: total(plain, STRANGE) == 20 * 5, "not all strange letters were counted", 10 * SLOW)
    expect(total(other, BEGUN) > 0, "nothing went to the other")
    equal(total(plain, "renga_orchestrator_fanout_broken_total"), 0, "links that broke")
    for each in sockets:
        each.close()


@check("a worker that is told to end lets what it has end, and takes no more")
def _():
    run = in_the_middle(plain)
    other.signal(signal.SIGTERM)
    wait_until(lambda: any('"daemon.stopping"' in line for line in other.log), "it does not hear of it", 5 * SLOW)
    gate.set()
    equal(other.stop(signalled=True), 0, "its code")
    equal(whole(plain.stopped(run)), [], "what was repeated")


@check("one whose time to end is over cancels what it has of others, ends well, and it is begun anew elsewhere")
def _():
    brief, = started(sharer(has_agent=False, certificate=None, drain="1s"))
    linked(plain, brief)
    run = in_the_middle(plain)
    before, told = len(plain.log), time.monotonic()
    ended_well(brief)
    took = time.monotonic() - told
    gate.set()
    expect(whole(plain.stopped(run)), "nothing was repeated")
    expect(any("has begun anew" in line for line in plain.log[before:]), "the owner was not told, and had to notice")
    expect(not any("fanout.remote_attempts" in line for line in brief.log), "attempts were left when it ended")
    ended_well(plain)
    return f"it took {took:.1f} s"


gate.set()  # also where a check has failed before it did so: its calls wait
checks.finish()
