#!/usr/bin/env python3
"""A thousand connections that send 8 MiB each to the HTTP door, beside a polite client: the memory of the gateway, the
answers, and the polite client's wait. Without a key (keys are asked for), on a door without keys, and with a right key.

  tests/drill/door_bodies.py [--connections N] [--short] [--bin DIR]

--short is the form that is a test: fewer connections, the same bounds of memory."""
import argparse
import hashlib
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../lib")
from checks import check, expect, finish, follow  # noqa: E402

MIB = 1 << 20
GROWTH_MAX = 64 * MIB  # of the gateway's memory: bodies, the messages that are made of them, and their answers
SANITIZED = bool(os.environ.get("RENGA_SANITIZE"))
PIECE = 256 << 10  # bytes sent at once

BLANKS = b" " * (8 * MIB - 1024)  # read whole, and then no JSON
QUESTION = json.dumps({"model": "extractive", "messages": [  # 3.7 MiB in as many turns as are allowed, and answered
    {"role": "user", "content": "The moon is on the river. " * 146}] * 1024}).encode()

arguments = argparse.ArgumentParser()
arguments.add_argument("--connections", type=int, default=1000)
arguments.add_argument("--short", action="store_true")
arguments.add_argument("--bin", default=os.environ.get("RENGA_BIN", "build/release/bin"))
options = arguments.parse_args()
if options.short:
    options.connections = 150

KEY = {"name": "all", "tenant": "t", "sha256": hashlib.sha256(b"right").hexdigest(), "methods": ["*"]}


class Gateway:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [f"{options.bin}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json",
             "--log.level=info", "--llm_gateway.http.listen=127.0.0.1:0", "--llm_gateway.provider=extractive", *flags],
            stderr=subprocess.PIPE, text=True)
        begun = []
        for line in self.process.stderr:
            begun.append(line)
            match = re.search(r"llm_gateway\.listening.*port (\d+)", line)
            if match:
                self.port = int(match.group(1))
                follow("the gateway", self.process, begun)
                return
        raise SystemExit(f"the gateway does not listen: {begun}")

    def rss(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Polite(threading.Thread):
    """Asks for the models again and again, and knows how long each answer took."""

    def __init__(self, gateway, key):
        super().__init__(daemon=True)
        self.gateway, self.key, self.waits, self.failed, self.over = gateway, key, [], 0, False

    def run(self):
        head = f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{self.key}\r\n".encode()
        while not self.over:
            began = time.monotonic()
            with socket.create_connection(("127.0.0.1", self.gateway.port), 30) as one:
                one.sendall(head)
                self.failed += b"200 OK" not in one.recv(65536)
            self.waits.append(time.monotonic() - began)
            time.sleep(0.01)

    def p99_ms(self):
        self.over = True
        self.join(60)
        return sorted(self.waits)[int(len(self.waits) * 0.99)] * 1000


class Sender:
    """One body on its way; what is answered before its end is the answer."""

    def __init__(self, gateway, key, body, source):
        self.socket = socket.socket()
        self.socket.bind((source, 0))
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", gateway.port))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
               f"{key}Content-Length: {len(body)}\r\n\r\n"
        self.pending, self.rest, self.answer = head.encode(), memoryview(body), b""

    def send(self):
        try:
            while self.pending or self.rest:
                if not self.pending:
                    self.pending, self.rest = self.rest[:PIECE], self.rest[PIECE:]
                self.pending = self.pending[self.socket.send(self.pending):]
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def receive(self):
        try:
            got = self.socket.recv(65536)
            self.answer += got
            return bool(got) and not (self.answer.endswith(b"}") and self.answer.count(b"{") == self.answer.count(b"}"))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def status(self):
        return self.answer[9:12].decode() or "cut"


def attack(gateway, key, body):
    """Sends all bodies at once; gives the answers and the most memory that the gateway took more than before."""
    before = most = gateway.rss()
    selector, senders = selectors.DefaultSelector(), []
    for i in range(options.connections):
        sender = Sender(gateway, key, body, f"127.0.{1 + i // 200}.1")
        senders.append(sender)
        selector.register(sender.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, sender)
    until, looked = time.monotonic() + 120, 0
    while selector.get_map() and time.monotonic() < until:
        for ready, events in selector.select(1):
            sender, goes_on = ready.data, True
            if events & selectors.EVENT_READ:
                goes_on = sender.receive()
            if goes_on and events & selectors.EVENT_WRITE and not sender.send():
                selector.modify(sender.socket, selectors.EVENT_READ, sender)
            if not goes_on:
                selector.unregister(sender.socket)
                sender.socket.close()
            if time.monotonic() - looked > 0.02:
                looked, most = time.monotonic(), max(most, gateway.rss())
    for ready in list(selector.get_map().values()):
        ready.data.socket.close()
    statuses = {}
    for sender in senders:
        statuses[sender.status()] = statuses.get(sender.status(), 0) + 1
    return statuses, most - before


def besieged(sentence, key, body, growth_max, wanted, *flags):
    gateway = Gateway(*flags)
    right = "Authorization: Bearer right\r\n" if flags else ""

    @check(sentence)
    def _():
        polite = Polite(gateway, right)
        polite.start()
        statuses, growth = attack(gateway, key, body)
        p99_ms = polite.p99_ms()
        expect(SANITIZED or growth <= growth_max, f"memory grew by {growth / MIB:.0f} MiB: {statuses}")
        expect(set(statuses) <= wanted, f"{statuses}")
        expect(not polite.failed, f"{polite.failed} polite calls failed")
        return f"{options.connections} × {len(body) / MIB:.1f} MiB: +{growth / MIB:.1f} MiB; {statuses}; " \
               f"polite p99 {p99_ms:.0f} ms of {len(polite.waits)}"
    gateway.stop()


keys = f"--rpc.keys={json.dumps([KEY])}"
REFUSED = {"400", "413", "503", "cut"}
WRONG, RIGHT = "Authorization: Bearer wrong\r\n", "Authorization: Bearer right\r\n"
besieged("bodies without a key take no memory", "", BLANKS, GROWTH_MAX, {"401", "cut"}, keys)
besieged("bodies with a wrong key take no memory", WRONG, BLANKS, GROWTH_MAX, {"401", "cut"}, keys)
besieged("bodies to a door without keys are bounded together", "", BLANKS, GROWTH_MAX, REFUSED)
besieged("questions to a door without keys are bounded together", "", QUESTION, GROWTH_MAX, REFUSED | {"200"})
besieged("bodies with a right key are bounded together", RIGHT, BLANKS, GROWTH_MAX, REFUSED, keys)
besieged("questions with a right key are bounded together", RIGHT, QUESTION, GROWTH_MAX, REFUSED | {"200"}, keys)
finish()
