"""A polite client of the edge beside an attack, as polite.py is one of gRPC: 75 requests a second, every 25th on a connection of its
own. `polite_http.py ADDRESS once` takes the same lines. A kept connection that the server has closed is opened again, as browsers do."""

import collections
import http.client
import json
import os
import queue
import sys
import threading
import time

RATE = 75
DEADLINE_S = 20  # for requests that are lost: how soon an answer comes is told, for others to judge
FRESH_EVERY = 25
WORKERS = 8
PATH = "/v1/agents"


class Client:
    def __init__(self, target):
        self.host, self.port = target.rsplit(":", 1)
        self.due = queue.Queue()
        self.lock = threading.Lock()
        for _ in range(WORKERS):
            threading.Thread(target=self.work, daemon=True).start()

    def connect(self):
        return http.client.HTTPConnection(self.host, int(self.port), timeout=DEADLINE_S)

    def ask(self, connection):
        connection.request("GET", PATH)
        response = connection.getresponse()
        response.read()
        return str(response.status)

    def work(self):
        kept = self.connect()
        while True:
            due, fresh = self.due.get()
            connection = self.connect() if fresh else kept
            try:
                try:
                    code = self.ask(connection)
                except (http.client.HTTPException, ConnectionError):
                    connection.close()
                    code = self.ask(connection)
            except Exception as error:
                connection.close()
                code = type(error).__name__
            if fresh:
                connection.close()
            with self.lock:
                self.latencies.append(time.monotonic() - due)
                self.codes[code] += 1
                self.left -= 1

    def run(self):
        due, calls = time.monotonic(), 0
        while not self.stopping.is_set():
            calls += 1
            with self.lock:
                self.left += 1
            self.due.put((due, calls % FRESH_EVERY == 0))
            due += 1 / RATE
            time.sleep(max(0, due - time.monotonic()))

    def begin(self):
        self.latencies, self.codes, self.left = [], collections.Counter(), 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def end(self):
        self.stopping.set()
        self.thread.join()
        until = time.monotonic() + DEADLINE_S + 4
        while self.left and time.monotonic() < until:
            time.sleep(0.01)
        ordered = sorted(self.latencies)
        return {"calls": len(ordered) + self.left, "answered": self.codes["200"], "unheard": self.left,
                "codes": {code: count for code, count in self.codes.items() if code != "200"}, "texts": [],
                "p50_ms": 1000 * ordered[len(ordered) // 2], "p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
                "max_ms": 1000 * ordered[-1]}


def main():
    client = Client(sys.argv[1])
    for line in sys.stdin:
        if line.strip() == "begin":
            client.begin()
            print("begun", flush=True)
        else:
            print(json.dumps(client.end()), flush=True)
    os._exit(0)


main()
