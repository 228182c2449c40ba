#!/usr/bin/env python3
"""A gateway whose file of keys is changed while it serves, over gRPC and at the OpenAI HTTP interface. RENGA_BIN=<folder of
renga-llm-gateway> RENGA_PROTO=<folder of renga_descriptor_set.bin> keys.py; one line a check, exit 1 when one fails."""
import datetime
import hashlib
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, follow, wait_until  # noqa: E402
from contract import message, number  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
folder = tempfile.TemporaryDirectory()
path = f"{folder.name}/keys.json"
go_on = threading.Event()


class Upstream(http.server.BaseHTTPRequestHandler):
    """Streams one word, waits for the test, and streams another."""
    def log_message(self, *_):
        pass

    def say(self, delta, end=None):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        piece = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
        self.wfile.flush()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.say({"role": "assistant", "content": "old "})
        go_on.wait(60 * SLOW)
        self.say({"content": "pond"})
        self.say({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")


def key(name, **more):
    return {"name": name, "tenant": "t", "sha256": hashlib.sha256(f"k-{name}".encode()).hexdigest(), "methods": ["*"], **more}


def write(text):
    """In one step, as an editor or a mounted Secret does it."""
    with open(f"{path}.new", "w") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    os.rename(f"{path}.new", path)


def called(name):
    """How a call with the key ends over gRPC, and at the OpenAI HTTP interface."""
    try:
        channel.unary_unary("/renga.v1.LlmGateway/ListModels", request_serializer=lambda m: m.SerializeToString())(
            message("ListModelsRequest")(), metadata=[("authorization", f"Bearer k-{name}")], timeout=20 * SLOW)
        code, text = "OK", ""
    except grpc.RpcError as error:
        code, text = error.code().name, error.details()
    connection = http.client.HTTPConnection("127.0.0.1", door, timeout=20 * SLOW)
    connection.request("GET", "/v1/models", headers={"authorization": f"Bearer k-{name}"})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return code, answer.status, text, body


def await_end(name, code, status):
    wait_until(lambda: called(name)[:2] == (code, status), f"{name}: {called(name)} does not become {code} and {status}", 20 * SLOW, 0.05)


def lines(word):
    return [line for line in list(log) if f'"{word}"' in line]


def date(**ahead):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**ahead)).strftime("%Y-%m-%dT%H:%M:%SZ")


PAST = "2001-02-03T04:05:06Z"
write([key("stays"), key("leaves"), key("past", expires=PAST), key("soon", expires=date(days=3)), key("late", expires=date(days=30))])
upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=upstream.serve_forever, daemon=True).start()
FLAGS = ["--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json", "--llm_gateway.http.listen=127.0.0.1:0",
         f"--llm_gateway.upstream=http://127.0.0.1:{upstream.server_port}/v1", "--llm_gateway.key=sk-test", "--llm_gateway.models=m"]
gateway = subprocess.Popen([f"{BIN}/renga-llm-gateway", *FLAGS, f"--rpc.keys=file:{path}"], stderr=subprocess.PIPE, text=True)
log, ports = [], {}
while len(ports) < 2:
    line = gateway.stderr.readline()
    expect(line, f"the gateway does not listen: {log}")
    log.append(line)
    for word in ("rpc", "llm_gateway"):
        match = re.search(rf'"{word}\.listening".*port (\d+)', line)
        if match:
            ports[word] = int(match.group(1))
log = follow("the gateway", gateway, log)
door = ports["llm_gateway"]
channel = grpc.insecure_channel(f"127.0.0.1:{ports['rpc']}")


@check("an expired key is refused over gRPC and at the OpenAI HTTP interface, by its name and the time; keys that expire soon are warned of")
def _():
    code, status, text, body = called("past")
    expect((code, status) == ("UNAUTHENTICATED", 401), (code, status))
    for told in (text, body):
        expect(f"key 'past' expired at {PAST}" in told, told)
    warned = "".join(lines("rpc.key_expires"))
    expect("'past' of tenant 't' expired" in warned and "'soon' of tenant 't' expires" in warned and "'late'" not in warned, warned)
    expect(called("soon")[:2] == called("late")[:2] == ("OK", 200), "a key that has not expired is refused")


@check("a key that leaves the file is refused without a restart, a new one is let in, and a stream that is under way goes on")
def _():
    request = message("ChatRequest")(model="m")
    request.messages.add(role=number("ChatRole", "CHAT_ROLE_USER"), content="?")
    stream = channel.unary_stream("/renga.v1.LlmGateway/ChatStream", request_serializer=lambda m: m.SerializeToString(),
                                  response_deserializer=message("ChatStreamEvent").FromString)(
        request, metadata=[("authorization", "Bearer k-leaves")], timeout=60 * SLOW)
    text = ""
    while "old" not in text:
        text += next(stream).text
    expect(called("leaves")[:2] == ("OK", 200) and called("comes")[:2] == ("UNAUTHENTICATED", 401), "the first keys do not hold")
    write([key("stays"), key("comes")])
    await_end("leaves", "UNAUTHENTICATED", 401)
    await_end("comes", "OK", 200)
    go_on.set()
    text += "".join(event.text for event in stream)
    expect(text == "old pond", text)


@check("a file that cannot be used is logged with the place, and the keys before it stay")
def _():
    short = {**key("comes"), "sha256": "12"}
    for text, place in (('[{"name": "a",\n"name": "b"}]', f"{path}:2:1"), ([key("stays"), {**key("comes"), "expires": "soon"}], "[1].expires"),
                        ([short], "hash of key 'comes'"), ([key("stays"), {**key("stays"), "name": "twin"}], "'twin'"), ("[", path)):
        before = len(lines("rpc.keys_kept"))
        write(text)
        wait_until(lambda: len(lines("rpc.keys_kept")) > before, f"{text!r} is not logged", 20 * SLOW)
        told = lines("rpc.keys_kept")[-1]
        expect(place in told and '"error"' in told.lower() and path in told, told)
        expect(called("comes")[:2] == called("stays")[:2] == ("OK", 200), f"{text!r} took keys away")
    before = len(lines("rpc.keys_kept"))
    os.unlink(path)
    wait_until(lambda: len(lines("rpc.keys_kept")) > before, "a missing file is not logged", 20 * SLOW)
    expect(called("stays")[:2] == ("OK", 200), "a missing file took keys away")


@check("SIGHUP reads the file again also where it looks unchanged")
def _():
    before = len(lines("rpc.keys_kept"))
    gateway.send_signal(signal.SIGHUP)
    wait_until(lambda: len(lines("rpc.keys_kept")) > before, "a missing file is not told of again", 20 * SLOW)
    os.mkfifo(path)
    gateway.send_signal(signal.SIGHUP)
    wait_until(lambda: "is not a regular file" in lines("rpc.keys_kept")[-1], "a pipe is not refused", 20 * SLOW)
    os.unlink(path)
    write([key("third")])
    gateway.send_signal(signal.SIGHUP)
    await_end("third", "OK", 200)
    await_end("stays", "UNAUTHENTICATED", 401)


@check("at the start a wrong file ends the process, naming the option and the place")
def _():
    write([{**key("a"), "expires": "2027-02-30T00:00:00Z"}])
    ended = subprocess.run([f"{BIN}/renga-llm-gateway", *FLAGS, f"--rpc.keys=file:{path}"], capture_output=True, text=True, timeout=60 * SLOW)
    expect(ended.returncode == 2 and "rpc.keys" in ended.stderr and f"{path}: [0].expires" in ended.stderr, ended)
    expect(gateway.poll() is None, "the first gateway has ended")


@check("the process ends by itself")
def _():
    gateway.send_signal(signal.SIGTERM)
    expect(gateway.wait(30 * SLOW) == 0, gateway.returncode)


finish()
