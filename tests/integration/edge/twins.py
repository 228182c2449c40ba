#!/usr/bin/env python3
"""Whether HTTP and JSON say the same as gRPC, for every method of the contract: renga-edge calls a stand-in of all services.

Requests: what JSON and queries carry arrives as the message that Python's own ProtoJSON makes of it. Answers and events: messages with
every field set come out as Python's ProtoJSON prints them, and fit their schemas in /openapi.json. Errors: every code of gRPC, with its
details, for every method, before a stream has begun and within it. Needs RENGA_BIN, RENGA_PROTO and NODE."""
import json
import os
import subprocess
import sys
import time
from concurrent import futures
from urllib.parse import quote, urlencode

import grpc
from google.protobuf import json_format

from front import BIN, HERE, SLOW, Front, expect
from stand_in import METHODS, StandIn, details, filled
from checks import check, finish
from contract import message

TWINS = {"CANCELLED": 499, "UNKNOWN": 500, "INVALID_ARGUMENT": 400, "DEADLINE_EXCEEDED": 504, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
         "PERMISSION_DENIED": 403, "RESOURCE_EXHAUSTED": 429, "FAILED_PRECONDITION": 400, "ABORTED": 409, "OUT_OF_RANGE": 400,
         "UNIMPLEMENTED": 501, "INTERNAL": 500, "UNAVAILABLE": 503, "DATA_LOSS": 500, "UNAUTHENTICATED": 401}
CODES = {code.name: code for code in grpc.StatusCode}
CHOICES = 6  # members of a oneof that are tried
EVENTS = "text/event-stream"

behind = StandIn()
front = Front(*behind.options, command=[f"{BIN}/renga-edge"])
document = front.ask("GET", "/openapi.json")[2]
ROUTES = {operation["operationId"]: (verb.upper(), path, operation) for path, item in document["paths"].items()
          for verb, operation in item.items() if operation["operationId"] in METHODS}
shown = []  # {"schema": name, "value": JSON, "of": where it was seen}


def of_all(work):
    """For every method, several at a time; the first fault is that of the first method in the table."""
    with futures.ThreadPoolExecutor(8) as pool:
        for result in [pool.submit(work, name) for name in ROUTES]:
            result.result()
    return f"{len(ROUTES)} methods"


def json_of(made, **more):
    return json_format.MessageToDict(made, including_default_value_fields=True, **more)


def request_of(name, made, snake=False, **headers):
    """The message as a request of HTTP."""
    verb, path, _ = ROUTES[name]
    fields = json_of(made, preserving_proto_field_name=snake)
    for field in made.DESCRIPTOR.fields:
        mark = "{" + field.json_name + "}"
        if mark in path:
            path = path.replace(mark, quote(fields.pop(field.name if snake else field.json_name), safe=""))
    if verb in ("POST", "PUT"):
        return front.ask(verb, path, fields, **headers)
    pairs = []
    for key, value in fields.items():
        if isinstance(value, dict):
            pairs += [(f"{key}[{inner}]" if snake else f"{key}.{inner}", text) for inner, text in value.items()]
        else:
            pairs += [(key, str(one).lower() if isinstance(one, bool) else one) for one in (value if isinstance(value, list) else [value])]
    return front.ask(verb, f"{path}?{urlencode(pairs)}" if pairs else path, **headers)


def plain(name, choice=0):
    """A request with every field, such that its ids may stand in a path and its maps in a query."""
    made = filled(message(METHODS[name].input_type.full_name), choice=choice)
    for field in made.DESCRIPTOR.fields:
        if "{" + field.json_name + "}" in ROUTES[name][1]:
            setattr(made, field.name, "an id: 50% of é")
        if field.message_type and field.message_type.GetOptions().map_entry:
            getattr(made, field.name).clear()
            getattr(made, field.name).update({"team": "north & co", "a.b": "ä=1"})
    return made


def answer_of(name, choice):
    made = filled(message(METHODS[name].output_type.full_name), choice=choice)
    return (lambda request, context: iter([made, made])) if METHODS[name].server_streaming else (lambda request, context: made)


@check("the table has the methods of all services that are for clients")
def _():
    expect(set(ROUTES) == set(METHODS), f"{set(ROUTES) ^ set(METHODS)}")
    return f"{len(ROUTES)} methods"


@check("a request arrives as the message that it is in ProtoJSON, by its names in JSON and by those of the contract")
def _():
    def work(name):
        behind.answers[name] = answer_of(name, 0)
        for choice in range(CHOICES):
            for snake in (False, True):
                made = plain(name, choice)
                status, _, body = request_of(name, made, snake)
                expect(status == 200, f"{name}: {status} {str(body)[:300]}")
                expect(behind.requests[name] == made, f"{name}: {str(behind.requests[name])[:300]} instead of {str(made)[:300]}")
    return of_all(work)


@check("a request without any field but those of its path arrives as the empty message")
def _():
    def work(name):
        verb, path, _ = ROUTES[name]
        wanted = message(METHODS[name].input_type.full_name)()
        for field in wanted.DESCRIPTOR.fields:
            if "{" + field.json_name + "}" in path:
                path = path.replace("{" + field.json_name + "}", "one")
                setattr(wanted, field.name, "one")
        for body in (None, {}) if verb in ("POST", "PUT") else (None,):
            status, _, answer = front.ask(verb, path, body)
            expect(status == 200 and behind.requests[name] == wanted, f"{name}: {status} {str(answer)[:300]}")
    return of_all(work)


@check("an answer is printed as ProtoJSON has it, with its defaults")
def _():
    def work(name):
        if METHODS[name].server_streaming:
            return
        for choice in range(CHOICES):
            made = answer_of(name, choice)(None, None)
            behind.answers[name] = lambda request, context: made
            status, _, body = request_of(name, plain(name))
            expect(status == 200 and body == json_of(made), f"{name}: {status} {str(body)[:500]} instead of {str(json_of(made))[:500]}")
            shown.append({"schema": made.DESCRIPTOR.name, "value": body, "of": name})
    of_all(work)


@check("events are printed as ProtoJSON has them, as events with their ids and as lines, and end with `end`")
def _():
    def work(name):
        if not METHODS[name].server_streaming:
            return
        for choice in range(3 * CHOICES):
            behind.answers[name] = answer_of(name, choice)
            made = next(behind.answers[name](None, None))
            behind.answers[name] = lambda request, context: iter([made, made])
            wanted, number = json_of(made), getattr(made, "event_id", None)
            _, headers, body = request_of(name, plain(name))
            lines = [json.loads(line) for line in body.decode().splitlines() if line]
            expect(headers["content-type"] == "application/x-ndjson" and lines[:2] == [wanted, wanted], f"{name}: {str(lines)[:500]}")
            expect(len(lines) == 3 and "reason" in lines[2]["end"], f"{name} ends with {lines[2:]}")
            _, headers, body = request_of(name, plain(name), accept=EVENTS)
            blocks = [dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
                      for block in body.decode().split("\n\n") if block]
            expect(headers["content-type"].startswith(EVENTS) and blocks[0] == {"retry": "2000"}, f"{name}: {headers} {blocks[0]}")
            for block in blocks[1:3]:
                expect(json.loads(block["data"]) == wanted and "event" not in block, f"{name}: {str(block)[:500]}")
                expect(block.get("id") == (str(number) if number is not None else None), f"{name}: id {block.get('id')} of {number}")
            expect(len(blocks) == 4 and blocks[3]["event"] == "end" and json.loads(blocks[3]["data"]) == lines[2]["end"],
                   f"{name} ends with {blocks[3:]}")
            shown.append({"schema": made.DESCRIPTOR.name, "value": lines[0], "of": name})
            shown.append({"schema": "StreamEnd", "value": lines[2]["end"], "of": name})
    of_all(work)


KEPT = {
    "INVALID_ARGUMENT": [message("google.rpc.BadRequest")(field_violations=[{"field": "options.request_id", "description": "is too long"}])],
    "RESOURCE_EXHAUSTED": [message("google.rpc.QuotaFailure")(violations=[{"subject": "tenant:north", "description": "3 of 3"}]),
                           message("google.rpc.RetryInfo")(retry_delay={"seconds": 1, "nanos": 500000000})],
    "UNAVAILABLE": [message("google.rpc.RetryInfo")(retry_delay={"seconds": 2})],
    "DATA_LOSS": [filled(message("Usage")), filled(message("InvalidOutput"))],
}


def kept_of(code):
    return [message("google.rpc.ErrorInfo")(reason="PLANTED", domain="renga", metadata={"run_id": "r1"}), *KEPT.get(code, [])]


def wanted_error(code):
    told = []
    for detail in kept_of(code):
        told.append({"@type": f"type.googleapis.com/{detail.DESCRIPTOR.full_name}", **json_of(detail)})
        for violation in told[-1].get("fieldViolations", ()):
            violation["field"] = violation["field"].replace("request_id", "requestId")
    return {"code": TWINS[code], "status": code, "message": f"planted: {code}", "details": told}


def same_error(got, wanted):
    """Equal, but for the digits behind the point of a duration."""
    def trimmed(value):
        text = json.dumps(value, sort_keys=True)
        return text.replace('"1.500000000s"', '"1.500s"')
    return trimmed(got) == trimmed(wanted)


def failing(code, after=0):
    def answer(request, context):
        context.set_trailing_metadata(details(CODES[code].value[0], f"planted: {code}", *kept_of(code)))
        context.abort(CODES[code], f"planted: {code}")

    def stream(name):
        made = filled(message(METHODS[name].output_type.full_name))

        def events(request, context):
            for _ in range(after):
                yield made
            answer(request, context)
        return events
    return answer, stream


@check("every error of gRPC has its twin of HTTP, with its details, for every method, also of a stream that has not begun")
def _():
    def work(name):
        streaming = METHODS[name].server_streaming
        for code, twin in TWINS.items():
            answer, stream = failing(code)
            behind.answers[name] = stream(name) if streaming else answer
            for accept in ({"accept": EVENTS}, {}) if streaming else ({},):
                for _ in range(20):  # a service that takes longer than STREAM_OPEN_MS on a busy machine fails within the stream
                    began = time.monotonic()
                    status, headers, body = request_of(name, plain(name), **accept)
                    if not streaming or status != 200 or time.monotonic() - began < 0.3:
                        break
                expect(status == twin and isinstance(body, dict), f"{name}, {code}: {status} {str(body)[:300]}")
                expect(same_error(body["error"], wanted_error(code)), f"{name}, {code}: {body['error']} instead of {wanted_error(code)}")
                expect(headers["content-type"] == "application/json", str(headers))
                expect(("www-authenticate" in headers) == (code == "UNAUTHENTICATED"), f"{name}, {code}: {headers}")
                retry = {"RESOURCE_EXHAUSTED": "2", "UNAVAILABLE": "2"}.get(code)
                expect(headers.get("retry-after") == retry, f"{name}, {code}: Retry-After {headers.get('retry-after')}")
                shown.append({"schema": "Error", "value": body, "of": f"{name}, {code}"})
    return of_all(work) + f", {len(TWINS)} codes"


@check("an error within a stream is its last event, named `error`")
def _():
    def work(name):
        if not METHODS[name].server_streaming:
            return
        for code in TWINS:
            behind.answers[name] = failing(code, after=1)[1](name)
            status, _, body = request_of(name, plain(name), accept=EVENTS)
            blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in body.decode().split("\n\n") if block]
            last = json.loads(blocks[-1]["data"])
            expect(status == 200 and blocks[-1].get("event") == "error" and same_error(last["error"], wanted_error(code)),
                   f"{name}, {code}: {status} {blocks[-1]}")
            shown.append({"schema": "Error", "value": last, "of": f"{name}, {code} within"})
            lines = request_of(name, plain(name))[2].decode().splitlines()
            expect(json.loads(lines[-1]) == last, f"{name}, {code}: {lines[-1]} instead of {last}")
    of_all(work)


@check("a deadline that passes is 504, for every method")
def _():
    def work(name):
        import threading
        done = threading.Event()

        def late(request, context):
            done.wait(5)
            context.abort(grpc.StatusCode.INTERNAL, "nobody waits any more")

        def late_stream(request, context):
            late(request, context)
            yield
        behind.answers[name] = late_stream if METHODS[name].server_streaming else late
        status, _, body = request_of(name, plain(name), x_request_timeout="100ms")
        done.set()
        expect(status == 504 and body["error"]["status"] == "DEADLINE_EXCEEDED", f"{name}: {status} {str(body)[:300]}")
    return of_all(work)


@check("what was seen fits the schemas of /openapi.json")
def _():
    asked = json.dumps({"document": document, "values": shown})
    done = subprocess.run([os.environ["NODE"], f"{HERE}/fits.mjs"], input=asked, capture_output=True, text=True, timeout=120 * SLOW)
    expect(done.returncode == 0, (done.stdout + done.stderr)[-2000:])
    return f"{len(shown)} values"


front.stop()
behind.server.stop(0)
finish()
