"""Tavily: POST /search. https://docs.tavily.com"""
import json
import re

from .corpus import CORPUS
from .faults import Refused, Upstream

ENUMS = {"search_depth": ("basic", "advanced", "fast", "ultra-fast"), "topic": ("general", "news", "finance"),
         "time_range": ("day", "week", "month", "year", "d", "w", "m", "y")}
TYPES = {"query": str, "max_results": int, "chunks_per_source": int, "start_date": str, "end_date": str, "include_answer": (bool, str),
         "include_raw_content": (bool, str), "include_images": bool, "include_image_descriptions": bool, "include_favicon": bool,
         "include_domains": list, "exclude_domains": list, "country": str, "auto_parameters": bool, "exact_match": bool,
         "include_usage": bool, "language": str, "filter_by_language": bool, "safe_search": bool, **dict.fromkeys(ENUMS, str)}
ERRORS = {400: "Bad request.", 401: "Unauthorized: missing or invalid API key.", 403: "Forbidden: this key may not use the endpoint.",
          404: None, 408: "Request timed out.", 429: "Your request has been blocked due to excessive requests. Please reduce the rate of requests.",
          432: "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com",
          433: "This request exceeds the pay-as-you-go limit.", 500: "Internal Server Error"}


def bad(why):
    return Refused(400, {"detail": {"error": why}})


class Tavily(Upstream):
    engine, key = "tavily", "tvly-dev-Pq7Zk3Wm9Xs1Lb5R"

    def query_of(self, asked):
        if self.path != "/search":
            raise Refused(404, {"detail": "Not Found"})
        if self.command != "POST":
            raise Refused(405, {"detail": "Method Not Allowed"})
        if self.headers.get("authorization") != f"Bearer {self.key}":
            raise Refused(401, {"detail": {"error": ERRORS[401]}})
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise Refused(422, {"detail": [{"type": "model_attributes_type", "loc": ["body"], "msg": "Input should be a valid dictionary"}]})
        body = json.loads(asked)
        for name, value in body.items():
            if name not in TYPES or not isinstance(value, TYPES[name]) or (TYPES[name] is int and isinstance(value, bool)):
                raise bad(f"Invalid parameter {name}: {value!r}")
            if name in ENUMS and value not in ENUMS[name]:
                raise bad(f"Invalid {name}. Must be one of {ENUMS[name]}.")
        if not body.get("query", "").strip():
            raise bad("Query is missing.")
        if len(body["query"]) > 400:
            raise bad("Query is too long. Max query length is 400 characters.")
        if not 0 <= body.get("max_results", 5) <= 20 or not 1 <= body.get("chunks_per_source", 3) <= 3:
            raise bad("Invalid max results. Must be between 0 and 20.")
        if len(body.get("include_domains", [])) > 300 or len(body.get("exclude_domains", [])) > 150:
            raise bad("Max 300 domains to include and 150 to exclude.")
        if any(not re.fullmatch(r"\d{4}-\d\d-\d\d", body.get(name, "2031-01-01")) for name in ("start_date", "end_date")):
            raise bad("Invalid date. Must be YYYY-MM-DD.")
        if body.get("country") and (body.get("topic", "general") != "general" or len(body["country"]) <= 3):
            raise bad("Invalid country. Must be a full name in lower case, with topic general.")
        return body["query"]

    def good(self, asked):
        body = json.loads(asked)
        found = CORPUS.by_words(body["query"])[:body.get("max_results", 5)]
        best = found[0][0] if found else 1
        answer = {"query": body["query"], "follow_up_questions": None, "answer": None, "images": [], "response_time": 0.41,
                  "results": [{"url": document["url"], "title": document["title"], "content": document["content"],
                               "score": round(0.98 * score / best, 6), "raw_content": document["content"] if body.get("include_raw_content") else None}
                              for score, document in found],
                  "request_id": "00000000-0000-4000-8000-000000000001"}
        if body.get("include_usage"):
            answer["usage"] = {"credits": 2 if body.get("search_depth") == "advanced" else 1}
        return answer

    def hits_of(self, value):
        return value["results"]

    def refusal(self, status):
        if status == 404:
            return {"detail": "Not Found"}, "application/json", {}
        if status not in ERRORS:
            return b"<html><head><title>%d</title></head><body>nginx</body></html>" % status, "text/html", {}
        return {"detail": {"error": ERRORS[status]}}, "application/json", {}

    def quota(self):
        self.refuse(432)
