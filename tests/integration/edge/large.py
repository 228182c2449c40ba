#!/usr/bin/env python3
"""Large bodies and events of JSON, in and out: the loop is not held by them. Needs RENGA_BIN. LARGE_SHOWN=1 prints how long visits were."""
import json
import os
import re
import socket
import sys
import time
import urllib.request

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fault")]
from edge import LARGE, SLOW, Suite, parse_events  # noqa: E402
from checks import check, expect, finish, wait_until  # noqa: E402
from http2 import Peer, header, message, varint, window_update  # noqa: E402
from ports import free_port  # noqa: E402

HELD_MOST = "0.025"  # seconds, a bound of the histogram; a loop that read these bodies itself was held far longer
TIMES = 8            # one of them must be seen without others at the processor
MIB = 1 << 20
PAGE = f"127.0.0.1:{free_port()}"
STALLED = 40 if SLOW == 1 else 6  # readers
PART = 1 if SLOW == 1 else 8      # of the lists, under a sanitizer: workers read them all the same
UNREAD = 200         # answers of 3 MB, which would take 6 MB each until they are sent
UNREAD_MOST = 250 << 20  # bytes: a tenant's part, a quarter of 8 times rpc.memory_max, and what passes through meanwhile
WATCHERS, WATCHED_S, WATCHED_MOST = 800, 4, 450 << 20  # streams, seconds, bytes: two bounds, and what passes through
UNREAD_STREAMS, UNREAD_S, UNREAD_EVENTS_MOST = 600, 6, 350 << 20  # of a step with 24 events of 250 KB; seconds, bytes: two bounds, and what passes through
LIVE = 1000 if SLOW == 1 else 200
INITIAL_WINDOW_SIZE = 4  # a setting of HTTP/2
STALLED_MOST = 4 * 300_000 + (256 << 10)  # bytes of one: four events (edge/README.md), and the windows
suite = Suite("one", f"--http.listen={PAGE}", "--edge.reader_timeout=3s", key="anna")


def page():
    with urllib.request.urlopen(f"http://{PAGE}/metrics") as answer:
        return answer.read().decode()


def longer():
    """Visits of loops that were longer than HELD_MOST."""
    counts = dict(re.findall(r'renga_loop_held_seconds_bucket\{le="([^"]+)"\} (\S+)', page()))
    if os.environ.get("LARGE_SHOWN"):
        print("   ", counts, flush=True)
    return float(counts["+Inf"]) - float(counts[HELD_MOST])


def jobs():
    return float(re.search(r"^renga_jobs_total (\S+)", page(), re.M)[1])


def holds_no_loop(path, body, status=400):
    """Asks until no visit of a loop was too long."""
    held = []
    for _ in range(TIMES):
        before = longer()
        answer = suite.ask("POST", path, body, content_type="application/json")
        expect(answer.status == status, f"{answer.status}: {answer.bytes[:300]}")
        held.append(longer() - before)
        if not held[-1] or SLOW > 1:  # a sanitizer makes each visit longer
            return
    expect(False, f"visits above {HELD_MOST} s: {held}")


@check("a question of 1 MiB that is full of '<' is answered without a model, and no loop is held for 25 ms")
def _():
    said = {"role": "CHAT_ROLE_USER", "content": "<" * (MIB // PART)}
    holds_no_loop("/v1/llm:chat", json.dumps({"model": "default", "messages": [said]}), 200)


@check("a body of 5 MB with a list, one of 3 MB with unknown fields, and one of 6 MB with numbers, are refused, and no loop is held for 25 ms")
def _():
    names = '{"agent": "echo", "interruptBefore": [' + '"a\\u00e9\\u00e9\\u00e9\\u00e9",' * (200_000 // PART) + '"a"], "no such field": 1}'
    before = jobs()
    holds_no_loop("/v1/runs", names)
    wait_until(lambda: jobs() > before, "no worker read it", 10 * SLOW)
    many = "{" + ",".join(f'"field{i}":1' for i in range(200_000 // PART)) + "}"
    holds_no_loop("/v1/runs", many)
    holds_no_loop("/v1/helpdesk:ask", '{"question": [' + "1," * (3 * MIB) + "1]}")


@check("a state of 3 MB comes and goes, and worker threads read and write it")
def _():
    text = "\\n\u6708" * (MIB // 2)
    before = jobs()
    run = suite.ask("POST", "/v1/runs", ('{"agent": "echo", "threadId": "large", "wait": true, "inputJson": {"text": "' + text + '"}}').encode(),
                    content_type="application/json").json["run"]
    expect(run["state"] == "RUN_STATE_SUCCEEDED", f"{run['state']}")
    wait_until(lambda: jobs() >= before + 2, "no worker read it", 10 * SLOW)
    before = jobs()
    state = suite.ask("GET", "/v1/threads/large/state").json
    wait_until(lambda: jobs() > before, "no worker wrote it", 10 * SLOW)
    expect(json.loads(state["stateJson"])["text"] == json.loads(f'"{text}"'), "the state has another text")


@check("a client that leaves while its body is read disturbs no other")
def _():
    for _ in range(5):
        connection = suite.connect()
        connection.request("POST", "/v1/helpdesk:ask", body='{"question": [' + "1," * (3 * MIB) + "1]}",
                           headers={"content-type": "application/json"})
        connection.close()
    expect(suite.ask("GET", "/v1/agents").status == 200, "the edge does not answer")


def lines_of(run):
    """The events of a run as lines of JSON."""
    return [json.loads(line) for line in suite.ask("GET", f"/v1/runs/{run}/events").bytes.splitlines()]


def numbers(events):
    return [int(event["eventId"]) for event in events if "eventId" in event and "heartbeat" not in event]


@check("events of 200 KB and the small ones between them come in their order, each once, written by workers, in both forms and in a shared stream")
def _():
    before = jobs()
    run = suite.start("large", wait=True)["runId"]
    lines = lines_of(run)
    texts = [event["updated"]["updateJson"] for event in lines if "updated" in event]
    expect([json.loads(text).get("x") for text in texts] == [LARGE, None, LARGE + "end"], f"{[len(text) for text in texts]}")
    expect(numbers(lines) == sorted(set(numbers(lines))) and "end" in lines[-1], f"{numbers(lines)}")
    wait_until(lambda: jobs() >= before + 3, "no worker wrote them", 10 * SLOW)
    events = suite.events(f"/v1/runs/{run}/events")
    expect([event.data for event in events if event.id] == lines[:-1] and events[-1].name == "end", "events differ from lines")
    runs = [run, *(suite.start("large")["runId"] for _ in range(4))]
    shared = suite.events(f"/v1/events:watch?runs={','.join(runs)}")
    for one in runs:
        got = numbers([event.data for event in shared if event.id and event.data["runId"] == one])
        expect(got == numbers(lines_of(one)), f"{one}: {got}")
    ends = [event.data.get("runId") for event in shared if event.name == "end"]
    expect(sorted(ends[:-1]) == sorted(runs) and shared[-1].data == {"reason": "ALL_ENDED"}, f"{ends}")


@check("a stream goes on behind a large event where its reader lost the connection")
def _():
    run = suite.start("large", wait=True)["runId"]
    whole = numbers(lines_of(run))
    seen = []
    for _ in range(100):
        response = suite.stream(f"/v1/runs/{run}/events", **({"last_event_id": str(seen[-1])} if seen else {}))
        for event in parse_events(line.decode() for line in response):
            if event.name == "end":
                expect(seen == whole, f"{seen} and not {whole}")
                return
            if event.id:
                seen.append(int(event.id))
                break
        response.connection.close()
    expect(False, f"{seen} and not {whole}")


def rss():
    with open(f"/proc/{suite.processes[0].pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def stalled_readers(count, path, accept="text/event-stream"):
    """They ask at once, and read nothing."""
    readers = []
    for _ in range(count):
        readers.append(socket.socket())
        readers[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        readers[-1].connect(("127.0.0.1", suite.port))
    for plain in readers:
        plain.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{suite.port}\r\nAccept: {accept}\r\nAuthorization: Bearer {suite.key}\r\n\r\n".encode())
    return readers


@check("readers that do not read hold a few of their events each, and are cut")
def _():
    run = suite.start("larger", wait=True)["runId"]
    suite.events(f"/v1/runs/{run}/events")  # 8 MB, more than the kernel takes for a reader
    before, most = rss(), 0
    readers = stalled_readers(STALLED, f"/v1/runs/{run}/events")
    until = time.monotonic() + 30 * SLOW
    while f'renga_edge_streams_cut_total{{reason="SLOW_READER"}} {STALLED}' not in page():
        expect(time.monotonic() < until, "they are not cut")
        most = max(most, rss())
        time.sleep(0.05)
    for reader in readers:
        reader.close()
    if SLOW == 1:  # a sanitizer has memory of its own
        expect(most - before <= STALLED * STALLED_MOST, f"{(most - before) / STALLED:,.0f} bytes a reader")
    return f"{(most - before) / STALLED:,.0f} bytes a reader"


def store_large(key):
    """A run whose output and state have 3 MB."""
    run = suite.ask("POST", "/v1/runs", {"agent": "echo", "threadId": "unread", "wait": True, "inputJson": {"text": "x" * (3_000_000)}}, key=key).json["run"]
    expect(run["state"] == "RUN_STATE_SUCCEEDED", f"{run['state']}")
    return run


def peak(anew=False):
    """The most memory that the process has had, of late or since `anew`."""
    if anew:
        with open(f"/proc/{suite.processes[0].pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    with open(f"/proc/{suite.processes[0].pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) << 10


@check("large answers that nobody reads hold a bound together, also while they are made: those beyond it are told to come back, and do")
def _():
    grown = []
    run = store_large("anna")["runId"]
    for method, path in (("GetState", "/v1/threads/unread/state"), ("GetRun", f"/v1/runs/{run}")):
        before = peak(anew=True)
        readers = stalled_readers(UNREAD, path, "application/json")
        wait_until(lambda: re.search(rf'^renga_edge_requests_total\{{.*{method}.*"(429|503)".*\}}', page(), re.M), f"{method}: none is refused", 30 * SLOW)
        wait_until(lambda: suite.ask("GET", "/v1/agents").status == 200, "the edge does not answer", 30 * SLOW)
        grown.append(peak() - before)
        for reader in readers:
            reader.close()
        wait_until(lambda: suite.ask("GET", path).status == 200, f"{path} is not read any more", 20.0 * SLOW, 0.1)
    if SLOW == 1:
        expect(max(grown) <= UNREAD_MOST, f"{[one >> 20 for one in grown]} MiB for {UNREAD} answers of 3 MB")
    return f"{[one >> 20 for one in grown]} MiB for {UNREAD} answers"


@check("callers of gRPC that do not read large answers hold a bound together: more are refused with the bound's name, others are served, and it is free behind them")
def _():
    run = store_large("anna")["runId"].encode()
    store_large("bert")
    before = rss()
    peer = Peer(suite.rpc_port, mine=[(INITIAL_WINDOW_SIZE, 0)])
    field = b"\x0a" + varint(len(run)) + run
    asks = [("GetRun", field), ("GetState", b"\x0a\x06unread")]
    streams = []
    for number in range(UNREAD):
        method, body = asks[number % len(asks)]
        streams.append(peer.open(f"/renga.v1.Orchestrator/{method}", header(b"authorization", b"Bearer anna")))
        peer.send_body(streams[-1], message(body))
    until = time.monotonic() + 30 * SLOW
    while not all(stream in peer.blocks for stream in streams):
        expect(time.monotonic() < until and not peer.eof, "a call is not answered")
        peer.receive(0.2)
    grown = rss() - before
    refused = [stream for stream in streams if stream in peer.closed]
    granted = UNREAD - len(refused)
    if SLOW == 1:  # a sanitizer has memory of its own
        expect(grown <= UNREAD_MOST, f"{grown >> 20} MiB for {UNREAD} answers, {granted} granted")
    expect(0 < granted < UNREAD, f"{granted} of {UNREAD} granted")
    told = b"".join(block for stream in refused for block in peer.blocks[stream])
    expect(b"grpc-status\x018" in told and b"rpc.memory_max" in told, f"{told[:1000]}")
    expect(suite.ask("GET", "/v1/threads/unread/state", key="bert").status == 200, "another tenant is not served")
    expect(suite.ask("GET", "/v1/agents").status == 200, "a small answer finds no room")
    done = store_large("anna")
    expect(done.get("outputOmitted") and not done.get("outputJson"), "a run that was done is not answered without its output")
    peer.close()
    wait_until(lambda: suite.ask("GET", "/v1/threads/unread/state").status == 200, "the state is not read any more", 20.0 * SLOW, 0.1)
    return f"{grown >> 20} MiB for {granted} answers of {UNREAD}"


def stalled_watchers(run, count, filters=b""):
    """Streams of gRPC that nobody reads; `filters` are further fields of WatchRunRequest."""
    peers = [Peer(suite.rpc_port, mine=[(INITIAL_WINDOW_SIZE, 0)]) for _ in range(count // 100)]
    for peer in peers:
        for _ in range(100):
            stream = peer.open("/renga.v1.Orchestrator/WatchRun", header(b"authorization", b"Bearer anna"))
            peer.send_body(stream, message(b"\x0a" + varint(len(run)) + run.encode() + filters))
    return peers


@check("streams of gRPC that nobody reads hold a bound of large events together, and a reader is served behind them")
def _():
    run = store_large("anna")["runId"]
    before = rss()
    peers = stalled_watchers(run, WATCHERS)
    most, until = 0, time.monotonic() + WATCHED_S
    while time.monotonic() < until:
        most = max(most, rss() - before)
        time.sleep(0.1)
    if SLOW == 1:
        expect(most <= WATCHED_MOST, f"{most >> 20} MiB for {WATCHERS} streams")
    for peer in peers:
        peer.close()
    wait_until(lambda: suite.ask("GET", "/v1/threads/unread/state").status == 200, "the state is not read any more", 20.0 * SLOW, 0.1)
    return f"{most >> 20} MiB for {WATCHERS} streams"


def holds_a_bound(before, name, begin, path):
    """Watches memory while streams are not read; then a reader gets its events."""
    most, slowest, until = 0, 0, time.monotonic() + UNREAD_S
    open_ones = begin()
    while time.monotonic() < until:
        began = time.monotonic()
        expect(suite.ask("GET", "/v1/agents", key="bert").status == 200, "another tenant is not served")
        slowest = max(slowest, time.monotonic() - began)
        most = max(most, rss() - before)
        time.sleep(0.05)
    for one in open_ones:
        one.close()
    if SLOW == 1:
        expect(most <= UNREAD_EVENTS_MOST, f"{name}: {most >> 20} MiB")
    wait_until(lambda: numbers([event.data for event in suite.events(path) if event.id]), f"{name}: a reader gets no events", 30.0 * SLOW, 0.1)
    return f"{name}: {most >> 20} MiB, a call of another tenant {slowest:.2f} s"


@check("streams that nobody reads hold a bound of the events of a large step, over gRPC and HTTP, without and with a filter of kinds, and a reader is served")
def _():
    run = suite.start("wide", wait=True, inputJson={"x": "x" * 250_000})["runId"]
    before = rss()
    told = [holds_a_bound(before, "WatchRun", lambda: stalled_watchers(run, UNREAD_STREAMS), f"/v1/runs/{run}/events"),
            holds_a_bound(before, "kinds", lambda: stalled_watchers(run, UNREAD_STREAMS, b"\x1a\x01\x07"), f"/v1/runs/{run}/events"),
            holds_a_bound(before, "events:watch", lambda: stalled_readers(UNREAD_STREAMS // 10, f"/v1/events:watch?runs={run}"), f"/v1/runs/{run}/events")]
    return "; ".join(told)


def ids_of(data):
    """The event ids of a stream's messages, as gRPC frames them; event_id is the first field, and absent in none."""
    ids, at = [], 0
    while at + 5 <= len(data):
        size = int.from_bytes(data[at + 1:at + 5], "big")
        expect(data[at + 5] == 0x08, f"{data[at:at + 20]}")
        value = shift = 0
        for byte in data[at + 6:at + 16]:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        ids.append(value)
        at += 5 + size
    return ids


@check("a thousand live watchers of a run each get all of its events in their order")
def _():
    run = suite.start("late", wait=True)["runId"]
    peers = [Peer(suite.rpc_port) for _ in range(LIVE // 100)]
    for peer in peers:
        peer.send(window_update(0, 1 << 30))
        for _ in range(100):
            stream = peer.open("/renga.v1.Orchestrator/WatchRun", header(b"authorization", b"Bearer anna"))
            peer.send_body(stream, message(b"\x0a" + varint(len(run)) + run.encode() + b"\x28\x01"))  # follow
    wait_until(lambda: all(len(peer.data) == 100 or peer.receive(0.01) for peer in peers), "a stream does not begin", 30 * SLOW)
    stopped = suite.ask("POST", f"/v1/runs/{run}:resume", {"answerJson": "1", "wait": True}).json["run"]
    expect(stopped["state"] == "RUN_STATE_SUCCEEDED", f"{stopped['state']}")
    until = time.monotonic() + 60 * SLOW
    while not all(len(peer.closed) == 100 for peer in peers):
        expect(time.monotonic() < until, "a stream does not end")
        for peer in peers:
            peer.receive(0.01)
    whole = numbers(lines_of(run))
    for peer in peers:
        for data in peer.data.values():
            ids = ids_of(bytes(data))
            expect(ids == sorted(set(ids)) and set(whole) <= set(ids), f"{len(ids)} events, and not {len(whole)}")
        peer.close()
    return f"{len(whole)} events for {LIVE}"


@check("readers that leave while large events are written disturb no other, and a drain waits for none")
def _():
    runs = [suite.start("large")["runId"] for _ in range(8)]
    for place in range(24):
        response = suite.stream(f"/v1/events:watch?runs={','.join(runs)}" if place % 3 == 0 else f"/v1/runs/{runs[place % 8]}/events")
        response.read(place % 7 * 100 + 1)
        response.connection.close()
    expect(numbers(lines_of(runs[0])), "the edge does not answer")
    open_ones = [suite.stream(f"/v1/runs/{runs[place]}/events") for place in range(8)]
    expect(suite.stop() == [0], "the suite does not end")
    for response in open_ones:
        response.connection.close()


finish()
