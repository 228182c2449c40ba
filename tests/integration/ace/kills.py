#!/usr/bin/env python3
"""kill -9 of the orchestrator in the midst of an Adapt: the playbook and the events are those of an undisturbed run, no
change is applied twice, and no call of a model gets a second idempotency key. RENGA_KILLS says how often (a few in the suite,
50 by hand); RENGA_REDIS keeps the runs in a Redis."""
import os
import random
import threading
import time

import grpc

import toy
from ace import said, services
from harness import SLOW, api, check, equal, expect, finish, message
from scripted_playbook import Playbook

KILLS = int(os.environ.get("RENGA_KILLS", "6"))
SAMPLES = [toy.LESSONS[number] for number in (0, 1, 3, 5, 8, 12, 13)]  # right ones, wrong ones, two rules, a careless reflection
EPOCHS = 2
random.seed(2718)
api.start()


class World:
    """The model and the playbook of one run, which answer a repeated key as they did, as the gateway and the tool-runner do."""

    def __init__(self):
        self.lock, self.answers, self.paid, self.asked = threading.Lock(), {}, 0, 0
        self.playbook = Playbook("Transport by mule: add 1.", "Crates from Pella: add 1.")

    def chat(self, request, context):
        time.sleep(random.uniform(0, 0.01))
        text, schema = "\n".join(turn.content for turn in request.messages), request.response_format.schema_json
        with self.lock:
            self.asked += 1
            if request.idempotency_key not in self.answers:
                self.paid += 1
                made = toy.answer(text, schema)
                self.answers[request.idempotency_key] = (text, said(made, structured_json=made if schema else ""))
            known, answer = self.answers[request.idempotency_key]
        if known != text:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the idempotency key comes again with another prompt")
        return answer

    def put(self, request, context):
        time.sleep(random.uniform(0, 0.01))
        return self.playbook.put(request, context)

    def serve(self):
        self.playbook.serve(services)
        services.on("LlmGateway/Chat", self.chat)
        services.on("ToolRunner/PutPlaybook", self.put)
        return self


def learn(name, out):
    """As a client does: after a failure it comes back with the request_id and the last event that it saw."""
    until, events, last = time.monotonic() + 120 * SLOW, [], 0
    while True:
        request = message("AdaptRequest")(mode=1, dataset="toy", samples=SAMPLES, epochs=EPOCHS, reflection_rounds=2,
                                          options={"request_id": name, "keep_running": True, "after_event_id": last})
        try:
            call = api.channel.unary_stream("/renga.v1.AceGenerator/Adapt", request_serializer=lambda m: m.SerializeToString(),
                                            response_deserializer=message("AdaptEvent").FromString)(request, timeout=60 * SLOW)
            for event in call:
                if event.WhichOneof("event") in ("sample", "result"):
                    expect(event.event_id > last, f"the event {event.event_id} comes after {last}")
                    last = event.event_id
                    events.append(event)
            if events and events[-1].WhichOneof("event") == "result":
                out.append(events)
                return
        except (grpc.RpcError, ValueError) as error:  # ValueError: the channel is closed
            again = not isinstance(error, grpc.RpcError) or error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
            if not again or time.monotonic() > until:
                out.append(error)
                return
        time.sleep(0.02)


def told(events):
    """What must be the same: all but ids of events, times and runs."""
    result = events[-1].result
    return [(s.sample.number, s.sample.epoch, s.sample.verdict, s.sample.answer, s.sample.error_message, s.sample.revision, [(r.outcome, r.id) for r in s.sample.results])
            for s in events[:-1]], (result.judged, result.correct, result.failed, result.revision_after, result.added, result.deleted)


@check(f"after each of {KILLS} kills an Adapt ends as undisturbed: nothing is applied twice or paid twice")
def _():
    calm, out = World().serve(), []
    learn("undisturbed", out)
    expect(isinstance(out[0], list), f"{out[0]}")
    reference, bullets = told(out[0]), calm.playbook.texts()
    expect(reference[1][5] >= 1 and reference[1][4] >= 2 and len(reference[0]) == len(SAMPLES) * EPOCHS, f"{reference[1]}")
    kills, runs = 0, 0
    while kills < KILLS:
        world, out = World().serve(), []
        client = threading.Thread(target=learn, args=(f"disturbed-{runs}", out))
        client.start()
        runs += 1
        while client.is_alive():
            client.join(random.uniform(0.01, 0.35))
            if client.is_alive() and kills < KILLS:
                api.kill()
                api.start()
                kills += 1
        expect(isinstance(out[0], list), f"after {kills} kills: {out[0]}")
        equal(told(out[0]), reference, f"the events after {kills} kills")
        equal(world.playbook.texts(), bullets, f"the playbook after {kills} kills")
        equal(world.paid, calm.paid, f"calls of the model that are paid, of {world.asked}")
        equal(len({put.request_id for put in world.playbook.puts}), len(calm.playbook.puts), "the names of changes")
    return f"{kills} kills in {runs} runs, {calm.paid} calls of the model and {len(calm.playbook.puts)} changes each"


finish()
