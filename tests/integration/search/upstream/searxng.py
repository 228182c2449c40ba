"""SearXNG: GET or POST /search with format=json, with its limiter's checks of headers. https://docs.searxng.org"""
import re
import urllib.parse

from .corpus import CORPUS
from .faults import Refused, Upstream

KNOWN = {"q", "format", "categories", "engines", "language", "pageno", "time_range", "safesearch", "timeout_limit", "theme"}
SHAPES = {"pageno": r"[1-9]\d*", "language": r"all|auto|[a-z]{2,3}(-[A-Za-z]{2})?", "safesearch": "[012]", "time_range": "day|week|month|year",
          "timeout_limit": r"\d+(\.\d+)?"}
BOTS = re.compile(r"unknown|[Cc][Uu][Rr][Ll]|wget|Scrapy|splash|feedly|python-requests|Go-http-client|Java|okhttp|HttpClient|Jersey", re.I)
ALL_OUT = [["alpha", "timeout"], ["beta", "Suspended: too many requests"], ["gamma", "CAPTCHA"]]


class Searxng(Upstream):
    engine, key = "searxng", ""

    def fields(self, asked):
        address = urllib.parse.urlsplit(self.path)
        text = address.query if self.command == "GET" else asked.decode()
        return address.path, dict(urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict")) if text else {}

    def query_of(self, asked):
        path, fields = self.fields(asked)
        if path not in ("/search", "/"):
            raise Refused(404, b"<!DOCTYPE html><html><body>Page not found</body></html>", "text/html; charset=utf-8")
        agent, accept = self.headers.get("user-agent", ""), self.headers.get("accept", "")
        if not agent or BOTS.search(agent) or "text/html" not in accept or not self.headers.get("accept-language") \
                or not re.search("gzip|deflate", self.headers.get("accept-encoding", "")):
            raise Refused(429, b"Too Many Requests", "text/plain; charset=utf-8")
        if fields.get("format", "html") != "json":
            raise Refused(200, b"<!DOCTYPE html><html><body>results</body></html>", "text/html; charset=utf-8")
        if set(fields) - KNOWN:
            raise Refused(400, {"error": f"Unknown parameters {sorted(set(fields) - KNOWN)}"})  # it would ignore them; a test wants to know
        if not fields.get("q"):
            raise Refused(400, {"error": "No query"})
        for name, shape in SHAPES.items():
            if name in fields and not re.fullmatch(shape, fields[name]):
                raise Refused(400, {"error": f"Invalid value {fields[name]} for parameter {name}"})
        if fields["q"].lstrip()[:1] in "!:<?":
            raise Refused(302, b"", "text/html", location="https://elsewhere.example/")
        return fields["q"]

    def good(self, asked):
        _, fields = self.fields(asked)
        found = CORPUS.by_words(fields["q"]) if int(fields.get("pageno", 1)) == 1 else []
        results = []
        for rank, (_, document) in enumerate(found, 1):
            parts = urllib.parse.urlsplit(document["url"])
            results.append({"url": document["url"], "title": document["title"], "content": document["content"], "engine": "alpha",
                            "engines": ["alpha", "beta"], "positions": [rank, rank], "score": 4.0 / rank, "category": "general",
                            "template": "default.html", "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
                            "publishedDate": document["updated"][:19], "img_src": "", "thumbnail": "", "priority": ""})
        return {"query": fields["q"], "results": results, "answers": [], "corrections": [], "infoboxes": [], "suggestions": [],
                "unresponsive_engines": []}

    def partial(self, value, status):
        value["unresponsive_engines"] = ALL_OUT[:1]
        return status, value

    def quota(self):
        """Every engine behind it has failed: status 200."""
        self.reply({"query": "", "results": [], "answers": [], "corrections": [], "infoboxes": [], "suggestions": [],
                    "unresponsive_engines": ALL_OUT})

    def hits_of(self, value):
        return value["results"]

    def refusal(self, status):
        if status == 429:
            return b"Too Many Requests", "text/plain; charset=utf-8", {}
        if status == 500:
            return {"error": "search error"}, "application/json", {}
        title = {403: "403 Forbidden", 404: "404 Not Found", 401: "401 Authorization Required"}.get(status, str(status))
        return f"<!doctype html>\n<html lang=en>\n<title>{title}</title>\n<h1>{title}</h1>\n".encode(), "text/html; charset=utf-8", {}
