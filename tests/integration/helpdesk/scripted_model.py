"""A model that does its work well, with OpenAI's protocol, and takes a fault: `Upstream.fault` changes its answer of a stage."""
import http.server
import json
import threading

ANSWER = "Port 9090 is used for monitoring."


class Upstream(http.server.BaseHTTPRequestHandler):
    """Plans, searches, answers and reflects as a good model would, but for what `fault` makes of it."""
    protocol_version = "HTTP/1.1"
    fault, asked = None, []

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Upstream.asked.append(request)
        stage, choice = self.good(request)
        code, body = 200, None
        if self.fault:
            code, body = self.fault(stage, choice, len(Upstream.asked)) or (200, None)
        if body is None and request.get("stream"):
            delta = {"id": "1", "object": "chat.completion.chunk", "model": "m", "created": 1, "choices": [
                {"index": 0, "delta": choice["message"], "finish_reason": choice["finish_reason"]}]}
            body = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n"
        elif body is None:
            body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "created": 1, "choices": [choice],
                               "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
        body = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/event-stream" if body.startswith(b"data:") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def good(self, request):
        schema = json.dumps(request.get("response_format", {}))
        message, finish = {"role": "assistant", "content": ANSWER}, "stop"
        if "subtasks" in schema:
            return "plan", self.choice({**message, "content": json.dumps({"subtasks": ["What is port 9090 used for?"]})})
        if "is_completed" in schema:
            return "reflect", self.choice({**message, "content": json.dumps({"advice": "", "is_completed": True})})
        if request.get("tools") and request["messages"][-1]["role"] == "user":
            call = {"id": "c1", "index": 0, "type": "function",
                    "function": {"name": "search_documents", "arguments": json.dumps({"query": "port 9090 monitoring"})}}
            return "select", self.choice({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")
        return "answer", self.choice(message, finish)

    @staticmethod
    def choice(message, finish="stop"):
        return {"index": 0, "message": message, "finish_reason": finish}

    def log_message(self, *_):
        pass


def serve(model=Upstream):
    """The server of the model."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
