"""The load of `rolling`: clients that ask through the door and watch runs, each with its ledger."""
import random
import sys
import threading
import time
import uuid

import grpc

from shipped import channel_to, message

PATIENCE = 30  # seconds that a client with --retry tries again
# How the door tells of a service that vanished in the middle of an answer: HTTP/2 has no way to end it with a status then.
VANISHED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
QUESTION = '{"question": "How long are backups kept?"}'


class Client(threading.Thread):
    """Asks, one question after the other, or watches one run after the other; counts what went wrong."""

    def __init__(self, cluster, key, patience, work):
        super().__init__(daemon=True)
        self.cluster, self.patience, self.work, self.over = cluster, patience, work, False
        self.metadata = [("authorization", f"Bearer {key}")]
        self.answered = 0.0  # when the newest of the calls that were answered began
        self.door = self.channel = None
        self.forget()

    def forget(self):
        self.calls, self.repeated, self.resumed, self.failed, self.slowest = 0, 0, 0, [], 0.0

    def run(self):
        while not self.over:
            self.door = None  # a new connection now and then, as clients come and go
            for _ in range(20):
                try:
                    if not self.over:
                        self.work(self)
                except Exception as error:  # noqa: BLE001  (whatever it is, it counts)
                    self.failed.append(repr(error)[:300])

    def way(self):
        """A connection through a door that takes some, as the address that is balanced over them would give."""
        doors = self.cluster.ready("renga-door")
        if doors and self.door not in doors:
            if self.channel:
                self.channel.close()
            self.door = random.choice(doors)
            self.channel = channel_to(self.cluster, self.door)
        return self.channel

    def unary(self, method, wanted, answer):
        stub = self.way().unary_unary(f"/renga.v1.{method}", lambda m: m.SerializeToString(), message(f"renga.v1.{answer}").FromString)
        return stub(wanted, timeout=30, metadata=self.metadata)

    def ask(self, call):
        """The call's answer; with patience it is made again after UNAVAILABLE."""
        self.calls += 1
        return self.again(call, self.patience, (grpc.StatusCode.UNAVAILABLE,), "repeated")

    def follow(self, watch):
        """A stream that is cut is not a failure: its client comes back with the last event it saw."""
        self.calls += 1
        self.again(watch, PATIENCE, VANISHED, "resumed")

    def again(self, call, patience, repeatable, count):
        began = time.monotonic()
        try:
            while True:
                tried = time.monotonic()
                try:
                    answer = call()
                    self.answered = max(self.answered, tried)
                    return answer
                except grpc.RpcError as failure:
                    if failure.code() not in repeatable or time.monotonic() - began > patience:
                        self.failed.append(f"{failure.code()}: {failure.details()}")
                        return None
                    setattr(self, count, getattr(self, count) + 1)
                    time.sleep(0.1)
        finally:
            self.slowest = max(self.slowest, time.monotonic() - began)


def request(wait):
    return message("renga.v1.StartRunRequest")(request_id=str(uuid.uuid4()), agent="helpdesk", wait=wait, input_json=QUESTION)


def asks(client):
    wanted = request(True)
    answer = client.ask(lambda: client.unary("Orchestrator/StartRun", wanted, "StartRunResponse"))
    if answer and "days" not in answer.run.output_json:
        client.failed.append(f"it is another answer: {answer.run.stop_text} {answer.run.output_json[-300:]}")


def asks_the_desk(client):
    wanted = message("renga.v1.AskRequest")(question="How long are backups kept?")
    answer = client.ask(lambda: client.unary("Helpdesk/Ask", wanted, "AskResponse"))
    if answer and "days" not in answer.result.answer:
        client.failed.append(f"it is another answer: {answer.result.answer[:200]}")


def watches(client):
    """A run in the background, watched to its end over as many streams as it takes, and read once more from the beginning."""
    wanted = request(False)
    answer = client.ask(lambda: client.unary("Orchestrator/StartRun", wanted, "StartRunResponse"))
    if not answer:
        return
    seen, kept = [], []
    for events in seen, kept:
        client.follow(lambda: watch(client, answer.run.run_id, events))
    lost, doubled = sorted(set(kept) - set(seen)), sorted(event for event in set(seen) if seen.count(event) > 1)
    if lost or doubled:
        client.failed.append(f"run {answer.run.run_id}: events lost {lost[:5]}, doubled {doubled[:5]}")


def watch(client, run, seen):
    stub = client.way().unary_stream("/renga.v1.Orchestrator/WatchRun", lambda m: m.SerializeToString(), message("renga.v1.RunEvent").FromString)
    wanted = message("renga.v1.WatchRunRequest")(run_id=run, after_event_id=seen[-1] if seen else 0)
    for event in stub(wanted, timeout=60, metadata=client.metadata):
        if event.WhichOneof("event") not in ("heartbeat", "token", "progress_json"):
            seen.append(event.event_id)


KINDS = (watches, asks, asks_the_desk)


def start(cluster, key, count, patience):
    """So many clients at work, once one of them has had an answer."""
    warm = Client(cluster, key, PATIENCE, asks)
    asks(warm)
    if warm.failed:
        sys.exit(f"no answer: {warm.failed}")
    clients = [Client(cluster, key, patience, KINDS[i % len(KINDS)]) for i in range(count)]
    for client in clients:
        client.start()
    return clients


def finish(clients):
    for client in clients:
        client.over = True
    for client in clients:
        client.join(60)
