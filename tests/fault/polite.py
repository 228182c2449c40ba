"""A polite client beside an attack: 75 calls of Probe.Echo a second, each with a deadline, every 25th on a connection of
its own. The deadline is for calls that are lost: how soon an answer comes is told, for others to judge. Started as a process, so that it shares no lock with the attacker.

`polite.py TARGET once|again [AUTHORITIES]`, where `again` makes failed calls again, takes lines: "begin" starts, "end" stops
and prints one line of JSON. Latency counts from the moment a call was due, so that a stall is not seen as few calls."""

import collections
import json
import os
import sys
import threading
import time

os.environ.pop("http_proxy", None)
import grpc  # noqa: E402

RATE = 75
DEADLINE_S = 20
SETTLE_S = 10
FRESH_EVERY = 25
METHOD = "/renga.test.Probe/Echo"
REQUEST = b"\x0a\x05hello"

# For attacks that use up the server's quota. Core then ends idle connections (UNAVAILABLE) and cancels calls
# (RESOURCE_EXHAUSTED) of whomever it finds first; a call that has had no effect may be made again.
AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}
AGAIN_S = 0.05


class Client:
    def __init__(self, target, retries, authorities=None):
        self.target, self.retries = target, retries
        self.credentials = grpc.ssl_channel_credentials(open(authorities, "rb").read()) if authorities else None
        self.channel = self.connect()
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def connect(self):
        options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1),
                   ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 500), ("grpc.enable_retries", 0)]
        if self.credentials:
            return grpc.secure_channel(self.target, self.credentials, options)
        return grpc.insecure_channel(self.target, options)

    def call(self, due, channel, fresh):
        future = channel.unary_unary(METHOD).future(REQUEST, timeout=due + DEADLINE_S - time.monotonic())
        future.add_done_callback(lambda future: self.ended(future, due, channel, fresh))

    def ended(self, future, due, channel, fresh):
        code, now = future.code(), time.monotonic()
        if self.retries and code in AGAIN and now + AGAIN_S < due + DEADLINE_S:
            threading.Timer(AGAIN_S, self.call, (due, channel, fresh)).start()
            return
        with self.lock:
            self.latencies.append(now - due)
            self.codes[code.name] += 1
            if code != grpc.StatusCode.OK and len(self.texts) < 3:
                self.texts.append(future.details())
            self.left -= 1
        if fresh:
            threading.Thread(target=channel.close, daemon=True).start()

    def run(self):
        due = time.monotonic()
        calls = 0
        while not self.stopping.is_set():
            fresh = calls % FRESH_EVERY == FRESH_EVERY - 1
            with self.lock:
                self.left += 1
            self.call(due, self.connect() if fresh else self.channel, fresh)
            calls += 1
            due += 1 / RATE
            time.sleep(max(0, due - time.monotonic()))

    def settle(self):
        """The attack before may have ended our connection: that is not this one's doing."""
        for _ in range(3):
            try:
                self.channel.unary_unary(METHOD)(REQUEST, timeout=SETTLE_S, wait_for_ready=True)
                return
            except grpc.RpcError:
                time.sleep(0.1)

    def begin(self):
        self.settle()
        self.latencies, self.codes, self.left, self.texts = [], collections.Counter(), 0, []
        self.stopping.clear()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def end(self):
        self.stopping.set()
        self.thread.join()
        until = time.monotonic() + DEADLINE_S + 2
        while self.left and time.monotonic() < until:
            time.sleep(0.01)
        ordered = sorted(self.latencies)
        good = self.codes["OK"]
        return {"calls": len(ordered) + self.left, "answered": good, "unheard": self.left,
                "codes": {code: count for code, count in self.codes.items() if code != "OK"}, "texts": self.texts,
                "p50_ms": 1000 * ordered[len(ordered) // 2], "p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
                "max_ms": 1000 * ordered[-1]}


def main():
    client = Client(sys.argv[1], sys.argv[2] == "again", *sys.argv[3:])
    for line in sys.stdin:
        if line.strip() == "begin":
            client.begin()
            print("begun", flush=True)
        else:
            print(json.dumps(client.end()), flush=True)
    os._exit(0)


main()
