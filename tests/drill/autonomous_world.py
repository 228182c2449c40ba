"""The world around autonomous research, for the drill `autonomous`: a model, a Tavily and pages that answer the same to the same
request, and that can hold a chosen request back.

    world = World()
    world.watch("search", 2, "during")   # the second search of this run
    world.reached.wait()                 # it has come, and waits
    world.go()"""
import collections
import contextlib
import json
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "integration", "search")]
from upstream.corpus import CORPUS  # noqa: E402
from upstream.tavily import Tavily  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

THEME = "How far away are the bodies of the solar system?"
FIRST = {"moon": "The moon is 384,400 km away from the earth on average.", "sun": "The sun is 149,600,000 km away from the earth.",
         "mars": "Mars is 225,000,000 km away from the earth on average.", "venus": "Venus is 41,400,000 km away at its nearest point.",
         "jupiter": "Jupiter is 778,500,000 km away from the sun on average."}
SECOND = {"saturn": "Saturn is 1,434,000,000 km away from the sun on average.", "pluto": "Pluto is 5,906,000,000 km away from the sun on average."}
BODIES = {**FIRST, **SECOND}
HELD_S = 120


class World:
    """One at a time in a process; its servers have no state of their own."""
    here = None

    def __init__(self):
        World.here = self
        self.lock = threading.Lock()
        self.pages = serve(Pages).server_port
        CORPUS.replace([{"id": name, "title": name, "content": f"About {name}, of which the page tells more.", "lang": "en",
                         "url": f"http://127.0.0.1:{self.pages}/{name}", "updated": "2031-01-05T09:00:00Z"} for name in BODIES])
        self.model, self.tavily = serve(Model).server_port, serve(Search).server_port
        self.watch(None, 0, "")

    def watch(self, kind, number, phase):
        """A new run begins; `kind`: plan, improve, route, review, write, search, page; `phase`: during, after."""
        with self.lock:
            self.kind, self.number, self.phase = kind, number, phase
            self.counts, self.queries, self.order = collections.Counter(), collections.Counter(), []
            self.reached, self.free = threading.Event(), threading.Event()

    def go(self):
        self.free.set()

    def count(self, kind, query=None):
        """The number of this request among those of its kind."""
        with self.lock:
            self.counts[kind] += 1
            self.order.append((kind, self.counts[kind]))
            if query is not None:
                self.queries[query] += 1
            return self.counts[kind], self.free, self.reached

    def is_watched(self, kind, number, phase):
        return (kind, number, phase) == (self.kind, self.number, self.phase)

    def serve(self, kind, answer, query=None):
        number, free, reached = self.count(kind, query)
        if self.is_watched(kind, number, "during"):
            reached.set()
            free.wait(HELD_S)
        try:
            answer()
        except OSError:  # whoever asked is dead
            pass
        if self.is_watched(kind, number, "after"):
            reached.set()


class Patient(Handler):
    """Whoever asks may be killed."""

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()


class Pages(Patient):
    def do_GET(self):
        name = self.path.strip("/")
        page = f"<html><head><title>{name}</title></head><body><main><h1>{name}</h1><p>{BODIES.get(name, '')}</p></main></body></html>"
        World.here.serve("page", lambda: self.reply(page.encode(), kind="text/html; charset=utf-8"))


class Search(Patient, Tavily):
    def do_POST(self):
        length = int(self.headers["content-length"])
        body = self.rfile.read(length)
        query = json.loads(body)["query"]
        World.here.serve("search", lambda: self.answer(body), query)

    def answer(self, body):
        text = json.dumps(self.good(body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Model(Patient):
    """Plans the first bodies; reviews ask for the second ones until they stand in the draft."""

    def do_POST(self):
        asked = self.asked()
        text = asked["messages"][-1]["content"]
        schema = json.dumps(asked.get("response_format", {}))
        kind = next((name for name, key in (("plan", "search_queries"), ("improve", "improved_queries"), ("route", "next_action"),
                                            ("review", "fact_check")) if key in schema), "write")
        World.here.serve(kind, lambda: self.reply(completion({"role": "assistant", "content": getattr(self, kind)(text)})))

    def plan(self, text):
        return json.dumps({"theme": THEME, "investigation_points": ["near", "far"], "search_queries": [f"distance of {name}" for name in FIRST],
                           "plan_text": "body by body"})

    def improve(self, text):
        return json.dumps({"improved_queries": [f"distance of {name}" for name in [*SECOND, *list(FIRST)[2:]]]})

    def route(self, text):
        return json.dumps({"next_action": "write", "reasoning": "there are new sources"})

    def review(self, text):
        good = all(line[:-1] in text for line in SECOND.values())
        return json.dumps({"scores": dict.fromkeys(("fact_check", "completeness", "logic", "format"), 0.95 if good else 0.6),
                           "feedback": "" if good else "Saturn and Pluto are missing.", "suggested_action": "write" if good else "research", "issues": []})

    def write(self, text):
        sources = json.loads(text.split("<sources>\n")[-1].split("\n</sources>")[0])
        lines = [line for line in BODIES.values() if any(line in source["text"] for source in sources)]
        return "\n".join([f"# {THEME}", "", "## Executive Summary", "", " ".join(lines[:4]), "", "## Key Findings", "", *(f"- {line}" for line in lines[:5]), "",
                          "## Detailed Analysis", "", "### near", "", " ".join(lines[:3]), "", "### far", "", " ".join(lines[3:]), "", "## References", ""])
