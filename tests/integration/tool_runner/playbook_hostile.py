#!/usr/bin/env python3
"""Hostile clients of playbooks: calls of all methods at once, most of them cancelled or cut by a deadline, deleting and
restoring below each other, with a cache of no bytes; and inputs at the edges of the contract."""
import contextlib
import os
import random
import threading
import time

import grpc

from runner import Runner, SLOW, check, checks, expect, wait_until
from playbook_client import JSON, KIND, OUTCOME, Playbooks, TEXT, add, count, delete, refused
from playbook_checks import equal, history_is_consistent, saying
from redis_server import RedisServer

SECONDS = 6
seed = int(os.environ.get("RENGA_SEED", random.SystemRandom().randrange(1 << 32)))
# gRPC core closes a connection of rpc.connection_age as soon as it has no call, and loses those that its client writes at that
# moment: on a busy machine some of a thousand.
LOST_WITH_CONNECTION = ("Socket closed", "Broken pipe", "Connection reset by peer")
EXPECTED = {grpc.StatusCode[name] for name in ("CANCELLED", "DEADLINE_EXCEEDED", "NOT_FOUND", "OUT_OF_RANGE", "INVALID_ARGUMENT", "ABORTED")}


def random_call(chance, dataset):
    kind = chance.randrange(10)
    if kind < 5:
        fields = {"operations": [add(chance.choice("abc"), saying(chance.random())) for _ in range(chance.randrange(3))]}
        if chance.random() < 0.3:
            fields["bullets"] = [{"id": f"w{chance.randrange(30)}", "section": "w", "content": saying(chance.random()) * chance.choice((1, 1, 100))}]
        if chance.random() < 0.3:
            fields["request_id"] = f"r{chance.randrange(50)}"
        if chance.random() < 0.1:
            fields["token_budget"] = 2000
        if chance.random() < 0.05:
            fields["replace"] = True
        fields["operations"].append({"kind": KIND["UPDATE"], "ids": [f"w{chance.randrange(30)}"], "content": saying(1)} if chance.random() < 0.2 else add("d", saying(2)))
        return "PutPlaybook", {"dataset": dataset, **fields}
    if kind < 7:
        return "GetPlaybook", {"dataset": dataset, "revision": chance.choice((0, 0, 1, 5, 20)), "format": chance.choice((0, TEXT, JSON))}
    if kind == 7:
        return "RestorePlaybook", {"dataset": dataset, "revision": chance.randrange(12)}
    if kind == 8:
        return "ListPlaybookChanges", {"dataset": dataset, "with_bullets": chance.random() < 0.5, "page_size": chance.randrange(20)}
    return ("DeletePlaybook", {"dataset": dataset}) if chance.random() < 0.1 else ("ListPlaybooks", {})


def is_expected(call):
    lost = call.code() == grpc.StatusCode.UNAVAILABLE and any(text in call.details() for text in LOST_WITH_CONNECTION)
    return lost or call.code() in EXPECTED


def attack(kind, *runners):
    clients, faults, calls = [Playbooks(runner) for runner in runners], [], [0, 0, 0]
    stop = time.time() + SECONDS

    def attacker(number):
        chance = random.Random(seed + number)
        while time.time() < stop and not faults:
            method, fields = random_call(chance, f"chaos{chance.randrange(4)}")
            call = chance.choice(clients).begin(method, timeout=chance.choice((0.001, 0.004, 0.02, 60)), **fields)
            if chance.random() < 0.3:
                time.sleep(chance.random() * 0.01)
                call.cancel()
            try:
                call.result()
                calls[0] += 1
            except (grpc.RpcError, grpc.FutureCancelledError):
                calls[1] += 1
                calls[2] += call.code() == grpc.StatusCode.UNAVAILABLE
                if not is_expected(call):
                    faults.append(f"{method} {str(fields)[:200]}: {call.code()} {call.details()}")
    threads = [threading.Thread(target=attacker, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not faults, str(faults[:2]))
    for runner in runners:
        ended = runner.process.poll()
        expect(ended is None, f"a tool-runner ended with {ended}: " + "".join(runner.log[-20:]))
    expect(calls[2] <= sum(calls[:2]) / 10, f"{calls[2]} calls of {sum(calls[:2])} were lost with their connection")
    for runner in runners:  # a call that was cut may still delete a playbook
        wait_until(lambda: runner.total("grpc_server_in_flight") == 0, "calls are still under way", 20 * SLOW)
    for client in clients:
        for listed in client.call("ListPlaybooks").playbooks:
            if not listed.revision:
                continue
            history_is_consistent(client, listed.dataset)
            answer = client.get(listed.dataset)
            equal((len(answer.bullets), answer.revision, answer.tokens), (listed.bullets, listed.revision, listed.tokens), "what the list says")
    return f"{calls[0]} answered, {calls[1]} refused or cut, {calls[2]} of these lost with their connection, seed {seed}"


def edges(runner):
    client = Playbooks(runner)

    @check("10,000 bullets with ids without numbers, each in a section of its own, are kept, told and restored")
    def _():
        client.put("words", bullets=[{"id": f"w{i}x", "section": f"s{i}", "content": f"c{i}"} for i in range(10000)])
        state = client.state("words")
        client.put("words", remove_ids=[f"w{i}x" for i in range(0, 10000, 2)])
        client.restore("words", 1)
        expect(client.state("words") == state, "it differs")
        runner.restart()
        expect(client.state("words") == state, "it differs after a restart")

    @check("an id with the largest number uses up the numbers, and other writes go on")
    def _():
        client.put("numbers", bullets=[{"id": "x-999999999999999998", "section": "s", "content": "c"}])
        equal(client.put("numbers", operations=[add("s", "last")]).results[0].id, "s-999999999999999999")
        refused("RESOURCE_EXHAUSTED", lambda: client.put("numbers", operations=[add("s", "one too many")]), "numbers")
        client.put("numbers", operations=[count("x-999999999999999998", helpful=1), delete("s-999999999999999999")])
        refused("RESOURCE_EXHAUSTED", lambda: client.put("numbers", bullets=[{"id": "word", "section": "s", "content": "c"}]), "numbers")

    @check("texts of 2 MiB of any kind are read, and told as problems or refused")
    def _():
        size = 2 << 20
        for i, text in enumerate(("[a] helpful=0 harmful=0 :: x\n" * (size // 29), "## s\n" * (size // 5), "\n" * size, "[" * size, "あ" * (size // 3),
                                  "".join(f"[a{k}] helpful=0 harmful=0 :: {k}\n" for k in range(9999)))):
            try:
                client.put(f"text{i}", text=text)
            except grpc.RpcError as error:
                expect(error.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT), f"{i}: {error.code()} {error.details()}")
        lines = ["".join(f"[{name}{k}] helpful=0 harmful=0 :: {k}\n" for k in range(9999)) for name in "ab"]
        client.put("dropped", text=lines[0])
        refused("RESOURCE_EXHAUSTED", lambda: client.put("dropped", text=lines[1], token_budget=100), "10000", "token budget")
        equal(client.put("dropped", token_budget=100).revision, 2)
        for text in ("[" * size, '{"bullets":[' + "{}," * (size // 4) + "{}]}", '{"bullets":[' + '{"id":"a","content":"x"},' * (size // 26) + "{}]}"):
            try:
                client.put("json", text=text, format=JSON)
            except grpc.RpcError as error:
                expect(error.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT), f"{error.code()} {error.details()}")

    @check("256 operations on 10,000 bullets that resemble each other end in time, and other calls are answered meanwhile")
    def _():
        client.put("alike", bullets=[{"section": "s", "content": " ".join(f"word{(i * k) % 97}" for k in range(1, 12)) + f" end {i}"} for i in range(10000)])
        began = time.time()
        call = client.begin("PutPlaybook", dataset="alike", token_budget=1000000, remove_ids=[f"s-{i:05}" for i in range(1, 300)],
                            operations=[add("s", " ".join(f"word{(i * k) % 97}" for k in range(1, 12)) + f" fin {i}") for i in range(256)])
        slowest = 0
        while not call.done():
            at = time.time()
            client.call("ListPlaybooks")
            slowest = max(slowest, time.time() - at)
        try:
            outcomes = [r.outcome for r in call.result().results]
        except grpc.RpcError as error:
            expect(error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and "proposals" in error.details(), error.details())
            outcomes = []
        expect(time.time() - began < 20 * SLOW, f"it took {time.time() - began:.1f} s")
        return f"{time.time() - began:.2f} s, {outcomes.count(OUTCOME['PROPOSED'])} proposed, another call at most {slowest * 1000:.0f} ms"

    @check("proposals have an end: more are refused, and none is lost")
    def _():
        client.put("wait", bullets=[{"id": f"b-{i:05}", "section": "s", "content": saying(i)} for i in range(1, 1202)])
        made = 0
        with contextlib.suppress(grpc.RpcError):
            while made < 1300:
                client.put("wait", operations=[{"kind": KIND["UPDATE"], "ids": [f"b-{i:05}"], "content": saying(1201)} for i in range(made + 1, made + 101)])
                made += 100
        refused("RESOURCE_EXHAUSTED", lambda: client.put("wait", operations=[{"kind": KIND["UPDATE"], "ids": [f"b-{i:05}"], "content": saying(1201)} for i in range(made + 1, made + 101)]), "wait for a person")
        answer = client.get("wait")
        equal((len(answer.proposals), answer.revision), (made, 1))
        client.put("wait", reject_proposals=[p.id for p in answer.proposals[:100]])
        equal(len(client.get("wait").proposals), made - 100)
        return f"{made} proposals"


def store_gone(redis, runner):
    client = Playbooks(runner)

    @check("Redis: with the store gone calls fail as UNAVAILABLE, and go on when it is back")
    def _():
        before = client.put("gone", operations=[add("s", saying("gone"))], request_id="1")
        redis.kill()
        for method in ("GetPlaybook", "PutPlaybook", "DeletePlaybook", "ListPlaybookChanges", "RestorePlaybook"):
            refused("UNAVAILABLE", lambda: client.call(method, dataset="gone"))
        refused("UNAVAILABLE", lambda: client.call("ListPlaybooks"))
        redis.start()

        def answered():
            with contextlib.suppress(grpc.RpcError):
                return client.put("gone", operations=[add("s", saying("gone"))], request_id="1")
        equal(wait_until(answered, "it does not go on", 20 * SLOW).SerializeToString(), before.SerializeToString(), "the answer of before")


with contextlib.ExitStack() as stack:
    redis = stack.enter_context(RedisServer())
    sqlite = stack.enter_context(Runner(None, "--tool_runner.playbook_cache=0"))
    record = f"--tool_runner.record={redis.url}?name=playbooks&timeout=2000"
    one, two = (stack.enter_context(Runner(None, record, "--rpc.connection_age=200ms")) for _ in range(2))
    check("SQLite: after thousands of calls that were cut or cancelled each playbook is whole and its history consistent")(lambda: attack("SQLite", sqlite))
    check("Redis: after thousands of calls at two tool-runners each playbook is whole and its history consistent")(lambda: attack("Redis", one, two))
    edges(sqlite)
    store_gone(redis, one)
checks.finish()
