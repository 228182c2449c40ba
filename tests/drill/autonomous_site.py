"""Five services, their world, and a person who answers: a run with one kill in it, for the drill `autonomous`."""
import concurrent.futures
import contextlib
import json
import os
import random
import sys
import time

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "integration", "helpdesk")]
from suite import BIN, SERVICES, SLOW, Process, Suite, folder  # noqa: E402
from autonomous_world import BODIES, THEME, World  # noqa: E402
from checks import check, expect, finish, forget  # noqa: E402, F401
from contract import message, word  # noqa: E402
from ports import free_port  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from upstream.tavily import Tavily  # noqa: E402

PATIENCE_S = 90 * SLOW
LATER_S = 0.03  # between the answer of a request and the kill
STEPS = 9
ABORTED = 10


@contextlib.contextmanager
def store(kind):
    """Where the orchestrator and the tool-runner keep what they have done."""
    if kind == "redis":
        with RedisServer() as redis:
            yield f"{redis.url}?name=runs", f"{redis.url}?name=tools"
    else:
        yield f"sqlite:{folder}/runs5.db", f"sqlite:{folder}/tools.db"


class Five(Suite):
    """Killed services come back at their ports."""

    def __init__(self, urls, **flags):
        super().__init__(**flags)
        self.urls = urls

    def start(self, name, port=None):
        peers = [f"--peers.{other.replace('-', '_')}=ipv4:127.0.0.1:{process.port}"
                 for other, process in self.processes.items() if other not in ("orchestrator", name)]
        own = {"orchestrator": [f"--orchestrator.store={self.urls[0]}"],
               "tool-runner": [f"--tool_runner.store={folder}/knowledge.db", f"--tool_runner.record={self.urls[1]}"]}.get(name, [])
        if name in self.processes:
            forget(self.processes[name].process)
        self.processes[name] = Process(f"{BIN}/renga-{name}", f"--rpc.listen=127.0.0.1:{port or free_port()}", *peers, *own,
                                       *self.flags.get(name.replace("-", "_"), []))


class Site:
    def __init__(self, urls):
        self.world = World()
        self.write_sources(False)
        self.suite = Five(urls, tool_runner=[f"--tool_runner.search={folder}/sources.json", f"--tool_runner.private_pages=127.0.0.1:{self.world.pages}"],
                          llm_gateway=[f"--llm_gateway.upstream=http://127.0.0.1:{self.world.model}/v1", "--llm_gateway.provider=openai",
                                       "--llm_gateway.key=k", "--llm_gateway.models=scripted"]).five()

    def stop(self):
        self.suite.stop()

    def write_sources(self, repeats):
        self.repeats = repeats
        entry = {"kind": "tavily", "url": f"http://127.0.0.1:{self.world.tavily}", "key": Tavily.key, "repeat_in_doubt": repeats}
        with open(f"{folder}/sources.json", "w") as file:
            json.dump({"sources": {"tavily": entry}}, file)

    # ---- a client, who repeats what was not answered under the same request_id ----

    def ask(self, method, request, until):
        while True:
            call = self.suite.channel.unary_unary(f"/renga.v1.AutonomousResearch/{method}", request_serializer=lambda m: m.SerializeToString(),
                                                  response_deserializer=message("AutonomousResearchResponse").FromString)
            try:
                return call(request, timeout=max(1, until - time.monotonic()), wait_for_ready=True).result
            except grpc.RpcError as error:
                again = error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
                expect(again and time.monotonic() < until, f"{method}: {error.code()} {error.details()}")
                time.sleep(0.02)

    def run(self, name, at_wait=None):
        """The end of a run whose person approves. `at_wait(node, number)` runs in each wait."""
        until, waits = time.monotonic() + PATIENCE_S, {}
        request = message("AutonomousResearchRequest")(theme=THEME, max_iterations=STEPS, human_intervention=True, sources=[2],
                                                       options={"request_id": name, "keep_running": True})
        now = self.ask("Research", request, until)
        while now.HasField("waiting"):
            node = now.waiting.node
            waits[node] = waits.get(node, 0) + 1
            if at_wait:
                at_wait(node, waits[node])
            remark = f"{node} {waits[node]}"
            now = self.ask("Resume", message("ResumeResearchRequest")(run_id=now.outcome.run_id, interrupt_id=now.waiting.interrupt_id,
                                                                      decision={"approve": {"remark": remark}},
                                                                      options={"request_id": f"{name}/{remark}", "keep_running": True}), until)
        return now

    # ---- a kill ----

    def kill(self, service):
        self.suite.restart(service)

    def kill_at(self, case, moment, reference):
        service, repeats = case.split(",")[0], "repeat_in_doubt" in case
        if repeats != self.repeats:
            self.write_sources(repeats)
            self.kill("tool-runner")
        name, began = f"{service} {moment} {repeats}", time.monotonic()
        phase, kind, number = moment.split("-")
        killed = []

        def strike():
            killed.append(service)
            self.kill(service)

        def at_wait(node, occurrence):
            if phase == "wait" and (node, occurrence) == (kind, int(number)):
                strike()
        self.world.watch(*((None, 0, "") if phase == "wait" else (kind, int(number), phase)))
        if phase == "wait":
            result = self.run(name, at_wait)
        else:
            result = self.run_and_strike(name, phase, strike)
        expect(killed, f"the moment did not come: {self.world.order}")
        doubt = self.judge(service, moment, result, reference)
        return f"{time.monotonic() - began:.1f} s{doubt}"

    def run_and_strike(self, name, phase, strike):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.run, name)
            while not self.world.reached.wait(0.05):
                if running.done():
                    return running.result()
            if phase == "after":
                time.sleep(random.uniform(0, LATER_S))
            strike()
            self.world.go()
            return running.result()

    # ---- what must hold ----

    def expect_whole(self, result):
        """The reference goes through every node and every wait, and through both rounds."""
        told = plain(result)
        expect(told["stop"] == "RESEARCH_STOP_REASON_APPROVED" and told["approved"], f"{told}")
        expect(all(line[:-1] in told["draft"] for line in BODIES.values()), told["draft"])
        expect(set(self.world.queries.values()) == {1} and len(self.world.queries) == len(BODIES), f"{self.world.queries}")
        expect([text for _, text, _ in told["people"]] == ["supervisor 1", "supervisor 2", "writer 1", "supervisor 3", "writer 2"], f"{told['people']}")

    def judge(self, service, moment, result, reference):
        """A paid search that a tool-runner takes into its death cannot be both sent once and answered: as it is set, it is sent
        once, and its query is told as ABORTED; with repeat_in_doubt it is sent again, and the run ends as an undisturbed one."""
        got, wanted = plain(result), plain(reference)
        sent = 2 if self.repeats else 1
        expect(max(self.world.queries.values()) <= sent, f"searches sent more often: {self.world.queries}")
        lost = [s.query for s in result.searches if s.status_code]
        if lost and service == "tool-runner" and not self.repeats:
            self.judge_without(lost, result)
            return f", {len(lost)} searches in doubt"
        differs = [part for part in wanted if got[part] != wanted[part]]
        expect(not differs, "; ".join(difference(part, got[part], wanted[part]) for part in differs))
        again = sum(count - 1 for count in self.world.queries.values())
        return f", {again} searches sent again" if again else ""

    def judge_without(self, lost, result):
        """All else is as it was: the report is made of the other searches."""
        codes = {s.query: s.status_code for s in result.searches if s.status_code}
        expect(set(codes.values()) == {ABORTED} and len(lost) < len(BODIES), f"{codes}")
        expect(word("RunState", result.outcome.state) == "RUN_STATE_SUCCEEDED" and result.citations, f"{result.outcome}"[:600])
        told = [name for name, line in BODIES.items() if line[:-1] in result.draft]
        expect(len(told) >= 2 and not {query.split()[-1] for query in lost} & set(told), f"{told} of {lost}: {result.draft}")

def difference(part, got, wanted):
    if isinstance(wanted, list):
        return f"{part}: more {[row for row in got if row not in wanted]}, missing {[row for row in wanted if row not in got]}"[:600]
    return f"{part}: {got}, not {wanted}" if part != "draft" else "another draft"


def plain(result):
    """What must be the same: all but names of runs, and times."""
    return {"state": word("RunState", result.outcome.state), "stop": word("ResearchStopReason", result.stop_reason), "iterations": result.iterations,
            "approved": result.review.approved, "score": round(result.review.overall_score, 6), "draft": result.draft,
            "sources": [(s.url, s.title, s.summary) for s in result.sources], "plan": list(result.plan.search_queries),
            "people": [(d.action, d.text, d.node) for d in result.human_decisions], "choices": [(d.next_action, d.reasoning) for d in result.decisions],
            "searches": sorted((s.query, s.result_count, s.new_count, s.status_code) for s in result.searches),
            "citations": [(c.uri, c.quote) for c in result.citations],
            # Lessons of a playbook are left out, and told so, where the tool-runner cannot be reached as a run begins.
            "degradations": sorted((d.part, d.kind, d.status_code) for d in result.outcome.degradations if d.part != "playbook")}
