#!/usr/bin/env python3
"""Upstreams that answer oddly or late, and what one call makes of it: through the OpenAI HTTP interface, whole and as a
stream. RENGA_BIN=<folder of renga-llm-gateway>; one line a check."""
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, follow  # noqa: E402
from contract import message  # noqa: E402

SERVICE = "renga.v1.LlmGateway"
CALL = {"id": "c1", "type": "function", "function": {"name": "now"}}
released = threading.Event()


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked, script = 0, None

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Upstream.asked += 1
        code, body, headers = Upstream.script(request)
        self.send_response(code)
        streams = request.get("stream") and code == 200
        kind = "application/x-ndjson" if self.path == "/api/chat" else "text/event-stream" if streams else "application/json"
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # the gateway has given up

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()


class Gateway:
    def __init__(self, *flags, provider="openai", path="/v1"):
        self.process = subprocess.Popen(
            [f"{os.environ['RENGA_BIN']}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json",
             "--loops=1", f"--llm_gateway.provider={provider}", "--llm_gateway.http.listen=127.0.0.1:0",
             f"--llm_gateway.upstream=http://127.0.0.1:{server.server_port}{path}", "--llm_gateway.key=k", "--llm_gateway.models=m", *flags],
            stderr=subprocess.PIPE, text=True)
        log, rpc = [], None
        for line in self.process.stderr:
            log.append(line)
            rpc = re.search(r'"rpc\.listening".*port (\d+)', line) or rpc
            found = re.search(r'"llm_gateway\.listening".*port (\d+)', line)
            if found:
                break
        expect(found, f"the OpenAI HTTP interface does not listen: {log}")
        self.port = found.group(1)
        follow("the gateway", self.process, log)
        self.channel = grpc.insecure_channel(f"127.0.0.1:{rpc.group(1)}", options=[("grpc.enable_http_proxy", 0)])

    def arguments(self, script, stream):
        """The arguments of each tool call, over gRPC."""
        Upstream.script = staticmethod(script)
        request = message("ChatRequest")(model="m")
        request.messages.add(role=2, content="q")
        request.tools.add(name="now")
        if not stream:
            call = self.channel.unary_unary(f"/{SERVICE}/Chat", message("ChatRequest").SerializeToString,
                                            message("ChatResponse").FromString)
            return [tool.arguments_json for tool in call(request, timeout=60, wait_for_ready=True).message.tool_calls]
        call = self.channel.unary_stream(f"/{SERVICE}/ChatStream", message("ChatRequest").SerializeToString,
                                         message("ChatStreamEvent").FromString)
        pieces = {}
        for event in call(request, timeout=60, wait_for_ready=True):
            if event.WhichOneof("event") == "tool_call":
                pieces[event.tool_call.index] = pieces.get(event.tool_call.index, "") + event.tool_call.arguments_json
        return list(pieces.values())

    def open(self, script, stream, **more):
        Upstream.asked, Upstream.script = 0, staticmethod(script)
        body = {"model": "m", "messages": [{"role": "user", "content": "q"}], "stream": stream, **more}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=60)

    def raw(self, script, stream):
        """All that a caller sees of the answer."""
        try:
            with self.open(script, stream) as reply:
                return reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()

    def ask(self, script, stream=False, **more):
        """The status, the answer put together from its pieces, and how many requests the upstream got."""
        try:
            with self.open(script, stream, **more) as reply:
                text = reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())["error"], Upstream.asked
        return 200, joined(text) if stream else json.loads(text)["choices"][0]["message"], Upstream.asked

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(60) == 0, f"it ended with {self.process.returncode}")


def joined(text):
    whole_text = ""
    for line in text.split("\n"):
        if not line.startswith("data: {"):
            continue
        event = json.loads(line[6:])
        expect("error" not in event, event)
        for choice in event["choices"]:
            expect(choice["index"] == 0, choice)
            whole_text += choice["delta"].get("content") or ""
    return {"content": whole_text}


def whole(*choices):
    return 200, json.dumps({"id": "1", "model": "m", "choices": choices}).encode(), {}


def events(*values, ends="data: [DONE]\n\n"):
    return 200, ("".join(f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n" for value in values) + ends).encode(), {}


def chunk(*choices):
    return {"id": "1", "model": "m", "choices": choices}


def said(text, index=0, **more):
    return {"index": index, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, **more}


def piece(text, index=0, stop=None):
    return {"delta": {"content": text}, "finish_reason": stop, "index": index}


with Gateway() as gateway:
    @check("of several choices number 0 alone is told, wherever it stands, whole and as a stream")
    def _():
        code, reply, _ = gateway.ask(lambda _: whole(said("wrong", 1), said("right", 0), said("wrong", 2)))
        expect((code, reply["content"]) == (200, "right"), reply)
        code, reply, _ = gateway.ask(lambda _: events(
            chunk(piece("ri"), piece("WR", 1)), chunk(piece("ONG", 1)), chunk(piece("WRONG", 1, "length")), chunk(piece("ght")),
            chunk(piece("", 0, "stop"))), stream=True)
        expect((code, reply["content"]) == (200, "right"), reply)

    @check("a caller that asks for several choices is refused, and the field is named")
    def _():
        code, error, asked = gateway.ask(lambda _: whole(said("x")), n=2)
        expect((code, error["param"], asked) == (400, "n", 0), f"{code} {error} {asked}")

    @check("a call of a tool without arguments has {}, whole and as a stream")
    def _():
        for function in ({}, {"arguments": None}, {"arguments": ""}):
            call = {**CALL, "function": {**CALL["function"], **function}}
            answer = {"index": 0, "finish_reason": "tool_calls"}
            told = gateway.arguments(lambda _: whole({**answer, "message": {"tool_calls": [call, call]}}), False)
            expect(told == ["{}", "{}"], told)
            told = gateway.arguments(lambda _: events(
                chunk({"index": 0, "delta": {"tool_calls": [{**call, "index": 0}]}}), chunk({**answer, "delta": {}})), True)
            expect(told == ["{}"], told)

    ODD = {r'a\u0000b': "a\ufffdb", r'a\ud83db': "a\ufffdb", r'a\ude00b': "a\ufffdb", r'\ud83d\ude00': "😀",
           r'\\u0000': r"\u0000", r'\u0000\"\\': "\ufffd\"\\"}

    @check("a byte order mark, \\u0000, half a surrogate pair and bytes that are not UTF-8 cost no second request")
    def _():
        for odd, wanted in ODD.items():
            text = json.dumps(chunk(said("@"))).replace("@", odd)
            code, reply, asked = gateway.ask(lambda _: (200, b"\xef\xbb\xbf" + text.encode(), {}))
            expect((code, reply["content"], asked) == (200, wanted, 1), f"{odd}: {code} {reply} {asked}")
            text = json.dumps(chunk(piece("@", stop="stop"))).replace("@", odd)
            code, reply, asked = gateway.ask(lambda _: events("\ufeff" + text), True)
            expect((code, reply["content"], asked) == (200, wanted, 1), f"{odd}, streamed: {code} {reply} {asked}")
        text = json.dumps(chunk(said("@"))).encode().replace(b"@", b"a\xffb")
        code, reply, asked = gateway.ask(lambda _: (200, text, {}))
        expect((code, reply["content"], asked) == (200, "a\ufffdb", 1), f"{code} {reply} {asked}")

    @check("JSON that was asked for may have \\u0000 and halves of pairs in its texts, too")
    def _():
        for inner in (r'{"a": "x\u0000y"}', '\ufeff{"a": "x\\ud800y"}'):
            code, reply, asked = gateway.ask(lambda _: whole(said(inner)), response_format={"type": "json_object"})
            expect((code, asked) == (200, 1), f"{inner}: {code} {reply} {asked}")

with Gateway(provider="anthropic", path="") as gateway:
    @check("Anthropic: a call of a tool without input has {}, whole and as a stream")
    def _():
        for block in ({}, {"input": {}}, {"input": None}):
            use = {"type": "tool_use", "id": "t1", "name": "now", **block}
            told = gateway.arguments(lambda _: (200, json.dumps({
                "type": "message", "id": "1", "model": "m", "content": [use], "stop_reason": "tool_use",
                "usage": {"input_tokens": 1, "output_tokens": 1}}).encode(), {}), False)
            expect(told == ["{}"], f"{block}: {told}")
            told = gateway.arguments(lambda _: events(
                {"type": "message_start", "message": {"id": "1", "model": "m", "usage": {"input_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": use},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
                {"type": "message_stop"}, ends=""), True)
            expect(told == ["{}"], f"{block}, streamed: {told}")

with Gateway(provider="ollama", path="") as gateway:
    @check("Ollama: a call of a tool without arguments has {}, whole and as a stream")
    def _():
        for function in ({}, {"arguments": {}}, {"arguments": None}):
            calls = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "now", **function}}]}
            line = json.dumps({"model": "m", "message": calls, "done": True, "done_reason": "stop"}).encode() + b"\n"
            for stream in (False, True):
                told = gateway.arguments(lambda _: (200, line, {}), stream)
                expect(told == ["{}"], f"{function}: {told}")


def hangs(_):
    released.wait(60)
    return 200, b"{}", {}


def busy_late(_):
    released.wait(0.5)
    return 503, b"{}", {}


with Gateway("--llm_gateway.timeout=700ms") as gateway:
    @check("llm_gateway.timeout bounds a call with all of its requests: 504, and an upstream that hangs is asked once")
    def _():
        for stream in (False, True):
            code, error, asked = gateway.ask(hangs, stream)
            expect((code, error["code"], asked) == (504, "deadline_exceeded", 1), f"{code} {error} {asked}")
            expect("llm_gateway.timeout" in error["message"], error)

    @check("a retry that would begin after it is not waited for")
    def _():
        code, error, asked = gateway.ask(lambda _: (429, b"{}", {"Retry-After": "1"}))
        expect((code, asked) == (429, 1), f"{code} {error} {asked}")

with Gateway("--llm_gateway.timeout=700ms") as gateway:
    @check("its requests share that time: a second one gets what the first has left, and there is no third")
    def _():
        for stream in (False, True):
            code, error, asked = gateway.ask(busy_late, stream)
            expect(code in (503, 504) and 1 <= asked <= 2, f"{code} {error} {asked}")

LARGE = "x" * 1500000, "x" * 9000000  # above the bound of an answer's text, and of an upstream's answer
with Gateway() as gateway:
    @check("answers that are too large, as one caller may ask for, are paid once and leave the deployment in service for others")
    def _():
        for text in LARGE:
            for stream in (False, True):
                many = [chunk(piece(text[at:at + 500000])) for at in range(0, len(text), 500000)]
                for _ in range(6):
                    reply = gateway.raw(lambda _: events(*many) if stream else whole(said(text)), stream)
                    expect(("data_loss" in reply, Upstream.asked) == (True, 1), f"{Upstream.asked} {reply[-300:]}")
        code, reply, _ = gateway.ask(lambda _: whole(said("well")))
        expect((code, reply.get("content")) == (200, "well"), f"{code} {reply}")

OTHERS = {False: whole(said("wrong", 1)), True: events(chunk(piece("wr", 1)), chunk(piece("ong", 1, "stop")))}
QUOTES = {"error": {"message": f"http://127.0.0.1:{server.server_port}/v1 is down"}}
IN_ERRORS = {False: (500, json.dumps(QUOTES).encode(), {}), True: events(QUOTES)}
for streamed in (False, True):
    with Gateway() as gateway:
        @check(f"choices without a number 0 are no answer, {'as a stream' if streamed else 'whole'}")
        def _():
            reply = gateway.raw(lambda _: OTHERS[streamed], streamed)
            expect("data_loss" in reply and "none with the index 0" in reply and "wrong" not in reply, reply)

    with Gateway() as gateway:
        @check(f"an error that quotes the upstream's address is told without it, {'as a stream' if streamed else 'whole'}")
        def _():
            reply = gateway.raw(lambda _: IN_ERRORS[streamed], streamed)
            expect("http://[host]" in reply and "127.0.0.1" not in reply, reply)

released.set()
finish()
