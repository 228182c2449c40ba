#!/usr/bin/env python3
"""A console's session on two edges that share edge.session_key. Needs RENGA_BIN."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from edge import BIN, KEYS, Suite, parse_events, write  # noqa: E402
from checks import check, expect, finish  # noqa: E402

SECRET = "c2Vzc2lvbnMgb2YgdGhlIHRlc3QsIDMyIGJ5dGVz"
one, two = (Suite("one", f"--edge.session_key={SECRET}", "--edge.heartbeat=1s") for _ in range(2))
stranger = Suite("one", "--edge.session_key=another secret of at least 32 bytes", "--edge.heartbeat=1s")


def cookie_at(suite, answer):
    """The cookie that the answer sets, as the browser shows it to `suite`: its name has the port, which is one behind a door."""
    value = answer.headers["set-cookie"].split(";")[0].partition("=")[2]
    return {"cookie": f"renga_session_{suite.port}={value}"}


def own(suite):
    return {"origin": f"http://127.0.0.1:{suite.port}"}


signed = one.ask("POST", "/v1/session", {"key": "anna"}, **own(one))


@check("a browser that signed in at one edge is known at the other one, and at no edge with another secret")
def _():
    expect(signed.status == 200 and "anna" not in signed.headers["set-cookie"], signed.headers["set-cookie"])
    for suite in (one, two):
        shown = suite.ask("GET", "/v1/session", **cookie_at(suite, signed)).json
        expect(shown["signedIn"] and shown["client"] == "anna", f"{shown}")
        expect(suite.ask("GET", "/v1/agents", **cookie_at(suite, signed)).status == 200, "agents")
    expect(stranger.ask("GET", "/v1/agents", **cookie_at(stranger, signed)).status == 401, "the stranger takes it")


@check("at the other edge, too, a change needs the console's own page")
def _():
    run = {"agent": "echo"}
    expect(two.ask("POST", "/v1/runs", run, **cookie_at(two, signed), **own(two)).status == 200, "its own page")
    expect(two.ask("POST", "/v1/runs", run, **cookie_at(two, signed), origin="https://evil.example").status == 403, "another page")
    expect(two.ask("POST", "/v1/runs", run, **cookie_at(two, signed)).status == 403, "no page")


def ends_as_unauthenticated(stream):
    last = list(parse_events(line.decode() for line in stream))[-1]
    expect(last.name == "error" and last.data["error"]["status"] == "UNAUTHENTICATED", f"{last.name}: {last.data}")


@check("signing out clears the cookie, and the edge that was asked refuses its copies")
def _():
    run = two.start("asker", wait=True)["runId"]
    open_one = two.stream(f"/v1/runs/{run}/events?follow=true", **cookie_at(two, signed), **own(two))
    out = two.ask("DELETE", "/v1/session", **cookie_at(two, signed), **own(two))
    expect(out.status == 200 and "Max-Age=0" in out.headers["set-cookie"], out.headers["set-cookie"])
    expect(two.ask("GET", "/v1/agents", **cookie_at(two, signed)).status == 401, "a copy is taken")
    expect(not two.ask("GET", "/v1/session", **cookie_at(two, signed)).json["signedIn"], "it is signed in")
    ends_as_unauthenticated(open_one)


@check("a key that is taken away ends its streams, and no other's")
def _():
    runs = {name: stranger.start("asker", key=name, wait=True)["runId"] for name in ("anna", "bert")}
    streams = [stranger.stream(f"/v1/runs/{runs['anna']}/events?follow=true", key="anna"),
               stranger.stream(f"/v1/events:watch?runs={runs['anna']}", key="anna")]
    other = stranger.stream(f"/v1/runs/{runs['bert']}/events?follow=true", key="bert")
    write("keys.json", json.dumps([one for one in KEYS if one["name"] != "anna"]))
    stranger.processes[0].send_signal(signal.SIGHUP)
    for stream in streams:
        ends_as_unauthenticated(stream)
    stranger.ask("POST", f"/v1/runs/{runs['bert']}:resume", {"answerJson": 1}, key="bert")
    expect(list(parse_events(line.decode() for line in other))[-1].name == "end", "bert's stream")


@check("a secret that can be guessed is refused at the start")
def _():
    done = subprocess.run([f"{BIN}/renga", "serve", "--edge.session_key=short", "--rpc.listen=127.0.0.1:0", "--edge.listen=127.0.0.1:0",
                           "--http.listen="], capture_output=True, text=True, timeout=60)
    expect(done.returncode != 0 and "edge.session_key" in done.stderr and "short" not in done.stderr, done.stderr[-300:])


finish()
