#!/usr/bin/env python3
"""The OpenAI HTTP interface behind the HAProxy of deploy/haproxy. RENGA_BIN=<folder of renga-llm-gateway> front.py."""
import hashlib
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f"{HERE}/../../lib", f"{HERE}/../../fault"]
from checks import check, expect, finish, follow, wait_until  # noqa: E402
from siege import BIN, DOOR, door_environment, make_certificate  # noqa: E402

SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
CONNECTIONS, CHAT = 5, "/v1/chat/completions"
MODEL_BODY = {"messages": [{"role": "user", "content": "hi"}]}

upstream = subprocess.Popen(["/usr/bin/python3", f"{HERE}/upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
_, upstream_port, models = upstream.stdout.readline().split()


def equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: {seen} instead of {wanted}")


def start_gateway():
    keys = [{"name": "all", "tenant": "t", "sha256": hashlib.sha256(b"k-all").hexdigest(), "methods": ["*"]}]
    process = subprocess.Popen(
        [f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json",
         "--llm_gateway.http.listen=127.0.0.1:0", "--llm_gateway.http.connections_per_address=0", f"--rpc.keys={json.dumps(keys)}",
         f"--llm_gateway.upstream=http://127.0.0.1:{upstream_port}/v1", "--llm_gateway.key=sk-test-0123456789", f"--llm_gateway.models={models}"],
        stderr=subprocess.PIPE, text=True)
    log = []
    for line in process.stderr:
        log.append(line)
        match = re.search(r"llm_gateway\.listening.*port (\d+)", line)
        if match:
            follow("the gateway", process, log)
            return process, int(match.group(1))
    raise AssertionError(f"the gateway does not listen: {log}")


class Relay:
    """Between front and gateway: it keeps what the front sends."""

    def __init__(self, port):
        self.port, self.seen = port, b""
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            front = self.listener.accept()[0]
            behind = socket.create_connection(("127.0.0.1", self.port))
            for source, sink, kept in ((front, behind, True), (behind, front, False)):
                threading.Thread(target=self.pump, args=(source, sink, kept), daemon=True).start()

    def pump(self, source, sink, kept):
        try:
            while data := source.recv(65536):
                if kept:
                    self.seen += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def listening():
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    return listener, listener.getsockname()[1]


gateway, gateway_port = start_gateway()
relay = Relay(gateway_port)
folder = tempfile.TemporaryDirectory()
certificate, both = make_certificate(folder.name)
(grpc_listener, _), (listener, front_port) = listening(), listening()
front = subprocess.Popen(["haproxy", "-db", "-f", DOOR], pass_fds=[grpc_listener.fileno(), listener.fileno()], stderr=subprocess.DEVNULL,
                         env=door_environment(f"fd@{grpc_listener.fileno()}", both, "127.0.0.1:9", HTTP_LISTEN=f"fd@{listener.fileno()}",
                                              HTTP_SERVICE="127.0.0.1:%d" % relay.listener.getsockname()[1], HTTP_SOURCE_CONNECTIONS=CONNECTIONS))
listener.close()
tls = ssl.create_default_context(cafile=certificate)


def connect(source="127.0.0.1"):
    raw = socket.create_connection(("127.0.0.1", front_port), timeout=20 * SLOW, source_address=(source, 0))
    return tls.wrap_socket(raw, server_hostname="localhost")


def send(wire, *headers, body=b"", length=None):
    lines = [f"POST {CHAT} HTTP/1.1", "Host: front", "Content-Type: application/json", "Connection: close",
             f"Content-Length: {len(body) if length is None else length}", *headers]
    wire.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def answer_of(wire):
    with wire, wire.makefile("rb") as file:
        text = file.read()
    return int(text.split()[1]), text


def ask(*headers, source="127.0.0.1", **more):
    wire = connect(source)
    send(wire, *headers, **more)
    return answer_of(wire)


def chat(model, source="127.0.0.1", **more):
    body = json.dumps({"model": model, **MODEL_BODY, **more}).encode()
    return ask("Authorization: Bearer k-all", source=source, body=body)


def served():
    try:
        return chat("chat")[0] == 200
    except OSError:
        time.sleep(0.05)
        return False


@check("through the front a client with a key gets its answer, whole and as a stream")
def _():
    wait_until(served, "the front does not answer")
    status, text = chat("chat", stream=True)
    expect(status == 200 and b"data: [DONE]" in text, text)


@check("a request without a key, with two or with a body too large is answered from its headers, and no byte of it reaches the gateway")
def _():
    before = relay.seen
    for wanted, headers, length in ((401, [], 8000000), (401, ["Authorization: Basic azp2"], 8000000),
                                    (400, ["Authorization: Bearer k-all", "Authorization: Bearer k-all"], 8000000),
                                    (413, ["Authorization: Bearer k-all"], 8388609)):
        status, text = ask(*headers, length=length)
        expect(status == wanted and b'"error"' in text, (wanted, text))
    equal(relay.seen == before, True, "nothing was sent to the gateway")


@check("a wrong key is refused by the gateway")
def _():
    equal(ask("Authorization: Bearer wrong", body=b"{}")[0], 401, "the status")


@check("headers that do not end in time end the request")
def _():
    wire = connect()
    wire.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: front\r\n")
    equal(answer_of(wire)[0], 408, "the status")


@check("an address with too many connections is refused, and another address is served")
def _():
    held = [connect() for _ in range(CONNECTIONS)]
    try:
        connect().close()
        expect(False, "one more was let in")
    except OSError:
        pass
    equal(chat("chat", source="127.0.0.2")[0], 200, "the other address")
    for wire in held:
        wire.close()
    wait_until(served, "the first address stays shut out")


for process in (front, gateway):
    process.terminate()
    process.wait(20 * SLOW)
upstream.stdin.close()
finish()
