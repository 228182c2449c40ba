#!/usr/bin/env python3
"""Fakes of five search engines and of a model of embeddings, each on a port of its own, in one process. They speak the real
formats and check requests strictly. `query_of` in upstream/*.py has the checks; upstream/faults.py has the faults.

It prints one line of JSON, {"tavily": {"url", "key"}, …}, and ends when its standard input does. The entry "control" has:

    GET  /seen?engine=NAME&query=TEXT   the requests of that query: [{"path", "body", "headers", "begun_ns", "left_ns", "sent"}];
                                        with query empty those that were refused: [{"refused": STATUS, "told": TEXT}]
    POST /script [{"engine", "query", "fault", "times"}]   queries that contain the text get the fault; times -1: always;
                                        an empty engine is all of them. It replaces the script before.
    POST /documents [{"id", "title", "url", "content", "lang", "updated"}]   what the engines hold; an empty list: their own
    POST /forget                        what was seen

From Python: Upstreams in search_upstreams.py."""
import base64
import json
import os
import struct
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from upstream.azure_ai_search import INDEX, SEMANTIC, AzureAiSearch
from upstream.brave import Brave
from upstream.corpus import CORPUS, DIMENSIONS, DOCUMENTS
from upstream.faults import Upstream
from upstream.opensearch import Elasticsearch, OpenSearch
from upstream.searxng import Searxng
from upstream.tavily import Tavily

ENGINES = [Tavily, AzureAiSearch, Searxng, Brave, OpenSearch, Elasticsearch]


class Plain(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def asked(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"null")

    def reply(self, value):
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Embeddings(Plain):
    """OpenAI's embeddings: POST /v1/embeddings."""

    def do_POST(self):
        asked = self.asked()
        inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        vectors = [CORPUS.embed(text) for text in inputs]
        if asked.get("encoding_format") == "base64":
            vectors = [base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector)).decode() for vector in vectors]
        self.reply({"object": "list", "model": asked["model"], "usage": {"prompt_tokens": len(inputs), "total_tokens": len(inputs)},
                    "data": [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]})


class Control(Plain):
    def do_GET(self):
        fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        self.reply(Upstream.seen.get((fields["engine"], fields["query"]), []))

    def do_POST(self):
        asked = self.asked()
        if self.path == "/script":
            Upstream.scripts[:] = [{"engine": "", "query": "", "times": -1, **script} for script in asked]
        elif self.path == "/documents":
            CORPUS.replace(asked or DOCUMENTS)
        elif self.path == "/forget":
            Upstream.seen.clear()
        self.reply({})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass  # clients leave as they like


def serve(handler):
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main():
    entries = {engine.engine: {"url": serve(engine), "key": engine.key} for engine in ENGINES}
    entries["azure_ai_search"].update(token=AzureAiSearch.token, index=INDEX, semantic=SEMANTIC)
    for name in ("opensearch", "elasticsearch"):
        entries[name].update(user=OpenSearch.user, password=OpenSearch.password, index=INDEX)
    entries["embeddings"] = {"url": serve(Embeddings) + "/v1"}
    entries["control"] = {"url": serve(Control)}
    print(json.dumps(entries), flush=True)
    sys.stdin.read()
    os._exit(0)


main()
