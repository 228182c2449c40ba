"""Azure AI Search: POST {endpoint}/indexes('kb')/docs/search.post.search?api-version=… with keyword, vector, hybrid and semantic
queries, an API key or a bearer token, and filters. https://learn.microsoft.com/rest/api/searchservice/documents/search-post"""
import json
import re
import urllib.parse

from .corpus import CORPUS, DIMENSIONS, fused
from .faults import Refused, Upstream

INDEX, SEMANTIC = "kb", "kb-semantic"
FIELDS = ["id", "title", "url", "content", "lang", "updated"]
SEARCHABLE = ["title", "content"]
VERSIONS = ("2023-11-01", "2024-07-01", "2025-09-01", "2026-04-01")
TYPES = {"search": str, "queryType": str, "searchMode": str, "searchFields": str, "select": str, "top": int, "skip": int, "count": bool,
         "filter": str, "orderby": str, "facets": list, "highlight": str, "highlightPreTag": str, "highlightPostTag": str,
         "minimumCoverage": (int, float), "scoringProfile": str, "semanticConfiguration": str, "semanticQuery": str, "semanticErrorHandling": str,
         "semanticMaxWaitInMilliseconds": int, "answers": str, "captions": str, "vectorQueries": list, "vectorFilterMode": str, "sessionId": str}
VECTOR_QUERY = {"kind": str, "vector": list, "text": str, "fields": str, "k": int, "exhaustive": bool, "oversampling": (int, float), "weight": (int, float)}
MESSAGES = {401: "Unauthorized", 403: "Forbidden", 404: "The index 'kb' for service 'fake' was not found.", 408: "The request timed out.",
            429: "You have exceeded the quota of requests for this service.", 500: "An error has occurred.",
            503: "Service is currently unavailable. Please retry after some time."}


def error(message, code=""):
    return {"error": {"code": code, "message": message}}


def bad(why):
    return Refused(400, error(f"The request is invalid. Details: parameters : {why}"))


def filter_of(text):
    """A predicate of an OData filter: comparisons and search.in, joined by `and`."""
    tests = []
    for part in re.split(r"\s+and\s+", text):
        compared = re.fullmatch(r"\(?\s*(\w+)\s+(eq|ne|gt|ge|lt|le)\s+('(?:[^']|'')*'|[\dT:.Z-]+)\s*\)?", part)
        within = re.fullmatch(r"\(?\s*search\.in\((\w+),\s*'((?:[^']|'')*)'(?:,\s*'(.)')?\)\s*\)?", part)
        if not (compared or within) or (compared or within).group(1) not in FIELDS:
            raise Refused(400, error(f"Invalid expression: Syntax error at position 0 in '{text}'.\r\nParameter name: $filter"))
        if within:
            names = within.group(2).replace("''", "'").split(within.group(3) or ",")
            tests.append(lambda document, field=within.group(1), names=names: document[field] in names)
        else:
            field, how, value = compared.group(1), compared.group(2), compared.group(3).strip("'").replace("''", "'")
            order = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
                     "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}[how]
            tests.append(lambda document, field=field, order=order, value=value: order(document[field], value))
    return lambda document: all(test(document) for test in tests)


class AzureAiSearch(Upstream):
    engine, key, token = "azure_ai_search", "0F3aZc91bD7e5G2hK4mN6pQ8rS0tU1vW3xY5zA7AzSeB9dFc", "eyJ0eXAiOiJKV1QifQ.eyJhdWQiOiJzZWFyY2gifQ.c2lnbmF0dXJl"

    def query_of(self, asked):
        address = urllib.parse.urlsplit(self.path)
        given, bearer = self.headers.get("api-key"), self.headers.get("authorization")
        if given is not None and bearer is not None:
            raise Refused(400, error("Both an api-key and an authorization header were given."))
        if bearer is not None and bearer != f"Bearer {self.token}":
            raise Refused(401, b"", "text/plain", www_authenticate='Bearer authorization_uri="https://login.example/t", resource="https://search.azure.com"')
        if bearer is None and given != self.key:
            raise Refused(403, error("Access denied due to invalid credentials", "Forbidden") if given else b"", "application/json" if given else "text/plain")
        index = re.fullmatch(r"/indexes(?:\('([^']*)'\)/docs/search\.post\.search|/([^/]*)/docs/search)", address.path)
        if not index or self.command != "POST":
            raise Refused(404, b"", "text/plain")
        name = urllib.parse.unquote(index.group(1) or index.group(2))
        if name != INDEX:
            raise Refused(404, error(f"The index '{name}' for service 'fake' was not found.", "ResourceNotFound"))
        version = dict(urllib.parse.parse_qsl(address.query)).get("api-version")
        if version not in VERSIONS:
            raise Refused(400, error(f"Invalid or missing api-version query string parameter: {version}", "InvalidApiVersion"))
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise Refused(415, error("The content type is not supported."))
        return self.query_of_body(json.loads(asked))

    def query_of_body(self, body):
        for name, value in body.items():
            if name not in TYPES or not isinstance(value, TYPES[name]) or (isinstance(value, bool) and TYPES[name] is not bool):
                raise bad(f"Cannot use the property '{name}' of type 'SearchRequest'.")
        if body.get("queryType", "simple") not in ("simple", "full", "semantic") or body.get("searchMode", "any") not in ("any", "all"):
            raise bad("queryType or searchMode has no such value.")
        if not 0 <= body.get("top", 50) <= 1000 or not 0 <= body.get("skip", 0) <= 100_000:
            raise bad("Value must be between 0 and 1000. Parameter name: $top")
        for name, allowed in (("select", FIELDS), ("searchFields", SEARCHABLE)):
            for field in filter(None, body.get(name, "").split(",")):
                if field.strip() not in allowed and field.strip() != "*":
                    raise bad(f"Could not find a property named '{field}' on type 'search.document'. Parameter name: ${name}")
        semantic = body.get("queryType") == "semantic"
        if semantic and body.get("semanticConfiguration") != SEMANTIC:
            raise bad(f"The semantic configuration '{body.get('semanticConfiguration')}' does not exist in this index.")
        if not semantic and any(name in body for name in ("captions", "answers", "semanticConfiguration", "semanticErrorHandling",
                                                          "semanticMaxWaitInMilliseconds")):
            raise bad("Semantic parameters need queryType 'semantic'.")
        if semantic and not body.get("search") and not body.get("semanticQuery"):
            raise bad("A semantic query needs a search text.")
        if body.get("semanticErrorHandling", "partial") not in ("partial", "fail") or body.get("semanticMaxWaitInMilliseconds", 700) < 700:
            raise bad("semanticMaxWaitInMilliseconds must be at least 700.")
        if body.get("filter"):
            filter_of(body["filter"])
        texts = [self.text_of_vector(query) for query in body.get("vectorQueries", [])]
        return body.get("search") or body.get("semanticQuery") or next(iter(texts), "") or ""

    def text_of_vector(self, query):
        for name, value in query.items():
            if name not in VECTOR_QUERY or not isinstance(value, VECTOR_QUERY[name]):
                raise bad(f"Cannot use the property '{name}' of type 'VectorQuery'.")
        if query.get("fields") != "vector" or not 1 <= query.get("k", 50) <= 10_000:
            raise bad(f"Unknown field '{query.get('fields')}' in vector field list.")
        if query.get("kind") == "text":
            return query["text"]
        if query.get("kind") != "vector" or not all(isinstance(value, (int, float)) for value in query.get("vector", [None])):
            raise bad("The 'kind' of a vector query must be 'vector' or 'text'.")
        if len(query["vector"]) != DIMENSIONS:
            raise bad(f"The vector field 'vector', with dimension of '{DIMENSIONS}', expects a length of '{DIMENSIONS}'. However, the provided "
                      f"vector has a length of '{len(query['vector'])}'. Please ensure that the vector length matches the expected length.")
        return CORPUS.text_of(query["vector"])

    def good(self, asked):
        body = json.loads(asked)
        keep = filter_of(body["filter"]) if body.get("filter") else lambda document: True
        lists = [CORPUS.by_vector(query["vector"] if query["kind"] == "vector" else CORPUS.embed(query["text"]), query.get("k", 50), keep)
                 for query in body.get("vectorQueries", [])]
        if body.get("search"):
            lists.append(CORPUS.by_words(body["search"], keep))
        found = (lists[0] if len(lists) == 1 else fused(*lists))[body.get("skip", 0):][:body.get("top", 50)]
        selected = [field.strip() for field in body.get("select", "*").split(",")]
        semantic = body.get("queryType") == "semantic"
        value = []
        for rank, (score, document) in enumerate(found):
            hit = {"@search.score": score}
            if semantic:
                hit["@search.rerankerScore"] = max(0.1, 3.9 - 0.7 * rank)
                if body.get("captions", "").startswith("extractive"):
                    hit["@search.captions"] = [{"text": document["content"], "highlights": ""}]
            value.append({**hit, **{field: document[field] for field in FIELDS if selected == ["*"] or field in selected}})
        answer = {"@odata.context": f"https://fake.search.windows.net/indexes('{INDEX}')/$metadata#docs(*)", "value": value}
        if "minimumCoverage" in body:
            answer["@search.coverage"] = 100.0
        return answer

    def partial(self, value, status):
        if value["value"] and "@search.rerankerScore" in value["value"][0]:
            for hit in value["value"]:
                del hit["@search.rerankerScore"]
            return status, {**value, "@search.semanticPartialResponseReason": "CapacityOverloaded", "@search.semanticPartialResponseType": "BaseResults"}
        return status, {**value, "@search.coverage": 62.5}

    def hits_of(self, value):
        return value["value"]

    def refusal(self, status):
        if status in (401, 408):
            return b"", "text/plain", {}
        return error(MESSAGES.get(status, "An error has occurred.")), "application/json; odata.metadata=minimal", {"request-id": "r-1"}

    def quota(self):
        self.reply(error("Semantic search is over its monthly free quota.", "SemanticQueriesQuotaExceeded"), 402)
