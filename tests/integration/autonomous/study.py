"""Runs of autonomous research over the themes, and what they cost.

    study = Study(load(), "liar")            # or "honest"; None is without a model
    outcome = study.run(theme)
    outcome.output["current_draft"], outcome.verdict.problems, outcome.cpu_ms
    study.stop()"""
import json
import os
import sys
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), os.path.join(HERE, "..", "helpdesk"), HERE]
from suite import SLOW, Suite, expect, folder  # noqa: E402
from contract import message, word  # noqa: E402
from report_check import Pages, judge  # noqa: E402
from theme_model import GATEWAY, ThemeModel  # noqa: E402
from theme_web import ThemeWeb  # noqa: E402

RUN_S = 120


@dataclass
class Outcome:
    run: object
    output: dict
    shown: list  # each progress object
    planted: list  # by the model, in all drafts of the run
    verdict: object  # of the draft at the end
    wall_ms: float
    cpu_ms: float

    @property
    def review(self):
        return self.output.get("review") or {}

    @property
    def approved(self):
        return bool(self.review.get("approved"))

    def published(self):
        """The texts that a person was given: the pieces shown on the way, one draft after the other, and the result."""
        drafts, open_draft = [], False
        for one in self.shown:
            if "text" in one:
                drafts[-1:] = [drafts[-1] + one["text"]] if open_draft else [*drafts[-1:], one["text"]]
            open_draft = "text" in one
        return [*drafts, self.output.get("current_draft") or ""]


class Study:
    def __init__(self, themes, how, *flags):
        self.themes, self.how = themes, how
        self.web = ThemeWeb(themes)
        self.pages = Pages(themes)
        ThemeModel.begin(themes, how)
        self.suite = Suite(llm_gateway=GATEWAY if how else [], tool_runner=self.web.flags(folder), orchestrator=list(flags)).one()
        self.pid = self.suite.processes["renga"].process.pid

    def call(self, method, request, timeout=RUN_S):
        make = self.suite.channel.unary_unary(f"/renga.v1.Orchestrator/{method}", request_serializer=lambda m: m.SerializeToString(),
                                              response_deserializer=message(method + "Response").FromString)
        return make(request, timeout=timeout * SLOW, wait_for_ready=True)

    def cpu_ms(self):
        """Of all threads of the suite, those that have ended too."""
        return time.clock_gettime_ns((~self.pid << 3) | 2) / 1e6

    def shown(self, run):
        ask = self.suite.channel.unary_stream("/renga.v1.Orchestrator/WatchRun", request_serializer=lambda m: m.SerializeToString(),
                                              response_deserializer=message("RunEvent").FromString)
        return [json.loads(event.progress_json) for event in ask(message("WatchRunRequest")(run_id=run.run_id), timeout=RUN_S * SLOW)
                if event.WhichOneof("event") == "progress_json"]

    def request(self, theme, **inputs):
        return {"agent": "autonomous_research", "input_json": json.dumps({"theme": theme.text, "sources": ["web"], **inputs}, ensure_ascii=False),
                "configuration_json": json.dumps({"language": theme.language}), "wait": True}

    def run(self, theme, **inputs):
        ThemeModel.planted.pop(theme.name, None)
        began, before = time.monotonic(), self.cpu_ms()
        run = self.call("StartRun", message("StartRunRequest")(**self.request(theme, **inputs))).run
        wall_ms, cpu_ms = (time.monotonic() - began) * 1000, self.cpu_ms() - before
        expect(word("RunState", run.state) == "RUN_STATE_SUCCEEDED", f"{theme.name}: {run}"[:3000])
        output, planted = json.loads(run.output_json), ThemeModel.planted.get(theme.name, [])
        draft, data = output.get("current_draft") or "", output.get("research_data") or []
        return Outcome(run, output, self.shown(run), planted, judge(theme, self.pages, draft, data, planted), wall_ms, cpu_ms)

    def verdicts(self, theme, outcome):
        """Of each published text."""
        data = outcome.output.get("research_data") or []
        return [judge(theme, self.pages, text, data, outcome.planted) for text in outcome.published()]

    def stop(self):
        self.suite.stop()
