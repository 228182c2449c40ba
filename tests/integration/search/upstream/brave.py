"""Brave Search: GET or POST /res/v1/web/search. https://api-dashboard.search.brave.com"""
import json
import re
import urllib.parse

from .corpus import CORPUS
from .faults import Refused, Upstream

LANGUAGES = set("ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it jp kn ko lv lt ms ml mr nb pl pt-br "
                "pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi".split())
COUNTRIES = set("AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US ALL".split())
SHAPES = {"count": r"[1-9]|1\d|20", "offset": r"\d", "safesearch": "off|moderate|strict", "text_decorations": "true|false|1|0",
          "spellcheck": "true|false|1|0", "extra_snippets": "true|false|1|0", "operators": "true|false", "units": "metric|imperial",
          "freshness": r"pd|pw|pm|py|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d", "result_filter": r"[a-z_]+(,[a-z_]+)*", "ui_lang": "[a-z]{2}-[A-Z]{2}",
          "goggles": ".+", "goggles_id": ".+", "summary": "true|false", "include_fetch_metadata": "true|false"}
CODES = {400: ("OPTION_NOT_IN_PLAN", "This option is not part of the plan."), 401: ("SUBSCRIPTION_TOKEN_INVALID", "The token is not valid."),
         403: ("RESOURCE_NOT_ALLOWED", "Not allowed."), 404: ("SUBSCRIPTION_NOT_FOUND", "No subscription found for this endpoint."),
         422: ("SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."),
         429: ("RATE_LIMITED", "Request rate limit exceeded for plan."), 500: ("INTERNAL", "Internal server error."),
         503: ("UNAVAILABLE", "The service is not available.")}


def error(status, code=None, detail=None, **meta):
    own = CODES.get(status, ("ERROR", "Error."))
    return {"type": "ErrorResponse", "error": {"id": "00000000-0000-4000-8000-00000000b4a7", "status": status, "code": code or own[0],
                                               "detail": detail or own[1], "meta": meta}, "time": 1954364294}


def limits(left_second, left_month):
    return {"X-RateLimit-Limit": "50, 2000", "X-RateLimit-Policy": "50;w=1, 2000;w=2592000",
            "X-RateLimit-Remaining": f"{left_second}, {left_month}", "X-RateLimit-Reset": "1, 1209600"}


def invalid(place, message):
    return Refused(422, error(422, "VALIDATION", "Unable to validate request parameter(s)", errors=[
        {"type": "value_error", "loc": place, "msg": message, "input": None}]))


class Brave(Upstream):
    engine, key = "brave", "BSAq8Zw3Lk1Vn5Tx"

    def fields(self, asked):
        address = urllib.parse.urlsplit(self.path)
        if self.command == "GET":
            return address.path, dict(urllib.parse.parse_qsl(address.query, keep_blank_values=True, strict_parsing=True, errors="strict"))
        return address.path, {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in json.loads(asked).items()}

    def query_of(self, asked):
        path, fields = self.fields(asked)
        if path != "/res/v1/web/search":
            raise Refused(404, b"Not Found", "text/plain")
        given = self.headers.get("x-subscription-token")
        if given is None:
            raise invalid(["header", "x-subscription-token"], "Field required")
        if given != self.key:
            raise Refused(422, error(422, component="authentication"))
        for name, value in fields.items():
            if name == "q":
                continue
            if name == "search_lang" and value not in LANGUAGES or name == "country" and value not in COUNTRIES:
                raise invalid(["query", name], f"Input should be one of the supported values, not {value}")
            if name not in ("search_lang", "country") and not re.fullmatch(SHAPES.get(name, "(?!)"), value, re.S):
                raise invalid(["query", name], f"Input should be valid, not {value}")
        query = fields.get("q", "")
        if not query.strip() or len(query) > 400 or len(query.split()) > 50:
            raise invalid(["query", "q"], "String should have at least 1 and at most 400 characters and 50 words")
        return query

    def headers_of(self):
        return limits(49, 1960)

    def good(self, asked):
        _, fields = self.fields(asked)
        found = CORPUS.by_words(fields["q"])[:int(fields.get("count", 20))]
        marked = fields.get("text_decorations", "true") in ("true", "1")
        value = {"type": "search", "query": {"original": fields["q"], "more_results_available": False, "show_strict_warning": False},
                 "mixed": {"type": "mixed", "main": [{"type": "web", "index": i, "all": False} for i in range(len(found))], "top": [], "side": []}}
        results = [{"title": document["title"], "url": document["url"], "language": document["lang"], "family_friendly": True,
                    "description": ("<strong>%s</strong>" if marked else "%s") % document["content"].replace("&", "&amp;"),
                    "page_age": document["updated"][:19], "age": "3 weeks ago", "type": "search_result", "subtype": "generic",
                    "meta_url": {"scheme": "https", "netloc": urllib.parse.urlsplit(document["url"]).netloc, "path": "› page"},
                    **({"extra_snippets": ["More of " + document["title"]]} if fields.get("extra_snippets") in ("true", "1") else {})}
                   for _, document in found]
        if results:
            value["web"] = {"type": "search", "results": results, "family_friendly": True}
        return value

    def hits_of(self, value):
        return value.get("web", {"results": []})["results"]

    def refusal(self, status):
        if status not in CODES:
            return b"<html><body>%d</body></html>" % status, "text/html", {}
        return error(status), "application/json", limits(0, 1960) if status == 429 else {}

    def quota(self):
        self.reply(error(429, "QUOTA_LIMITED", "Request quota limit exceeded for plan."), 429, **limits(49, 0))
