"""A collector of a test's own: what is started with FLAG sends its spans here.

    from collector import FLAG, spans   # spans: all that came, in OTLP's JSON, each with the `service` that sent it
"""
import http.server
import json
import threading

spans = []


class _Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        for resource in json.loads(self.rfile.read(int(self.headers["content-length"])))["resourceSpans"]:
            service = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "service.name")
            for scope in resource["scopeSpans"]:
                spans.extend({**span, "service": service} for span in scope["spans"])
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


_server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
threading.Thread(target=_server.serve_forever, daemon=True).start()
FLAG = f"--trace.endpoint=http://127.0.0.1:{_server.server_port}"
