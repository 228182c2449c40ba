#!/usr/bin/env python3
"""Autonomous research before a model that answers garbage in each node, and before callers who cancel it in each node; another
version of the agent comes while a run waits. The suite in one process, with the model, Tavily and pages of the drill `autonomous`."""
import concurrent.futures
import json
import os
import re
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", room) for room in ("helpdesk", "search")] + [os.path.join(HERE, "..", "..", "drill")]
from suite import BIN, SLOW, STORES, Process, Suite, expect, folder  # noqa: E402
from autonomous_world import THEME, Model, World  # noqa: E402
from checks import check, finish  # noqa: E402
from contract import message, word  # noqa: E402
from upstream.tavily import Tavily  # noqa: E402
from web import completion, serve  # noqa: E402

PARTS = ("Executive Summary", "Key Findings", "Detailed Analysis", "References")
KINDS = ("plan", "improve", "route", "review", "write")
SCORES = dict.fromkeys(("fact_check", "completeness", "logic", "format"), 0.95)


def review(**fields):
    return json.dumps({"scores": SCORES, "feedback": "more", "suggested_action": "write", "issues": [], **fields})


class Liar(Model):
    """Answers one kind of request with the text or the message that a check has chosen."""
    kind, answer = None, None

    def reply(self, value, *rest, **more):
        if Liar.kind and value["choices"][0]["message"]["role"] == "assistant" and self.asked_kind == Liar.kind:
            value = completion(Liar.answer if isinstance(Liar.answer, dict) else {"role": "assistant", "content": Liar.answer})
        super().reply(value, *rest, **more)

    def __getattribute__(self, name):
        if name in KINDS:
            self.asked_kind = name
        return super().__getattribute__(name)


world = World()
with open(f"{folder}/sources.json", "w") as file:
    json.dump({"sources": {"tavily": {"kind": "tavily", "url": f"http://127.0.0.1:{world.tavily}", "key": Tavily.key}}}, file)
FLAGS = [f"--tool_runner.search={folder}/sources.json", f"--tool_runner.private_pages=127.0.0.1:{world.pages}", "--llm_gateway.provider=openai",
         f"--llm_gateway.upstream=http://127.0.0.1:{serve(Liar).server_port}/v1", "--llm_gateway.key=k", "--llm_gateway.models=scripted"]
suite = Suite(renga=FLAGS).one()


def call(service, method, request, reply=None):
    make = suite.channel.unary_unary(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(),
                                     response_deserializer=message(reply or f"{method}Response").FromString)
    return make(request, timeout=60 * SLOW, wait_for_ready=True)


def research(**fields):
    return call("AutonomousResearch", "Research", message("AutonomousResearchRequest")(**{"theme": THEME, "max_iterations": 9, "sources": [2], **fields}),
                "AutonomousResearchResponse").result


def ends_well(kind, name, answer, **fields):
    Liar.kind, Liar.answer = kind, answer
    world.watch(None, 0, "")
    try:
        result = research(**fields)
    finally:
        Liar.kind = None
    told = f"{kind}, {name}: {word('ResearchStopReason', result.stop_reason)}, {result.draft[:300]!r}"
    expect(word("RunState", result.outcome.state) == "RUN_STATE_SUCCEEDED" and result.stop_reason, told)
    at = [result.draft.find(f"\n## {part}\n") for part in PARTS]
    expect(result.draft.startswith(f"# {THEME}\n") and at == sorted(at) and at[0] > 0, told)
    notes = set(re.findall(r"^\[\^(\d+)\]: ", result.draft, re.M))
    expect(set(re.findall(r"\[\^(\d+)\](?!:)", result.draft)) == notes, told)
    expect(not result.review.approved or (result.review.scores.fact_check >= 0.9 and result.review.overall_score >= 0.8), told)
    return result


@check("whatever a model answers in each node, the run ends with a report of five parts whose notes resolve, and says what was done without it")
def _():
    began = time.monotonic()
    garbage = {"a refusal": {"role": "assistant", "content": None, "refusal": "I cannot."}, "broken JSON": '{"a": [', "nothing": "", "deep JSON": "[" * 200000,
               "a novel": "lorem ipsum 12 " * 100000, "another schema": '{"tasks": []}'}
    for kind in KINDS:
        for name, answer in garbage.items():
            result = ends_well(kind, name, answer)
            expect(result.outcome.degradations, f"{kind}, {name}: nothing is told")
    return f"{len(KINDS) * len(garbage)} runs in {time.monotonic() - began:.1f} s"


@check("a plan of endless or equal queries, a choice that is none, marks out of their range and endless rewrites end like any run")
def _():
    def plan(queries):
        return json.dumps({"theme": THEME, "investigation_points": ["near"] * 50, "search_queries": queries, "plan_text": "x"})
    for name, queries, most in (("one query 1,000 times", ["distance of moon"] * 1000, 1), ("10,000 queries", [f"moon {n}" for n in range(10000)], 16)):
        result = ends_well("plan", name, plan(queries))
        expect(len(result.plan.search_queries) <= most, f"{name}: {len(result.plan.search_queries)} queries")
    for action in ("fly", "", None, 4, ["write"], "review"):
        ends_well("route", f"next_action {action!r}", json.dumps({"next_action": action, "reasoning": "x"}))
    expect(word("ResearchStopReason", ends_well("route", "research for ever", json.dumps({"next_action": "research", "reasoning": "x"})).stop_reason) ==
           "RESEARCH_STOP_REASON_MAX_ITERATIONS", "it does not stop at max_iterations")
    for mark in ("2", "-1", "NaN", "Infinity", "1e999", '"0.9"', "null", "90", "1.0000001"):
        result = ends_well("review", f"a mark of {mark}", review().replace('"fact_check": 0.95', f'"fact_check": {mark}'))
        expect(any(d.part == "review" for d in result.outcome.degradations), f"{mark}: nothing is told")
    for action in ("research", "write"):
        result = ends_well("review", f"{action} for ever", review(scores=dict.fromkeys(SCORES, 0.5), suggested_action=action), max_iterations=100)
        expect(result.iterations < 20 and not result.review.approved, f"{action}: {result.iterations} steps")


@check("a run is cancelled within a second in each of its nodes")
def _():
    slowest = 0
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for kind, number in (("plan", 1), ("search", 5), ("page", 1), ("write", 1), ("review", 1), ("improve", 1), ("search", 7), ("route", 1), ("review", 2)):
            world.watch(kind, number, "during")
            thread = f"cancelled-{kind}-{number}"
            running = pool.submit(research, options={"thread_id": thread, "keep_running": True})
            expect(world.reached.wait(20 * SLOW), f"{kind} {number} is not reached")
            run = call("Orchestrator", "ListRuns", message("ListRunsRequest")(thread_id=thread)).runs[0]
            began = time.monotonic()
            run = call("Orchestrator", "CancelRun", message("CancelRunRequest")(run_id=run.run_id, wait=True)).run
            slowest = max(slowest, time.monotonic() - began)
            world.go()
            expect(word("RunState", run.state) == "RUN_STATE_CANCELLED" and running.exception(20 * SLOW) is not None, f"{kind} {number}: {run.state}")
    expect(slowest < SLOW, f"{slowest:.3f} s")
    return f"{slowest * 1000:.0f} ms at most"


@check("a run that waits goes on with the version of the agent that it began with, though the folder has another one meanwhile")
def _():
    world.watch(None, 0, "")
    run = research(human_intervention=True)
    shutil.copytree(os.path.join(HERE, "agents"), f"{folder}/agents")
    suite.processes["renga"].kill()
    suite.channel.close()
    suite.processes["renga"] = Process(f"{BIN}/renga", "serve", "--rpc.listen=127.0.0.1:0", *STORES, f"--orchestrator.store=sqlite:{folder}/runs.db", *FLAGS,
                                       f"--orchestrator.agents={folder}/agents")
    suite.open("renga")
    run_id = run.outcome.run_id
    for _ in range(9):
        if not run.HasField("waiting"):
            break
        run = call("AutonomousResearch", "Resume", message("ResumeResearchRequest")(run_id=run_id, decision={"approve": {}}), "AutonomousResearchResponse").result
    expect(run.review.approved and word("ResearchStopReason", run.stop_reason) == "RESEARCH_STOP_REASON_APPROVED", f"{run.outcome}"[:600])
    other = research(max_iterations=6)
    expect(not other.review.approved and other.outcome.run_id != run_id, "a new run does not have the folder's version")


suite.stop()
finish()
