"""OpenSearch and Elasticsearch: POST /{index}/_search with BM25 and kNN, each in its own dialect.
https://opensearch.org/docs/latest/api-reference/search https://www.elastic.co/docs/api"""
import base64
import json
import re
import urllib.parse

from .corpus import CORPUS, DIMENSIONS
from .faults import Refused, Upstream

INDEX = "kb"
FIELDS = {"doc_id": "id", "title": "title", "url": "url", "body": "content", "lang": "lang", "updated": "updated"}
TEXTS = ("title", "body", "title.icu", "body.icu")
PARAMETERS = {"timeout", "allow_partial_search_results", "ignore_unavailable", "search_type", "request_cache", "cancel_after_time_interval",
              "track_total_hits", "filter_path", "typed_keys", "ccs_minimize_roundtrips"}
TOP = {"size", "from", "query", "_source", "highlight", "track_total_hits", "timeout", "min_score", "sort"}
MULTI_MATCH = {"query", "fields", "type", "tie_breaker", "minimum_should_match", "operator", "fuzziness", "boost", "lenient", "analyzer"}
HIGHLIGHT = {"fragment_size", "number_of_fragments", "no_match_size", "highlight_query", "type", "pre_tags", "post_tags", "max_analyzed_offset"}
TYPES = ("best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix")


def error(status, kind, reason, **more):
    cause = {"type": kind, "reason": reason, **more}
    return {"error": {"root_cause": [cause], **cause}, "status": status}


def bad(kind, reason):
    return Refused(400, error(400, kind, reason, line=1, col=2))


class OpenSearch(Upstream):
    engine, key, user, password = "opensearch", "os_q7Zk3Wm9Xs1Lb5Rt", "reader", "Pw-7f3K9qLm2Vx"
    dialect_top = TOP

    # ---- the request ----

    def authorized(self):
        given = self.headers.get("authorization", "")
        basic = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return given in (f"Basic {basic}", f"ApiKey {self.key}")

    def unauthorized(self):
        return Refused(401, b"Unauthorized", "text/plain", www_authenticate='Basic realm="OpenSearch Security"')

    def query_of(self, asked):
        address = urllib.parse.urlsplit(self.path)
        if not self.authorized():
            raise self.unauthorized()
        found = re.fullmatch(r"/([^/]+)/_m?search", address.path)
        if not found or self.command not in ("POST", "GET"):
            raise Refused(405, {"error": f"Incorrect HTTP method for uri [{self.path}] and method [{self.command}], allowed: [POST]", "status": 405})
        index = urllib.parse.unquote(found.group(1))
        if index != INDEX:
            raise Refused(404, error(404, "index_not_found_exception", f"no such index [{index}]", index=index, **{
                "resource.id": index, "resource.type": "index_or_alias", "index_uuid": "_na_"}))
        several = address.path.endswith("/_msearch")
        if not re.match(r"application/(vnd\.elasticsearch\+)?" + ("x-ndjson" if several else "json"), self.headers.get("content-type", "")):
            raise Refused(406, {"error": f"Content-Type header [{self.headers.get('content-type')}] is not supported", "status": 406})
        for name, value in urllib.parse.parse_qsl(address.query, keep_blank_values=True):
            if name not in PARAMETERS:
                raise bad("illegal_argument_exception", f"request [{address.path}] contains unrecognized parameter: [{name}]")
            if name == "timeout" and not re.fullmatch(r"\d+(nanos|micros|ms|s|m|h|d)", value):
                raise bad("illegal_argument_exception", f"failed to parse setting [timeout] with value [{value}]")
        if several and not asked.endswith(b"\n"):
            raise bad("illegal_argument_exception", "The msearch request must be terminated by a newline [\n]")
        try:
            bodies = self.bodies(asked)
        except ValueError:
            raise bad("json_parse_exception", "Unexpected end-of-input") from None
        return [self.query_of_body(body) for body in bodies][0]

    def bodies(self, asked):
        """Of _search its body; of _msearch each second line, behind its header."""
        if "/_msearch" not in self.path:
            return [json.loads(asked)]
        lines = [json.loads(line) for line in asked.decode().split("\n")[:-1]]
        if len(lines) % 2 or any(set(header) - {"index", "preference", "routing", "search_type"} for header in lines[::2]):
            raise bad("illegal_argument_exception", "Malformed action/metadata line")
        return lines[1::2]

    def query_of_body(self, body):
        for name in body:
            if name not in self.dialect_top:
                raise bad("parsing_exception", f"Unknown key for a START_OBJECT in [{name}].")
        if body.get("size", 10) + body.get("from", 0) > 10_000:
            raise bad("illegal_argument_exception", "Result window is too large, from + size must be less than or equal to: [10000]")
        for field in body.get("highlight", {}).get("fields", {}).values():
            if set(field) - HIGHLIGHT:
                raise bad("x_content_parse_exception", f"[highlight_field] unknown field {sorted(set(field) - HIGHLIGHT)}")
        return self.text_of_clause(body.get("query", {"match_all": {}}))

    def text_of_clause(self, clause):
        if not isinstance(clause, dict) or len(clause) != 1:
            raise bad("parsing_exception", "query malformed, no start_object after query name")
        (kind, value), = clause.items()
        if kind == "bool":
            if set(value) - {"must", "filter", "should", "must_not", "minimum_should_match", "boost"}:
                raise bad("x_content_parse_exception", f"[bool] unknown field [{sorted(value)[0]}]")
            for inner in self.listed(value.get("filter", [])):
                self.keep_of(inner)
            return " ".join(self.text_of_clause(inner) for name in ("must", "should") for inner in self.listed(value.get(name, [])))
        if kind == "multi_match":
            if set(value) - MULTI_MATCH or value.get("type", "best_fields") not in TYPES or "query" not in value:
                raise bad("parsing_exception", "[multi_match] query does not support " + str(sorted(set(value) - MULTI_MATCH)))
            if not isinstance(value["query"], str) or not all(re.fullmatch(r"[\w.*]+(\^[\d.]+)?", field) for field in value.get("fields", [])):
                raise bad("query_shard_exception", "failed to create query")
            return value["query"]
        if kind == "match":
            (_, inner), = value.items()
            return inner if isinstance(inner, str) else inner["query"]
        if kind == "knn":
            return self.text_of_knn(value)
        if kind == "match_all":
            return ""
        raise bad("parsing_exception", f"unknown query [{kind}]")

    @staticmethod
    def listed(value):
        return value if isinstance(value, list) else [value]

    def text_of_knn(self, value):
        if len(value) != 1 or "vec" not in value:
            raise bad("query_shard_exception", f"failed to create query: Field '{next(iter(value), '')}' is not knn_vector type.")
        inner = value["vec"]
        if set(inner) - {"vector", "k", "filter", "method_parameters", "max_distance", "min_score", "rescore", "boost"}:
            raise bad("parsing_exception", f"[knn] unknown token or field {sorted(inner)}")
        if len({"k", "max_distance", "min_score"} & set(inner)) != 1 or not 1 <= inner.get("k", 1) <= 10_000:
            raise bad("illegal_argument_exception", "[knn] requires exactly one of k, distance or score to be set")
        return self.text_of_vector(inner["vector"], "Query vector has invalid dimension: %d. Dimension should be: %d")

    def text_of_vector(self, numbers, complaint):
        if not isinstance(numbers, list) or not all(isinstance(number, (int, float)) for number in numbers):
            raise bad("parsing_exception", "[knn] failed to parse the vector")
        if len(numbers) != DIMENSIONS:
            raise Refused(400, {"error": {"root_cause": [{"type": "query_shard_exception", "reason": complaint % (len(numbers), DIMENSIONS)}],
                                          "type": "search_phase_execution_exception", "reason": "all shards failed", "phase": "query"}, "status": 400})
        return CORPUS.text_of(numbers) or ""

    def keep_of(self, clause):
        """A predicate of a filter."""
        (kind, value), = clause.items()
        if kind == "bool":
            tests = [self.keep_of(inner) for inner in self.listed(value.get("filter", [])) + self.listed(value.get("must", []))]
            return lambda document: all(test(document) for test in tests)
        if kind not in ("term", "terms", "range"):
            raise bad("parsing_exception", f"unknown query [{kind}]")
        (name, wanted), = value.items()
        field = FIELDS.get(name, name)
        if kind == "term":
            wanted = wanted["value"] if isinstance(wanted, dict) else wanted
            return lambda document: document.get(field) == wanted
        if kind == "terms":
            return lambda document: document.get(field) in wanted
        return lambda document: wanted.get("gte", "") <= document.get(field, "") <= wanted.get("lte", "~")

    # ---- the answer ----

    def found(self, body):
        query = body["query"]
        (kind, value), = query.items()
        if kind == "knn":
            inner = value["vec"]
            keep = self.keep_of(inner["filter"]) if "filter" in inner else lambda document: True
            return [((1 + cosine) / 2, document) for cosine, document in CORPUS.by_vector(inner["vector"], inner["k"], keep)]
        clauses = self.listed(value.get("filter", [])) if kind == "bool" else []
        tests = [self.keep_of(clause) for clause in clauses]
        return CORPUS.by_words(self.text_of_clause(query), lambda document: all(test(document) for test in tests))

    def good(self, asked):
        answers = [self.good_of_body(body) for body in self.bodies(asked)]
        return {"took": 12, "responses": [{**answer, "status": 200} for answer in answers]} if "/_msearch" in self.path else answers[0]

    def good_of_body(self, body):
        found = self.found(body)[body.get("from", 0):][:body.get("size", 10)]
        source = body.get("_source", True)
        hits = []
        for score, document in found:
            whole = {name: document[key] for name, key in FIELDS.items()}
            if source is True or isinstance(source, dict) and not source.get("includes"):
                whole["vec"] = [0.125] * DIMENSIONS if source is True else None
                whole = {name: value for name, value in whole.items() if value is not None}
            wanted = source if isinstance(source, list) else source.get("includes", list(whole)) if isinstance(source, dict) else list(whole)
            hit = {"_index": INDEX, "_id": document["id"], "_score": score, "_source": {name: whole[name] for name in wanted if name in whole}}
            if "highlight" in body:
                before, after = (body["highlight"].get(name, [tag])[0] for name, tag in (("pre_tags", "<em>"), ("post_tags", "</em>")))
                hit["highlight"] = {name: [before + document[FIELDS[name]][:8] + after + document[FIELDS[name]][8:]]
                                    for name in body["highlight"]["fields"] if name in FIELDS}
            hits.append(hit)
        value = {"took": 12, "timed_out": False, "_shards": {"total": 3, "successful": 3, "skipped": 0, "failed": 0},
                 "hits": {"total": {"value": len(found), "relation": "eq"}, "max_score": hits[0]["_score"] if hits else None, "hits": hits}}
        if body.get("track_total_hits") is False:
            del value["hits"]["total"]
        return value

    def hits_of(self, value):
        return value.get("responses", [value])[0]["hits"]["hits"]

    def partial(self, value, status):
        """206: shards have failed; partial: the time was up, or the second search failed. OpenSearch says 200 to all."""
        if "responses" in value and status != 206:
            value["responses"][-1] = {**error(400, "query_shard_exception", "failed to create query: [vec] is not knn_vector"), "status": 400}
            return 200, value
        value, whole = value.get("responses", [value])[0], value
        if status == 206:
            value["_shards"] = {"total": 3, "successful": 2, "skipped": 0, "failed": 1, "failures": [
                {"shard": 1, "index": INDEX, "node": "n1", "reason": {"type": "node_disconnected_exception", "reason": "[n1] disconnected"}}]}
        else:
            value["timed_out"] = True
        return 200, whole

    def refusal(self, status):
        kind, reason = {401: ("security_exception", "missing authentication credentials for REST request [/kb/_search]"),
                        403: ("security_exception", "no permissions for [indices:data/read/search] and User [name=reader, backend_roles=[]]"),
                        404: ("index_not_found_exception", "no such index [kb]"),
                        429: ("rejected_execution_exception", "rejected execution of search task on node [n1]: queue capacity 1000"),
                        500: ("null_pointer_exception", "Cannot invoke a method")}.get(status, (None, None))
        if status == 503:
            return {"error": {"root_cause": [], "type": "search_phase_execution_exception", "reason": "all shards failed", "phase": "query",
                              "grouped": True, "failed_shards": []}, "status": 503}, "application/json", {}
        if kind is None:
            return b"<html><body><h1>%d</h1></body></html>" % status, "text/html", {}
        return error(status, kind, reason), "application/json; charset=UTF-8", {}

    def quota(self):
        self.reply(error(429, "circuit_breaking_exception", "[parent] Data too large, data for [<http_request>] would be larger than the limit",
                         durability="PERMANENT"), 429)


class Elasticsearch(OpenSearch):
    """kNN stands beside the query, not in it."""
    engine, key = "elasticsearch", "VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw=="
    dialect_top = TOP | {"knn"}

    def headers_of(self):
        return {"X-Elastic-Product": "Elasticsearch"}

    def unauthorized(self):
        return Refused(401, error(401, "security_exception", "unable to authenticate user [reader] for REST request [/kb/_search]"),
                       www_authenticate='Basic realm="security", charset="UTF-8"', X_Elastic_Product="Elasticsearch")

    def query_of_body(self, body):
        if "knn" not in body:
            return super().query_of_body(body)
        knn = body["knn"]
        if set(knn) - {"field", "query_vector", "k", "num_candidates", "filter", "similarity", "boost"}:
            raise bad("x_content_parse_exception", f"[knn] unknown field {sorted(knn)}")
        if knn.get("field") != "vec" or not 1 <= knn.get("k", 10) <= knn.get("num_candidates", 10_000) <= 10_000:
            raise bad("illegal_argument_exception", "[num_candidates] cannot be less than [k]")
        super().query_of_body({name: value for name, value in body.items() if name != "knn"})
        return self.text_of_vector(knn["query_vector"], "the query vector has a different dimension [%d] than the index vectors [%d]")

    def text_of_clause(self, clause):
        if isinstance(clause, dict) and "knn" in clause:
            raise bad("x_content_parse_exception", "[knn] unknown field [vec]")
        return super().text_of_clause(clause)

    def found(self, body):
        if "knn" not in body:
            return super().found(body)
        knn = body["knn"]
        keep = self.keep_of(knn["filter"]) if "filter" in knn else lambda document: True
        return [((1 + cosine) / 2, document) for cosine, document in CORPUS.by_vector(knn["query_vector"], knn.get("k", 10), keep)]
