#!/usr/bin/env python3
"""Many writers of one playbook, in one tool-runner and in two at one Redis; and writers whose tool-runner is killed again
and again: no update is lost, none is applied twice, none half."""
import contextlib
import os
import random
import threading
import time

import grpc

from runner import Runner, SLOW, check, checks, expect
from playbook_client import JSON, Playbooks, add, count
from playbook_checks import equal, history_is_consistent, saying
from redis_server import RedisServer

WRITERS, CHANGES = 100, 4
KILLS = 50 if SLOW == 1 else 6
seed = int(os.environ.get("RENGA_SEED", random.SystemRandom().randrange(1 << 32)))


def write_together(clients, dataset):
    """Each writer adds bullets and counts for a common one, and keeps the ids it was given in their order."""
    first = clients[0].put(dataset, operations=[add("common", "counted")]).results[0].id
    given, faults = [], []

    def writer(number):
        client, mine = clients[number % len(clients)], []
        try:
            for i in range(CHANGES):
                answer = client.put(dataset, operations=[add("section", saying(number, i)), count(first, helpful=1)])
                mine.append((answer.results[0].id, answer.revision))
        except grpc.RpcError as error:
            faults.append(f"{number}: {error.code()} {error.details()}")
        given.append(mine)
    threads = [threading.Thread(target=writer, args=(n,)) for n in range(WRITERS)]
    began = time.time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.time() - began
    expect(not faults, str(faults[:3]))
    total = WRITERS * CHANGES
    answer = clients[0].get(dataset)
    equal(answer.revision, total + 1, "the revision")
    equal(sorted(revision for mine in given for _, revision in mine), list(range(2, total + 2)), "the revisions that were told")
    equal(len({id_ for mine in given for id_, _ in mine}), total, "different ids")
    numbers = [int(id_.split("-")[1]) for id_, _ in sorted((pair for mine in given for pair in mine), key=lambda pair: pair[1])]
    equal(numbers, sorted(numbers), "the ids in the order of revisions")
    equal([b.helpful for b in answer.bullets if b.id == first], [total], "the count")
    equal(len({b.content for b in answer.bullets}), total + 1, "the bullets")
    for client in clients[1:]:
        equal(client.state(dataset), clients[0].state(dataset), "what another tool-runner has")
    history_is_consistent(clients[-1], dataset)
    return f"{total / took:.0f} changes a second"


def write_through_kills(runner, dataset):
    """Writers retry under the same request_id until they are answered."""
    client, chance = Playbooks(runner), random.Random(seed)
    runner_is_back = threading.Event()
    runner_is_back.set()
    first = client.put(dataset, operations=[add("common", "counted")]).results[0].id
    stop, retries, done = threading.Event(), [0], [0, 0, 0]

    def writer(number):
        while not stop.is_set():
            name = f"{number} wrote {done[number]}"
            while True:
                runner_is_back.wait()
                try:
                    answer = client.put(dataset, request_id=name, timeout=10, operations=[
                        add("section", saying(name, "here")), count(first, helpful=1), add("section", saying(name, "there"))])
                    break
                except (grpc.RpcError, ValueError):  # ValueError: the channel was closed
                    retries[0] += 1
                    time.sleep(0.005)
            expect(len(answer.results) == 3, str(answer))
            done[number] += 1
    threads = [threading.Thread(target=writer, args=(n,)) for n in range(len(done))]
    for thread in threads:
        thread.start()
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.002, 0.08 * SLOW))
        runner_is_back.clear()
        runner.kill()
        runner.start()
        runner_is_back.set()
    stop.set()
    for thread in threads:
        thread.join()
    answer = client.get(dataset)
    wanted = sorted(["counted"] + [saying(f"{n} wrote {i}", where) for n in range(len(done)) for i in range(done[n]) for where in ("here", "there")])
    equal(sorted(b.content for b in answer.bullets), wanted, "the bullets")
    equal(([b.helpful for b in answer.bullets if b.id == first], answer.revision), ([sum(done)], sum(done) + 1), "the count and the revision")
    history_is_consistent(client, dataset)
    return f"{KILLS} kills, {sum(done)} changes, {retries[0]} retries, seed {seed}"


with contextlib.ExitStack() as stack:
    redis = stack.enter_context(RedisServer())
    record = f"--tool_runner.record={redis.url}?name=playbooks"
    sqlite = stack.enter_context(Runner())
    one, two = (stack.enter_context(Runner(None, record)) for _ in range(2))

    @check(f"SQLite: of {WRITERS} writers at once no update is lost, ids are unique and rise, and each change is a revision")
    def _():
        return write_together([Playbooks(sqlite)], "together")

    @check(f"Redis: of {WRITERS} writers at two tool-runners no update is lost, ids are unique and rise, and each change is a revision")
    def _():
        return write_together([Playbooks(one), Playbooks(two)], "together")

    @check("Redis: what one tool-runner changes the other has at once, also after the playbook was deleted and made anew")
    def _():
        clients = [Playbooks(one), Playbooks(two)]
        for i in range(40):
            writer, reader = clients if i % 2 else reversed(clients)
            answer = writer.put("seen", operations=[add("s", f"bullet {i}")])
            equal(reader.get("seen").SerializeToString(), writer.get("seen").SerializeToString(), "what the other has")
            equal(reader.get("seen").revision, answer.revision, "the revision")
            if i % 10 == 9:
                writer.delete("seen")
                expect(not any(p.dataset == "seen" for p in reader.call("ListPlaybooks").playbooks), "it is still there")

    @check("Redis: what one tool-runner changes costs the other the changes alone, and gives every byte that the whole has; proposals too")
    def _():
        clients, chance = [Playbooks(one), Playbooks(two)], random.Random(seed)
        ids = list(clients[0].put("caught", bullets=[{"section": f"s{i % 7}", "content": f"lesson {i} of {i * 7919 % 997}"} for i in range(300)]).new_ids)
        clients[1].get("caught")
        before = [client.runner.metric("renga_playbook_caught_up_total") for client in clients]
        proposed = 0
        for i in range(60):
            writer, reader = clients if chance.random() < 0.5 else reversed(clients)
            if i % 20 == 19:
                writer.restore("caught", chance.randrange(1, writer.get("caught").revision))
            elif i % 7 == 6:
                writer.put("caught", remove_ids=chance.sample(ids, 3))
            elif i % 7 == 5:  # as JSON it keeps times and places, and replaces all
                writer.put("caught", text=writer.get("caught", format=JSON).text, format=JSON, replace=True)
            elif i % 7 == 4:  # a number differs: it is proposed
                writer.put("caught", operations=[add("s1", f"Always check the sum of the invoice against the order before you send the payment to the supplier in euro {i}.")])
            else:
                ids.append(writer.put("caught", operations=[add(f"t{i}", f"fresh lesson {i} {chance.random()}"), count(writer.get("caught").bullets[0].id, helpful=1)]).results[0].id)
            equal(reader.get("caught").SerializeToString(), writer.get("caught").SerializeToString(), f"what the other has after change {i}")
            proposed = max(proposed, len(reader.get("caught").proposals))
        again = [client.runner.metric("renga_playbook_caught_up_total") - had for client, had in zip(clients, before)]
        expect(min(again) > 15, f"{again} of 60 changes")
        expect(proposed, "nothing was proposed")
        with Runner(None, record) as fresh:
            equal(Playbooks(fresh).get("caught").SerializeToString(), clients[0].get("caught").SerializeToString(), "what is in the store")
        return f"{again} caught up, seed {seed}"

    @check("SQLite: of a stream of changes under kill -9 each is applied once and whole")
    def _():
        return write_through_kills(sqlite, "kills")

    @check("Redis: of a stream of changes under kill -9 each is applied once and whole")
    def _():
        return write_through_kills(one, "kills")

checks.finish()
