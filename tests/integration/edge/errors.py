#!/usr/bin/env python3
"""Whether the edge refuses as gRPC does: `renga serve` with keys is asked for every method by both ways, with requests that are wrong in
many ways, and each error of gRPC is compared with its twin. Then what HTTP alone can have wrong: keys, paths, verbs, types, sizes,
headers. Needs RENGA_BIN and RENGA_PROTO. ERRORS_SHOWN=1 prints how often each status was seen."""
import collections
import hashlib
import json
import os
import re
from concurrent import futures
from urllib.parse import quote, urlencode

import grpc
from google.protobuf import json_format

from front import SLOW, Front, expect
from stand_in import METHODS
from checks import check, finish
from contract import message

TWINS = {"CANCELLED": 499, "UNKNOWN": 500, "INVALID_ARGUMENT": 400, "DEADLINE_EXCEEDED": 504, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
         "PERMISSION_DENIED": 403, "RESOURCE_EXHAUSTED": 429, "FAILED_PRECONDITION": 400, "ABORTED": 409, "OUT_OF_RANGE": 400,
         "UNIMPLEMENTED": 501, "INTERNAL": 500, "UNAVAILABLE": 503, "DATA_LOSS": 500, "UNAUTHENTICATED": 401}
CALL_S = 10 * SLOW  # the deadline of a call: what is not refused need not come to its end
LONGEST = 300_000  # bytes of a text that is too long; fields with a higher bound are left out


def key(name, *methods):
    return {"name": name, "tenant": "north", "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": list(methods)}


front = Front("--rpc.keys=" + json.dumps([key("opens-all", "*"), key("opens-one", "renga.v1.Orchestrator/ListAgents")]))
document = front.ask("GET", "/openapi.json")[2]
ROUTES = {operation["operationId"]: (verb.upper(), path, operation) for path, item in document["paths"].items()
          for verb, operation in item.items() if operation["operationId"] in METHODS}
channel = grpc.insecure_channel(f"127.0.0.1:{front.rpc}")
seen = collections.Counter()


def of_all(work):
    with futures.ThreadPoolExecutor(8) as pool:
        for result in [pool.submit(work, name) for name in ROUTES]:
            result.result()


def bearer(name):
    return {"authorization": f"Bearer {name}"}


def by_grpc(name, made, shown="opens-all"):
    """The error of a call, as {"status", "message", "fields"}; None where it was answered, or an event came."""
    method = METHODS[name]
    path = f"/{method.containing_service.full_name}/{method.name}"
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    call = kind(path, lambda asked: asked.SerializeToString(), message(method.output_type.full_name).FromString)
    try:
        answer = call(made, timeout=CALL_S, metadata=[("authorization", f"Bearer {shown}")] if shown else [])
        if method.server_streaming:
            next(iter(answer), None)
            answer.cancel()
        return None
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
            return None
        status = message("google.rpc.Status")()
        status.ParseFromString(dict(error.trailing_metadata()).get("grpc-status-details-bin", b""))
        fields = []
        for detail in status.details:
            if detail.type_url.endswith("BadRequest"):
                fields = [violation.field for violation in message("google.rpc.BadRequest").FromString(detail.value).field_violations]
        return {"status": error.code().name, "message": error.details(), "fields": fields}


def by_http(name, made, **headers):
    verb, path, _ = ROUTES[name]
    fields = json_format.MessageToDict(made)
    for field in made.DESCRIPTOR.fields:
        mark = "{" + field.json_name + "}"
        if mark in path:
            path = path.replace(mark, quote(fields.pop(field.json_name), safe=""))
    headers = {**bearer("opens-all"), "x_request_timeout": f"{CALL_S}s", "accept": "text/event-stream, application/json", **headers}
    if verb in ("POST", "PUT"):
        return front.ask(verb, path, fields, **headers)
    pairs = [(f"{key}.{inner}", text) for key, value in fields.items() if isinstance(value, dict) for inner, text in value.items()]
    pairs += [(key, str(value).lower() if isinstance(value, bool) else value) for key, value in fields.items() if not isinstance(value, dict)]
    return front.ask(verb, f"{path}?{urlencode(pairs, doseq=True)}" if pairs else path, **headers)


def camel(text):
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), text)


def compare(name, made, of):
    wanted = by_grpc(name, made)
    if not wanted or "another call is writing" in wanted["message"]:  # one that was just let go, and ends soon
        return
    status, headers, body = by_http(name, made)
    if status == 200 and isinstance(body, bytes) and b"event: error\ndata: " in body:  # the stream began before the service refused
        body = json.loads(body.split(b"event: error\ndata: ")[1].split(b"\n")[0])
        status = body["error"]["code"]
    seen[wanted["status"]] += 1
    expect(status == TWINS[wanted["status"]], f"{name}, {of}: {status} {str(body)[:300]} instead of {wanted}")
    error = body["error"]
    expect((error["code"], error["status"]) == (status, wanted["status"]), f"{name}, {of}: {error}")
    expect(error["message"] == wanted["message"], f"{name}, {of}: {error['message']!r} instead of {wanted['message']!r}")
    fields = [violation["field"] for detail in error["details"] for violation in detail.get("fieldViolations", ())]
    expect(fields == [camel(field) for field in wanted["fields"]], f"{name}, {of}: {fields} instead of {wanted['fields']}")
    expect(("retry-after" in headers) >= (status == 503), f"{name}, {of}: {headers}")


def example(name):
    """The request of the document's example, for ids that are not there."""
    made = message(METHODS[name].input_type.full_name)()
    content = ROUTES[name][2].get("requestBody", {}).get("content", {}).get("application/json", {})
    fields = {key: json.dumps(value) if key.endswith("Json") and not isinstance(value, str) else value
              for key, value in content.get("example", {}).items()}
    json_format.ParseDict(texts(fields), made)
    for field in made.DESCRIPTOR.fields:
        if "{" + field.json_name + "}" in ROUTES[name][1]:
            setattr(made, field.name, f"never{sorted(METHODS).index(name)}")  # methods run at once
    return made


def texts(value):
    """JSON values of fields x_json as their texts, at any depth."""
    if isinstance(value, list):
        return [texts(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: json.dumps(each) if key.endswith("Json") and not isinstance(each, str) else texts(each) for key, each in value.items()}


def bound(name, field):
    """How many bytes the comment of a text allows at most; 0 where it does not say, or allows much."""
    parameters = [each for each in ROUTES[name][2]["parameters"] if each.get("name") == field.json_name]
    body = ROUTES[name][2].get("requestBody")
    schema = document["components"]["schemas"][body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]] if body else {}
    text = parameters[0]["description"] if parameters else schema["properties"].get(field.json_name, {}).get("description", "")
    found = re.search(r"[Aa]t most ([0-9,]+) bytes", text)
    most = int(found[1].replace(",", "")) if found else 0
    return most if most <= LONGEST else 0


def faults(name):
    """Requests that are wrong, one after the other, each with what is wrong with it."""
    made = message(METHODS[name].input_type.full_name)()
    for field in made.DESCRIPTOR.fields:
        if "{" + field.json_name + "}" in ROUTES[name][1]:
            setattr(made, field.name, f"never{sorted(METHODS).index(name)}")  # methods run at once
    yield made, "no field"
    yield example(name), "unknown ids"
    for field in made.DESCRIPTOR.fields:
        if field.label == field.LABEL_REPEATED or field.message_type:
            continue
        changes = {field.TYPE_STRING: ["x" * (bound(name, field) + 1)] if bound(name, field) else [],
                   field.TYPE_INT32: [-1, -2**31, 2**31 - 1], field.TYPE_INT64: [-2, -2**63, 2**63 - 1]}.get(field.type, [])
        for value in changes:
            wrong = example(name)
            setattr(wrong, field.name, value)
            yield wrong, f"{field.name} is {str(value)[:20]}"
        if field.type == field.TYPE_STRING and field.name.endswith("_json"):
            for value in ("{", "nonsense", "[1"):
                wrong = example(name)
                setattr(wrong, field.name, value)
                yield wrong, f"{field.name} is {value}"


@check("requests that the services refuse are refused as over gRPC: status, text and fields")
def _():
    def work(name):
        for made, of in faults(name):
            compare(name, made, of)
    of_all(work)
    if os.environ.get("ERRORS_SHOWN"):
        print(f"# {dict(seen)}")
    expect(seen["INVALID_ARGUMENT"] > 150 and seen["NOT_FOUND"] > 15, f"only {dict(seen)}")
    return f"{sum(seen.values())} errors: {dict(seen)}"


@check("without a key and with one that is unknown every method is 401, and with one that does not open it 403")
def _():
    def work(name):
        made = example(name)
        for headers, shown, twin in (({"authorization": ""}, "", 401), (bearer("unknown"), "unknown", 401), (bearer("opens-one"), "opens-one", 403)):
            if name == "Orchestrator_ListAgents" and twin == 403:
                continue
            status, answered, body = by_http(name, made, **headers)
            wanted = by_grpc(name, made, shown)
            expect(status == twin and TWINS[wanted["status"]] == twin, f"{name}: {status} {str(body)[:200]}, {wanted}")
            expect(body["error"]["status"] == wanted["status"], f"{name}: {body}")
            expect(("www-authenticate" in answered) == (twin == 401), f"{name}: {answered}")
    of_all(work)


def refused(status, code, method, path, body=None, field=None, **headers):
    headers = {"authorization": "Bearer opens-all", **headers}
    got, answered, told = front.ask(method, path, body, **headers)
    expect(got == status and isinstance(told, dict), f"{method} {path[:80]}: {got} {str(told)[:300]}")
    expect(told["error"]["code"] == status and told["error"]["status"] == code, f"{method} {path[:80]}: {told}")
    if field:
        fields = [violation["field"] for detail in told["error"]["details"] for violation in detail.get("fieldViolations", ())]
        expect(fields == [field], f"{method} {path[:80]}: {told['error']}")
    return answered, told["error"]


JSON = {"content_type": "application/json"}


@check("a key in the URL is refused, whatever it is called, and not answered even where it is right")
def _():
    for name in ("key", "api_key", "access_token", "token", "KEY", "Authorization", "%6bey", "k%65y", "api%5Fkey", "a=1&%4BEY"):
        _, error = refused(400, "INVALID_ARGUMENT", "GET", f"/v1/agents?{name}=opens-all", authorization="")
        expect("opens-all" not in json.dumps(error), f"{name}: {error}")


@check("an unknown path is 404, and a known one under another verb 405 with those that it has")
def _():
    for path in ("/v1", "/v1/", "/v1/nothing", "/v1/runs/", "/v1/runs/a/b", "/v1/runs:cancel", "/v1/runs/a:dance", "/v2/runs", "/v1/runs/a/b/c/d/e/f/g/h/i"):
        got = front.ask("GET", path, **bearer("opens-all"))
        expect(got[0] in (400, 404) and got[2]["error"]["status"] in ("NOT_FOUND", "INVALID_ARGUMENT"), f"{path}: {got}")
    for method, path, allowed in (("PUT", "/v1/runs", {"GET", "HEAD", "POST"}), ("DELETE", "/v1/runs/a", {"GET", "HEAD"}),
                                  ("GET", "/v1/helpdesk:ask", {"POST"}), ("POST", "/v1/playbooks/a", {"GET", "HEAD", "PUT", "DELETE"}),
                                  ("PATCH", "/v1/session", {"GET", "HEAD", "POST", "DELETE"}), ("POST", "/openapi.json", {"GET", "HEAD"})):
        answered, _ = refused(405, "UNIMPLEMENTED", method, path)
        expect(set(answered["allow"].split(", ")) == allowed, f"{method} {path}: {answered['allow']}")


@check("paths that could be read in two ways are refused: dots, empty parts, NUL, no UTF-8, bad escapes")
def _():
    for path in ("/v1/runs/..", "/v1/runs/%2e%2e", "/v1//runs", "/v1/runs/%00", "/v1/runs/%ff", "/v1/runs/%zz", "/v1/runs/a%", "/v1/runs/%0a"):
        got = front.ask("GET", path, **bearer("opens-all"))
        expect(400 <= got[0] < 500 and got[2]["error"]["status"] in ("INVALID_ARGUMENT", "NOT_FOUND"), f"{path}: {got}")
    for path, told in (("/v1/runs/a%2Fb", "a/b"), ("/v1/runs/a%3Acancel", "a:cancel"), ("/v1/runs/%E9%80%A3", "連")):
        _, error = refused(404, "NOT_FOUND", "GET", path)
        expect(told in error["message"], f"{path}: {error}")


@check("a body must be an object of JSON, say so, and fit; its faults are told by their place")
def _():
    ask = "/v1/helpdesk:ask"
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json-patch+json", ""):
        refused(415, "INVALID_ARGUMENT", "POST", ask, '{"question": "?"}', content_type=kind)
    for body in ("[]", "1", '"?"', "{", '{"question": "?"} x', '{"question": "?", }', "{'question': 1}", '\ufeff{"question":"?"}', b'{"question": "\xff"}',
                 '{"question": "\\ud800"}', '{"question": "a\\u0000b"}', "[" * 100_000):
        refused(400, "INVALID_ARGUMENT", "POST", ask, body.encode() if isinstance(body, str) else body, **JSON)
    for body, field in (('{"qestion": "?"}', "qestion"), ('{"question": 1}', "question"), ('{"question": "?", "question": "!"}', None),
                        ('{"question": "?", "options": {"budgt": {}}}', "options.budgt"), ('{"question": "?", "options": []}', "options"),
                        ('{"question": "?", "options": {"timeoutMs": "1.5"}}', "options.timeoutMs"),
                        ('{"question": "?", "options": {"timeoutMs": "9223372036854775808"}}', "options.timeoutMs"),
                        ('{"question": "?", "options": {"request_id": "a", "requestId": "b"}}', "options.requestId"),
                        ('{"question": "?", "collections": [null]}', "collections[0]")):
        refused(400, "INVALID_ARGUMENT", "POST", ask, body, field, **JSON)
    refused(400, "INVALID_ARGUMENT", "POST", "/v1/runs", '{"agent": "echo", "onBusy": "ON_BUSY_DANCE"}', "onBusy", **JSON)
    for word, hint in (("reject", "did you mean 'ON_BUSY_REJECT'?"), ("ON_BUSY_REJEKT", "did you mean 'ON_BUSY_REJECT'?"), ("x", "'ON_BUSY_REJECT'")):
        error = refused(400, "INVALID_ARGUMENT", "POST", "/v1/runs", {"agent": "echo", "onBusy": word})[1]
        expect(hint in error["message"] and error["message"].count("'") % 2 == 0, error["message"])
    error = refused(400, "INVALID_ARGUMENT", "GET", "/v1/runs?states=asleep")[1]
    expect(error["message"].count("'") % 2 == 0, error["message"])
    status, _, told = front.ask("POST", ask, b'{"question": "' + b"x" * (9 << 20) + b'"}', **bearer("opens-all"), **JSON)
    expect(status == 413 and told["error"]["code"] == 413, f"{status} {str(told)[:300]}")
    refused(400, "INVALID_ARGUMENT", "DELETE", "/v1/threads/a", '{"cancelRuns": true}', **JSON)


@check("a query must fit: no unknown names, no value twice, none beside a body; what is given twice must be the same")
def _():
    for query, field in (("nme=1", "nme"), ("pageSize=many", "pageSize"), ("pageSize=1&pageSize=2", "pageSize"), ("states=ASLEEP", "states"),
                         ("labels=1", "labels"), ("createdFromMs=1.5", "createdFromMs")):
        refused(400, "INVALID_ARGUMENT", "GET", f"/v1/runs?{query}", field=field)
    refused(400, "INVALID_ARGUMENT", "POST", "/v1/runs?agent=echo", {"agent": "echo"})
    refused(400, "INVALID_ARGUMENT", "POST", "/v1/runs/a:cancel", {"runId": "b"}, field="runId")
    refused(404, "NOT_FOUND", "POST", "/v1/runs/a:cancel", {"runId": "a"})


@check("headers must fit: keys of calls, deadlines, ids of events, types that are wanted")
def _():
    body = {"agent": "echo", "requestId": "one"}
    refused(400, "INVALID_ARGUMENT", "POST", "/v1/runs", body, "requestId", idempotency_key="two")
    expect(front.ask("POST", "/v1/runs", body, idempotency_key='"one"', **bearer("opens-all"))[0] == 200, "the same key twice is refused")
    for bad in ("", "x" * 129, "with \t tab", "é"):
        refused(400, "INVALID_ARGUMENT", "POST", "/v1/runs", {"agent": "echo"}, idempotency_key=bad.encode().decode("latin-1"))
    for bad in ("soon", "-1s", "1.5s", "0s", "99999999999s"):
        refused(400, "INVALID_ARGUMENT", "GET", "/v1/agents", x_request_timeout=bad)
    refused(400, "INVALID_ARGUMENT", "GET", "/v1/agents", x_request_timeout="1s", grpc_timeout="2S")
    run = front.ask("POST", "/v1/runs", {"agent": "echo", "wait": True}, **bearer("opens-all"))[2]["run"]["runId"]
    refused(400, "INVALID_ARGUMENT", "GET", f"/v1/runs/{run}/events?after=first")
    refused(400, "INVALID_ARGUMENT", "GET", f"/v1/runs/{run}/events", last_event_id="last")
    refused(406, "INVALID_ARGUMENT", "GET", f"/v1/runs/{run}/events", accept="image/png")
    refused(400, "INVALID_ARGUMENT", "GET", "/v1/agents", renga_forwarded_bin="AA==")


# ---- the bounds of /openapi.json -----------------------------------------------------------------------------------


def schema_of(schema):
    while "$ref" in schema:
        schema = {**document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], **{key: schema[key] for key in schema if key != "$ref"}}
    return schema


def least(schema):
    """A small value that fits."""
    schema = schema_of(schema)
    kind = schema.get("type")
    if "enum" in schema:
        return schema["enum"][-1]
    if kind == "object":
        return {name: least(inner) for name, inner in schema.get("properties", {}).items() if name in schema.get("required", ())}
    if kind == "array":
        return [least(schema["items"])]
    if kind in ("string", "boolean"):
        return "YQ" if kind == "string" else True
    return max(schema.get("minimum", 0), min(1, schema.get("maximum", 1)))


def beyond(schema):
    """Values just beyond the bounds of a field."""
    if "enum" in schema:
        yield "ASLEEP"
    if schema.get("maxLength", LONGEST) < LONGEST and not schema.get("contentEncoding"):
        yield "a" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield ""
    if "minimum" in schema:
        yield schema["minimum"] - (0.5 if schema["type"] == "number" else 1)
    if "exclusiveMinimum" in schema:
        yield schema["exclusiveMinimum"]
    if "maximum" in schema:
        yield schema["maximum"] + (0.5 if schema["type"] == "number" else 1)
    if schema.get("maxItems", LONGEST) < 5000:
        yield [least(schema["items"])] * (schema["maxItems"] + 1)
    if "maxProperties" in schema:
        yield {f"key{i}": "x" for i in range(schema["maxProperties"] + 1)}
    if "propertyNames" in schema:
        yield {"k" * (schema["propertyNames"]["maxLength"] + 1): "x"}
    if isinstance(schema.get("additionalProperties"), dict) and "maxLength" in schema["additionalProperties"]:
        yield {"key": "x" * (schema["additionalProperties"]["maxLength"] + 1)}


def beyond_in(schema, body, depth=0):
    """Bodies with one field beyond a bound, and the path of that field."""
    for name, inner in schema["properties"].items():
        field, others = schema_of(inner), [each for group in schema.get("x-oneof", ()) if name in group for each in group]
        rest = {key: value for key, value in body.items() if key != name and key not in others}
        for value in beyond(field):
            yield {**rest, name: value}, name
        items = schema_of(field["items"]) if field.get("type") == "array" else None
        for value in beyond(items) if items else ():
            yield {**rest, name: [value]}, f"{name}[0]"
        holder, at = (items, f"{name}[0]") if items else (field, name)
        if "properties" in holder and depth < 4:
            given = body.get(name, least(field))
            for value, path in beyond_in(holder, (given or [{}])[0] if items else given, depth + 1):
                yield {**rest, name: [value] if items else value}, f"{at}.{path}"


def late_error(text):
    """After STREAM_OPEN_MS, on a busy machine, a stream is open already, and an error is an event with the same body."""
    event = re.search(rb"event: error\ndata: (.*)", text if isinstance(text, bytes) else b"")
    return json.loads(event[1]) if event else {"error": {"code": 200}}


@check("each bound that /openapi.json gives a field of a body is kept, and the error names the field")
def _():
    counts = collections.Counter()

    def work(name):
        verb, path, operation = ROUTES[name]
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        for body, field in beyond_in(schema_of(content["schema"]), content.get("example", {})) if content else ():
            status, _, told = front.ask(verb, re.sub("{[^}]*}", "never", path), body, accept="text/event-stream, application/json", **bearer("opens-all"))
            if status == 200:
                told = late_error(told)
                status = told["error"]["code"]
            expect(status == 400, f"{name}, {field}: {status} {str(told)[:200]} for {str(body)[:200]}")
            fields = [violation["field"] for detail in told["error"]["details"] for violation in detail.get("fieldViolations", ())]
            expect(fields and fields[0].startswith(field), f"{name}, {field}: {told['error']['message'][:200]} for {str(body)[:200]}")
            counts[name] += 1
    of_all(work)
    expect(sum(counts.values()) > 500, f"only {counts}")
    expect(document["components"]["schemas"]["Sampling"]["properties"]["topP"].get("exclusiveMinimum") == 0, "topP may be 0, which is refused")
    return f"{sum(counts.values())} bodies"


front.stop()
finish()
