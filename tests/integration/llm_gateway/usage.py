#!/usr/bin/env python3
"""GetUsage over the network: who sees what, in a file that an outsider reads and writes too.
RENGA_BIN=<folder of renga-llm-gateway> RENGA_PROTO=<folder of renga_descriptor_set.bin>; one line a check."""
import atexit
import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, follow  # noqa: E402
from contract import message  # noqa: E402

SERVICE = "renga.v1.LlmGateway"
TOKYO = 540
MIDNIGHT = 1767193200000  # 2026-01-01 00:00 in Japan

Request, Response = message("GetUsageRequest"), message("GetUsageResponse")


def key(name, tenant, *methods):
    return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(f"k-{name}".encode()).hexdigest(),
            "methods": list(methods)}


KEYS = [key("desk", "kyoto", f"{SERVICE}/*"), key("lone", "", f"{SERVICE}/GetUsage"), key("root", "", "*"),
        key("books", "kyoto", f"{SERVICE}/GetUsage", f"{SERVICE}/GetUsage.all"), key("chat", "kyoto", f"{SERVICE}/Chat"),
        key("star", "kyoto", "*")]


class Gateway:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [f"{os.environ['RENGA_BIN']}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=127.0.0.1:0",
             "--log.format=json", "--loops=2", "--llm_gateway.upstream=http://127.0.0.1:1/v1", *flags],
            stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.log, ports = [], {}
        for line in self.process.stderr:
            self.log.append(line)
            for name, port in re.findall(r'"(rpc|http)\.listening".*port (\d+)', line):
                ports[name] = port
            if len(ports) == 2:
                break
        expect(len(ports) == 2, f"the gateway does not listen: {self.log}")
        self.log = follow("the gateway", self.process, self.log)
        self.http = ports["http"]
        self.channel = grpc.insecure_channel(f"127.0.0.1:{ports['rpc']}")
        self.call = self.channel.unary_unary(f"/{SERVICE}/GetUsage", Request.SerializeToString, Response.FromString)

    def usage(self, who="root", **fields):
        return self.call(Request(**fields), metadata=(("authorization", f"Bearer k-{who}"),), timeout=10,
                         wait_for_ready=True)

    def refusal(self, who="root", **fields):
        try:
            self.usage(who, **fields)
        except grpc.RpcError as error:
            return error
        raise AssertionError("it was answered")

    def stop(self):
        self.channel.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def book(path, client, tenant, ended_ms, micros):
    """Enters a call as any SQLite program could."""
    with sqlite3.connect(path) as file:
        file.execute("INSERT INTO sums VALUES (?, ?, ?, 'gpt', 'east', '', '', 100, 10, 0, 0, 0, 1, 0, ?, 0, 1, 0, 0, 0, 0, NULL)",
                     (ended_ms // 900000, client, tenant, micros))
    file.close()


folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "accounts.db")
gateway = Gateway(f"--llm_gateway.ledger={path}", f"--rpc.keys={json.dumps(KEYS)}")
gateway.usage()
for entry in (("desk", "kyoto", MIDNIGHT - 1, 1), ("desk", "kyoto", MIDNIGHT, 2), ("till", "kyoto", MIDNIGHT, 4),
              ("lone", "", MIDNIGHT, 8), ("shop", "osaka", MIDNIGHT, 16)):
    book(path, *entry)


def cost(who, **fields):
    return gateway.usage(who, **fields).totals.usage.cost_micros


@check("an operator's key and one with the right to see all see all")
def _():
    expect(cost("root") == 31 and cost("books") == 31, f"they see {cost('root')} and {cost('books')}")
    expect(cost("books", tenant="osaka") == 16, "not osaka")


@check("a tenant's key for the whole service, or for all methods, sees its own tenant and no other")
def _():
    for who in ("desk", "star"):
        expect(cost(who) == 7, f"{who} sees {cost(who)}")
        for fields in ({"tenant": "osaka"}, {"client": "shop"}):
            error = gateway.refusal(who, **fields)
            expect(error.code() == grpc.StatusCode.PERMISSION_DENIED, error)
    expect(cost("desk", client="desk") == 3, "it does not see its own client")


@check("a client without a tenant sees its own calls")
def _():
    expect(cost("lone") == 8, f"it sees {cost('lone')}")


@check("a key that may not call GetUsage is denied")
def _():
    expect(gateway.refusal("chat").code() == grpc.StatusCode.PERMISSION_DENIED, "it is not")


@check("days in Japan begin at 15:00 UTC")
def _():
    days = gateway.usage(group_by=["USAGE_GROUP_DAY"], utc_offset_minutes=TOKYO).rows
    expect([(day.start_ms, day.usage.cost_micros) for day in days] == [(MIDNIGHT - 86400000, 1), (MIDNIGHT, 30)], days)


@check("pages lead to all rows, and a made-up token is OUT_OF_RANGE")
def _():
    token, clients = "", []
    while True:
        page = gateway.usage(group_by=["USAGE_GROUP_CLIENT"], page_size=1, page_token=token)
        clients += [row.client for row in page.rows]
        token = page.next_page_token
        if not token:
            break
    expect(clients == ["shop", "lone", "till", "desk"], clients)
    expect(gateway.refusal(page_token="1-1-1").code() == grpc.StatusCode.OUT_OF_RANGE, "it is not")


@check("a wrong field is INVALID_ARGUMENT and named")
def _():
    error = gateway.refusal(utc_offset_minutes=7)
    expect(error.code() == grpc.StatusCode.INVALID_ARGUMENT and "utc_offset_minutes" in error.details(), error)


@check("a scrape shows how the ledger goes")
def _():
    with urllib.request.urlopen(f"http://127.0.0.1:{gateway.http}/metrics", timeout=10) as page:
        text = page.read().decode()
    # not that it is 0: the reader and writer from outside may have held the file, and what failed is written again
    expect(re.search(r"^renga_ledger_write_failures_total \d+$", text, re.M), "it does not")


@check("the gateway ends cleanly, and the file is whole and of the next process too")
def _():
    global gateway
    expect(gateway.stop() == 0, "it does not")
    with sqlite3.connect(path) as file:
        expect(file.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the file is damaged")
    file.close()
    gateway = Gateway(f"--llm_gateway.ledger={path}", f"--rpc.keys={json.dumps(KEYS)}")
    expect(cost("root") == 31, "it is not")


@check("a ledger that cannot be opened leaves the gateway serving, and GetUsage is UNAVAILABLE")
def _():
    dead = Gateway("--llm_gateway.ledger=/proc/nowhere/accounts.db")
    error = dead.refusal()
    expect(error.code() == grpc.StatusCode.UNAVAILABLE and "calls to models go on" in error.details(), error)
    expect("/proc" not in error.details(), f"the text names a path: {error.details()}")
    expect(dead.stop() == 0, "it does not end cleanly")


@check("without a file the accounts are in memory, and without keys anyone sees them")
def _():
    memory = Gateway()
    answer = memory.usage(who="nobody", group_by=["USAGE_GROUP_CLIENT"])
    expect(not answer.rows and answer.totals.calls == 0, answer)
    expect(abs(answer.complete_until_ms - time.time() * 1000) < 60000, answer)
    expect(memory.stop() == 0, "it does not end cleanly")


gateway.stop()
folder.cleanup()
finish()
