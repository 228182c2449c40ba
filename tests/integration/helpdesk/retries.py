#!/usr/bin/env python3
"""How many requests one question costs where a provider never gives a usable answer: counted at the provider, for one
subtask and for eight at once, in one process and as five.
    retries.py one|five        RENGA_BIN=<binaries> RENGA_PROTO=<folder of renga_descriptor_set.bin>; one line a check."""
import http.server
import json
import sys
import threading

import grpc

from suite import Suite, expect, index
from checks import check
import checks

# As engine/README.md has them: repeats within attempts, further attempts, answers that make up for one failed request.
REPEATS, FURTHER, ANSWERS = 8, 5, 10
PLAN = [f"What does error E-{number} mean?" for number in range(1024, 1032)]


class Provider(http.server.BaseHTTPRequestHandler):
    """Plans so many subtasks; after that `fault` is how it answers. Counts."""
    protocol_version = "HTTP/1.1"
    subtasks, fault, asked, repairs, lock = 1, None, 0, 0, threading.Lock()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with Provider.lock:
            Provider.asked += 1
            Provider.repairs += "cannot be used" in request["messages"][-1]["content"]
        plans = "subtasks" in json.dumps(request.get("response_format", {}))
        code, body = (200, self.words(PLAN[:Provider.subtasks])) if plans else Provider.fault(self, request)
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def reply(message, finish="stop"):
        return json.dumps({"id": "1", "object": "chat.completion", "model": "m", "created": 1, "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()

    def words(self, plan):
        return self.reply({"content": json.dumps({"subtasks": plan})})

    def overload(self, request):
        return 429, b'{"error": {"message": "slow down", "type": "rate_limit_exceeded", "code": "rate_limit_exceeded"}}'

    def broken_body(self, request):
        return 200, b'{"choices": ['

    def broken_words(self, request):
        """Of a model that cannot write JSON; all else it can do."""
        if request.get("response_format"):
            return 200, self.reply({"content": '{"is_completed": '})
        if request.get("tools") and request["messages"][-1]["role"] == "user":
            call = {"name": "search_documents", "arguments": '{"query": "error"}'}
            return 200, self.reply({"content": None, "tool_calls": [{"id": "c", "index": 0, "type": "function", "function": call}]}, "tool_calls")
        return 200, self.reply({"content": "Error E-1024 means that the disk is full."})

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 64


server = Server(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
index()
FLAGS = [f"--llm_gateway.upstream=http://127.0.0.1:{server.server_port}/v1", "--llm_gateway.provider=openai",
         "--llm_gateway.key=k", "--llm_gateway.models=m"]



def ask(fault, subtasks):
    suite = Suite(llm_gateway=FLAGS).one() if sys.argv[1] == "one" else Suite(llm_gateway=FLAGS).five()
    Provider.fault, Provider.subtasks, Provider.asked, Provider.repairs = fault, subtasks, 0, 0
    try:
        list(suite.watch(" ".join(PLAN[:subtasks]), timeout=60))
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"it failed with {error.code()}: {error.details()}")
    suite.stop()


for name, fault in (("answers 429", Provider.overload), ("answers with half a body", Provider.broken_body)):
    for subtasks in (1, 8):
        @check(f"a provider that plans and then always {name}, {subtasks} subtask{'s' * (subtasks > 1)}")
        def _():
            ask(fault, subtasks)
            nodes = 1 + subtasks  # no subtask comes further than its choice of tools; then the documents answer
            most = nodes + 1 + (5 if subtasks == 1 else REPEATS + FURTHER)
            expect(nodes <= Provider.asked <= most, f"{Provider.asked} requests, not {nodes} to {most}")
            return f"{Provider.asked} requests"

for subtasks in (1, 8):
    @check(f"a model whose JSON is always broken, {subtasks} subtask{'s' * (subtasks > 1)}")
    def _():
        ask(Provider.broken_words, subtasks)
        tries = subtasks * 3  # with a choice of tools, an answer and a judgement each
        most = REPEATS + FURTHER + 2 * tries // ANSWERS
        expect(1 <= Provider.repairs <= most, f"{Provider.repairs} repairs, not 1 to {most}")
        expect(Provider.asked <= 2 + 3 * tries + most, f"{Provider.asked} requests, not {2 + 3 * tries + most} at most")
        return f"{Provider.asked} requests, {Provider.repairs} repairs of {tries} judgements"

checks.finish()
