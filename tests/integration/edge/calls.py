#!/usr/bin/env python3
"""HTTP, JSON and events before the whole contract. RENGA_BIN=<folder of the binaries> calls.py one|five"""
import itertools
import json
import os
import re
import socket
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from edge import BIN, SLOW, Suite, parse_events  # noqa: E402
from checks import check, expect, finish, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

PROCESSES = sys.argv[1]
PAGE = f"127.0.0.1:{free_port()}"
suite = Suite(PROCESSES, f"--http.listen={PAGE}", "--edge.reader_timeout=2s", "--edge.heartbeat=1s", "--edge.cors=https://app.example",
              "--edge.streams_per_client=20")
ask = suite.ask


def refused(answer, http, status, field=None):
    expect(answer.status == http, f"{answer.status}, not {http}: {answer.bytes[:300]}")
    expect(answer.headers["content-type"] == "application/json", answer.headers["content-type"])
    error = answer.error
    expect(error["code"] == http and error["status"] == status and error["message"], f"{error}")
    expect(field is None or answer.field() == field, f"the field is {answer.field()}, not {field}")
    return error


# ---- calls -----------------------------------------------------------------------------------------------------------


@check("a call without fields, and one that a person asks, are answered in camelCase with 64-bit numbers as strings")
def _():
    agents = ask("GET", "/v1/agents", key="anna")
    names = {agent["name"] for agent in agents.json["agents"]}
    expect({"echo", "asker", "helpdesk"} <= names, f"{names}")
    expect(isinstance(agents.json["agents"][0]["loadedMs"], str) and agents.json["problems"] == [], agents.bytes[:200])
    expect(agents.headers["cache-control"] == "no-store" and agents.headers["x-content-type-options"] == "nosniff", f"{agents.headers}")
    answer = ask("POST", "/v1/helpdesk:ask", {"question": "How long are backups kept?"}, key="anna")
    expect(answer.status == 200 and answer.json["result"]["found"] is False, answer.bytes[:300])


@check("a collection that is not there is refused at both doors of the help desk, and the field is named")
def _():
    answer = ask("POST", "/v1/helpdesk:ask", {"question": "How long?", "collections": ["nowhere"]}, key="anna")
    said = refused(answer, 404, "NOT_FOUND", "collections[0]")
    expect("there is no collection 'nowhere'; " in said["message"], f"{said}")
    answer = ask("POST", "/v1/runs", {"agent": "helpdesk", "inputJson": {"question": "How long?", "collections": ["nowhere"]}}, key="anna")
    refused(answer, 404, "NOT_FOUND", "inputJson.collections[0]")


@check("path, query and body become one request")
def _():
    run = suite.start("echo", inputJson={"text": "月"}, labels={"team": "a&b"}, wait=True)
    expect(run["state"] == "RUN_STATE_SUCCEEDED" and json.loads(run["outputJson"])["text"] == "月", f"{run}")
    listed = ask("GET", "/v1/runs?labels.team=a%26b&states=RUN_STATE_SUCCEEDED&states=3&page_size=1", key="anna").json
    expect([one["runId"] for one in listed["runs"]] == [run["runId"]], f"{listed}")
    state = ask("GET", f"/v1/threads/{run['threadId']}/state?fields=text", key="anna").json
    expect(json.loads(state["stateJson"]) == {"text": "月"}, f"{state}")
    changed = ask("POST", f"/v1/threads/{run['threadId']}/state", {"update_json": {"text": "sun"}}, key="anna")
    expect(changed.status == 200 and changed.json["checkpoint"]["cause"] == "CHECKPOINT_CAUSE_UPDATE", changed.bytes[:200])
    gone = ask("DELETE", f"/v1/threads/{run['threadId']}", key="anna").json
    expect(gone["deleted"] is True, f"{gone}")


@check("a question is answered by HTTP, and the run goes on")
def _():
    run = suite.start("asker", wait=True)
    expect(run["state"] == "RUN_STATE_WAITING", f"{run}")
    resumed = ask("POST", f"/v1/runs/{run['runId']}:resume", {"answerJson": False, "wait": True}, key="anna").json["run"]
    expect(resumed["state"] == "RUN_STATE_SUCCEEDED" and json.loads(resumed["outputJson"]) == {"x": False}, f"{resumed}")


@check("an Idempotency-Key names a call; another request_id in the body is refused")
def _():
    first = ask("POST", "/v1/runs", {"agent": "echo"}, key="anna", idempotency_key='"key-1"').json
    again = ask("POST", "/v1/runs", {"agent": "echo", "requestId": "key-1"}, key="anna", idempotency_key="key-1").json
    expect(first["run"]["runId"] == again["run"]["runId"] and again["repeatedRequest"], f"{again}")
    refused(ask("POST", "/v1/runs", {"agent": "echo", "requestId": "b"}, key="anna", idempotency_key="a"), 400, "INVALID_ARGUMENT", "requestId")
    refused(ask("POST", "/v1/runs", {"agent": "asker"}, key="anna", idempotency_key="key-1"), 400, "INVALID_ARGUMENT")
    refused(ask("POST", "/v1/runs", {"agent": "echo"}, key="anna", idempotency_key="k" * 129), 400, "INVALID_ARGUMENT", "Idempotency-Key")
    of_options = ask("POST", "/v1/helpdesk:ask", {"question": "?"}, key="anna", idempotency_key="o-1")
    expect(of_options.status == 200, of_options.bytes[:200])


@check("a client's deadline is the call's")
def _():
    begun = time.monotonic()
    body = {"agent": "turner", "recursionLimit": 1000000, "wait": True, "cancelOnDisconnect": True}
    refused(ask("POST", "/v1/runs", body, key="anna", x_request_timeout="100ms"), 504, "DEADLINE_EXCEEDED")
    refused(ask("POST", "/v1/runs", body, key="anna", grpc_timeout="100m"), 504, "DEADLINE_EXCEEDED")
    expect(time.monotonic() - begun < 5 * SLOW, "it took too long")
    for header, value in (("x-request-timeout", "soon"), ("x-request-timeout", "25h"), ("x-request-timeout", "-1s"), ("grpc-timeout", "1"),
                          ("grpc-timeout", "123456789S"), ("x-request-timeout", "0s")):
        refused(ask("GET", "/v1/agents", key="anna", **{header.replace("-", "_"): value}), 400, "INVALID_ARGUMENT")


# ---- keys ------------------------------------------------------------------------------------------------------------


@check("without a key there is nothing but 401, and a key in a URL is refused unread")
def _():
    for method, path in (("GET", "/v1/agents"), ("GET", "/v1/nothing"), ("POST", "/v1/runs"), ("DELETE", "/v1/threads/t"),
                         ("GET", "/v1/runs/r/events"), ("GET", "/v1/events:watch?runs=r")):
        answer = ask(method, path)
        refused(answer, 401, "UNAUTHENTICATED")
        expect(answer.headers["www-authenticate"] == "Bearer", f"{answer.headers}")
        refused(ask(method, path, key="nobody"), 401, "UNAUTHENTICATED")
    for path in ("/v1/agents?key=anna", "/v1/agents?pageSize=1&ACCESS_TOKEN=anna", "/?api_key=anna"):
        answer = ask("GET", path)
        refused(answer, 400, "INVALID_ARGUMENT")
        expect("anna" not in answer.bytes.decode(), "the key is told again")
    refused(ask("GET", "/v1/models", key="bert"), 403, "PERMISSION_DENIED")
    refused(ask("GET", "/v1/agents", key="anna", renga_forwarded_bin="x"), 400, "INVALID_ARGUMENT")


@check("two tenants do not see each other")
def _():
    run = suite.start("asker", wait=True, threadId="shared")
    refused(ask("GET", f"/v1/runs/{run['runId']}", key="bert"), 404, "NOT_FOUND")
    refused(suite.ask("GET", f"/v1/runs/{run['runId']}/events", key="bert"), 404, "NOT_FOUND")
    expect(ask("GET", "/v1/runs", key="bert").json["runs"] == [], "bert sees runs")
    other = suite.start("asker", key="bert", wait=True, threadId="shared")
    expect(other["runId"] != run["runId"], "one run for both")
    expect([one["runId"] for one in ask("GET", "/v1/runs", key="bert").json["runs"]] == [other["runId"]], "bert's runs")
    watched = suite.stream(f"/v1/events:watch?runs={run['runId']},{other['runId']}", key="bert")
    seen = []
    for event in parse_events(line.decode() for line in watched):
        seen.append(event)
        if any(one.name == "error" for one in seen) and any(one.id for one in seen):
            break
    watched.connection.close()
    expect({one.data["runId"] for one in seen if one.id} <= {other["runId"]}, "bert sees an event of anna's")
    expect(any(one.name == "error" and one.data["runId"] == run["runId"] and one.data["error"]["code"] == 404 for one in seen), "no error")


# ---- what is wrong ---------------------------------------------------------------------------------------------------


@check("hostile requests get a clear 4xx")
def _():
    rows = [
        ("POST", "/v1/runs", '{"agent":"echo","bogus":1}', 400, "bogus"), ("POST", "/v1/runs", '{"agent":', 400, None),
        ("POST", "/v1/runs", "[" * 5000, 400, None), ("POST", "/v1/runs", '{"budget":{"tokens":"x"}}', 400, "budget.tokens"),
        ("POST", "/v1/runs", '{"agent":"\\u0000"}', 400, None), ("POST", "/v1/runs", b'{"agent":"\xff"}', 400, None),
        ("POST", "/v1/runs?agent=echo", "{}", 400, None), ("POST", "/v1/runs/a:cancel", '{"runId":"b"}', 400, "runId"),
        ("GET", "/v1/runs?bogus=1", None, 400, "bogus"), ("GET", "/v1/runs?pageSize=1&pageSize=2", None, 400, "pageSize"),
        ("GET", "/v1/runs?agent=%ff", None, 400, None), ("GET", "/v1/runs/..", None, 400, None), ("GET", "/v1/runs/%2e%2e", None, 400, None),
        ("GET", "/v1/runs/%0d%0aX", None, 400, None), ("GET", "/v1//runs", None, 400, None), ("POST", "/v1/runs", '{"agent":""}', 400, "agent"),
        ("GET", "/v1/runs/" + "r" * 3000, None, 400, None),
    ]
    for method, path, body, http, field in rows:
        answer = ask(method, path, body, key="anna", **({"content_type": "application/json"} if body else {}))
        expect(answer.status == http, f"{method} {path[:60]} {str(body)[:60]}: {answer.status} {answer.bytes[:200]}")
        refused(answer, http, "INVALID_ARGUMENT", field)
    refused(ask("GET", "/v1/nothing", key="anna"), 404, "NOT_FOUND")
    refused(ask("GET", "/v1/runs/none", key="anna"), 404, "NOT_FOUND")
    refused(ask("GET", "/v1/runs/%2Fetc%2Fpasswd", key="anna"), 404, "NOT_FOUND")
    refused(ask("POST", "/v1/runs", "agent=echo", key="anna", content_type="application/x-www-form-urlencoded"), 415, "INVALID_ARGUMENT")
    refused(ask("POST", "/v1/runs", '{"agent":"echo"}', key="anna", content_type="text/plain"), 415, "INVALID_ARGUMENT")
    refused(ask("GET", "/v1/agents", key="anna", accept="image/png"), 406, "INVALID_ARGUMENT")
    refused(ask("GET", "/v1/runs/none/events", key="anna", accept="text/html"), 406, "INVALID_ARGUMENT")
    refused(ask("DELETE", "/v1/threads/t", {"cancelRuns": True}, key="anna"), 400, "INVALID_ARGUMENT")
    for method in ("PATCH", "PUT", "TRACE", "BREW"):
        answer = ask(method, "/v1/runs", key="anna")
        refused(answer, 405, "UNIMPLEMENTED")
        expect(answer.headers["allow"] == "POST, GET, HEAD", answer.headers["allow"])


@check("a body that is too large is refused, before and after it is read")
def _():
    refused(ask("POST", "/v1/runs", '{"inputJson":"' + "x" * (5 << 20) + '"}', key="anna", content_type="application/json"), 413, "INVALID_ARGUMENT")
    refused(ask("POST", "/v1/runs", "x" * (9 << 20), key="anna", content_type="application/json"), 413, "INVALID_ARGUMENT")
    refused(ask("POST", "/v1/session", "x" * 5000, content_type="application/json"), 400, "INVALID_ARGUMENT")


@check("HEAD is as GET, OPTIONS tells the methods, and an ETag spares what is known")
def _():
    got, head = ask("GET", "/v1/agents", key="anna"), ask("HEAD", "/v1/agents", key="anna")
    expect(head.status == 200 and not head.bytes and head.headers["content-length"] == got.headers["content-length"], f"{head.headers}")
    expect(ask("OPTIONS", "/v1/threads/t/state").headers["allow"] == "GET, HEAD, POST", "OPTIONS")
    known = ask("GET", "/v1/agents", key="anna", if_none_match=got.headers["etag"])
    expect(known.status == 304 and not known.bytes, f"{known.status}")
    packed = ask("GET", "/v1/agents", key="anna", accept_encoding="gzip")
    expect(packed.headers["content-encoding"] == "gzip" and packed.json == got.json, f"{packed.headers}")
    expect(ask("HEAD", "/v1/runs/none/events", key="anna").status == 200, "HEAD of a stream")
    named = ask("GET", "/v1/agents", key="anna", x_request_id="mine-1")
    expect(named.headers["x-request-id"] == "mine-1", f"{named.headers}")


@check("a large answer is packed by a worker and arrives whole")
def _():
    run = suite.start("echo", inputJson={"text": "moon and sun " * 30000}, wait=True)
    answer = ask("GET", f"/v1/runs/{run['runId']}", key="anna", accept_encoding="gzip")
    expect(answer.headers["content-encoding"] == "gzip" and answer.json["run"]["outputJson"] == run["outputJson"], "it differs")


# ---- pages -----------------------------------------------------------------------------------------------------------


@check("a session signs in, is of this origin alone, and ends")
def _():
    own = f"http://127.0.0.1:{suite.port}"
    expect(ask("GET", "/v1/session").json == {"signedIn": False, "needsKey": True, "tenant": "", "client": ""}, "not signed in")
    refused(ask("POST", "/v1/session", {"key": "nobody"}), 401, "UNAUTHENTICATED")
    refused(ask("POST", "/v1/session", {"key": "bert"}, origin="http://evil.example"), 403, "PERMISSION_DENIED")
    refused(ask("POST", "/v1/session", '{"key":"bert"}', content_type="text/plain"), 415, "INVALID_ARGUMENT")
    signed = ask("POST", "/v1/session", {"key": "bert"}, origin=own)
    expect(signed.json == {"signedIn": True, "needsKey": True, "tenant": "other", "client": "bert"}, f"{signed.json}")
    cookie = signed.headers["set-cookie"]
    expect("HttpOnly" in cookie and "SameSite=Strict" in cookie and str(suite.port) in cookie and "bert" not in cookie, cookie)
    cookie = cookie.split(";")[0]
    expect(ask("GET", "/v1/session", cookie=f"a=b; {cookie}").json["client"] == "bert", "not known")
    expect(ask("GET", "/v1/agents", cookie=cookie).status == 200, "agents")
    refused(ask("GET", "/v1/models", cookie=cookie), 403, "PERMISSION_DENIED")
    expect(ask("POST", "/v1/runs", {"agent": "echo"}, cookie=cookie, origin=own).status == 200, "a run")
    for page in ("http://evil.example", "null", f"https://127.0.0.1:{suite.port}", "http://127.0.0.1:1", f"{own}.evil.example", "https://app.example"):
        refused(ask("POST", "/v1/runs", {"agent": "echo"}, cookie=cookie, origin=page), 403, "PERMISSION_DENIED")
    for site in ("cross-site", "same-site", "none"):
        refused(ask("POST", "/v1/runs/r:cancel", cookie=cookie, sec_fetch_site=site), 403, "PERMISSION_DENIED")
    refused(ask("POST", "/v1/runs/r:cancel", cookie=cookie), 403, "PERMISSION_DENIED")
    refused(ask("POST", "/v1/runs/none:cancel", cookie=cookie, sec_fetch_site="same-origin"), 404, "NOT_FOUND")
    ask("DELETE", "/v1/session", cookie=cookie, origin=own)
    refused(ask("GET", "/v1/agents", cookie=cookie), 401, "UNAUTHENTICATED")


@check("another Host is refused; pages of a listed origin may call with a key, others may not")
def _():
    refused(ask("GET", "/", host="evil.example"), 403, "PERMISSION_DENIED")
    preflight = {"access_control_request_method": "POST", "access_control_request_headers": "authorization"}
    may = ask("OPTIONS", "/v1/runs", origin="https://app.example", **preflight)
    expect(may.status == 204 and may.headers["access-control-allow-origin"] == "https://app.example", f"{may.headers}")
    expect("authorization" in may.headers["access-control-allow-headers"] and may.headers["vary"] == "Origin", f"{may.headers}")
    expect("access-control-allow-credentials" not in may.headers, "credentials")
    refused(ask("OPTIONS", "/v1/runs", origin="https://other.example", **preflight), 403, "PERMISSION_DENIED")
    called = ask("GET", "/v1/agents", key="anna", origin="https://app.example")
    expect(called.status == 200 and called.headers["access-control-allow-origin"] == "https://app.example", f"{called.headers}")
    expect("access-control-allow-origin" not in ask("GET", "/v1/agents", key="anna", origin="null").headers, "null")


@check("the first page says what it may run, and is there without a key")
def _():
    page = ask("GET", "/")
    expect(page.status == 200 and "default-src 'none'" in page.headers["content-security-policy"], f"{page.headers}")
    expect(page.headers["x-content-type-options"] == "nosniff" and page.headers["cache-control"] == "no-cache", f"{page.headers}")
    refused(ask("POST", "/", {}), 405, "UNIMPLEMENTED")
    refused(ask("GET", "/assets/../../etc/passwd", key="anna"), 400, "INVALID_ARGUMENT")
    refused(ask("GET", "/assets/none.js"), 404, "NOT_FOUND")


# ---- streams ---------------------------------------------------------------------------------------------------------

turned = suite.start("turner", recursionLimit=1500, wait=True)
PATH = f"/v1/runs/{turned['runId']}/events"
whole = suite.events(PATH, key="anna")
ids = [event.id for event in whole if event.id]


@check("a run is watched as events with ids, and as lines of the same objects")
def _():
    expect(whole[0].retry == 2000 and whole[-1].name == "end", f"{whole[0].retry} {whole[-1].name}")
    expect(whole[-1].data == {"reason": "STOP_REASON_RECURSION_LIMIT"}, f"{whole[-1].data}")
    expect(len(ids) > 6000 and len(set(ids)) == len(ids) and ids == sorted(ids, key=int), f"{len(ids)} ids")
    lines = [json.loads(line) for line in suite.stream(PATH, key="anna", accept="application/x-ndjson")]
    expect(lines[:-1] == [event.data for event in whole if event.id], "the lines differ")
    expect(lines[-1] == {"end": {"reason": "STOP_REASON_RECURSION_LIMIT"}}, f"{lines[-1]}")
    return f"{len(ids)} events"


@check("a client that comes back after a cut sees each event exactly once")
def _():
    seen, last, cuts = [], None, 0
    while not seen or seen[-1].name != "end":
        response = suite.stream(PATH, key="anna", **({"last_event_id": last} if last else {}))
        expect("x-accel-buffering" in {name.lower() for name in response.headers}, "a proxy may keep it")
        for event in parse_events(line.decode() for line in response):
            if event.retry:
                continue
            seen.append(event)
            last = event.id or last
            if len(seen) % 1500 == 0:
                cuts += 1
                break
        response.connection.close()
    expect([event.id for event in seen if event.id] == ids, "events are missing or come twice")
    after = suite.events(f"{PATH}?after={ids[-3]}", key="anna")
    expect([event.id for event in after if event.id] == ids[-2:], "?after=")
    return f"{cuts} cuts"


@check("an id that is beyond the last event is a gap to a client of events, and an error to others")
def _():
    gap = suite.events(PATH, key="anna", last_event_id=str(int(ids[-1]) + 10**9))
    expect(gap[-1].name == "gap" and gap[-1].data["reason"] == "OUT_OF_RANGE", f"{gap[-1].name} {gap[-1].data}")
    refused(ask("GET", PATH, key="anna", last_event_id=str(int(ids[-1]) + 10**9)), 400, "OUT_OF_RANGE")
    for wrong in ("x", "1.5", "9223372036854775808", "1.2"):
        refused(ask("GET", PATH, key="anna", last_event_id=wrong), 400, "INVALID_ARGUMENT", "Last-Event-ID")
    refused(ask("GET", "/v1/runs/none/events", key="anna", accept="text/event-stream"), 404, "NOT_FOUND")


@check("a stream that did not show why its run stopped does not say that it completed")
def _():
    for path, headers in ((PATH, {"last_event_id": ids[-1]}), (f"{PATH}?after={ids[-1]}", {}), (f"{PATH}?after=-1", {})):
        expect(suite.events(path, key="anna", **headers)[-1].data == {"reason": "NOT_SHOWN"}, f"{path} {headers}")
    ends = [event.data for event in suite.events(f"/v1/events:watch?runs={turned['runId']}", key="anna", last_event_id=ids[-1]) if event.name == "end"]
    expect(ends == [{"runId": turned["runId"], "reason": "NOT_SHOWN"}, {"reason": "ALL_ENDED"}], f"{ends}")


@check("a question that is sent again with the id of an event, but without the key of its call, is not asked again")
def _():
    body, path = {"question": "What is a moon?", "options": {"keepRunning": True}}, "/v1/helpdesk:askStream"
    before = len(ask("GET", "/v1/runs?agent=helpdesk&pageSize=100", key="anna").json["runs"])
    refused(ask("POST", path, body, key="anna", last_event_id="1048576"), 400, "INVALID_ARGUMENT", "options.afterEventId")
    refused(ask("POST", f"{path}?after=%zz", body, key="anna"), 400, "INVALID_ARGUMENT", "after")
    expect(len(ask("GET", "/v1/runs?agent=helpdesk&pageSize=100", key="anna").json["runs"]) == before, "it was asked")
    first = suite.events(path, method="POST", body=body, key="anna", idempotency_key="asked-1")
    again = suite.events(path, method="POST", body=body, key="anna", idempotency_key="asked-1", last_event_id=first[1].id)
    expect([event.id for event in again if event.id] == [event.id for event in first if event.id][1:], "the rest")


def figure(series):
    with urllib.request.urlopen(f"http://{PAGE}/metrics") as answer:
        found = re.search(rf"^renga_edge_{re.escape(series)} (\S+)$", answer.read().decode(), re.M)
    return float(found[1]) if found else 0.0


def slow_readers():
    return figure('streams_cut_total{reason="SLOW_READER"}')


def wait_until_no_stream_is_open():
    wait_until(lambda: figure("streams") == 0, "streams are open", 30.0 * SLOW, 0.1)


@check("a reader that does not read is cut with a gap, holds little meanwhile, and misses nothing when it comes back")
def _():
    before = slow_readers()
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(30 * SLOW)
    slow.connect((suite.host, suite.port))
    slow.sendall(f"GET {PATH} HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer anna\r\nAccept: text/event-stream\r\n\r\n".encode())
    other, text = [], b""
    reading = threading.Thread(target=lambda: other.extend(suite.events(PATH, key="anna")))
    reading.start()
    wait_until(lambda: slow_readers() > before, "it is not cut", 30.0 * SLOW, 0.25)
    while piece := slow.recv(1 << 16):
        text += piece
    slow.close()
    reading.join()
    expect([event.id for event in other if event.id] == ids, "another reader is hindered")
    events = list(parse_events((line + "\n") for line in text.decode().partition("\r\n\r\n")[2].split("\n")))
    expect(events[-1].name == "gap" and events[-1].data["reason"] == "SLOW_READER", f"{events[-1].name}: {events[-1].data}")
    got = [event.id for event in events if event.id]
    expect(got == ids[:len(got)] and len(got) < len(ids), f"{len(got)} of {len(ids)}")
    rest = suite.events(PATH, key="anna", last_event_id=got[-1])
    expect([event.id for event in rest if event.id] == ids[len(got):], "the rest")
    return f"{len(got)} of {len(ids)} before the gap"


@check("a silent stream says that it lives, and begins at once")
def _():
    run = suite.start("asker", wait=True)
    response = suite.stream(f"/v1/runs/{run['runId']}/events?follow=true&after={run['lastEventId']}", key="anna")
    first, begun = response.readline(), time.monotonic()
    expect(first == b"retry: 2000\n", f"{first}")
    while response.readline() != b": alive\n":
        expect(time.monotonic() - begun < 20 * SLOW, "no sign of life")
    ask("POST", f"/v1/runs/{run['runId']}:resume", {"answerJson": 1}, key="anna")
    events = list(parse_events(line.decode() for line in response))
    expect(any("answered" in event.data for event in events if event.id), "the answer is not shown")
    expect(events[-1].name == "end" and events[-1].data["reason"] == "STOP_REASON_COMPLETED", f"{events[-1].data}")


@check("several runs share a stream, whose id brings a client back to each of them")
def _():
    runs = [suite.start("asker", wait=True)["runId"] for _ in range(3)]
    path = f"/v1/events:watch?runs={','.join(runs)}&after.{runs[0]}=1"
    response, seen, last = suite.stream(path, key="anna"), [], None
    for event in parse_events(line.decode() for line in response):
        if event.id and "heartbeat" not in event.data:
            seen.append((event.data["runId"], int(event.data["eventId"])))
            last = event.id
        if len(seen) == 8:
            break
    response.connection.close()
    expect(last.count(".") == 2, last)
    for run in runs:
        ask("POST", f"/v1/runs/{run}:resume", {"answerJson": 1}, key="anna")
    rest = suite.events(path, key="anna", last_event_id=last)
    seen += [(event.data["runId"], int(event.data["eventId"])) for event in rest if event.id and "heartbeat" not in event.data]
    expect(rest[-1].name == "end" and rest[-1].data == {"reason": "ALL_ENDED"}, f"{rest[-1].data}")
    expect({event.data.get("runId") for event in rest if event.name == "end"} == {*runs, None}, "an end is missing")
    for run in runs:
        alone = [int(event.id) for event in suite.events(f"/v1/runs/{run}/events", key="anna") if event.id and "heartbeat" not in event.data]
        got = [number for name, number in seen if name == run]
        expect(got == [number for number in alone if number > 1 or run != runs[0]], f"{run}: {got} and not {alone}")
    cancelled, done = suite.start("asker", wait=True)["runId"], suite.start("asker", wait=True)["runId"]
    ask("POST", f"/v1/runs/{cancelled}:cancel", {}, key="anna")
    ask("POST", f"/v1/runs/{done}:resume", {"answerJson": 1}, key="anna")
    ends = {event.data.get("runId"): event.data["reason"] for event in suite.events(f"/v1/events:watch?runs={cancelled},{done}", key="anna")
            if event.name == "end"}
    expect(ends == {cancelled: "STOP_REASON_CANCELLED", done: "STOP_REASON_COMPLETED", None: "ALL_ENDED"}, f"{ends}")
    silent = suite.stream(f"/v1/events:watch?runs={suite.start('asker', wait=True)['runId']}", key="anna", x_request_timeout="500ms")
    lines = [line.decode() for line in itertools.islice(silent, 60)]  # signs of life, if it did not end
    expect([event.data["error"]["code"] for event in parse_events(lines) if event.name == "error"] == [504], f"{lines[-3:]}")
    refused(ask("GET", "/v1/events:watch?runs=a", key="anna", x_request_timeout="soon"), 400, "INVALID_ARGUMENT", "X-Request-Timeout")
    refused(ask("GET", "/v1/events:watch?runs=a&after.a=%zz", key="anna"), 400, "INVALID_ARGUMENT", "after.a")
    expect(ask("HEAD", "/v1/events:watch?runs=", key="anna").status == 400, "HEAD of a stream without runs")
    for wrong in ("?runs=a&after.a=9223372036854775808", "?runs=a&afer.a=1", "?runs=a&after.b=1", "?runs=a&after.a=1&after.a=2", "?runs=a&runs=b", "", "?runs=", "?runs=a,,b", "?runs=a,a", "?runs=" + ",".join(f"r{i}" for i in range(51)), "?runs=a&after.a=x", f"?runs={'r' * 65}"):
        refused(ask("GET", f"/v1/events:watch{wrong}", key="anna"), 400, "INVALID_ARGUMENT")
    refused(ask("GET", "/v1/events:watch?runs=a,b", key="anna", last_event_id="1"), 400, "INVALID_ARGUMENT", "Last-Event-ID")


@check("clients that leave as soon as they have asked for events disturb no other")
def _():
    runs = [suite.start("asker")["runId"] for _ in range(10)]
    for path in [f"/v1/runs/{run}/events" for run in runs] * 10 + [f"/v1/events:watch?runs={','.join(runs)}"] * 100:
        connection = suite.connect()
        connection.request("GET", path, headers={"accept": "text/event-stream", "authorization": "Bearer anna"})
        connection.close()
    expect(ask("GET", "/v1/agents", key="anna").status == 200, "the edge does not answer")


def answered(*fields, start="GET /v1/agents HTTP/1.1"):
    """The status of a request with exactly these fields, beside a Host and a key."""
    plain = socket.create_connection((suite.host, suite.port), 30 * SLOW)
    lines = [start, "Host: localhost", "Authorization: Bearer anna", *fields, "Connection: close", "", ""]
    plain.sendall("\r\n".join(lines).encode())
    with plain, plain.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@check("lists may come in several fields, and a field that has one value may not; a target has no fragment")
def _():
    tag = ask("GET", "/v1/agents", key="anna").headers["etag"]
    for fields, code in ((("Accept: text/html", "Accept: application/json"), 200), (("Accept: application/json", "Accept: text/html"), 200),
                         (("Accept: text/html", "Accept: image/png"), 406), ((f"If-None-Match: {tag}", 'If-None-Match: "other"'), 304),
                         (("If-None-Match: a", "X: b", "if-none-match: c"), 200), (("X-Request-Timeout: 9s",) * 2, 400),
                         (("X-Request-Timeout: x", "X-Request-Timeout: 9s"), 400), (("Grpc-Timeout: 9S",) * 2, 400),
                         (("Sec-Fetch-Site: same-origin",) * 2, 400)):
        expect(answered(*fields) == code, f"{fields}: {answered(*fields)}")
    for target in ("/v1/agents#a", "/#", "http://localhost/v1/agents#a", "*"):
        got = answered(start=f"GET {target} HTTP/1.1")
        expect(got in (400, 404), f"{target}: {got}")


@check("what is no key, and a body that is packed, are told as such")
def _():
    error = refused(ask("GET", "/v1/agents", authorization="Basic YTpi"), 401, "UNAUTHENTICATED")
    expect("Authorization: Bearer" in error["message"] and "metadata" not in error["message"], error["message"])
    for coding, code in (("gzip", 415), ("identity", 200)):
        got = ask("POST", "/v1/runs", {"agent": "echo"}, key="anna", content_encoding=coding).status
        expect(got == code, f"{coding}: {got}")


@check("Accept with the quality 0 leaves a type out")
def _():
    run = suite.start("echo", wait=True, inputJson={"text": "moon"})["runId"]
    for accept, code in (("application/json;q=0", 406), ("application/json; q=0.000, text/html", 406), ("*/*;q=0", 406), ("application/*;q=0, */*", 406),
                         ("application/json;q=0.5", 200), ("application/json;level=1;q=1, */*;q=0", 200), ("text/html, */*;q=0.01", 200)):
        expect(ask("GET", f"/v1/runs/{run}", key="anna", accept=accept).status == code, f"{accept}: not {code}")
    for accept, kind in (("text/event-stream;q=0, application/x-ndjson", "application/x-ndjson"), ("text/event-stream; q=0.1", "text/event-stream"),
                         ("*/*", "application/x-ndjson"), ("*/*;q=0", None)):
        answer = ask("GET", f"/v1/runs/{run}/events", key="anna", accept=accept)
        got = answer.headers["content-type"].split(";")[0] if answer.status == 200 else None
        expect(got == kind, f"{accept}: {answer.status} {got}")
    refused(ask("GET", f"/v1/runs/{run}/events?after=1&after=2", key="anna"), 400, "INVALID_ARGUMENT", "after")


@check("a typed stream has the answer in its events")
def _():
    events = suite.events("/v1/helpdesk:askStream", method="POST", body={"question": "What is a moon?"}, key="anna")
    expect("accepted" in events[1].data and "result" in events[-2].data and events[-1].name == "end", f"{[list(e.data or {}) for e in events]}")
    refused(ask("POST", "/v1/helpdesk:askStream", {"question": ""}, key="anna", accept="text/event-stream"), 400, "INVALID_ARGUMENT", "question")


@check("readers that stop reading, and leave or are cut when all has been sent to the edge, leave nothing behind")
def _():
    runs = [suite.start("large", wait=True)["runId"] for _ in range(12)]
    streams = [suite.stream(f"/v1/events:watch?runs={','.join(runs)}", key="anna") for _ in range(6)]
    streams += [suite.stream(f"/v1/runs/{run}/events", key="anna") for run in runs[:6]]
    time.sleep(0.5)
    for place, stream in enumerate(streams):
        if place % 2:
            stream.connection.close()
    time.sleep(3)  # edge.reader_timeout is 2 s
    for stream in streams:
        stream.connection.close()


@check("a key has a bound of streams, and those that are closed count no more")
def _():
    wait_until_no_stream_is_open()  # of the tests before, whose keys have the same tenant
    run = suite.start("asker", wait=True)
    path = f"/v1/runs/{run['runId']}/events?follow=true"
    streams, answers = [], []
    for _ in range(60):
        response = suite.stream(path, key="carl")
        (streams if response.status == 200 else answers).append(response)
    expect(len(streams) == 20 and answers and all(one.status == 429 for one in answers),
           f"{len(streams)} streams; others: {sorted({one.status for one in answers})}")
    expect(answers[0].headers["retry-after"] == "1", "no hint")
    for one in streams + answers:
        one.connection.close()
    wait_until_no_stream_is_open()
    expect(suite.stream(path, key="carl").status == 200, "no stream any more")
    ask("POST", f"/v1/runs/{run['runId']}:cancel", key="carl")


@check("streams have a bound of runs together, too: each is a call of a service")
def _():
    wait_until_no_stream_is_open()
    runs = [suite.start("asker", key="carl", wait=True)["runId"] for _ in range(51)]
    path = f"/v1/events:watch?runs={','.join(runs[:50])}"
    streams = [suite.stream(path, key="carl") for _ in range(2)]
    expect([one.status for one in streams] == [200, 200], f"{[one.status for one in streams]}")
    for further in (path, f"/v1/runs/{runs[50]}/events?follow=true"):
        streams.append(suite.stream(further, key="carl"))
    expect([one.status for one in streams[2:]] == [429, 429], f"{[one.status for one in streams[2:]]}")
    for one in streams:
        one.connection.close()
    wait_until_no_stream_is_open()
    for run in runs:
        ask("POST", f"/v1/runs/{run}:cancel", key="carl")


@check("a server that leaves tells its streams to come back")
def _():
    run = suite.start("asker", wait=True)
    response = suite.stream(f"/v1/runs/{run['runId']}/events?follow=true", key="anna")
    expect(response.status == 200, f"{response.status}")
    events = parse_events(line.decode() for line in response)
    expect(next(events).retry == 2000, "no beginning")
    codes = suite.stop()
    rest = list(events)
    expect(any(event.retry and 1000 <= event.retry <= 10000 for event in rest), "no time to come back")
    expect(rest[-1].name == "error" and rest[-1].data["error"]["status"] == "UNAVAILABLE", f"{rest[-1].name}: {rest[-1].data}")
    expect(codes == [0] * len(codes), f"the processes ended with {codes}")


finish()
