"""A tool server over HTTP that behaves as its path says: /json, /events, /sessions, /keyed, /broken, /cut, /silent,
/redirect, /resumes, /stuck, /forgets. It runs in this process and remembers what it saw."""
import http.server
import json
import threading
import time


class OddHttp(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen, self.sessions, self.sessions_made = [], set(), 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"

    def handle_error(self, *_):
        pass  # clients that leave


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body="", **headers):
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_DELETE(self):
        self.server.seen.append(("DELETE", self.headers.get("Mcp-Session-Id")))
        self.answer(200)

    def do_GET(self):
        how, last = self.path[1:], self.headers.get("Last-Event-ID")
        self.server.seen.append(("GET", how, last, dict(self.headers)))
        if how == "resumes" and last == "a":
            return self.events('id: b\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\nid: c\ndata: {"js')
        if how == "resumes" and last == "b":
            return self.events(f"id: c\ndata: {self.server.kept}\n\n")
        if how == "stuck":
            return self.events("retry: 10\n\n")
        self.answer(405)

    def events(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text.encode())
        self.close_connection = True

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        how, method = self.path[1:], message.get("method")
        self.server.seen.append((how, method, dict(self.headers), message))
        if how == "keyed" and self.headers.get("Authorization") != "Bearer sesame":
            return self.answer(401)
        if how == "redirect":
            return self.answer(307, Location=self.server.url("json"))
        if how == "sessions" and method != "initialize" and self.headers.get("Mcp-Session-Id") not in self.server.sessions:
            return self.answer(404)
        if "id" not in message:
            return self.answer(202)
        result, headers = self.result(message), {}
        if how == "sessions" and method == "initialize":
            self.server.sessions_made += 1
            name = f"session-{self.server.sessions_made}"
            self.server.sessions.add(name)
            headers = {"Mcp_Session_Id": name}
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, ensure_ascii=False)
        if method == "tools/call" and how in ("resumes", "stuck", "forgets"):
            self.server.kept = text
            return self.events("id: a\nretry: 20\ndata: \n\n")
        if method == "tools/call" and how == "slow":
            return self.events("id: a\nretry: 20000\ndata: \n\n")
        if how == "events" or (how == "cut" and method == "tools/call"):
            return self.stream(how, text)
        if method == "tools/call" and how == "broken":
            return self.answer(500, "<html>sorry</html>", Content_Type="text/html")
        if method == "tools/call" and how == "silent":
            time.sleep(20)
        return self.answer(200, text, Content_Type="application/json", **headers)

    def stream(self, how, text):
        """Priming, a comment, a progress, a message in pieces, in CRLF; of "cut" only the beginning."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        begin = 'id: 1\r\ndata: \r\n\r\n: still here\r\n\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\r\n\r\n'
        whole = (begin + f"event: message\r\nid: 2\r\ndata: {text}\r\n\r\n").encode()
        if how == "cut":
            whole = whole[:-20]
        for at in range(0, len(whole), 7):
            self.wfile.write(whole[at:at + 7])
            self.wfile.flush()
        self.close_connection = True

    def result(self, message):
        method = message["method"]
        if method == "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "o", "version": "1"}}
        if method == "tools/list":
            return {"tools": [{"name": "say", "description": "says", "inputSchema": {"type": "object"},
                               "annotations": {"readOnlyHint": True}}]}
        return {"content": [{"type": "text", "text": message["params"]["arguments"].get("what", "said 言った")}]}
