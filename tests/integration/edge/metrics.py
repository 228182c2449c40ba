#!/usr/bin/env python3
"""What the edge counts, on the process' page of metrics. Needs RENGA_BIN."""
import os
import re
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from edge import Suite  # noqa: E402
from checks import check, expect, finish, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

PAGE = f"127.0.0.1:{free_port()}"
suite = Suite("one", f"--http.listen={PAGE}", "--edge.reader_timeout=1s")
ask = suite.ask


def figures():
    """Each series of the page whose name begins with renga_edge_."""
    with urllib.request.urlopen(f"http://{PAGE}/metrics") as answer:
        return {name: float(value) for name, value in re.findall(r"^renga_edge_(\S+?(?:{.*})?) (\S+)$", answer.read().decode(), re.M)}


def of(name, **labels):
    inner = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return figures().get(f"{name}{{{inner}}}" if labels else name, 0.0)


@check("requests are counted by method and status, refused ones too")
def _():
    before = figures()
    for _ in range(3):
        ask("GET", "/v1/agents", key="anna")
    ask("GET", "/v1/runs/never", key="anna")
    ask("GET", "/v1/agents")
    ask("GET", "/openapi.json")
    ask("GET", "/nowhere", key="anna")
    ask("GET", "/")

    def grown(method, code):
        name = f'requests_total{{method="{method}",code="{code}"}}'
        return figures().get(name, 0) - before.get(name, 0)
    counts = {(method, code): grown(method, code) for method, code in (
        ("renga.v1.Orchestrator/ListAgents", 200), ("renga.v1.Orchestrator/GetRun", 404), ("none", 401), ("/openapi.json", 200),
        ("none", 404), ("console", 200))}
    expect(list(counts.values()) == [3, 1, 1, 1, 1, 1], f"{counts}")


@check("bytes are counted: bodies that come, answers and events that go")
def _():
    received, sent = of("received_bytes_total"), of("sent_bytes_total")
    body = '{"agent": "echo", "inputJson": {"text": "moon"}, "wait": true}'
    answer = ask("POST", "/v1/runs", body, key="anna", content_type="application/json")
    expect(of("received_bytes_total") - received == len(body), f"{of('received_bytes_total') - received}")
    expect(of("sent_bytes_total") - sent == len(answer.bytes), f"{of('sent_bytes_total') - sent}, {len(answer.bytes)}")
    sent = of("sent_bytes_total")
    suite.events(f"/v1/runs/{answer.json['run']['runId']}/events", key="anna")
    expect(of("sent_bytes_total") - sent > 500, "events are not counted")


@check("open streams are counted, and those that are cut because they do not read")
def _():
    run = suite.start("asker")
    streams = [suite.stream(f"/v1/runs/{run['runId']}/events?follow=true", key="anna") for _ in range(3)]
    expect(of("streams") == 3, f"{of('streams')}")
    for stream in streams:
        stream.connection.sock and stream.connection.sock.close()
        stream.close()
        stream.connection.close()
    wait_until(lambda: of("streams") == 0, "streams stay in the count", 10, 0.05)
    turner = suite.start("turner")
    slow = suite.stream(f"/v1/runs/{turner['runId']}/events?follow=true", key="anna")
    wait_until(lambda: of("streams_cut_total", reason="SLOW_READER") == 1, "the reader is not cut", 30, 0.1)
    slow.connection.close()
    ask("POST", f"/v1/runs/{turner['runId']}:cancel", {}, key="anna")


@check("sessions and refused origins are counted")
def _():
    own = f"http://127.0.0.1:{suite.port}"
    signed = ask("POST", "/v1/session", {"key": "anna"}, origin=own)
    expect(signed.status == 200 and of("sessions") == 1, f"{signed.status}, {of('sessions')}")
    cookie = signed.headers["set-cookie"].split(";")[0]
    refused = of("origins_refused_total")
    answer = ask("POST", "/v1/runs", {"agent": "echo"}, cookie=cookie, origin="https://evil.example")
    expect(answer.status == 403 and of("origins_refused_total") == refused + 1, f"{answer.status}, {of('origins_refused_total') - refused}")
    ask("DELETE", "/v1/session", cookie=cookie, origin=own)
    expect(of("sessions") == 0, f"{of('sessions')}")


@check("the document of the contract is asked for again with its ETag, and not stored unasked")
def _():
    first = ask("GET", "/openapi.json")
    expect(first.headers["cache-control"] == "no-cache" and first.headers["etag"], f"{first.headers}")
    again = ask("GET", "/openapi.json", if_none_match=first.headers["etag"])
    expect(again.status == 304 and again.headers["cache-control"] == "no-cache", f"{again.status} {again.headers}")
    expect(ask("GET", "/v1/agents", key="anna").headers["cache-control"] == "no-store", "data may not be stored")


finish()
