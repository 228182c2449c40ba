"""What is under way while the crash drill kills: runs of several shapes, each driven by a thread that does what a careful
client does. It repeats a call that was not answered under the same request id, comes back to a stream with the last id it
saw, and keeps all it was told: that is the ledger."""
import json
import os
import random
import threading
import time
import uuid

import grpc

from harness import SLOW, expect, message, word

PATIENCE = 60 * SLOW  # seconds until a run is given up as lost
KEPT = ("started", "state_changed", "node_finished", "node_failed", "updated", "interrupted", "answered", "checkpoint", "stopped")
BRANCHES = 12
NUMBERS = {"type": "integer[]", "reduce": "append"}
RETRY = {"attempts": 100, "base": "20ms", "max": "200ms"}


def documents(address):
    """The agents by name; `address` is that of the nodes."""
    def node(function, on, **more):
        return {"kind": "remote", "address": address, "function": function, "on": {"done": on}, "retry": RETRY, **more}

    chain = {f"n{i}": node("note", f"n{i + 1}" if i < 5 else "end", stream=i % 2 == 1) for i in range(6)}
    text = {"type": "string"}
    state = {"trail": NUMBERS, "size": {"type": "integer", "initial": 0}, "ballast": text}
    return {
        "chain": {"state": state, "output": ["trail"], "start": "n0", "nodes": chain},
        "fan": {"state": {"trail": NUMBERS, "got": NUMBERS}, "start": "s", "nodes": {
            "s": node("spread", "n1", may_reach=["w"]), "w": node("branch", "end"), "n1": node("note", "n2"), "n2": node("note", "end")}},
        "each": {"state": {"items": {"type": "integer[]"}, "out": {"type": "object[]"}}, "output": ["out"], "start": "all", "nodes": {
            "all": {"kind": "each", "of": "items", "as": "item", "graph": "branch", "into": "out", "on": {"done": "end"}}},
            "graphs": {"branch": {"state": {"item": {"type": "integer"}, "x": {"type": "integer"}, "trail": NUMBERS}, "output": ["x", "trail"],
                                  "start": "x", "nodes": {"x": node("double", "n1"), "n1": node("note", "end")}}}},
        "asks": {"state": {"x": {"type": "any"}, "trail": NUMBERS}, "start": "n0", "nodes": {
            "n0": node("note", "ask"), "ask": {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "n1"}}, "n1": node("note", "end")}},
        "tools": {"state": {"m": {"type": "object[]", "reduce": "append"}, "trail": NUMBERS}, "start": "t", "nodes": {
            "t": {"kind": "run_tools", "turns": "m", "retry": RETRY, "on": {"ran": "n1"}}, "n1": node("note", "end")}},
    }


class Run:
    """One run, and all that was acknowledged of it."""

    def __init__(self, shape, site, ballast=0, patience=PATIENCE):
        self.shape, self.site, self.name = shape, site, uuid.uuid4().hex[:12]
        self.file = f"{site.folder}/tool-{self.name}"
        self.given = {"chain": {"size": ballast}, "fan": {}, "each": {"items": list(range(6))}, "asks": {}, "tools": self.tool_call()}[shape]
        self.run_id = self.started_at = self.answered_at = self.stopped = self.fault = None
        self.events, self.calls, self.last_id, self.ended_at, self.asked, self.patience = [], [], 0, None, None, patience
        self.thread = threading.Thread(target=self.drive, daemon=True)
        self.thread.start()

    def tool_call(self):
        call = {"id": "c1", "name": "odd__count", "arguments": json.dumps({"file": self.file, "ms": 20})}
        return {"m": [{"id": "m1", "role": "assistant", "tool_calls": [call]}]} if self.shape == "tools" else None

    def tool_runs(self):
        return len(open(self.file).readlines()) if os.path.exists(self.file) else 0

    def wrong_output(self, output):
        """Why it is not that of an undisturbed run; None where it is."""
        wanted = {"chain": {"trail": list(range(6))}, "fan": {"trail": [0, 1, 2], "got": list(range(BRANCHES))},
                  "each": {"out": [{"x": 2 * i, "trail": [1]} for i in range(6)]}, "asks": {"x": self.name, "trail": [0, 1]},
                  "tools": {"trail": [1]}}[self.shape]
        got = {key: output.get(key) for key in wanted}
        if self.shape == "tools":
            said, ran = output["m"][-1], self.tool_runs()
            if ran > 1 or (not said.get("tool_failed") and (ran, said["content"]) != (1, "1 times")):
                return f"the tool ran {ran} times and its result is {said}"
        return None if got == wanted else f"the output is {got}, not {wanted}"

    # ---- a careful client

    def drive(self):
        try:
            until = time.monotonic() + self.patience
            self.run_id = self.insist("StartRun", until, agent=self.shape, thread_id=f"t-{self.name}", request_id=f"s-{self.name}",
                                      input_json=json.dumps(self.given)).run.run_id
            self.started_at = time.monotonic()
            while not self.ended_at:
                expect(time.monotonic() < until, f"its stream ends, and it does not; the last was {self.events[-1:]}")
                self.follow(until)
                if self.asked and not self.answered_at:
                    self.insist("ResumeRun", until, run_id=self.run_id, request_id=f"r-{self.name}", answer_json=json.dumps(self.name))
                    self.answered_at = time.monotonic()
        except Exception as error:  # whatever it is, the run did not end as it should
            self.fault = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            self.told("gives up")
            self.ask_all()

    def ask_all(self):
        """What each orchestrator says of the run."""
        for which in getattr(self.site.api, "all", [self.site.api]):
            try:
                run = which.ask("GetRun", timeout=2, run_id=self.run_id).run
                self.told("hears", f"from port {which.port}: {word('RunState', run.state)}, {run.stop_text}")
            except Exception as error:  # it may be dead
                self.told("hears", f"from port {which.port}: {' '.join(str(error).split())[:100]}")

    def told(self, what, text=""):
        self.calls.append((time.monotonic(), what, text))

    def insist(self, method, until, **fields):
        request = message(method + "Request")(**fields)
        while True:
            self.told("asks for", method)
            try:
                answer = self.site.api.call(method, request, timeout=5)
                self.told("is answered")
                return answer
            except (grpc.RpcError, ValueError, grpc.FutureCancelledError) as error:  # ValueError: its channel was closed
                self.go_on(error, until)

    def go_on(self, error, until):
        code = error.code() if isinstance(error, grpc.RpcError) and callable(getattr(error, "code", None)) else None
        self.told("was refused", f"{code}: {error.details() if code else error}")
        may = code in (None, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED)
        if not may or time.monotonic() > until:
            raise error
        time.sleep(0.005 + random.random() * 0.03)

    def follow(self, until):
        """Until it has ended, waits for an answer, or the stream breaks."""
        self.told("watches", f"from {self.last_id} on")
        try:
            for event in self.site.api.watch(message("Run")(run_id=self.run_id), timeout=max(0.1, until - time.monotonic()),
                                             after_event_id=self.last_id):
                self.saw(event)
        except (grpc.RpcError, ValueError, grpc.FutureCancelledError) as error:
            self.go_on(error, until)

    def saw(self, event):
        now, kind = time.monotonic(), event.WhichOneof("event")
        if kind == "heartbeat":
            return
        self.last_id = max(self.last_id, event.event_id)
        self.events.append((now, kind, event))
        if kind == "interrupted":
            self.asked = event.interrupted.interrupt_id
        if kind == "stopped" and word("RunState", event.stopped.state) != "RUN_STATE_WAITING":
            self.stopped, self.ended_at = event.stopped, now

    def kept(self):
        return [event for _, kind, event in self.events if kind in KEPT]
