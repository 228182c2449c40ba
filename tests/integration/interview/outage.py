#!/usr/bin/env python3
"""Five processes, and one of them is killed: interviews go on without it, or each call ends with UNAVAILABLE long before its
deadline, and the session goes on when that process is back."""
import time

from desk import BIN, SLOW, Desk, Process, expect, form, refused, values
from checks import check, finish, wait_until

SERVICES = ("llm-gateway", "tool-runner", "planner", "reviewer")
FORM = form("name:TEXT!", "mail:EMAIL!")
PATIENCE_S = 60


def kill(desk, name):
    """The port at which it was."""
    process = desk.processes[SERVICES.index(name)]
    process.process.kill()
    process.process.wait()
    return process.port


def is_refused(desk, session):
    """UNAVAILABLE, and how long that took."""
    began = time.monotonic()
    text = refused("UNAVAILABLE", lambda: desk.answer(session, "Ada Lovelace"))
    expect("127.0.0.1" not in text, f"the refusal tells an address: {text}")
    return text, time.monotonic() - began


def goes_on(desk, session):
    try:
        return values(desk.answer(session, "Ada Lovelace").state) == {"name": "Ada Lovelace"}
    except Exception:  # it is not connected yet
        return False


for name, service in (("reviewer", "renga.v1.Reviewer"), ("llm-gateway", "renga.v1.LlmGateway")):
    @check(f"while the {name} is down an answer is refused long before its deadline, and the session goes on when it is back")
    def _():
        desk = Desk(store="memory:", five=True)
        session = desk.start(FORM, language="en", country="JP", timezone="Asia/Tokyo").session_id
        before, port = desk.state(session), kill(desk, name)
        told = [is_refused(desk, session) for _ in range(2)]
        expect(all(service in text for text, _ in told), f"{told}")
        expect(max(took for _, took in told) < 10 * SLOW, f"it took {told}")
        expect(desk.state(session) == before, "the session is another")
        desk.processes[SERVICES.index(name)] = Process(f"{BIN}/renga-{name}", f"--rpc.listen=127.0.0.1:{port}")
        wait_until(lambda: goes_on(desk, session), "it does not go on", PATIENCE_S * SLOW, 0.2)
        desk.kill()
        return f"{max(took for _, took in told):.1f} s"


@check("while planner and tool-runner are down an interview is held to its confirmation; its deletion alone waits for the tool-runner")
def _():
    desk = Desk(store="memory:", five=True)
    kill(desk, "planner")
    kill(desk, "tool-runner")
    reply = desk.start(FORM, language="en", country="JP", timezone="Asia/Tokyo")
    for line in ("Ada Lovelace", "ada@example.com"):
        reply = desk.answer(reply, line)
    expect(desk.confirm(reply).confirmed, f"{reply}")
    expect(values(reply.state) == {"name": "Ada Lovelace", "mail": "ada@example.com"}, f"{reply.state}")
    expect("tool-runner" in refused("UNAVAILABLE", lambda: desk.delete(reply)), "the tool-runner is not named")
    expect(desk.state(reply).confirmed, "the session is another")
    desk.kill()


finish()
