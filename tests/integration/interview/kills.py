#!/usr/bin/env python3
"""kill -9 of the orchestrator in the midst of interviews: each session goes on as if nothing had happened, and no answer is
taken twice. `kills.py [sqlite|redis]`; RENGA_KILLS says how often (a few in the suite, 100 by hand)."""
import atexit
import os
import random
import sys
import threading
import time

import grpc

from desk import SLOW, Desk, expect, folder, form, states, values
from checks import check, finish
from ports import free_port
from redis_server import RedisServer

store = sys.argv[1] if sys.argv[1:] else "sqlite"
KILLS = int(os.environ.get("RENGA_KILLS", "5"))
SESSIONS = 4
FORM = form("name:TEXT!", "mail:EMAIL!", "age:NUMBER!", "day:DATE!", "note:TEXT")
LINES = ("Ada {n}", "ada{n}@example.com", "why do you ask?", "36", "the mail should be b{n}@example.com", "2027-04-01", "skip")
redis = RedisServer() if store == "redis" else None
if redis:
    redis.__enter__()
    atexit.register(redis.__exit__)
address = f"{redis.url}?name=runs" if redis else f"sqlite:{folder}/kills.db"
random.seed(4711)


class House:
    """A suite that is killed and started again where it was."""

    def __init__(self):
        self.port, self.lock, self.kills = free_port(), threading.Lock(), 0
        self.desk = Desk(store=address, port=self.port)

    def kill(self):
        self.desk.kill()
        self.kills += 1
        self.desk = Desk(store=address, port=self.port)

    def until_answered(self, call):
        """Asks again with the same request_id, as a client does."""
        until = time.monotonic() + 60 * SLOW  # a call alone may take 20 * SLOW
        while True:
            try:
                return call(self.desk)
            except (grpc.RpcError, ValueError) as error:  # ValueError: the channel is closed
                code = error.code().name if isinstance(error, grpc.RpcError) else "UNAVAILABLE"
                expect(code in ("UNAVAILABLE", "ABORTED", "CANCELLED", "DEADLINE_EXCEEDED") and time.monotonic() < until, f"{error}")
                time.sleep(0.02)


def talk(house, name, failures):
    try:
        house.until_answered(lambda desk: desk.start(FORM, language="en", country="JP", timezone="Asia/Tokyo", session_id=name,
                                                     request_id=f"{name}-start"))
        for turn, line in enumerate(LINES):
            house.until_answered(lambda desk: desk.answer(name, line.format(n=7), request_id=f"{name}-{turn}"))
    except Exception as error:  # told by the check
        failures.append(f"{name}: {error}")


def plain(state):
    """What must be the same: all but times and names."""
    return [states(state), values(state), state.revision, [(one.role, one.content) for one in state.messages],
            [(one.value.quote, one.value.message, one.follow_up_count) for one in state.field_statuses]]


@check(f"after each of {KILLS} kills every session goes on, and none of its answers is taken twice")
def _():
    house, failures, number = House(), [], 0
    talk(house, "reference", failures)
    reference = plain(house.desk.state("reference"))
    expect(not failures and reference[2] == len(LINES) + 1, f"{failures}, {reference}")
    while house.kills < KILLS:
        names = [f"s-{number}-{i}" for i in range(SESSIONS)]
        number += 1
        talkers = [threading.Thread(target=talk, args=(house, name, failures)) for name in names]
        [one.start() for one in talkers]
        while any(one.is_alive() for one in talkers):
            time.sleep(random.uniform(0.002, 0.06))
            if house.kills < KILLS and any(one.is_alive() for one in talkers):
                house.kill()
        expect(not failures, f"{failures[:3]}")
        for name in names:
            got = plain(house.desk.state(name))
            expect(got == reference, f"{name} differs after {house.kills} kills: {got} in place of {reference}")
    house.desk.stop()
    return f"{house.kills} kills, {number * SESSIONS} sessions"


finish()
