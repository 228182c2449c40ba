#!/usr/bin/env python3
"""Autonomous research through the whole suite in one process: the real planner, tool-runner and reviewer, over documents and
over a fake of Tavily whose pages are read; without a model, and with one that the test scripts. Needs RENGA_BIN and RENGA_PROTO."""
import json
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", room) for room in ("helpdesk", "research", "search")]
from suite import SLOW, Suite, expect, folder, index  # noqa: E402
from checks import check, finish  # noqa: E402
from contract import message, word  # noqa: E402
from model import call  # noqa: E402
from upstream.corpus import CORPUS  # noqa: E402
from upstream.tavily import Tavily  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

THEME = "How far away is the moon, and how was that measured?"
PARTS = ["Executive Summary", "Key Findings", "Detailed Analysis", "References"]
PAGES = {"distance": "The moon is 384,400 km away from the earth on average, and 363,300 km at its perigee.",
         "laser": "Laser ranging has measured the distance of the moon since 1969, to within a few centimetres.",
         "mirror": "The mirrors for laser ranging were left on the moon by Apollo 11, Apollo 14 and Apollo 15.",
         "orbit": "The distance of the moon grows by 3.8 cm in each year, as the mirrors on it show.",
         "parallax": "Hipparchus measured the distance of the moon by its parallax in the year 189 BC."}
WRONG = "The moon is 999,999 km away from the earth on average."


class Pages(Handler):
    """A page of each text, of which the search shows the first words only."""
    seen = []

    def do_GET(self):
        name = self.path.strip("/")
        Pages.seen.append(name)
        text = PAGES.get(name, "")
        self.reply(f"<html><head><title>{name}</title></head><body><main><h1>{name}</h1><p>{text}</p></main></body></html>".encode(),
                   kind="text/html; charset=utf-8")


class Model(Handler):
    """Plans the words of the pages, writes with the texts that it is given, the first time with a false number, and approves."""
    drafts, seen, lock = 0, [], threading.Lock()

    def do_POST(self):
        asked = self.asked()
        text = asked["messages"][-1]["content"]
        schema = json.dumps(asked.get("response_format", {}))
        kind = next((name for name, key in (("plan", "search_queries"), ("improve", "improved_queries"), ("route", "next_action"),
                                            ("review", "fact_check")) if key in schema), "write")
        Model.seen.append((kind, text))
        self.reply(completion({"role": "assistant", "content": getattr(self, kind)(text)}))

    def plan(self, text):
        return json.dumps({"theme": THEME, "investigation_points": ["distance", "measurement"], "search_queries": [f"moon {name}" for name in PAGES],
                           "plan_text": "as the test says"})

    def improve(self, text):
        return json.dumps({"improved_queries": [f"moon {name}" for name in PAGES]})

    def route(self, text):
        return json.dumps({"next_action": "write", "reasoning": "as the test says"})

    def review(self, text):
        good = Model.drafts > 1
        return json.dumps({"scores": dict.fromkeys(("fact_check", "completeness", "logic", "format"), 0.95 if good else 0.6),
                           "feedback": "" if good else "tell of the mirrors", "suggested_action": "write", "issues": []})

    def write(self, text):
        with Model.lock:
            Model.drafts += 1
        sources = json.loads(text.split("<sources>\n")[-1].split("\n</sources>")[0])
        known = [page for page in PAGES.values() if any(page in source["text"] for source in sources)]
        known = known if Model.drafts > 1 else [*known[:2], WRONG, *known[2:3]]
        return (f"```markdown\n# {THEME}\n\n## Executive Summary\n\n" + " ".join(known[:3]) + "\n\n## Key Findings\n\n" + "\n".join(f"- {line}" for line in known)
                + "\n\n## Detailed Analysis\n\n### distance\n\n" + " ".join(known[:2]) + "\n\n### measurement\n\n" + " ".join(known[1:])
                + "\n\n## References\n\n[^1]: https://invented.example/\n```\nI hope this helps.")


def study(suite, **fields):
    start = call(suite.channel, "Orchestrator", "StartRun", "StartRunResponse")
    request = message("StartRunRequest")(agent="autonomous_research", input_json=json.dumps({"theme": THEME, **fields}), wait=True)
    run = start(request, timeout=60 * SLOW, wait_for_ready=True).run
    expect(word("RunState", run.state) == "RUN_STATE_SUCCEEDED", f"{run}")
    return run, json.loads(run.output_json)


def expect_report(result, theme=THEME):
    """The five parts in their order, and notes that resolve to sources of the run."""
    draft, at = result["current_draft"], 0
    expect(draft.startswith(f"# {theme}\n"), draft)
    for part in PARTS:
        at = draft.find(f"\n## {part}\n", at)
        expect(at > 0, f"{part} is missing or out of order: {draft}")
    notes = dict(re.findall(r"^\[\^(\d+)\]: .* — (https?://\S+|[^:\n]+).*$", draft, re.M))
    known = {source["url"] for source in result["research_data"]}
    expect(notes and set(re.findall(r"\[\^(\d+)\](?!:)", draft)) == set(notes), f"{notes}: {draft}")
    expect(set(notes.values()) <= known and {c["uri"] for c in result["citations"]} <= known, f"{notes} are not of {known}")


index()
plain = Suite().one()


@check("without a model, a theme over the documents becomes a report of five parts with notes that resolve, in English and Japanese")
def _():
    for theme in ("When do night backups run, and what does error E-1024 mean?", "夜間バックアップとエラー E-1024"):
        run, result = study(plain, theme=theme)
        expect_report(result, theme)
        expect(result["stop_reason"] in ("approved", "decided", "max_iterations") and result["iteration_count"] <= 5, f"{result['stop_reason']}")
        expect(result["review"]["scores"]["format"] >= 0.8, f"{result['review']}")  # two facts make no summary of 200 characters
        expect(any(d.kind == 1 for d in run.degradations), f"{run.degradations}")


plain.stop()
pages = serve(Pages).server_port
CORPUS.replace([{"id": name, "title": name, "content": f"About the moon: {name}.", "lang": "en", "url": f"http://127.0.0.1:{pages}/{name}",
                 "updated": "2031-01-05T09:00:00Z"} for name in PAGES])
with open(os.path.join(folder, "sources.json"), "w") as file:
    json.dump({"sources": {"tavily": {"kind": "tavily", "url": f"http://127.0.0.1:{serve(Tavily).server_port}", "key": Tavily.key}}}, file)
scripted = Suite(tool_runner=[f"--tool_runner.search={folder}/sources.json", f"--tool_runner.private_pages=127.0.0.1:{pages}"],
                 llm_gateway=[f"--llm_gateway.upstream=http://127.0.0.1:{serve(Model).server_port}/v1", "--llm_gateway.provider=openai",
                              "--llm_gateway.key=k", "--llm_gateway.models=scripted"]).one()


@check("with a model, pages of a search that tells little are read, a false number does not stand in the report, and it is approved")
def _():
    run, result = study(scripted, sources=["web"], max_iterations=7)
    expect_report(result)
    expect(sorted(set(Pages.seen)) == sorted(PAGES), f"{Pages.seen}")
    expect(result["stop_reason"] == "approved" and result["review"]["approved"] and Model.drafts == 2, f"{result['stop_reason']} {result['review']}")
    draft = result["current_draft"]
    expect("999,999" not in draft and "invented" not in draft and "hope" not in draft and "```" not in draft, draft)
    expect(all(page[:-1] in draft for page in PAGES.values()), draft)
    asked = [text for kind, text in Model.seen if kind == "write"]
    expect("tell of the mirrors" in asked[1], "the feedback did not reach the model")
    expect([d["next_action"] for d in result["decisions"]] == ["NEXT_ACTION_RESEARCH", "NEXT_ACTION_WRITE"], f"{result['decisions']}")


@check("from Node: a planted false number is flagged with the words of its source, is in no text that the client gets, and is never approved")
def _():
    if not os.environ.get("NODE"):
        return "no Node"
    Model.drafts = 0
    port = scripted.processes["renga"].port
    done = subprocess.run([os.environ["NODE"], "--no-deprecation", os.path.join(HERE, "false_number.mjs"), f"127.0.0.1:{port}", THEME, WRONG],
                          capture_output=True, text=True, timeout=150 * SLOW)
    expect(done.returncode == 0, done.stderr)
    told = json.loads(done.stdout)
    expect(told["approved"] and told["stop_reason"] == "RESEARCH_STOP_REASON_APPROVED" and told["fact_check"] >= 0.9, f"{told}"[:2000])
    expect(len(told["drafts"]) == 2 and told["kinds"].count("reviewed") == 2, f"{told['kinds']}")
    expect(not any("999,999" in text for text in (*told["drafts"], told["draft"])), f"the false number was shown: {told['drafts']}")
    flagged = [d for d in told["degradations"] if "999,999" in d["part"]]
    expect(len(flagged) == 1 and "384,400 km" in flagged[0]["reason"] and "/distance" in flagged[0]["reason"], f"{told['degradations']}")
    planted = told["planted"]
    issues = [issue["description"] for issue in planted["issues"] if issue["type"] == "DRAFT_ISSUE_TYPE_FACT_CHECK" and "999,999" in issue["description"]]
    expect(not planted["approved"] and planted["scores"]["fact_check"] < 0.9, f"{planted}"[:1500])
    expect(issues and "384,400 km" in issues[0], f"{planted['issues']}"[:1500])
    return issues[0][:160]


scripted.stop()
finish()
