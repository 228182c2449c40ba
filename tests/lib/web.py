"""Web servers of a test's own, in its process: requests with a body of JSON, answers of JSON or of bytes.

    class Model(Handler):
        def do_POST(self):
            self.reply(completion({"role": "assistant", "content": self.asked()["model"]}))
    port = serve(Model).server_port

A server runs until the test ends, or until its shutdown()."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def asked(self):
        """The body. To be read once."""
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def reply(self, value, status=200, kind="application/json", **headers):
        """The value as JSON; bytes as they are. In the names of headers an underscore stands for a dash."""
        body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        for name, text in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def serve(handler):
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def completion(message, finish=None, usage=USAGE):
    """The answer of OpenAI's protocol with this one message; `finish` follows from the message where it is not given."""
    reason = finish or ("tool_calls" if message.get("tool_calls") else "stop")
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": "scripted-2026",
            "choices": [{"index": 0, "finish_reason": reason, "message": message}], "usage": usage}
