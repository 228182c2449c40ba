#!/usr/bin/env python3
"""Each kind of node that calls a service, one at a time: what it asks, what it writes, how it fails."""
import json
import os
import signal
import threading

import grpc

from harness import agent, api, check, equal, expect, finish, message, number, stands, succeeded, wait_until
from services import called, found, hit, said, services, tool

api.flags = services.flags()
api.start()


def one(name, node, state, prompts=None, **graph):
    """An agent of one node."""
    for path, text in (prompts or {}).items():
        file = os.path.join(api.agents, name, "prompts", path + ".md")
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as out:
            out.write(text)
    on = node.pop("on", None) or {}
    agent(name, {"state": state, "start": "it", "nodes": {
        "it": {**node, "on": {outcome: "was_" + outcome for outcome in on}},
        **{"was_" + outcome: {"kind": "set", "values": {"outcome": outcome}, "on": {"done": "end"}} for outcome in on}}, **graph})


OUTCOME = {"outcome": {"type": "string"}}
TEXTS, OBJECTS = {"type": "string[]"}, {"type": "object[]"}


@check("plan asks in each of its styles, and writes what fits")
def _():
    def answer(request, context):
        if request.WhichOneof("style") == "queries":
            return message("PlanResponse")(queries={"queries": ["a", "b"]})
        if request.WhichOneof("style") == "fields":
            return message("PlanResponse")(fields={"fields": [{"field_id": f.field_id, "label": f.label, "required": f.required}
                                                              for f in request.fields.form.fields]})
        return message("PlanResponse")(research={"theme": request.research.theme, "search_queries": ["q"]},
                                       degradations=[{"part": "plan", "kind": 2, "reason": "no model"}])
    services.on("Planner/Plan", answer)
    on = {"planned": 1, "empty": 1}
    one("queries", {"kind": "plan", "style": "queries", "about": "q", "into": "p", "most": 2, "findings": "f", "feedback": "b",
                    "on": on}, {"q": {"type": "string"}, "p": TEXTS, "f": OBJECTS, "b": {"type": "string"}, **OUTCOME})
    result = succeeded(api.start_run("queries", {"q": "why?", "f": [{"query": "old", "summary_md": "known"}], "b": "too few"}))
    equal((result["p"], result["outcome"]), (["a", "b"], "planned"), "the queries")
    asked = services.of("Planner/Plan")[-1]
    equal((asked.queries.question, asked.queries.max_queries, asked.queries.findings[0].query, asked.feedback),
          ("why?", 2, "old", "too few"), "what was asked")
    one("fields", {"kind": "plan", "style": "fields", "about": "form", "into": "p", "known": "k", "on": on},
        {"form": {"type": "object"}, "p": OBJECTS, "k": {"type": "object"}, **OUTCOME})
    form = {"fields": [{"id": "1", "field_id": "name", "label": "Name", "required": True}]}
    result = succeeded(api.start_run("fields", {"form": form, "k": {"language": "ja"}}))
    equal(result["p"], [{"field_id": "name", "label": "Name", "required": True}], "the fields")
    equal(json.loads(services.of("Planner/Plan")[-1].fields.known_json), {"language": "ja"}, "what is known")
    one("research", {"kind": "plan", "style": "research", "about": "q", "into": "p", "human_input": "h", "on": on},
        {"q": {"type": "string"}, "h": {"type": "string"}, "p": {"type": "object"}, **OUTCOME})
    run = api.start_run("research", {"q": "ponds", "h": "frogs too"})
    equal(succeeded(run)["p"], {"theme": "ponds", "search_queries": ["q"]}, "the research plan")
    equal((run.degradations[0].reason, services.of("Planner/Plan")[-1].research.human_input), ("no model", "frogs too"), "the rest")


@check("prompts of the agent and the model of the document reach the planner; the run's model comes first")
def _():
    services.on("Planner/Plan", lambda r, c: message("PlanResponse")(subtasks={"subtasks": []}))
    one("prompted", {"kind": "plan", "style": "subtasks", "about": "q", "into": "p", "model": "big", "system": "rules",
                     "prompt": "ask", "model_required": True, "on": {"planned": 1, "empty": 1}},
        {"q": {"type": "string"}, "p": TEXTS, **OUTCOME}, {"en/rules": "Rules.", "ja/rules": "規則。", "en/ask": "Split {question}"})
    result = succeeded(api.start_run("prompted", {"q": "x"}, configuration_json='{"language": "ja"}'))
    asked = services.of("Planner/Plan")[-1].prompting
    equal((asked.model, asked.system_template, asked.user_template, asked.language, asked.model_required),
          ("big", "規則。", "Split {question}", "ja", True), "the prompting")
    equal((result["outcome"], result["p"]), ("empty", []), "an empty plan")
    succeeded(api.start_run("prompted", {"q": "x"}, configuration_json='{"model": "small"}'))
    equal(services.of("Planner/Plan")[-1].prompting.model, "small", "the run's model")


@check("search writes hits as they are, and says where there are none")
def _():
    hits = [hit("A pond.\nA frog.", score=0.25, published_date="2024-01-01")]
    services.on("ToolRunner/Search", lambda r, c: message("SearchResponse")(hits=hits if r.query == "pond" else []))
    one("searcher", {"kind": "search", "query": "q", "collections": "c", "sources": "s", "into": "h", "mode": "lexical", "limit": 3,
                     "on": {"found": 1, "nothing": 1}}, {"q": {"type": "string"}, "c": TEXTS, "s": TEXTS, "h": OBJECTS, **OUTCOME})
    result = succeeded(api.start_run("searcher", {"q": "pond", "c": ["docs"], "s": ["internal", "web"]}))
    equal((result["h"], result["outcome"]), (hits, "found"), "the hits")
    asked = services.of("ToolRunner/Search")[-1]
    equal((asked.query, list(asked.collections), list(asked.sources), asked.mode, asked.limit),
          ("pond", ["docs"], ["internal", "web"], 1, 3), "what was asked")
    equal(succeeded(api.start_run("searcher", {"q": "sea"}))["outcome"], "nothing", "the outcome")
    keys = [request.idempotency_key for request in services.of("ToolRunner/Search")]
    expect(all(keys) and len(set(keys)) == len(keys), f"the keys are {keys}")


@check("search also writes results, each address once, with at most 500 characters of what it says")
def _():
    long = "月" * 300 + "太陽は遠い。" + "星" * 2000
    hits = [hit("A pond.", uri="https://example.org/a?utm_source=x", score=0.5), hit("A frog.", uri="http://www.example.org/a/", score=0.4),
            hit(long, uri="ja/moon.md", score=7.0, quote="太陽は遠い。", published_date="2024-01-01"), hit("x", uri="javascript:x()")]
    services.on("ToolRunner/Search", lambda r, c: message("SearchResponse")(hits=hits[:r.limit]))
    one("collector", {"kind": "search", "query": "q", "into": "h", "results": "r", "limit_of": "n", "on": {"found": 1, "nothing": 1}},
        {"q": {"type": "string"}, "n": {"type": "integer"}, "h": OBJECTS, "r": OBJECTS, **OUTCOME})
    result = succeeded(api.start_run("collector", {"q": "pond", "n": 4}))
    equal(result["r"], [
        {"title": "Guide", "summary": "A pond.\nA frog.", "url": "https://example.org/a?utm_source=x", "source": "documents", "relevance_score": 0.5},
        {"title": "Guide", "summary": "太陽は遠い。" + "星" * 494, "url": "ja/moon.md", "source": "documents", "published_date": "2024-01-01",
         "relevance_score": 1}], "the results")
    equal((len(result["h"]), len(succeeded(api.start_run("collector", {"q": "pond", "n": 1}))["h"])), (3, 1), "the hits of them")
    equal(result["h"][2]["snippet"], long[:4096 // 3], "a long text")


PLAN = {"theme": "ponds", "investigation_points": ["frogs"], "search_queries": ["pond"]}
ROUTED = {"plan": {"type": "object"}, "progress": {"type": "object"}, "draft": {"type": "string"}, "feedback": {"type": "string"},
          "i": {"type": "integer"}, "most": {"type": "integer"}, "enough": {"type": "integer"}, "h": {"type": "string"},
          "next": {"type": "string"}, "d": {"type": "object"}, **OUTCOME}


@check("route asks the planner with all that there is, and writes the choice and its reason")
def _():
    words = {"research": 1, "write": 2, "review": 3, "end": 4}
    services.on("Planner/Route", lambda r, c: message("RouteResponse")(
        next_action=words.get(r.feedback, 9), reasoning="because", usage={"model_calls": 1}, degradations=[{"part": "route", "kind": 2, "reason": "simple"}]))
    one("router", {"kind": "route", "plan": "plan", "progress": "progress", "draft": "draft", "feedback": "feedback", "iteration": "i",
                   "max_iterations": "most", "min_data_count": "enough", "human_input": "h", "into": "next", "decision": "d",
                   "on": {word: 1 for word in words}}, ROUTED)
    progress = {"data_count": 3, "data_quality": 0.5, "coverage": 1}
    for word in words:
        run = api.start_run("router", {"plan": PLAN, "progress": progress, "draft": "# D", "feedback": word, "i": 2, "most": 7, "enough": 4, "h": "go on"})
        result = succeeded(run)
        equal((result["outcome"], result["next"], run.usage.model_calls, run.degradations[0].reason), (word, word, 1, "simple"), "the choice")
        equal(result["d"], {"next_action": "NEXT_ACTION_" + word.upper(), "reasoning": "because", "progress": progress, "iteration": 2}, "the decision")
    asked = services.of("Planner/Route")[-1]
    equal((asked.plan.theme, list(asked.plan.search_queries), asked.progress.data_count, asked.has_draft, asked.iteration, asked.max_iterations,
           asked.min_data_count, asked.human_input, asked.origin.agent), ("ponds", ["pond"], 3, True, 2, 7, 4, "go on", "router"), "what was asked")
    run = api.start_run("router", {"plan": PLAN, "feedback": "odd"})
    equal((run.failures[0].status_code, services.of("Planner/Route")[-1].has_draft), (15, False), "an action that there is not")


@check("improve has queries rewritten, and tells which is which")
def _():
    services.on("Planner/ImproveQueries", lambda r, c: message("ImproveQueriesResponse")(
        queries=[query + " 2026" if query != "frog" else query for query in r.base_queries], usage={"model_calls": 1}))
    one("improver", {"kind": "improve", "queries": "q", "feedback": "f", "theme": "t", "into": "q", "pairs": "p", "on": {"improved": 1}},
        {"q": TEXTS, "f": {"type": "string"}, "t": {"type": "string"}, "p": OBJECTS, **OUTCOME})
    run = api.start_run("improver", {"q": ["pond", "frog"], "f": "newer ones", "t": "ponds"})
    result = succeeded(run)
    equal((result["q"], result["p"], run.usage.model_calls), (["pond 2026", "frog"], [{"base": "pond", "query": "pond 2026"}], 1), "the queries")
    asked = services.of("Planner/ImproveQueries")[-1]
    equal((list(asked.base_queries), asked.feedback, asked.theme), (["pond", "frog"], "newer ones", "ponds"), "what was asked")
    equal(succeeded(api.start_run("improver", {"f": "newer ones", "t": "池" * 400}))["q"], ["池" * 341 + " 2026"], "the theme as a query")
    equal(len(succeeded(api.start_run("improver", {"q": [f"q{n}" for n in range(20)], "f": "x"}))["q"]), 16, "as many as are taken")


@check("call_tool runs the tool that the document names, with arguments of the inputs")
def _():
    def run(request, context):
        call = request.calls[0]
        address = json.loads(call.call.arguments_json)["url"]
        failed = {"status_code": 5, "message": "there is no such tool"} if "lost" in address else {"text": "A pond.", "hits": [hit("A pond.", uri=address)]}
        return message("RunToolsResponse")(results=[{"call_id": call.call.id, "name": call.call.name, **failed}] * (2 if "odd" in address else 1))
    services.on("ToolRunner/RunTools", run)
    one("fetcher", {"kind": "call_tool", "tool": "fetch_page", "arguments": {"url": "s.url", "from": 3}, "hits": "h", "text": "t", "failure": "f",
                    "tool_timeout": "7s", "output_max": 4096, "on": {"ran": 1, "failed": 1}},
        {"s": {"type": "object"}, "h": OBJECTS, "t": {"type": "string"}, "f": {"type": "object"}, **OUTCOME})
    run = api.start_run("fetcher", {"s": {"url": "https://example.org/"}})
    result = succeeded(run)
    equal((result["outcome"], result["t"], [h["uri"] for h in result["h"]], run.usage.tool_calls), ("ran", "A pond.", ["https://example.org/"], 1), "the result")
    asked = services.of("ToolRunner/RunTools")[-1]
    equal((json.loads(asked.calls[0].call.arguments_json), list(asked.allowed_tools), asked.calls[0].timeout_ms, asked.calls[0].output_max_bytes),
          ({"url": "https://example.org/", "from": 3}, ["fetch_page"], 7000, 4096), "what was asked")
    expect(asked.idempotency_key and asked.origin.agent == "fetcher", f"{asked}")
    result = succeeded(api.start_run("fetcher", {"s": {"url": "lost"}}))
    equal((result["outcome"], result["f"]), ("failed", {"code": "NOT_FOUND", "status_code": 5, "message": "there is no such tool"}), "a failure")
    equal(api.start_run("fetcher", {"s": {"url": "odd"}}).failures[0].status_code, 15, "two results")


@check("review judges answers and drafts")
def _():
    services.on("Reviewer/ReviewAnswer", lambda r, c: message("ReviewAnswerResponse")(
        review={"passed": "Kyoto" in r.conversation_summary, "feedback": r.field.label, "extracted_facts": list(r.known_facts)}))
    services.on("Reviewer/ReviewDraft", lambda r, c: message("ReviewDraftResponse")(
        review={"approved": True, "overall_score": 0.875, "scores": {"logic": 0.5}, "suggested_action": 4},
        usage={"model_calls": 2}))
    one("answers", {"kind": "review", "style": "answer", "text": "t", "field": "f", "known": "k", "into": "r",
                    "on": {"passed": 1, "failed": 1}},
        {"t": {"type": "string"}, "f": {"type": "object"}, "k": TEXTS, "r": {"type": "object"}, **OUTCOME})
    field = {"id": "1", "field_id": "town", "label": "Town"}
    result = succeeded(api.start_run("answers", {"t": "I live in Kyoto", "f": field, "k": ["a: b"]}))
    equal((result["outcome"], result["r"]), ("passed", {"passed": True, "feedback": "Town", "extracted_facts": ["a: b"]}), "the mark")
    equal(succeeded(api.start_run("answers", {"t": "Somewhere", "f": field}))["outcome"], "failed", "the outcome")
    one("drafts", {"kind": "review", "style": "draft", "text": "t", "sources": "s", "into": "r", "on": {"passed": 1, "failed": 1}},
        {"t": {"type": "string"}, "s": OBJECTS, "r": {"type": "object"}, **OUTCOME})
    run = api.start_run("drafts", {"t": "# Ponds", "s": [{"url": "https://example.org", "relevance_score": 0.5}]})
    equal(succeeded(run)["r"], {"approved": True, "overall_score": 0.875, "scores": {"logic": 0.5},
                                "suggested_action": "NEXT_ACTION_END"}, "the mark of the draft")
    asked = services.of("Reviewer/ReviewDraft")[-1].sources[0]
    equal((asked.url, asked.relevance_score, run.usage.model_calls), ("https://example.org", 0.5, 2), "what was asked and spent")


@check("say has a text for each value of a field")
def _():
    texts = {"en/a": "A {q}", "en/b": "B {q}", "en/other": "Other {q}"}
    state = {"q": {"type": "string"}, "by": {"type": "string"}, "mood": {"type": "string", "values": ["good", "bad"]}, "t": {"type": "string"}}
    one("chooser", {"kind": "say", "prompts": {"x": "a", "y": "b"}, "by": "by", "prompt": "other", "into": "t", "on": {"said": 1}}, {**state, **OUTCOME}, texts)
    equal([succeeded(api.start_run("chooser", {"q": "q", **given}))["t"] for given in ({"by": "x"}, {"by": "y"}, {"by": "z"}, {})],
          ["A q", "B q", "Other q", "Other q"], "the texts")
    one("moody", {"kind": "say", "prompts": {"good": "a", "bad": "b"}, "by": "mood", "into": "t", "on": {"said": 1}}, {**state, **OUTCOME}, texts)
    equal(succeeded(api.start_run("moody", {"q": "q", "mood": "bad"}))["t"], "B q", "the text")
    run = stands(api.start_run("moody", {"q": "q"}), "FAILED", "NODE_FAILED")
    expect("'mood' has no value" in run.stop_text, run.stop_text)
    for count, (wanted, node) in enumerate((
            ("'by' may have any value; add a \"prompt\"", {"prompts": {"x": "a"}, "by": "by"}),
            ("has no text for 'bad'", {"prompts": {"good": "a"}, "by": "mood"}),
            ("'mood' is never 'odd'", {"prompts": {"good": "a", "bad": "b", "odd": "a"}, "by": "mood"}),
            ("'good' must have the name of a prompt", {"prompts": {"good": "c", "bad": "b"}, "by": "mood"}),
            ("go together", {"prompts": {"good": "a"}}), ("says nothing", {}))):
        name = f"unsaid{count}"
        for path, text in texts.items():
            file = os.path.join(api.agents, name, "prompts", path + ".md")
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w") as out:
                out.write(text)
        api.write_agent(name, json.dumps({"agent": name, "state": state, "start": "n", "nodes": {"n": {"kind": "say", "into": "t", **node}}}))
        api.signal(signal.SIGHUP)
        problem = wait_until(lambda: [p.message for p in api.ask("ListAgents").problems if p.agent == name], f"no problem: {wanted}")
        expect(wanted in " ".join(problem), f"{wanted!r} is not in {problem}")


@check("say writes a text of the agent in the language of the run, lists as lines")
def _():
    one("sayer", {"kind": "say", "prompt": "sorry", "into": "t", "inputs": ["q", "l"], "on": {"said": 1}},
        {"q": {"type": "string"}, "l": TEXTS, "t": {"type": "string"}, **OUTCOME},
        {"en/sorry": "Sorry: {q}\n{l}", "ja/sorry": "すみません: {q}\n{l}"})
    equal(succeeded(api.start_run("sayer", {"q": "x", "l": ["a", "b"]}))["t"], "Sorry: x\n- a\n- b", "the text")
    equal(succeeded(api.start_run("sayer", {"q": "空と海", "l": ["a"]}))["t"], "すみません: 空と海\n- a", "the Japanese text")


@check("survey tells all from some and none")
def _():
    one("surveyor", {"kind": "survey", "of": "l", "flag": "ok", "on": {"all": 1, "some": 1, "none": 1}}, {"l": OBJECTS, **OUTCOME})
    for items, wanted in (([True, True], "all"), ([True, False], "some"), ([False, None], "none"), ([], "none")):
        equal(succeeded(api.start_run("surveyor", {"l": [{"ok": ok} for ok in items]}))["outcome"], wanted, str(items))


@check("cite finds each sentence's source, with its lines; what has none stays without")
def _():
    one("citer", {"kind": "cite", "answer": "a", "results": "r", "into": "c", "on": {"cited": 1, "unsupported": 1}},
        {"a": {"type": "string"}, "r": OBJECTS, "c": OBJECTS, **OUTCOME})
    text = "Frogs live in ponds.\nThey jump into water.\nThe water makes a sound."
    tries = [{"results": [{"tool_name": "search", "results": [hit(text, line=7)]},
                          {"tool_name": "calculate", "text": "The sum of both amounts is 1234 yen."},
                          {"tool_name": "broken", "status_code": 2, "text": "Whales fly at night over Osaka."}]}]
    run = api.start_run("citer", {"a": "They jump into water. Whales fly at night over Osaka. The sum of both amounts is 1234 yen.",
                                  "r": tries})
    result = succeeded(run)
    equal([(c["sentence_number"], c["uri"], c.get("line_from", 0), c.get("line_to", 0), c["quote"]) for c in result["c"]],
          [(1, "guide.md", 8, 8, "They jump into water."), (3, "tool:calculate", 0, 0, "The sum of both amounts is 1234 yen.")],
          "the citations")
    equal((result["outcome"], run.degradations[0].reason), ("cited", "of 3 sentences 1 have no source"), "what is missing")
    result = succeeded(api.start_run("citer", {"a": "Nobody knows.", "r": tries}))
    equal((result["outcome"], result["c"]), ("unsupported", []), "no support")
    equal(succeeded(api.start_run("citer", {"a": "", "r": []}))["outcome"], "unsupported", "nothing at all")
    long = succeeded(api.start_run("citer", {"a": "They jump into water. " + "Nobody knows. " * 1000, "r": tries}))
    equal((long["outcome"], len(long["c"])), ("cited", 1), "an answer that a worker thread reads")


@check("report writes five parts out of a draft or of the sources alone, each sentence with the note of its source")
def _():
    prompts = {"en/headings": "Summary\nFindings\nAnalysis\nReferences\n", "ja/headings": "要旨\n発見\n分析\n文献\n",
               "en/missing": "No source here.\nNo source at all.\n", "ja/missing": "情報源なし。\n何もなし。\n"}
    node = {"kind": "report", "theme": "t", "plan": "p", "of": "r", "draft": "d", "into": "text", "citations": "c",
            "headings": "headings", "missing": "missing", "on": {"written": 1, "composed": 1, "nothing": 1}}
    state = {"t": {"type": "string"}, "p": {"type": "object"}, "r": OBJECTS, "d": {"type": "string"},
             "text": {"type": "string"}, "c": OBJECTS, **OUTCOME}
    one("reporter", node, state, prompts)
    given = {"t": "Frogs of the old pond", "p": {"investigation_points": ["Where frogs live", "Prices"]},
             "r": [{"url": "https://a.example/frogs", "title": "Frogs", "summary": "Frogs live in old ponds. They jump into water."},
                   {"url": "https://b.example/pond", "summary": "The old pond has 12 frogs.", "source": "tavily"},
                   {"url": "JavaScript:alert(1)", "summary": "Frogs of the old pond sing in the script at night."}]}
    result = succeeded(api.start_run("reporter", given))
    equal((result["outcome"], result["text"].split("\n\n## ")[0], sorted(c["reference_number"] for c in result["c"])[0]),
          ("composed", "# Frogs of the old pond", 1), "without a draft")
    expect("### Prices\n\nNo source here.\n\n## References\n\n[^1]: " in result["text"], f"honest: {result['text']}")
    expect("https://b.example/pond" in result["text"] and "Frogs — https://a.example/frogs" in result["text"], result["text"])
    expect("script" not in result["text"].lower(), "an address that runs as a script is no source")
    draft = "Sure:\n```markdown\n# T\n\n## Key Findings\n\n- Frogs live in old ponds [^4].\n- Frogs cost 12 yen.\n```"
    run = api.start_run("reporter", {**given, "d": draft})
    result = succeeded(run)
    equal((result["outcome"], [d.reason for d in run.degradations]),
          ("written", ["of 2 sentences of the draft 1 have no source and were left out",
                       'the sentence was left out of the draft; the nearest source, https://b.example/pond, says: "The old pond has 12 frogs."',
                       "sentences of the sources complete what the draft lacks: Summary, Findings, Analysis"]), "with a draft")
    expect("## Findings\n\n- Frogs live in old ponds [^" in result["text"] and "yen" not in result["text"], result["text"])
    for citation in result["c"]:
        expect(citation["quote"] in citation["sentence"].replace(" [^1]", "").replace(" [^2]", ""), f"the quote of {citation}")
    result = succeeded(api.start_run("reporter", {**given, "r": [], "t": "古い池の蛙"}))
    equal((result["outcome"], result["c"], result["text"].startswith("# 古い池の蛙\n\n## 要旨\n\n何もなし。")),
          ("nothing", [], True), "no source at all")


@check("chat hands on tools' turns, writes its answer into the conversation, and shows it while it is written")
def _():
    event = message("ChatStreamEvent")

    watched = threading.Event()

    def stream(request, context):
        watched.wait(10)
        for piece in ("An old ", "pond"):
            yield event(text=piece)
        yield event(finish={"finish_reason": 1, "usage": {"model_calls": 1}})
    services.on("LlmGateway/ChatStream", stream)
    one("talker", {"kind": "chat", "history": "m", "into": "a", "turns": "m", "stream": True, "on": {"replied": 1}},
        {"m": {"type": "object[]", "reduce": "append"}, "a": {"type": "string"}, **OUTCOME})
    turns = [{"role": "user", "content": "what?"},
             {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [{"id": "c", "name": "t", "arguments": "{}"}]},
             {"role": "tool", "content": "no", "tool_call_id": "c", "tool_failed": True}]
    run = api.start_run("talker", {"m": turns}, wait=False)
    shown = ""
    for event_seen in api.watch(run):
        watched.set()
        shown += event_seen.token.text
    result = succeeded(api.get(run))
    equal((shown, result["a"], result["m"][-1]), ("An old pond", "An old pond", {"role": "assistant", "content": "An old pond"}), "the answer")
    asked = services.of("LlmGateway/ChatStream")[-1].messages
    equal([(t.role, t.tool_failed, t.reasoning, [c.name for c in t.tool_calls]) for t in asked],
          [(2, False, "", []), (3, False, "hm", ["t"]), (4, True, "", [])], "what was asked")
    services.on("LlmGateway/ChatStream", lambda r, c: iter([event(text="half")]))
    stands(api.start_run("talker", {"m": turns}), "FAILED", "NODE_FAILED")


@check("select_tools offers what it may, and run_tools runs no other")
def _():
    services.on("ToolRunner/ListTools", lambda r, c: message("ListToolsResponse")(tools=[tool("a"), tool("b"), tool("c")]))
    services.on("LlmGateway/Chat", lambda r, c: called(("b", "{}"), ("b", '{"query": "x"}')))
    services.on("ToolRunner/RunTools", found())
    agent_file = {"state": {"m": {"type": "object[]", "reduce": "append"}, "r": {"type": "object[]", "reduce": "append"}},
                  "start": "choose", "nodes": {
                      "choose": {"kind": "select_tools", "prompt": "ask", "turns": "m", "tools": ["b", "c", "gone"],
                                 "on": {"chosen": "run", "none": "end"}},
                      "run": {"kind": "run_tools", "turns": "m", "into": "r", "tools": ["b"], "tool_timeout": "3s",
                              "output_max": 1000, "on": {"ran": "end"}}}}
    os.makedirs(os.path.join(api.agents, "chooser", "prompts", "en"), exist_ok=True)
    with open(os.path.join(api.agents, "chooser", "prompts", "en", "ask.md"), "w") as out:
        out.write("Do it.")
    agent("chooser", agent_file)
    run = api.start_run("chooser")
    result = succeeded(run)
    equal([t.name for t in services.of("LlmGateway/Chat")[-1].tools], ["b", "c"], "the tools on offer")
    asked = services.of("ToolRunner/RunTools")[-1]
    equal((list(asked.allowed_tools), asked.calls[0].timeout_ms, asked.calls[0].output_max_bytes, len(asked.calls)),
          (["b"], 3000, 500, 2), "what was run")
    equal([t["role"] for t in result["m"]], ["user", "assistant", "tool", "tool"], "the conversation")
    equal(run.usage.tool_calls, 2, "what it cost")
    before = len(services.of("ToolRunner/ListTools"))
    succeeded(api.start_run("chooser"))
    equal(len(services.of("ToolRunner/ListTools")), before, "how often tools were listed")


@check("each gives its branches fields beside the item")
def _():
    agent("beside", {"state": {"l": TEXTS, "q": {"type": "string"}, "o": OBJECTS}, "start": "all", "nodes": {
        "all": {"kind": "each", "of": "l", "as": "item", "graph": "g", "into": "o", "in": {"question": "q"}, "on": {"done": "end"}}},
        "graphs": {"g": {"state": {"item": {"type": "string"}, "question": {"type": "string"}}, "input": ["item", "question"],
                         "start": "n", "nodes": {"n": {"kind": "noop"}}}}})
    equal(succeeded(api.start_run("beside", {"l": ["a", "b"], "q": "?"}))["o"],
          [{"item": "a", "question": "?"}, {"item": "b", "question": "?"}], "the branches")
    equal(succeeded(api.start_run("beside", {"l": ["a"]}))["o"], [{"item": "a"}], "a branch without a question")


@check("a wrong document says what is wrong with it")
def _():
    def problem(name, node, state):
        api.write_agent(name, json.dumps({"agent": name, "state": state, "start": "n", "nodes": {"n": node}}))
        import signal
        api.signal(signal.SIGHUP)
        texts = []

        def told():
            texts[:] = [p.message for p in api.ask("ListAgents").problems if p.agent == name]
            return texts
        wait_until(told, f"'{name}' has no problem", 5)
        return " ".join(texts)
    state = {"q": {"type": "string"}, "p": TEXTS, "o": {"type": "object"}, **OUTCOME}
    ends = {"planned": "end", "empty": "end"}
    for count, (wanted, node) in enumerate((
            ("must be one of subtasks, queries", {"kind": "plan", "style": "haiku", "about": "q", "into": "p", "on": ends}),
            ("it must be a list of strings", {"kind": "plan", "style": "queries", "about": "q", "into": "q", "on": ends}),
            ("not among the node's \"inputs\"", {"kind": "plan", "style": "queries", "about": "q", "into": "p", "inputs": ["o"], "on": ends}),
            ("no edge for the outcome 'empty'", {"kind": "plan", "style": "queries", "about": "q", "into": "p", "on": {"planned": "end"}}),
            ("there is no prompt", {"kind": "say", "prompt": "none", "into": "q", "on": {"said": "end"}}),
            ("nothing would be asked", {"kind": "chat", "into": "q", "on": {"replied": "end"}}),
            ("at most 524288", {"kind": "run_tools", "turns": "t", "output_max": 1 << 30, "on": {"ran": "end"}}),
            ("must be a list of 1 to 128 names", {"kind": "run_tools", "turns": "t", "tools": [1], "on": {"ran": "end"}}))):
        text = problem(f"wrong{count}", node, {**state, "t": OBJECTS})
        expect(wanted in text, f"{wanted!r} is not in {text!r}")


@check("a service that nobody has named, one that is gone, and an answer without a judgement fail the node and say why")
def _():
    services.on("Reviewer/Reflect", lambda r, c: message("ReflectResponse")())
    one("reflector", {"kind": "reflect", "question": "q", "subtask": "q", "answer": "q", "into": "r", "on": {"completed": 1, "again": 1}},
        {"q": {"type": "string"}, "r": {"type": "object[]", "reduce": "append"}, **OUTCOME})
    run = stands(api.start_run("reflector", {"q": "x"}), "FAILED", "NODE_FAILED")
    expect("no judgement" in run.failures[0].message, run.failures[0].message)
    services.on("Reviewer/Reflect", lambda r, c: c.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too much at once"))
    equal(api.start_run("reflector", {"q": "x"}).failures[0].status_code, 8, "the code")
    equal(api.start_run("reflector", {"q": "x" * 40000, "r": [{"advice": 7}]}).failures[0].status_code, 3, "a state that is wrong")


finish()
