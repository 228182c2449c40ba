#!/usr/bin/env python3
"""The OpenAI HTTP interface by raw sockets: what no SDK would send, keys, slow readers, and the end of the process.
RENGA_BIN=<folder of renga-llm-gateway> openai_http.py; one line a check, exit 1 when one fails."""
import hashlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f"{HERE}/../../lib", f"{HERE}/../../fault"]
from checks import check, expect, finish, follow, wait_until  # noqa: E402
from http2 import Peer, message, varint  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
MIB = 1 << 20

upstream = subprocess.Popen(["/usr/bin/python3", f"{HERE}/upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
_, upstream_port, models = upstream.stdout.readline().split()


def key(name, secret, methods):
    return {"name": name, "tenant": "t", "sha256": hashlib.sha256(secret.encode()).hexdigest(), "methods": methods}


KEYS = [key("all", "k-all", ["*"]), key("lister", "k-list", ["renga.v1.LlmGateway/ListModels"]),
        key("streamer", "k-stream", ["renga.v1.LlmGateway/ChatStream"]), key("planner", "k-plan", ["renga.v1.Planner/*"])]


class Gateway:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json", "--loops=2",
             "--llm_gateway.http.listen=127.0.0.1:0", f"--llm_gateway.upstream=http://127.0.0.1:{upstream_port}/v1",
             "--llm_gateway.key=sk-test-0123456789", "--llm_gateway.attempts=1", "--llm_gateway.breaker=off", f"--llm_gateway.models={models}", *flags],
            stderr=subprocess.PIPE, text=True)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            match = re.search(r"llm_gateway\.listening.*port (\d+)", line)
            if match:
                self.port = int(match.group(1))
                self.log = follow("the gateway", self.process, self.log)
                return
        raise AssertionError(f"the gateway does not listen: {self.log}")

    def stop(self, limit=10):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(limit * SLOW)


def asking(model, **more):
    return json.dumps({"model": model, "messages": [{"role": "user", "content": "hi"}], **more}).encode()


class Wire:
    """A connection; `read` gives status, headers and body of the next answer."""

    def __init__(self, gateway, receive_buffer=0):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20 * SLOW)
        self.socket.connect(("127.0.0.1", gateway.port))
        self.file = self.socket.makefile("rb")

    def send(self, method, path, body=b"", kind="application/json", **headers):
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", f"content-length: {len(body)}"]
        lines += [f"content-type: {kind}"] if kind else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return self

    def head(self):
        status = int(self.file.readline().split()[1])
        headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        return status, headers

    def chunks(self):
        while True:
            size = int(self.file.readline(), 16)
            data = self.file.read(size)
            self.file.readline()
            if not size:
                return
            yield data

    def read(self):
        status, headers = self.head()
        if "content-length" in headers:
            return status, headers, self.file.read(int(headers["content-length"]))
        return status, headers, b"".join(self.chunks())


def refused(wire, status, code, param=None):
    got, headers, body = wire.read()
    error = json.loads(body)["error"]
    expect(got == status and headers["content-type"] == "application/json", f"{got} {headers} {body}")
    expect(error["code"] == code and error["param"] == param and error["message"], f"{body}")
    expect(error["type"] == "invalid_request_error" and headers["x-request-id"].startswith("req_"), f"{headers} {body}")
    return headers


def seen(model):
    with socket.create_connection(("127.0.0.1", int(upstream_port))) as s:
        s.sendall(f"GET /seen/{model} HTTP/1.0\r\n\r\n".encode())
        data = b"".join(iter(lambda: s.recv(65536), b""))
    return json.loads(data.split(b"\r\n\r\n", 1)[1])


CHAT = "/v1/chat/completions"
door = Gateway()


@check("what is no JSON is refused, and the connection goes on")
def _():
    wire = Wire(door)
    for body in (b"", b"{", b"[]", b'{"model":"chat","model":"x"}', b"\xff\xfe", b'{"a":"\\ud800"}', b"[" * 100000):
        code = None if body == b"[]" else "invalid_json"
        refused(wire.send("POST", CHAT, body), 400, code)
    status, _, body = wire.send("POST", CHAT, asking("chat")).read()
    expect(status == 200, body)


@check("a form, a text or no content type at all is refused")
def _():
    for kind in ("application/x-www-form-urlencoded", "text/plain", "application/jsonl", None):
        refused(Wire(door).send("POST", CHAT, asking("chat"), kind), 415, "unsupported_media_type")
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        expect(Wire(door).send("POST", CHAT, asking("chat"), kind).read()[0] == 200, kind)


@check("an unknown path and a wrong method are told so")
def _():
    wire = Wire(door)
    for path in ("/", "/v1", "/v1/responses", CHAT + "/x", "/v1/modelsx"):
        refused(wire.send("GET", path), 404, "unknown_url")
    expect(refused(wire.send("GET", CHAT), 405, "method_not_allowed")["allow"] == "POST", "allow")
    expect(refused(wire.send("DELETE", "/v1/models"), 405, "method_not_allowed")["allow"] == "GET", "allow")


@check("a body of 10 MB is refused, and one that is too large as a message")
def _():
    status, headers, body = Wire(door).send("POST", CHAT, b" " * (10 * MIB)).read()
    expect(status == 413 and "error" in json.loads(body), f"{status} {body}")
    large = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "x" * MIB}] * 5}).encode()
    refused(Wire(door).send("POST", CHAT, large), 413, "request_too_large")


@check("a request of a million small values is refused")
def _():
    refused(Wire(door).send("POST", CHAT, b'{"messages":[' + b"0," * MIB + b"0]}"), 400, "invalid_json")


@check("embeddings are answered, and refused in OpenAI's words")
def _():
    def send(body, **more):
        return Wire(door).send("POST", "/v1/embeddings", body, **more)

    status, headers, body = send(b'{"model":"embeds","input":["3f800000 00000001","bf000000 7f7fffff"]}').read()
    expect(status == 200 and headers["content-type"] == "application/json", f"{status} {headers}")
    expect(body == b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,1e-45]},'
           b'{"object":"embedding","index":1,"embedding":[-0.5,3.4028235e+38]}],"model":"scripted-embedding-2026",'
           b'"usage":{"prompt_tokens":11,"total_tokens":11}}', body)
    refused(send(b'{"model":"embeds","input":"x"}', kind="text/plain"), 415, "unsupported_media_type")
    refused(send(b'{"model":"embeds","input":"x"'), 400, "invalid_json")
    refused(send(b'{"model":"embeds","input":[1,2]}'), 400, "unsupported_value", "input[0]")
    refused(send(b'{"model":"embeds","input":["x",""]}'), 400, None, "input[1]")
    refused(send(b'{"model":"nix","input":"x"}'), 404, "model_not_found", "model")
    status, headers, body = send(b'{"model":"embeds-nan","input":"x"}').read()
    expect(status == 500 and json.loads(body)["error"]["code"] == "data_loss", f"{status} {body}")
    expect(headers["x-should-retry"] == "false", headers)


@check("a million numbers are written out as text")
def _():
    status, _, body = Wire(door).send("POST", "/v1/embeddings", json.dumps(
        {"model": "embeds-base64", "input": ["488 long"] * 2048}).encode()).read()
    data = json.loads(body)["data"]
    expect(status == 200 and len(data) == 2048 and data[2047]["embedding"][:3] == [8, 0.1, -1e-8], f"{status} {len(body)}")


@check("a failure in mid-stream is an event, and no [DONE] follows")
def _():
    for model in ("cuts-stream", "ends-early", "no-finish"):
        status, headers, body = Wire(door).send("POST", CHAT, asking(model, stream=True)).read()
        events = [line[6:] for line in body.decode().split("\n\n") if line]
        expect(status == 200 and headers["content-type"].startswith("text/event-stream"), f"{status} {headers}")
        expect(json.loads(events[-1])["error"]["code"] == "data_loss", f"{model}: {events[-1]}")
        expect(b"[DONE]" not in body, model)


@check("a retry hint stands in both headers")
def _():
    status, headers, _ = Wire(door).send("POST", CHAT, asking("busy-ms")).read()
    expect((status, headers["retry-after-ms"], headers["retry-after"]) == (429, "1250", "2"), f"{status} {headers}")


@check("requests in a row on one connection are answered in their order")
def _():
    wire = Wire(door)
    for _ in range(3):
        wire.send("POST", CHAT, asking("chat", stream=True))
        wire.send("GET", "/v1/models/chat")
    for _ in range(3):
        expect(wire.read()[2].endswith(b"data: [DONE]\n\n"), "a stream")
        expect(json.loads(wire.read()[2])["id"] == "chat", "a model")


def rss(process):
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@check("a client that does not read holds little of the gateway's memory, and gets all of its 21 MB when it reads on")
def _():
    before = rss(door.process)
    wire = Wire(door, receive_buffer=65536).send("POST", CHAT, asking("floods", stream=True))
    wire.head()
    time.sleep(2)
    sent = seen("floods")["sent"]
    grown = rss(door.process) - before
    expect(sent > 0, "the upstream was not asked")
    if SLOW == 1:  # a sanitizer has memory of its own. How much is on its way is the kernel's: its buffers grow to tcp_rmem
        expect(grown < 4 * MIB, f"the gateway grew by {grown} bytes beside a client that does not read")
    body = b"".join(wire.chunks())
    expect(body.endswith(b"data: [DONE]\n\n") and body.count(b"x" * 4000) == 5000, f"{len(body)} bytes")
    print(f"# {sent / MIB:.1f} MiB taken while the reader slept")


def said(gateway, text):
    """What is answered to these very bytes, up to the end of its head."""
    wire = Wire(gateway)
    wire.socket.sendall(text.encode("latin-1"))
    return wire.head()[0]


@check("a page that points a name of its own at this machine is refused (DNS rebinding)")
def _():
    for host, wanted in (("evil.example", 403), (f"evil.example:{door.port}", 403), ("localhost", 200), (f"127.0.0.1:{door.port}", 200),
                         ("[::1]", 200)):
        expect(said(door, f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\n\r\n") == wanted, f"{host}: not {wanted}")


lonely = Gateway("--llm_gateway.upstream=http://127.0.0.1:9/v1")


@check("who asks hears which deployment failed; its address stands in the log alone")
def _():
    status, _, body = Wire(lonely).send("POST", CHAT, asking("chat")).read()
    expect(status == 503 and b"upstream" in body, body)
    expect(b"127.0.0.1" not in body and b":9" not in body and b"port 9" not in body, body)
    wait_until(lambda: any('"http.peer"' in line and "127.0.0.1:9" in line for line in list(lonely.log)), "the log does not have the address")


lonely.stop()
guarded = Gateway(f"--rpc.keys={json.dumps(KEYS)}")


@check("a key is judged before any of the body has come")
def _():
    for line, wanted in (("", 401), ("Authorization: Bearer wrong\r\n", 401)):
        wire = Wire(guarded)
        wire.socket.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: a\r\n{line}Content-Length: 8000000\r\n\r\n".encode())
        refused(wire, wanted, "invalid_api_key")
        expect(wire.file.read() == b"", "the connection goes on")


@check("a key that opens nothing of this OpenAI HTTP interface is judged before any of the body has come, too")
def _():
    wire = Wire(guarded)
    wire.socket.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k-plan\r\nContent-Length: 8000000\r\n\r\n".encode())
    refused(wire, 403, "permission_denied")
    expect(wire.file.read() == b"", "the connection goes on")


@check("an identity beside the key is refused in words, whoever sends it, in any case and twice")
def _():
    for at, key in ((guarded, "Authorization: Bearer k-all\r\n"), (guarded, ""), (door, "")):
        for line in ("renga-forwarded-bin: b3RoZXIAYmVydA\r\n", "RENGA-Forwarded-Bin:\r\n", 2 * "Renga-forwarded-bin: x\r\n"):
            wire = Wire(at)
            wire.socket.sendall(f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n{key}{line}\r\n".encode())
            status, _, body = wire.read()
            expect(status == 400 and b"renga-forwarded-bin" in body, f"{line!r}: {status} {body!r}")


@check("what two readers could take differently is 400, whoever asks")
def _():
    head = f"POST {CHAT} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k-all\r\n"
    chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
    for text in (head + "Authorization: Bearer k-list\r\n\r\n", head + "Content-Type: text/plain\r\nContent-Type: application/json\r\n\r\n",
                 head + "X: a\x01b\r\n\r\n", head + "X: \x7f\r\n\r\n", chunked + "2 \r\n{}\r\n0\r\n\r\n", head + "Host: b\r\n\r\n",
                 head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", head + "X: a\r\n b\r\n\r\n",
                 head + "traceparent: 00-1\r\ntraceparent: 00-2\r\n\r\n"):
        expect(said(guarded, text) == 400, repr(text))


@check("without a key, or with one that nobody has, nothing is answered")
def _():
    for method, path, body in (("POST", CHAT, b"not even JSON"), ("GET", "/v1/models", b""), ("GET", "/v1/models/chat", b""),
                               ("POST", "/v1/embeddings", b"{}")):
        for headers in ({}, {"authorization": "Bearer nobodys"}, {"authorization": "Basic k-all"}):
            got = refused(Wire(guarded).send(method, path, body, **headers), 401, "invalid_api_key")
            expect(got["www-authenticate"] == "Bearer", got)


@check("a key opens what it is for")
def _():
    def status(secret, method, path, body=b""):
        return Wire(guarded).send(method, path, body, authorization=f"Bearer {secret}").read()[0]

    expect(status("k-all", "POST", CHAT, asking("chat")) == 200, "all, chat")
    expect(status("k-list", "GET", "/v1/models") == 200, "lister, list")
    expect(status("k-stream", "POST", CHAT, asking("chat", stream=True)) == 200, "streamer, stream")
    refused(Wire(guarded).send("POST", CHAT, asking("chat"), authorization="Bearer k-list"), 403, "permission_denied")
    refused(Wire(guarded).send("POST", CHAT, asking("chat"), authorization="Bearer k-stream"), 403, "permission_denied")
    refused(Wire(guarded).send("GET", "/v1/models", authorization="Bearer k-stream"), 403, "permission_denied")


@check("an address has as many connections as the option says, and the next when one is over")
def _():
    def answered(wire):
        try:
            return wire.send("GET", "/v1/models").file.readline().startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    few = Gateway("--llm_gateway.http.connections_per_address=2")
    try:
        held = [Wire(few), Wire(few)]
        expect(all(answered(wire) for wire in held), "the first two are not let in")
        expect(not answered(Wire(few)), "a third one is let in")
        held[0].file.close()
        held[0].socket.close()
        wait_until(lambda: answered(Wire(few)), "after one of them is over, the next is not let in", 20 * SLOW)
    finally:
        code = few.stop()
    expect(code == 0, f"exit code {code}")


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


def chat_of(model, size):
    """A ChatRequest, as bytes of gRPC."""
    return message(field(1, model) + b"".join(field(2, b"\x08\x02" + field(2, b"x" * min(MIB, size - at))) for at in range(0, size, MIB)))


@check("HTTP and gRPC take the memory of requests from one budget: what one of them holds, the other does not get until it is given back")
def _():
    exhausted, unknown, chat = 8, 5, "/renga.v1.LlmGateway/Chat"
    both = Gateway("--rpc.memory_max=16MiB", "--llm_gateway.http.read_timeout=120s")  # large requests hold 8 MiB at most
    port = int(next(found[1] for line in both.log for found in [re.search(r"rpc\.listening.*port (\d+)", line)] if found))
    try:
        bodies = [Wire(both) for _ in range(40)]
        for wire in bodies:  # these bodies never end
            wire.socket.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                                b"content-length: %d\r\n\r\n" % (2 * MIB) + b"{" + b" " * (MIB // 2))
        ready = select.select([wire.socket for wire in bodies], [], [], 20 * SLOW)[0]
        full = [wire for wire in bodies if wire.socket in ready]
        expect(full and full[0].head()[0] == 503, "the bodies are not bounded")
        expect(Peer(port).call(chat, chat_of(b"none", 3 * MIB), wait_s=20 * SLOW) == exhausted, "gRPC has memory of its own")
        expect(Peer(port).call(chat, chat_of(b"none", 10), wait_s=20 * SLOW) == unknown, "a small request finds no room")
        for wire in bodies:
            wire.file.close()
            wire.socket.close()
        wait_until(lambda: Peer(port).call(chat, chat_of(b"none", 3 * MIB), wait_s=20 * SLOW) == unknown, "it is not given back", 20 * SLOW)
        calls, before = [Peer(port), Peer(port)], seen("hangs").get("requests", 0)
        for peer in calls:
            peer.send_body(peer.open(chat), chat_of(b"hangs", 7 * MIB // 2), 20 * SLOW)
        wait_until(lambda: seen("hangs").get("requests", 0) == before + 2, "the calls do not come to the upstream", 20 * SLOW)
        large = asking("none", user="x" * (2 * MIB))
        expect(Wire(both).send("POST", CHAT, large).read()[0] == 503, "HTTP has memory of its own")
        expect(Wire(both).send("POST", CHAT, asking("none")).read()[0] == 404, "a small body finds no room")
        for peer in calls:
            peer.close()
        wait_until(lambda: Wire(both).send("POST", CHAT, large).read()[0] != 503, "it is not given back", 20 * SLOW)
    except BaseException:
        both.process.kill()
        raise
    expect(both.stop() == 0, f"exit code {both.process.returncode}")


@check("the process ends only after a stream that is under way has come to its end")
def _():
    wire = Wire(guarded).send("POST", CHAT, asking("drips", stream=True), authorization="Bearer k-all")
    wire.head()
    guarded.process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    try:
        Wire(guarded)
        raise AssertionError("a draining listener takes new connections")
    except ConnectionRefusedError:
        pass
    expect(b"".join(wire.chunks()).endswith(b"data: [DONE]\n\n"), "the stream was cut")
    expect(guarded.process.wait(10 * SLOW) == 0, "exit code")


@check("a call that does not end is cut at the drain's limit, and the upstream told")
def _():
    short = Gateway("--drain.limit=500ms")
    wire = Wire(short).send("POST", CHAT, asking("hangs"))
    waiting = Wire(short).send("POST", CHAT, asking("stalls", stream=True))
    waiting.head()
    while not seen("hangs").get("requests"):
        time.sleep(0.01)
    since = time.monotonic_ns()
    expect(short.stop() == 0, f"exit code {short.process.returncode}")
    expect(time.monotonic_ns() - since < 5e9 * SLOW, "it took too long")
    expect(wire.file.read() == b"" and b"[DONE]" not in waiting.file.read(), "an answer out of nothing")
    time.sleep(0.1)
    expect(seen("hangs")["left_ns"] > since, "the upstream was left alone")


@check("an address that is taken is told at the start")
def _():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run([f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=",
                               f"--llm_gateway.http.listen=127.0.0.1:{taken.getsockname()[1]}"],
                              capture_output=True, text=True, timeout=20 * SLOW)
        expect(done.returncode == 1 and "cannot listen on 127.0.0.1" in done.stderr, f"{done.returncode} {done.stderr}")


@check("the listener leaves nothing behind")
def _():
    expect(door.stop() == 0, f"exit code {door.process.returncode}: {''.join(door.log)[-800:]}")


for process in (door.process, guarded.process, upstream):
    if process.poll() is None:
        process.kill()
finish()
