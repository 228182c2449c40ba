"""A polite client beside an attack: 75 calls of Probe.Echo a second, each with a deadline, every 25th on a connection of
its own. Started as a process, so that it shares no lock with the attacker.

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
DEADLINE_S = 2
FRESH_EVERY = 25
METHOD = "/renga.test.Probe/Echo"
REQUEST = b"\x0a\x05hello"

# For attacks that use up the server's quota. Core then ends idle connections (UNAVAILABLE) and cancels calls
# (RESOURCE_EXHAUSTED) of whomever it finds first; a call that has had no effect may be made again.
RETRY = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": {
    "maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "0.5s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]})


class Client:
    def __init__(self, target, retries, authorities=None):
        self.target, self.retries = target, retries
        self.credentials = grpc.ssl_channel_credentials(open(authorities, "rb").read()) if authorities else None
        self.channel = self.connect()
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def connect(self):
        options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1),
                   ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 500)]
        options += [("grpc.service_config", RETRY)] if self.retries else [("grpc.enable_retries", 0)]
        if self.credentials:
            return grpc.secure_channel(self.target, self.credentials, options)
        return grpc.insecure_channel(self.target, options)

    def call(self, due, channel, fresh):
        future = channel.unary_unary(METHOD).future(REQUEST, timeout=DEADLINE_S)

        def ended(future):
            with self.lock:
                self.latencies.append(time.monotonic() - due)
                self.codes[future.code().name] += 1
                if future.code() != grpc.StatusCode.OK and len(self.texts) < 3:
                    self.texts.append(future.details())
                self.left -= 1
            if fresh:
                threading.Thread(target=channel.close, daemon=True).start()

        with self.lock:
            self.left += 1
        future.add_done_callback(ended)

    def run(self):
        due = time.monotonic()
        calls = 0
        while not self.stopping.is_set():
            fresh = calls % FRESH_EVERY == FRESH_EVERY - 1
            self.call(due, self.connect() if fresh else self.channel, fresh)
            calls += 1
            due += 1 / RATE
            time.sleep(max(0, due - time.monotonic()))

    def settle(self):
        """The attack before may have ended our connection: that is not this one's doing."""
        for _ in range(3):
            try:
                self.channel.unary_unary(METHOD)(REQUEST, timeout=DEADLINE_S, wait_for_ready=True)
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
        until = time.monotonic() + 2 * DEADLINE_S
        while self.left and time.monotonic() < until:
            time.sleep(0.01)
        ordered = sorted(self.latencies)
        good = self.codes["OK"]
        return {"calls": len(ordered) + self.left, "answered": good, "unheard": self.left,
                "codes": {code: count for code, count in self.codes.items() if code != "OK"}, "texts": self.texts,
                "p50_ms": 1000 * ordered[len(ordered) // 2], "p99_ms": 1000 * ordered[len(ordered) * 99 // 100]}


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
