#!/usr/bin/env python3
"""A Redis whose disk or memory is full: nothing is acknowledged that it has not written, operators read why, and when there
is room again the runs go on where they were."""
import atexit
import json
import os
import sys

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from redis_server import RedisServer  # noqa: E402
from checks import wait_until  # noqa: E402

redis = RedisServer()
redis.start()
atexit.register(redis.__exit__)
os.environ["RENGA_REDIS"] = redis.url
from harness import SLOW, agent, api, check, equal, expect, finish, nodes, refused, remote, succeeded  # noqa: E402

api.start()
agent("steps", {"state": {"log": {"type": "string[]", "reduce": "append"}}, "start": "a",
                "nodes": {"a": remote("b"), "b": remote("c"), "c": remote()}})
fills, acknowledged = {}, []


def b(call):
    if call.attempt == 1 and call.request.position.thread_id in fills:
        fills[call.request.position.thread_id]()
    return {"log": ["b"]}


nodes.on("steps", a={"log": ["a"]}, b=b, c={"log": ["c"]})


def said(event, since):
    return [line for line in api.log[since:] if f'"{event}"' in line]


def ended(run):
    """None as long as nobody can say."""
    try:
        now = api.get(run)
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"{error}")
        return None
    return now.ended_ms and now


def goes_on(run, thread):
    equal(succeeded(wait_until(lambda: ended(run), "the run does not go on", 20 * SLOW))["log"], ["a", "b", "c"], "the log")
    calls = nodes.of("steps", run_id=run.run_id)
    for node in "abc":  # what was not written is done again, under its key
        equal(len({call.request.idempotency_key for call in calls if call.node == node}), 1, f"the keys of {node}")
    equal(len(api.ask("ListRuns", thread_id=thread).runs), 1, "the runs of the thread")


def is_refused(thread):
    text = refused("UNAVAILABLE", lambda: api.start_run("steps", {}, thread_id=thread))
    expect("Redis" in text, f"it is refused with: {text}")
    return text


@check("a disk that is full in mid-run ends Redis before it has acknowledged; callers hear UNAVAILABLE, and the run waits")
def _():
    since, thread = len(api.log), "disk"
    redis.fill(20_000)
    try:
        while redis.process.poll() is None:
            name = f"{thread}-{len(acknowledged)}"
            acknowledged.append((name, api.start_run("steps", {}, thread_id=name, wait=False)))
    except grpc.RpcError as error:
        equal(error.code(), grpc.StatusCode.UNAVAILABLE, "how it fails")
    redis.process.wait(10 * SLOW)
    expect(any("recover from AOF write error" in line for line in redis.log), redis.log[-3:])
    is_refused("more")
    wait_until(lambda: said("store.failed", since), "the log does not say it", 10 * SLOW)
    redis.start(file_max=redis.bytes_of_log())  # still full: it reads, and ends with the first write
    wait_until(lambda: redis.process.poll() is not None, "it takes writes", 10 * SLOW)
    is_refused("more")
    redis.start()
    for name, run in acknowledged:
        goes_on(run, name)
    expect(acknowledged, "no run was acknowledged")
    wait_until(lambda: said("store.recovered", since), "the log does not say that it writes again", 10 * SLOW)
    return f"{len(acknowledged)} runs were acknowledged before"


@check("a memory that is full in mid-run: callers hear why, reading goes on, and with more of it so does the run")
def _():
    since, thread = len(api.log), "memory"
    fills[thread] = lambda: redis.say("config", "set", "maxmemory", "1")
    run = api.start_run("steps", {}, thread_id=thread, wait=False)
    try:
        wait_until(lambda: said("store.redis_full", since), "the log does not say it", 10 * SLOW)
        text = is_refused("more")
        equal(nodes.of("steps", "c", run.run_id), [], "the calls behind the step that is not written")
        equal(json.loads(api.get(acknowledged[0][1]).output_json)["log"], ["a", "b", "c"], "an earlier run")
    finally:
        redis.say("config", "set", "maxmemory", "0")
    goes_on(run, thread)
    equal([len(nodes.of("steps", node, run.run_id)) for node in "abc"], [1, 2, 1], "the calls")
    expect(said("store.redis_room", since), "the log does not say that there is room")
    return text


@check("a Redis that may evict is refused, in words that say what to set")
def _():
    since = len(api.log)
    redis.say("config", "set", "maxmemory-policy", "allkeys-lru")
    redis.kill()
    redis.start()
    redis.say("config", "set", "maxmemory-policy", "allkeys-lru")
    wait_until(lambda: any("noeviction" in line for line in api.log[since:]), "nobody notices", 15 * SLOW)
    redis.say("config", "set", "maxmemory-policy", "noeviction")
    succeeded(wait_until(lambda: api.start_run("steps", {}, thread_id="at last"), "it does not take runs", 10 * SLOW))


finish()
