#!/usr/bin/env python3
"""kill -9 of the real orchestrator and the real tool-runner at random points of an Adapt: the playbook, its history and the
samples are those of an undisturbed run. No change is applied twice or half; a call of the model is paid again only if a kill of
the orchestrator took its answer away. RENGA_KILLS says how often each of the two is killed (a few in the suite, 50 by hand),
RENGA_STORE where all is kept (sqlite or redis)."""
import contextlib
import os
import random
import sys
import threading
import time

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "helpdesk"), os.path.join(HERE, "..", "..", "lib")]
import toy  # noqa: E402
from checks import check, expect, finish, forget  # noqa: E402
from contract import message  # noqa: E402
from ports import free_port  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from suite import BIN, SLOW, Process, Suite, folder  # noqa: E402
from site_of_ace import GATEWAY, Model, Site  # noqa: E402

KILLS = int(os.environ.get("RENGA_KILLS", "4"))
KIND = os.environ.get("RENGA_STORE", "sqlite")
SAMPLES = [toy.LESSONS[number] for number in (0, 1, 3, 5, 8, 12, 13)]
random.seed(3141)


@contextlib.contextmanager
def stores():
    if KIND == "redis":
        with RedisServer() as redis:
            yield f"{redis.url}?name=runs", f"{redis.url}?name=tools"
    else:
        yield f"sqlite:{folder}/ace-runs.db", f"sqlite:{folder}/ace-tools.db"


class Five(Suite):
    """Killed services come back at their ports."""

    def __init__(self, urls):
        super().__init__(llm_gateway=GATEWAY)
        self.urls = urls

    def start(self, name, port=None):
        peers = [f"--peers.{other.replace('-', '_')}=ipv4:127.0.0.1:{process.port}" for other, process in self.processes.items() if other not in ("orchestrator", name)]
        own = {"orchestrator": [f"--orchestrator.store={self.urls[0]}"],
               "tool-runner": [f"--tool_runner.store={folder}/ace-knowledge.db", f"--tool_runner.record={self.urls[1]}"]}.get(name, [])
        if name in self.processes and hasattr(self.processes[name], "process"):
            forget(self.processes[name].process)
        self.processes[name] = Process(f"{BIN}/renga-{name}", f"--rpc.listen=127.0.0.1:{port or free_port()}", *peers, *own, *self.flags.get(name.replace("-", "_"), []))


def learn(site, dataset, out):
    """As a client does: after a failure it comes back with the request_id and the last event that it saw."""
    until, samples, last = time.monotonic() + 180 * SLOW, [], 0
    while True:
        request = message("AdaptRequest")(mode=1, dataset=dataset, samples=SAMPLES, epochs=2, options={"request_id": dataset, "keep_running": True, "after_event_id": last})
        try:
            for event in site.suite.channel.unary_stream("/renga.v1.AceGenerator/Adapt", request_serializer=lambda m: m.SerializeToString(),
                                                         response_deserializer=message("AdaptEvent").FromString)(request, timeout=60 * SLOW, wait_for_ready=True):
                if event.WhichOneof("event") == "sample":
                    samples.append(event.sample)
                    last = event.event_id
                if event.WhichOneof("event") == "result":
                    out.append((samples, event.result))
                    return
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED) or time.monotonic() > until:
                out.append(error)
                return
        time.sleep(0.02)


class Patient(Site):
    """The first call after a kill may meet the connection that the kill has cut; each call here may be repeated."""

    def call(self, *args, **fields):
        try:
            return super().call(*args, **fields)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            return super().call(*args, **fields)


def plant(site, dataset):
    site.put(dataset, bullets=[{"section": "prices", "content": content} for content in ("Transport by mule: add 1.", "Crates from Pella: add 1.")], request_id=f"plant-{dataset}")


def told(site, dataset, made):
    """What must be the same: all but times and names of runs and requests."""
    samples, result = made
    changes = site.call(site.tools, "ToolRunner", "ListPlaybookChanges", message("ListPlaybookChangesRequest")(dataset=dataset, page_size=1000), "ListPlaybookChangesResponse").changes
    expect(len({change.request_id for change in changes}) == len(changes), "a request is in the history twice")
    return {"samples": [(one.number, one.epoch, one.verdict, one.answer, one.error_message, one.revision, [(r.outcome, r.id) for r in one.results]) for one in samples],
            "result": (result.judged, result.correct, result.failed, result.revision_before, result.revision_after, result.added, result.deleted),
            "bullets": [(one.id, one.section, one.content, one.helpful, one.harmful) for one in site.bullets(dataset)],
            "history": [(change.revision, change.added, change.changed, change.removed) for change in changes]}


def undisturbed_under(site, service, reference, calm):
    kills, runs, again = 0, 0, 0
    while kills < KILLS:
        dataset, out, before, struck = f"{service}-{runs}", [], len(Model.seen), 0
        plant(site, dataset)
        client = threading.Thread(target=learn, args=(site, dataset, out))
        client.start()
        runs += 1
        while client.is_alive():
            client.join(random.uniform(0.02, 0.6))
            if client.is_alive() and kills < KILLS:
                site.suite.restart(service)
                kills, struck = kills + 1, struck + 1
        expect(isinstance(out[0], tuple), f"after {kills} kills: {out[0]}")
        got = told(site, dataset, out[0])
        for part, wanted in reference.items():
            expect(got[part] == wanted, f"{part} after {kills} kills: {got[part]}, not {wanted}"[:1500])
        more = len(Model.seen) - before - calm
        expect(0 <= more <= (struck if service == "orchestrator" else 0), f"{more} calls of the model more than {calm} after {struck} kills")
        again += more
    return f"{kills} kills in {runs} runs on {KIND}, {calm} calls of the model each, {again} more in all"


def judge(site):
    out, before = [], len(Model.seen)
    plant(site, "undisturbed")
    learn(site, "undisturbed", out)
    expect(isinstance(out[0], tuple), f"{out[0]}")
    reference, calm = told(site, "undisturbed", out[0]), len(Model.seen) - before
    expect(reference["result"][5] >= 2 and reference["result"][6] >= 1, f"{reference['result']}")
    for service in ("orchestrator", "tool-runner"):
        check(f"an Adapt whose {service} is killed {KILLS} times ends as undisturbed: nothing twice, nothing half")(
            lambda service=service: undisturbed_under(site, service, reference, calm))


if __name__ == "__main__":
    with stores() as urls:
        five = Five(urls).five()
        site = Patient(five, grpc.insecure_channel(f"127.0.0.1:{five.processes['tool-runner'].port}"))
        judge(site)
        site.tools.close()
        five.stop()
    finish()
