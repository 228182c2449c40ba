#!/usr/bin/python3
"""How a server leaves: drain.py [ROUNDS] (1 where it is not given), each round with fresh servers.

Two servers stand behind one round-robin channel without a retry policy, and one of them gets SIGTERM under load: no call may
fail. Clients that watch health leave at once; others when their connection's age is up. Then what a single server does
with calls that do not end, and without any. RENGA_BIN, RENGA_DESC as in probe.py; RENGA_NODE is `node` unless it says.
"""
import json
import os
import socket
import subprocess
import sys
import threading
import time

import grpc

from probe import (Count, Echo, Noticed, PROBE, Server, Sleep, Stub, Sum, expect_code, refusal, wait_begun)
from checks import check, expect, finish, wait_until  # probe knows where it stands
from ports import free_port

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.path.join(HERE, "../node_modules/.bin/node")
AGES_MS = 2000, 3000  # of the one that leaves and the one that stays: both pass while calls go on, but not together,
#                       since grpc-js asks again only once where a connection that ends refuses a call
NEVER = 0, 0
UNARY_THREADS, STREAM_THREADS = 6, 6
PAUSE = 0.01  # seconds between unary calls of a thread: tests/drill/drain has a load that fills the machine
BEFORE_SECONDS, AFTER_SECONDS = 1.0, 1.0
CUT_EACH = 100  # unary calls, streams and conversations that the drain's limit finds
CALLS_MIN = 50  # a hundred times as many come on a calm machine
DRAIN_MS = 8000
AT_ONCE = 4.0  # seconds: less than one on a calm machine, and far from the limit of the drain
STREAM = {"messages": 10, "interval_ms": 40, "bytes": 100}
CONFIG = {"loadBalancingConfig": [{"round_robin": {}}]}
HEALTH_CONFIG = {**CONFIG, "healthCheckConfig": {"serviceName": ""}}

# ---- load ------------------------------------------------------------------------------------------------------------


class PythonLoad:
    """Unary calls and streams both ways, until told to stop."""

    name = "python"

    def __init__(self, target, config):
        # No retry policy: a call that has reached a server is not sent again.
        self.channel = grpc.insecure_channel(target, [("grpc.service_config", json.dumps(config)),
                                                      ("grpc.use_local_subchannel_pool", 1)])
        self.probe = Stub(self.channel, PROBE)
        self.calls, self.failures, self._over, self._lock = 0, [], threading.Event(), threading.Lock()
        work = [self._unary] * UNARY_THREADS + [self._stream] * STREAM_THREADS + [self._upload]
        self._threads = [threading.Thread(target=self._repeat, args=(one,), daemon=True) for one in work]

    def start(self):
        grpc.channel_ready_future(self.channel).result(timeout=10)
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._over.set()
        for thread in self._threads:
            thread.join()
        self.channel.close()
        return self.calls, self.failures

    def _repeat(self, one):
        while not self._over.is_set():
            try:
                one()
                why = None
            except Exception as error:
                why = f"{time.time():.3f} {one.__name__} {getattr(error, 'code', lambda: '')()} {error}"
            with self._lock:
                self.calls += 1
                if why:
                    self.failures.append(" ".join(why.split()))

    def _unary(self):
        expect(self.probe.Echo(Echo(text="load"), timeout=10).text == "load", "another's answer")
        time.sleep(PAUSE)

    def _stream(self):
        count = len(list(self.probe.Count(Count(**STREAM), timeout=10)))
        expect(count == STREAM["messages"], f"{count} messages")

    def _upload(self):
        def values():
            for _ in range(10):
                time.sleep(0.02)
                yield Sum(value=1)

        expect(self.probe.Sum(values(), timeout=10).sum == 10, "a wrong sum")


class NodeLoad:
    """The same from load.mjs, in a process of its own."""

    name = "node"

    def __init__(self, target, config):
        self._process = subprocess.Popen(
            [NODE, os.path.join(HERE, "load.mjs"), target, json.dumps(config)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self):
        line = self._process.stdout.readline()
        expect(line.strip() == "ready", f"load.mjs says '{line.strip()}'")

    def stop(self):
        said = json.loads(self._process.communicate(timeout=30)[0])
        return said["calls"], said["failures"]


# ---- one of two leaves -----------------------------------------------------------------------------------------------


def one_of_two_leaves(load_kind, client, config, ages_ms, drain_ms=DRAIN_MS, sooner_than=None):
    sentence = f"SIGTERM to one of two servers under load loses no call of a {load_kind.name} client that {client}"

    def one_round():
        leaving_age, staying_age = (("--age-ms", str(age_ms)) for age_ms in ages_ms)
        # Its own port: another server, of a test beside, must not get it while clients still dial it.
        with Server(*leaving_age, listen=f"127.0.0.1:{free_port()}", drain_ms=drain_ms, name="the server that leaves") as leaving, \
                Server(*staying_age, drain_ms=2000, name="the server that stays") as staying:
            load = load_kind(f"ipv4:{leaving.address},{staying.address}", config)
            load.start()
            time.sleep(BEFORE_SECONDS)
            without_calls = [server.name for server in (leaving, staying) if not connected(server)]
            asked = time.monotonic()
            leaving.ask_to_stop()
            leaving.wait_for_end(60)
            took = time.monotonic() - asked
            time.sleep(AFTER_SECONDS)
            calls, failures = load.stop()
        expect(not without_calls, f"no call goes to {without_calls}")
        expect(not failures, f"{len(failures)} of {calls} calls failed, such as: {'; '.join(failures[:3])}; the server "
                             f"said: {leaving.log()[-600:]}")
        expect(calls >= CALLS_MIN, f"only {calls} calls were made")
        expect(sooner_than is None or took < sooner_than, f"the server took {took:.1f} s to leave")
        return f"{calls} calls, left after {took:.1f} s"

    check(sentence)(one_round)


def connected(server):
    """True where a client has a connection to the server, as the kernel sees it."""
    for family in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(family, encoding="ascii") as file:
            rows = [line.split() for line in list(file)[1:]]
        if any(row[1].endswith(":%04X" % server.port) and row[3] == "01" for row in rows):
            return True
    return False


# ---- one server, alone -----------------------------------------------------------------------------------------------


def alone():
    @check("without a connection the server leaves at once")
    def _():
        return leaves_within(AT_ONCE, Server(drain_ms=DRAIN_MS))

    @check("after its clients have gone the server leaves at once")
    def _():
        server = Server(drain_ms=DRAIN_MS)
        with server.channel() as channel:
            Stub(channel, PROBE).Echo(Echo(), timeout=5)
        return leaves_within(AT_ONCE, server)

    @check("a server under way to leave goes as soon as its last client has gone")
    def _():
        server = Server(drain_ms=DRAIN_MS)
        with server.channel() as channel:
            call = Stub(channel, PROBE).Sleep.future(Sleep(delay_ms=600), timeout=5)
            wait_until(lambda: connected(server), "it does not connect")
            time.sleep(0.1)
            server.ask_to_stop()
            call.result()
        return leaves_within(AT_ONCE, server)

    @check("an idle client holds the server until its connection's age is up, not until the drain's limit")
    def _():
        server = Server("--age-ms", "1000", drain_ms=DRAIN_MS)
        with server.channel() as channel:
            Stub(channel, PROBE).Echo(Echo(), timeout=5)
            return leaves_within(6.0, server)

    @check("a connection that says nothing at all holds the server until the drain's limit at most")
    def _():
        server = Server(drain_ms=1000)
        with socket.create_connection(("127.0.0.1", server.port)):
            time.sleep(0.1)
            return leaves_within(6.0, server)

    @check("SIGTERM right after the start is heard")
    def _():
        for _ in range(10):
            leaves_within(AT_ONCE, Server(drain_ms=DRAIN_MS))


def leaves_within(seconds, server):
    asked = time.monotonic()
    server.ask_to_stop()
    server.wait_for_end(60)
    took = time.monotonic() - asked
    expect(took < seconds, f"it took {took:.2f} s")
    return f"{took:.2f} s"


def cut_calls():
    @check("calls that still run at the drain's limit are cut with UNAVAILABLE, their handlers told, and the server goes")
    def _():
        server = Server(drain_ms=1000, cuts=True)
        with server.channel() as channel:
            probe = Stub(channel, PROBE)
            calls = [probe.Sleep.future(Sleep(delay_ms=60000, key=f"cut {i}")) for i in range(CUT_EACH)]
            streams = [probe.Count(Count(messages=1 << 40, interval_ms=10)) for _ in range(CUT_EACH)]
            more = threading.Event()
            talks = [probe.Chat(hold(more)) for _ in range(CUT_EACH)]
            for stream in streams + talks:
                next(stream)
            wait_begun(probe, f"cut {CUT_EACH - 1}")
            asked = time.monotonic()
            server.ask_to_stop()
            for call in calls:
                expect_code(refusal(call.result), grpc.StatusCode.UNAVAILABLE, "shutting down; ask another")
            cut_after = time.monotonic() - asked
            for stream in streams + talks:
                expect_code(refusal(lambda stream=stream: stream), grpc.StatusCode.UNAVAILABLE,
                            "shutting down; ask another")
            more.set()
            server.wait_for_end(60)
            gone_after = time.monotonic() - asked
        expect(0.95 <= cut_after < 5, f"they were cut after {cut_after:.2f} s")
        expect(gone_after < 10, f"the server was gone after {gone_after:.2f} s")
        return f"cut after {cut_after:.2f} s, gone after {gone_after:.2f} s"

    @check("a stuck handler, deaf to all, is cut with UNAVAILABLE at the drain's limit, and the server goes all the same")
    def _():
        # What the handler keeps stays in memory, and a sanitizer would say so.
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
        server = Server(drain_ms=1000, cuts=True)
        os.environ.pop("ASAN_OPTIONS")
        server.allow("rpc.leaked")
        with server.channel() as channel:
            probe = Stub(channel, PROBE)
            stuck = probe.Stick.future(Noticed(key="deaf"))
            probe.Echo(Echo(), timeout=5)
            time.sleep(0.1)
            asked = time.monotonic()
            server.ask_to_stop()
            expect_code(refusal(stuck.result), grpc.StatusCode.UNAVAILABLE, "shutting down; ask another")
            cut_after = time.monotonic() - asked
            server.wait_for_end(60)
            gone_after = time.monotonic() - asked
        expect(0.95 <= cut_after < 5, f"it was cut after {cut_after:.2f} s")
        expect(gone_after < 30, f"the server was gone after {gone_after:.2f} s")
        return f"cut after {cut_after:.2f} s, gone after {gone_after:.2f} s"

    @check("a stuck call that is let go in time is answered, and the server waits for it")
    def _():
        server = Server("--loops", "1", drain_ms=DRAIN_MS)
        with server.channel() as channel:
            probe = Stub(channel, PROBE)
            stuck = probe.Stick.future(Noticed(key="late"))
            probe.Echo(Echo(), timeout=5)
            time.sleep(0.1)
            server.ask_to_stop()
            time.sleep(0.8)
            expect(not stuck.done(), "it ended before")
            probe.Release(Noticed(), timeout=5)
            expect(stuck.result().key == "late", "it was not answered")
        server.wait_for_end(60)


def hold(event):
    yield Echo(text="hold")
    event.wait(20)


def main():
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        for kind in (PythonLoad, NodeLoad):
            one_of_two_leaves(kind, "watches health", HEALTH_CONFIG, AGES_MS, sooner_than=7)
            one_of_two_leaves(kind, "knows nothing of health", CONFIG, AGES_MS, sooner_than=7)
        one_of_two_leaves(PythonLoad, "watches health, where connections never age", HEALTH_CONFIG,
                          NEVER, drain_ms=3000)
        alone()
        cut_calls()
    finish()


if __name__ == "__main__":
    main()
