#!/usr/bin/env python3
"""A scripted upstream: a real HTTP server that speaks OpenAI's Chat Completions and misbehaves on request.

What a request gets is decided by its model's name: the function of that name below, with "-" for "_". What follows a
dot in the name tells apart what is counted: "broken.a" and "broken.b" both break.
It prints "listening PORT", and ends when its standard input does.

    GET /seen/MODEL   {"requests": how many, "body": the last one, "authorization": its header,
                       "left_ns": CLOCK_MONOTONIC when the client was seen to leave, or 0, "sent": bytes of a flood,
                       "most": requests at the same time}
"""
import base64
import email.utils
import gzip
import json
import os
import re
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SEEN = {}
LOCK = threading.Lock()
USAGE = {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30,
         "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 3}}
VERSE = "古池や蛙飛びこむ水の音 🐸 – an old pond"


def answer(message, finish="stop", usage=USAGE, **more):
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted-2026",
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "logprobs": None,
                         "finish_reason": finish}], "usage": usage, **more}


def chunk(delta=None, finish=None, usage=None, choices=None):
    if choices is None:
        choices = [{"index": 0, "delta": delta or {}, "logprobs": None, "finish_reason": finish}]
    return {"id": "chatcmpl-2", "object": "chat.completion.chunk", "created": 1, "model": "scripted-2026",
            "choices": choices, "usage": usage}


def event(value):
    return ("data: " + (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) + "\n\n").encode()


def said(*pieces):
    return [chunk({"role": "assistant", "content": ""})] + [chunk({"content": piece}) for piece in pieces]


def say(upstream, request, text, finish="stop"):
    """A text, streamed in two pieces or whole."""
    if request.get("stream"):
        upstream.stream_of(*said(text[:9], text[9:]), chunk(finish=finish), *ENDING[1:])
    else:
        upstream.reply(answer({"content": text}, finish=finish))


def is_repair(request):
    last = request["messages"][-1]
    return last["role"] == "user" and last["content"].startswith("Your answer cannot be used:")


def vector(text):
    """The floats that a text names by their bits, "3f800000 bf000000", or those of "1536 long", else three of its size."""
    if re.fullmatch("[0-9a-f]{8}( [0-9a-f]{8})*", text):
        return b"".join(bytes.fromhex(word)[::-1] for word in text.split())
    if text.endswith(" long"):
        return (struct.pack("<4f", len(text), 0.1, -1e-8, 3.14159274) * 2048)[:int(text.split()[-2]) * 4]
    return struct.pack("<3f", len(text.encode()), 0.5, -0.25)


def numbers(floats):
    return list(struct.unpack("<%df" % (len(floats) // 4), floats))


def embedding(index, vector):
    return {"object": "embedding", "index": index,
            "embedding": base64.b64encode(vector).decode() if isinstance(vector, bytes) else vector}


def embeddings(vectors, usage={"prompt_tokens": 11, "total_tokens": 11}):
    return {"object": "list", "model": "scripted-embedding-2026", "usage": usage,
            "data": [embedding(index, vector) for index, vector in enumerate(vectors)]}


PLAN = "{\"title\": \"池\", \"steps\": [1, 2]}"
BROKEN_PLAN = "{\"title\": 7, \"steps\": [1, \"two\"], \"more\": true}"

ENDING = [chunk(finish="stop"), chunk(choices=[], usage=USAGE), "[DONE]"]


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    # ---- tools of the script ----

    def reply(self, value, status=200, kind="application/json", headers=()):
        body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("x-request-id", "req-1")
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, headers=(), **error):
        self.reply({"error": error}, status, headers=headers)

    def open_stream(self, kind="text/event-stream; charset=utf-8", headers=()):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.send_header("x-request-id", "req-2")
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()

    def piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def close_stream(self):
        self.wfile.write(b"0\r\n\r\n")

    def events(self, *values):
        for value in values:
            self.piece(event(value))

    def stream_of(self, *values):
        self.open_stream()
        self.events(*values)
        self.close_stream()

    def wait_left(self, seconds=10):
        """Until the client has closed its side."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN | select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        if poll.poll(seconds * 1000):
            self.seen["left_ns"] = time.monotonic_ns()
        self.close_connection = True

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def cut(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    # ---- HTTP ----

    def do_GET(self):
        with LOCK:
            seen = SEEN.get(self.path.rsplit("/", 1)[1], {"requests": 0})
        self.reply(seen)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        request = json.loads(body)
        model = request["model"]
        with LOCK:
            self.seen = SEEN.setdefault(model, {"requests": 0, "left_ns": 0, "sent": 0})
            self.seen["requests"] += 1
            self.seen["body"] = body.decode()
            self.seen["authorization"] = self.headers["authorization"]
            self.seen["path"] = self.path
            self.seen["inside"] = self.seen.get("inside", 0) + 1
            self.seen["most"] = max(self.seen.get("most", 0), self.seen["inside"])
        try:
            getattr(self, model.split(".")[0].replace("-", "_"))(request)
        except (BrokenPipeError, ConnectionResetError):
            self.seen["left_ns"] = time.monotonic_ns()
            self.close_connection = True
        with LOCK:
            self.seen["inside"] -= 1

    # ---- good answers ----

    def chat(self, request):
        if request.get("stream"):
            self.open_stream()
            whole = b"".join(event(value) for value in said("古池や", "蛙飛びこむ", "水の音 🐸", " – an old pond") + ENDING)
            for at in range(0, len(whole), 7):  # in the middle of lines and of characters
                self.piece(whole[at:at + 7])
            self.close_stream()
        else:
            self.reply(answer({"content": VERSE, "refusal": None, "annotations": []}))

    def slow(self, request):
        time.sleep(0.05)
        self.chat(request)

    def waits(self, request):
        """Long enough for others to come, on a busy machine too."""
        time.sleep(2)
        self.chat(request)

    def mends(self, request):
        """Breaks twice, then answers."""
        if self.seen["requests"] <= 2:
            self.broken(request)
        else:
            self.chat(request)

    def tires(self, request):
        """Asks for a rest of 300 ms, then answers."""
        if self.seen["requests"] == 1:
            self.refuse(429, [("retry-after-ms", "300")], message="Slow down")
        else:
            self.chat(request)

    def thinks(self, request):
        if request.get("stream"):
            self.stream_of(chunk({"reasoning_content": "let me "}), chunk({"reasoning_content": "see"}), *said("42"), *ENDING)
        else:
            self.reply(answer({"content": "42", "reasoning_content": "let me see"}))

    def tools(self, request):
        if request.get("stream"):
            call = lambda index, **more: {"tool_calls": [{"index": index, **more}]}
            self.stream_of(chunk({"role": "assistant", "content": None}),
                           chunk(call(0, id="call_a", type="function", function={"name": "search", "arguments": ""})),
                           chunk(call(0, function={"arguments": "{\"q\":"})),
                           chunk(call(1, id="call_b", type="function", function={"name": "weather", "arguments": "{\"city\""})),
                           chunk(call(0, function={"arguments": "\"pond\"}"})),
                           chunk(call(1, function={"arguments": ":\"京都\"}"})),
                           chunk(finish="tool_calls"), *ENDING[1:])
        else:
            self.reply(answer({"content": None, "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "search", "arguments": "{\"q\":\"pond\"}"}},
                {"id": "call_b", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"京都\"}"}}]},
                finish="tool_calls"))

    def converses(self, request):
        """Calls the first tool that is offered, and then says what the tool answered."""
        told = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        if request.get("tools") and not told:
            name = request["tools"][0]["function"]["name"]
            call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{\"city\":\"京都\"}"}}
            if request.get("stream"):
                self.stream_of(chunk({"tool_calls": [{"index": 0, **call}]}), chunk(finish="tool_calls"), *ENDING[1:])
            else:
                self.reply(answer({"content": None, "tool_calls": [call]}, finish="tool_calls"))
        elif request.get("stream"):
            self.stream_of(*said("It says: ", (told or ["nothing"])[-1]), *ENDING)
        else:
            self.reply(answer({"content": "It says: " + (told or ["nothing"])[-1]}))

    def structured(self, request):
        text = "{\"title\": \"池\", \"steps\": [1, 2]}"
        if request.get("stream"):
            self.stream_of(*said(text[:9], text[9:]), *ENDING)
        else:
            self.reply(answer({"content": text}))

    def no_json(self, request):
        if request.get("stream"):
            self.stream_of(*said("Here is ", "your JSON: {"), *ENDING)
        else:
            self.reply(answer({"content": "Here is your JSON: {"}))

    # ---- JSON that breaks its schema, and what comes of being told ----

    def mends(self, request):
        say(self, request, PLAN if is_repair(request) else BROKEN_PLAN)

    def mends_prose(self, request):
        say(self, request, PLAN if is_repair(request) else "Here you are: " + PLAN + " Anything else?")

    def never_mends(self, request):
        say(self, request, "{\"title\": \"second\"}" if is_repair(request) else BROKEN_PLAN)

    def fences(self, request):
        say(self, request, "\ufeff\n```json\n" + PLAN + "\n```\n")

    def breaks_off(self, request):
        say(self, request, PLAN[:12], finish="length")

    def mends_too_long(self, request):
        say(self, request, *((PLAN[:12], "length") if is_repair(request) else (BROKEN_PLAN,)))

    def mends_never_again(self, request):
        if is_repair(request):
            self.refuse(503, message="Closed for today", type="server_error")
        else:
            say(self, request, BROKEN_PLAN)

    def mends_slowly(self, request):
        if is_repair(request):
            self.wait_left()
        else:
            say(self, request, BROKEN_PLAN)

    def refuses(self, request):
        self.reply(answer({"content": None, "refusal": "I would rather not."}))

    def stops_short(self, request):
        self.reply(answer({"content": "and then"}, finish="length"))

    def filtered(self, request):
        self.reply(answer({"content": ""}, finish="content_filter"))

    def says_nothing(self, request):
        self.reply(answer({"content": ""}))

    def no_choices(self, request):
        if request.get("stream"):
            self.stream_of(chunk(choices=[], usage=USAGE), "[DONE]")
        else:
            self.reply({**answer({}), "choices": []})

    def no_usage(self, request):
        if request.get("stream"):
            self.stream_of(*said("no counts"), ENDING[0], "[DONE]")
        else:
            self.reply(answer({"content": "no counts"}, usage=None))

    def zipped(self, request):
        if request.get("stream"):
            self.open_stream(headers=[("content-encoding", "gzip")])
            self.piece(gzip.compress(b"".join(event(value) for value in said("packed") + ENDING)))
            self.close_stream()
        else:
            self.reply(gzip.compress(json.dumps(answer({"content": "packed"})).encode()),
                       headers=[("content-encoding", "gzip")])

    def streams_not(self, request):
        self.reply(answer({"content": VERSE}))

    def comments(self, request):
        self.open_stream()
        text = "\ufeff: hello\r\n\r\n" + "".join(
            ": ping\r\nid: 7\r\nretry: 10\r\n" + event(value).decode().replace("\n", "\r\n")
            for value in said("over ", "CRLF") + ENDING)
        for at in range(0, len(text), 5):
            self.piece(text[at:at + 5].encode())
        self.close_stream()

    def long_words(self, request):
        self.stream_of(*said("連" * 50000), *ENDING)

    def lingers(self, request):
        """Has said all, but does not end."""
        self.open_stream()
        self.events(*said("all said"), *ENDING)
        self.wait_left()

    def no_done(self, request):
        self.stream_of(*said("whole"), *ENDING[:2])

    # ---- vectors ----

    def embeds(self, request):
        """In the form that was asked for, the last one first."""
        vectors = [vector(text) for text in request["input"]]
        if request.get("encoding_format") != "base64":
            vectors = [numbers(floats) for floats in vectors]
        value = embeddings(vectors)
        value["data"].reverse()
        self.reply(value)

    def embeds_base64(self, request):
        self.reply(embeddings([vector(text) for text in request["input"]]))

    def embeds_numbers(self, request):
        self.reply(embeddings([numbers(vector(text)) for text in request["input"]]))

    def embeds_escaped(self, request):
        body = json.dumps(embeddings([vector(text) for text in request["input"]]))
        self.reply(body.replace("/", "\\/").replace("+", "\\u002B").encode())

    def embeds_zipped(self, request):
        self.reply(gzip.compress(json.dumps(embeddings([vector(text) for text in request["input"]])).encode()),
                   headers=[("content-encoding", "gzip")])

    def embeds_uncounted(self, request):
        self.reply(embeddings([vector(text) for text in request["input"]], usage=None))

    def embeds_one(self, request):
        self.reply(embeddings([vector(request["input"][0])]))

    def embeds_more(self, request):
        self.reply(embeddings([vector(text) for text in request["input"] + ["more"]]))

    def embeds_twice(self, request):
        self.reply({"data": [embedding(0, [1]), embedding(0, [1])]})

    def embeds_unevenly(self, request):
        self.reply(embeddings([[1, 2], [1]]))

    def embeds_nan(self, request):
        self.reply(embeddings([struct.pack("<f", float("nan"))] * len(request["input"])))

    def embeds_garbage(self, request):
        self.reply(embeddings(["AAAA!AAA"] * len(request["input"])))

    def embeds_endless(self, request):
        """Numbers and no end of them."""
        self.open_stream("application/json")
        self.piece(b'{"data":[{"index":0,"embedding":[0')
        try:
            for _ in range(2000):
                self.piece(b",0.12345678" * 4096)
        finally:
            self.wait_left()

    # ---- cuts and stalls ----

    def drips(self, request):
        self.open_stream()
        for byte in b"".join(event(value) for value in said("slow") + ENDING):
            self.piece(bytes([byte]))
            time.sleep(0.0005)
        self.close_stream()

    def hangs(self, request):
        self.wait_left()

    def stalls(self, request):
        self.open_stream()
        self.events(*said("one ", "two "))
        self.wait_left()

    def endless(self, request):
        self.open_stream()
        for _ in range(1000):
            self.events(chunk({"content": "and on "}))
            poll = select.poll()
            poll.register(self.connection, select.POLLIN | select.POLLRDHUP)
            if poll.poll(5):
                self.seen["left_ns"] = time.monotonic_ns()
                self.close_connection = True
                return

    def floods(self, request):
        """100 tool calls with 200 KB of arguments each."""
        self.open_stream()
        self.seen["sent"] = 0
        for index in range(100):
            call = {"index": index, "id": "call_%d" % index, "function": {"name": "draw", "arguments": ""}}
            more = {"index": index, "function": {"arguments": "x" * 4000}}
            for piece in [event(chunk({"tool_calls": [call]}))] + [event(chunk({"tool_calls": [more]}))] * 50:
                self.piece(piece)
                self.seen["sent"] += len(piece)
        self.events(chunk(finish="tool_calls"), *ENDING[1:])
        self.close_stream()

    def cuts_json(self, request):
        body = json.dumps(answer({"content": VERSE})).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:-40])
        self.cut()

    def short_json(self, request):
        self.reply(json.dumps(answer({"content": VERSE})).encode()[:-40])

    def closes(self, request):
        self.cut()

    def resets(self, request):
        if request.get("stream"):
            self.open_stream()
            self.events(*said("one ", "two "))
            time.sleep(0.05)
        self.reset()

    def cuts_stream(self, request):
        self.open_stream()
        self.events(*said("one ", "two "))
        self.cut()

    def ends_early(self, request):
        self.stream_of(*said("one ", "two "))

    def no_finish(self, request):
        self.stream_of(*said("one ", "two "), "[DONE]")

    def aborts(self, request):
        self.stream_of(*said("one ", "two "), chunk(finish="abort"), *ENDING[1:])

    # ---- nonsense ----

    def error_in_200(self, request):
        self.reply({"error": {"message": "The server had an error", "type": "server_error", "param": None, "code": None}})

    def error_first(self, request):
        self.stream_of({"error": {"message": "Too busy to begin", "type": "server_error", "code": 503}})

    def error_midway(self, request):
        self.stream_of(*said("one "), {"error": {"message": "Lost the thread", "type": "server_error"}}, "[DONE]")

    def html(self, request):
        self.reply(b"<html><body>Sign in to the hotel's network</body></html>", kind="text/html")

    def garbage(self, request):
        self.open_stream()
        self.events(*said("one "))
        self.piece(b"data: {\"choices\": [nonsense\n\n")
        self.wait_left()

    def bad_utf8(self, request):
        self.open_stream()
        self.piece(b"data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n")
        self.wait_left()

    def big_event(self, request):
        self.open_stream()
        try:
            for _ in range(64):
                self.piece(b"data: " + b"x" * 65536)
        finally:
            self.wait_left()

    def huge(self, request):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for _ in range(1600):
                self.piece(b" " * 65536)
        finally:
            self.wait_left()

    def bomb(self, request):
        self.reply(gzip.compress(b" " * (100 << 20)), headers=[("content-encoding", "gzip")])

    # ---- refusals ----

    def busy_ms(self, request):
        self.refuse(429, [("retry-after-ms", "1250"), ("retry-after", "9")], message="Slow down", type="requests",
                    code="rate_limit_exceeded")

    def busy_seconds(self, request):
        self.refuse(429, [("retry-after", "2")], message="Slow down", type="requests", code="rate_limit_exceeded")

    def busy_date(self, request):
        self.refuse(429, [("retry-after", email.utils.formatdate(time.time() + 30, usegmt=True))], message="Slow down")

    def busy_reset(self, request):
        self.refuse(429, [("x-ratelimit-remaining-requests", "12"), ("x-ratelimit-reset-requests", "9m"),
                          ("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1m2.5s")],
                    message="Slow down", type="tokens", code="rate_limit_exceeded")

    def busy(self, request):
        self.refuse(429, message="Slow down")

    def poor(self, request):
        self.refuse(429, [("retry-after", "2")], message="You exceeded your current quota", type="insufficient_quota",
                    code="insufficient_quota")

    def locked(self, request):
        self.refuse(401, message="Incorrect API key provided: %s, or sk-te******cdef" %
                    self.headers["authorization"].split()[1], type="invalid_request_error", code="invalid_api_key")

    def gone(self, request):
        self.refuse(404, message="The model `gone` does not exist", type="invalid_request_error",
                    code="model_not_found", param=None)

    def lost(self, request):
        self.reply(b"<h1>Not Found</h1>", 404, "text/html")

    def picky(self, request):
        self.refuse(400, message="Unsupported value: 'temperature' does not support 0.5 with this model.",
                    type="invalid_request_error", param="temperature", code="unsupported_value")

    def too_long(self, request):
        self.refuse(400, message="This model's maximum context length is 8 tokens.", type="invalid_request_error",
                    param="messages", code="context_length_exceeded")

    def too_large(self, request):
        self.reply(b"Request Entity Too Large", 413, "text/plain")

    def broken(self, request):
        self.refuse(500, message="The server had an error", type="server_error")

    def overloaded(self, request):
        self.refuse(529, [("retry-after", "3")], message="Overloaded", type="overloaded_error")

    def moved(self, request):
        self.reply(b"", 308, "text/plain", [("location", "http://127.0.0.1:9/elsewhere")])


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass  # clients leave as they like


def models():
    """The names of all behaviours, for the configuration of the gateway under test."""
    own = [name for name in vars(Upstream) if not re.match(r"_|do_|log_|protocol|disable", name)]
    tools = {"reply", "refuse", "open_stream", "piece", "close_stream", "events", "stream_of", "wait_left", "reset", "cut"}
    return [name.replace("_", "-") for name in own if name not in tools]


def main():
    server = Server(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("listening", server.server_port, ",".join(models()), flush=True)
    sys.stdin.read()
    os._exit(0)


main()
