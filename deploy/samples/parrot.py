#!/usr/bin/env python3
"""A stand-in for a model, for trying Renga without a key: speaks the OpenAI chat protocol and says what it was asked.

  deploy/samples/parrot.py [PORT]        prints "listening PORT"
"""
import http.server
import json
import sys
import time


class Parrot(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        question = request["messages"][-1]["content"]
        words = f"You asked: {question} — a parrot knows no more; set OPENAI_API_KEY to ask a model.".split(" ")
        usage = {"prompt_tokens": len(question.split()), "completion_tokens": len(words)}
        usage["total_tokens"] = sum(usage.values())
        base = {"id": "parrot-1", "created": int(time.time()), "model": "parrot"}
        if request.get("stream"):
            self.stream(base, words, usage)
        else:
            message = {"role": "assistant", "content": " ".join(words), "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            self.reply(json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage}))

    def reply(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, base, words, usage):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for i, word in enumerate(words):
            self.chunk(base, {"content": word if i == 0 else " " + word}, None)
            time.sleep(0.02)
        self.chunk(base, {}, "stop")
        self.event({**base, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def chunk(self, base, delta, finish_reason):
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self.event({**base, "object": "chat.completion.chunk", "choices": [choice], "usage": None})

    def event(self, value):
        self.wfile.write(f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Parrot)
print("listening", server.server_port, flush=True)
server.serve_forever()
