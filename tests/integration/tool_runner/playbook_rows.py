#!/usr/bin/env python3
"""What the store has of playbooks: rows that are damaged or missing, text that was deleted, and the bounds of the history,
of the cache and of a tenant's playbooks."""
import contextlib
import os
import re
import sqlite3
import time
import urllib.request

from runner import Runner, SLOW, check, checks, expect, wait_until
from playbook_client import Playbooks, add, count, delete, refused
from redis_server import RedisServer


def equal(got, wanted, what="it"):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def rows_of(runner, dataset, letter):
    """Keys and values in the order of the keys; `letter` None: the head. The tool-runner has ended."""
    prefix = b"P\0h\0" + dataset.encode() if letter is None else b"P\0d\0" + dataset.encode() + b"\0" + letter
    with contextlib.closing(sqlite3.connect(f"{runner.folder}/record.db")) as db:
        found = [(bytes(key), value) for key, value in db.execute("SELECT key, value FROM kv ORDER BY key") if bytes(key).startswith(prefix)]
        return [(key, value) for key, value in found if letter or key == prefix]


def spoil(runner, dataset, letter, at=0, byte=-1):
    """Changes a byte of a value; byte None: deletes the row."""
    runner.kill()
    key, value = rows_of(runner, dataset, letter)[at]
    with contextlib.closing(sqlite3.connect(f"{runner.folder}/record.db")) as db:
        if byte is None:
            db.execute("DELETE FROM kv WHERE key = ?", (key,))
        elif isinstance(value, int):  # it stands in `large`
            old = bytearray(db.execute("SELECT value FROM large WHERE number = ?", (value,)).fetchone()[0])
            old[byte] ^= 1
            db.execute("UPDATE large SET value = ? WHERE number = ?", (bytes(old), value))
        else:
            old = bytearray(value)
            old[byte] ^= 1
            db.execute("UPDATE kv SET value = ? WHERE key = ?", (bytes(old), key))
        db.commit()
    runner.start()


def metric(runner, name):
    text = urllib.request.urlopen(f"http://127.0.0.1:{runner.metrics_port}/metrics").read().decode()
    return float(re.search(rf"^{name} (\S+)", text, re.M).group(1))


def damaged_rows(runner):
    client = Playbooks(runner)

    def make(dataset):
        for i in range(4):
            client.put(dataset, operations=[add("s", f"{dataset} says {'abcd'[i] * 9}")], request_id=f"r{i}")
        return client.state(dataset)

    @check("a damaged bullet is told with its name, and the rest is had again once it is written anew or removed")
    def _():
        before, other = make("bullet"), make("beside")
        for byte in (-1, 0, 8, 20):
            spoil(runner, "bullet", b"b", 1, byte)
            refused("DATA_LOSS", lambda: client.get("bullet"), "'s-00002'", "'bullet'")
            refused("DATA_LOSS", lambda: client.put("bullet", operations=[add("s", "more")]), "'s-00002'", "'bullet'")
            refused("DATA_LOSS", lambda: client.restore("bullet", 2), "'s-00002'")
            equal(client.state("beside"), other, "another playbook")
            equal(len(client.changes("bullet", with_bullets=True)), 4, "the history")
            client.put("bullet", bullets=[{"id": "s-00002", "section": "s", "content": "bullet says " + "b" * 9, "created_ms": 1, "updated_ms": 1}])
            equal([state for i, state in enumerate(client.state("bullet")) if i != 1], before[:1] + before[2:], "the others")
            client.delete("bullet")
            before = make("bullet")
        spoil(runner, "bullet", b"b", 3)
        client.put("bullet", remove_ids=["s-00004"])
        equal(client.state("bullet"), before[:3])

    @check("a missing bullet is told, and an earlier revision can be written in the playbook's place")
    def _():
        before = make("missing")
        spoil(runner, "missing", b"b", 2, None)
        refused("DATA_LOSS", lambda: client.get("missing"), "'missing'", "3 bullets")
        refused("DATA_LOSS", lambda: client.put("missing", operations=[add("s", "more")]), "'missing'")
        changes = client.changes("missing", with_bullets=True)
        client.put("missing", replace=True, bullets=[change.bullets[0].after for change in reversed(changes)])
        equal(client.state("missing"), before)

    @check("a damaged head is told, listed as damaged, and can be deleted")
    def _():
        make("head")
        spoil(runner, "head", None)
        for method in ("GetPlaybook", "ListPlaybookChanges"):
            refused("DATA_LOSS", lambda: client.call(method, dataset="head"), "head of the playbook 'head'")
        refused("DATA_LOSS", lambda: client.put("head", operations=[add("s", "more")]), "'head'")
        listed = {p.dataset: p.damaged for p in client.call("ListPlaybooks").playbooks}
        expect(listed["head"] and not listed["beside"], str(listed))
        client.delete("head")
        refused("NOT_FOUND", lambda: client.get("head"))

    @check("a damaged change is told with its revision, and the later revisions can be had")
    def _():
        for letter in (b"c", b"w"):
            make("change")
            later = client.state("change", revision=2)
            spoil(runner, "change", letter, 1)
            equal(client.state("change", revision=2), later)
            expect(client.get("change").revision == 4, "the playbook")
            refused("DATA_LOSS", lambda: client.changes("change", with_bullets=True), "revision 2", "'change'")
            equal([c.revision for c in client.call("ListPlaybookChanges", dataset="change", page_size=2).changes], [4, 3])
            equal([c.revision for c in client.call("ListPlaybookChanges", dataset="change", page_token="2").changes], [1])
            if letter == b"w":
                refused("DATA_LOSS", lambda: client.get("change", revision=1), "revision 2", "'change'")
                refused("DATA_LOSS", lambda: client.restore("change", 1), "revision 2", "'change'")
            client.restore("change", 2)
            client.delete("change")

    @check("a damaged record of a request refuses that request alone, and a damaged proposal can be rejected")
    def _():
        make("request")
        spoil(runner, "request", b"r", 1)
        again = {"operations": [add("s", "request says " + "b" * 9)], "request_id": "r1"}
        refused("DATA_LOSS", lambda: client.put("request", **again), "'r1'", "'request'")
        equal(client.put("request", **{**again, "operations": [add("s", "request says " + "a" * 9)], "request_id": "r0"}).revision, 1)
        proposal = client.put("request", operations=[{"kind": 2, "ids": ["s-00001"], "content": "request says " + "b" * 9}]).results[0].proposal_id
        spoil(runner, "request", b"o")
        refused("DATA_LOSS", lambda: client.get("request"), proposal, "'request'")
        refused("DATA_LOSS", lambda: client.put("request", operations=[add("s", "more")]), proposal)
        client.put("request", reject_proposals=[proposal])
        equal(len(client.get("request").bullets), 4)


def deleted_text(kind, runner, client, files):
    @check(f"{kind}: what DeletePlaybook removes leaves no byte behind")
    def _():
        secret = "thesecretsentence"
        client.put("secret", operations=[add("s", f"{secret} one"), add("s", "x" * 4000 + secret)], request_id="a" + secret, reason=secret)
        client.put("secret", operations=[delete("s-00001")])
        client.put("secret", operations=[{"kind": 2, "ids": ["s-00002"], "content": secret * 3}])

        def has_trace(path):
            try:
                return secret.encode() in open(path, "rb").read()
            except FileNotFoundError:  # it was written anew meanwhile
                return True

        def traces():
            return [path for path in files() if has_trace(path)]
        expect(traces(), "the text is nowhere before it is deleted")
        client.delete("secret")
        wait_until(lambda: not traces(), "it is still there", 40 * SLOW)


def bounds(runner, large):
    client = Playbooks(runner)

    @check("of 1,150 revisions the newest 1,000 can be read, the oldest are told to be gone, and their rows are gone too")
    def _():
        client.put("long", bullets=[{"id": "s-1", "section": "s", "content": "counted"}], request_id="q0")
        for i in range(1, 1150):
            client.put("long", operations=[count("s-1", helpful=1)], request_id=f"q{i}")
        equal(client.get("long", revision=151).bullets[0].helpful, 150)
        client.restore("long", 160, request_id="back")
        equal(client.get("long").bullets[0].helpful, 159)
        text = refused("OUT_OF_RANGE", lambda: client.get("long", revision=1), "1 ", "1151")
        first = int(re.search(r"revisions (\d+) to 1151", text).group(1))
        expect(1000 <= 1151 - first <= 1040, text)
        equal(client.get("long", revision=first).bullets[0].helpful, first - 1, "the oldest that is kept")
        changes = client.changes("long")
        equal([c.revision for c in changes], list(range(1151, first, -1)), "the changes")
        equal(client.put("long", operations=[count("s-1", helpful=1)], request_id="q300").revision, 301, "a request that is known")
        runner.kill()
        rows = {letter: len(rows_of(runner, "long", letter)) for letter in (b"c", b"w", b"r", b"s")}
        runner.start()
        expect(all(1000 <= n <= 1066 for n in rows.values()), str(rows))
        return str(rows)

    @check("a history of large changes keeps within its bytes")
    def _():
        big = Playbooks(large)
        for i in range(24):
            big.put("big", replace=True, bullets=[{"id": f"b-{k:05}", "section": "s", "content": f"{i} " + "x" * 8000} for k in range(100)])
        large.kill()
        size = sum(len(key) + 900_000 * 2 for key, _ in rows_of(large, "big", b"w"))
        large.start()
        expect(0 < size < 12 << 20, f"{size} bytes")
        text = refused("OUT_OF_RANGE", lambda: big.get("big", revision=1), "are kept")
        first = int(re.search(r"revisions (\d+) to", text).group(1))
        equal(big.get("big", revision=first).bullets[0].content[:4].split()[0], str(first - 1))

    @check("the cache keeps within its bytes, and playbooks that left it are read again")
    def _():
        caching = Playbooks(large)
        for i in range(60):
            caching.put(f"cached{i}", bullets=[{"section": "s", "content": f"{i} {k} " + "word " * 100} for k in range(40)])
        expect(metric(large, "renga_playbook_cache_bytes") <= 1 << 20, str(metric(large, "renga_playbook_cache_bytes")))
        expect(metric(large, "renga_playbook_cache_evicted_total") >= 50, "none left")
        misses = metric(large, "renga_playbook_cache_misses_total")
        for i in range(60):
            equal(caching.get(f"cached{i}").bullets[0].content[:4].strip()[:len(str(i))], str(i))
        expect(metric(large, "renga_playbook_cache_misses_total") > misses + 50, "they were in memory")
        before = metric(large, "renga_playbook_cache_hits_total")
        caching.get("cached59")
        equal(metric(large, "renga_playbook_cache_hits_total"), before + 1, "hits")

    @check("a tenant has so many playbooks as may be, and room again after one was deleted")
    def _():
        few = Playbooks(large)
        have = len(few.call("ListPlaybooks", page_size=1000).playbooks)
        for i in range(70 - have):
            few.put(f"few{i}", operations=[add("s", "x")])
        refused("RESOURCE_EXHAUSTED", lambda: few.put("one-more", operations=[add("s", "x")]), "70", "tool_runner.playbooks")
        few.put("few0", operations=[add("s", "y")])
        few.delete("few1")
        few.put("one-more", operations=[add("s", "x")])


with contextlib.ExitStack() as stack:
    runner = stack.enter_context(Runner())
    damaged_rows(runner)
    deleted_text("SQLite", runner, Playbooks(runner), lambda: [f"{runner.folder}/{name}" for name in os.listdir(runner.folder) if name.startswith("record")])
    redis = stack.enter_context(RedisServer())
    shared = stack.enter_context(Runner(None, f"--tool_runner.record={redis.url}?name=playbooks"))
    deleted_text("Redis", shared, Playbooks(shared), lambda: [os.path.join(folder, name) for folder, _, names in os.walk(redis.folder) for name in names
                                                              if name.endswith((".aof", ".rdb"))])
    bounds(runner, stack.enter_context(Runner(None, "--tool_runner.playbook_cache=1MiB", "--tool_runner.playbook_history=8MiB", "--tool_runner.playbooks=70")))
checks.finish()
