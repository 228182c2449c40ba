#!/usr/bin/env python3
"""Deep research on the web and in an index outside, against fakes of search engines that speak the real formats and misbehave:
reports from what is found, faults told, a stand-in that steps in. `outside.py one|five`. Needs RENGA_BIN and RENGA_PROTO."""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "helpdesk"))
sys.path.insert(0, os.path.join(HERE, "..", "search"))
from suite import SLOW, Suite, expect, folder, index  # noqa: E402
from checks import check, finish  # noqa: E402
from contract import message, word  # noqa: E402
from search_upstreams import Upstreams  # noqa: E402
from model import Model, GATEWAY, call, plan, says  # noqa: E402

HOW = sys.argv[1]
INTERNAL, WEB = 1, 2
BACKUP, TIDE, CAT = "weekly kept 35 days", "high water harbour tide", "cat sleeps mat"
TOLD = {BACKUP: ("https://docs.example.org/backups", "Backups of the database are kept for 35 days. A weekly copy is kept for one year."),
        TIDE: ("https://port.example.jp/tide", "High water at the harbour is at 06:12 and 18:40."),
        CAT: ("https://animals.example.net/cat", "The cat sleeps on the mat for sixteen hours a day.")}
upstreams = Upstreams()
QUICK = {"timeout": f"{500 * SLOW}ms", "attempts": 1}
SOURCES = {
    "tavily": {"kind": "tavily", "url": upstreams["tavily"]["url"], "key": upstreams["tavily"]["key"], **QUICK},
    "brave": {"kind": "brave", "url": upstreams["brave"]["url"], "key": upstreams["brave"]["key"], "stand_in": True, **QUICK},
    "tickets": {"kind": "opensearch", "url": upstreams["opensearch"]["url"], "index": "kb", "user": "reader", "key": upstreams["opensearch"]["password"],
                "title_field": "title", "url_field": "url", "content_field": "body", "date_field": "updated", **QUICK},
}
document = os.path.join(folder, "search.json")
with open(document, "w") as file:
    json.dump({"sources": SOURCES}, file)


def start(*more):
    suite = Suite(llm_gateway=GATEWAY, tool_runner=list(more))
    return suite.one() if HOW == "one" else suite.five()


index()
suite = start(f"--tool_runner.search={document}")


def stream(question, on=None, **fields):
    request = message("DeepResearchRequest")(question=question, **fields)
    return list(call((on or suite).channel, "DeepResearch", "ResearchStream", "DeepResearchEvent", True)(request, timeout=60 * SLOW, wait_for_ready=True))


def searched(seen):
    return {e.searched.query: e.searched for e in seen if e.WhichOneof("event") == "searched"}


def is_cited(result, *queries):
    expect({c.uri for c in result.citations} == {TOLD[query][0] for query in queries}, f"{[c.uri for c in result.citations]}")
    for citation in result.citations:
        expect(any(citation.quote in TOLD[query][1] or TOLD[query][1] in citation.quote for query in queries), f"{citation.quote!r}")
    for query in queries:
        expect(says(result.report_md, TOLD[query][1]), f"{TOLD[query][1]} is missing: {result.report_md}")
    expect("cheese" not in result.report_md and "invented" not in result.report_md, result.report_md)


@check("the web is searched: notes name pages, and each sentence of the report has its page and the words of it")
def _():
    result = stream(plan("web", [BACKUP, TIDE], [CAT]), sources=[WEB])[-1].result
    is_cited(result, BACKUP, TIDE, CAT)
    expect({s.source for n in result.notes for s in n.sources} == {"tavily"}, f"{result.notes}")
    expect(not upstreams.seen("opensearch", BACKUP), "an internal source is asked")
    expect(result.outcome.usage.tool_calls == 3, f"{result.outcome.usage}")


@check("an index of our own is searched beside the knowledge base, and no page of the web")
def _():
    upstreams.forget()
    result = stream(plan("internal", [CAT]), sources=[INTERNAL])[-1].result
    expect(TOLD[CAT][0] in {c.uri for c in result.citations}, f"{result.citations}")
    expect(upstreams.seen("opensearch", CAT) and not upstreams.seen("tavily", CAT), "another source is asked")


@check("one query finds nothing and one takes too long at every source: the report is written from the third, and both are told")
def _():
    upstreams.script({"query": TIDE, "fault": "slow"}, {"query": BACKUP, "fault": "empty"})
    began = time.monotonic()
    seen = stream(plan("slow", [TIDE, BACKUP, CAT]), sources=[WEB])
    took = time.monotonic() - began
    result, told = seen[-1].result, searched(seen)
    is_cited(result, CAT)
    expect(list(result.empty_queries) == [BACKUP] and told[BACKUP].status_code == 0, f"{result.empty_queries} {told}")
    expect(told[TIDE].status_code == 4 and told[TIDE].message, f"{told[TIDE]}")
    expect(any(TIDE in d.part and d.status_code == 4 for d in result.outcome.degradations), f"{result.outcome.degradations}")
    upstreams.script()
    return f"{took:.1f} s"


@check("a source that fails is stood in for, which is a degradation and no error")
def _():
    for fault in ("403", "503", "not_json"):
        upstreams.script({"engine": "tavily", "query": "", "fault": fault})
        result = stream(plan(f"stand in {fault}", [CAT]), sources=[WEB])[-1].result
        is_cited(result, CAT)
        expect({s.source for n in result.notes for s in n.sources} == {"brave"}, f"{fault}: {result.notes}")
        expect(any(word("DegradationKind", d.kind) == "DEGRADATION_KIND_FALLBACK" for d in result.outcome.degradations), f"{fault}: {result.outcome.degradations}")
    upstreams.script()


suite.stop()
CODES = {"401": 9, "403": 9, "404": 5, "408": 14, "429": 8, "429_after": 8, "500": 14, "503": 14, "not_json": 15, "truncated": 15, "huge": 15, "slow": 4}


@check("where every source fails the report says what was tried and invents nothing, and each search has its code")
def _():
    got = {}
    for fault in CODES if HOW == "one" else ("403", "429", "slow"):
        fresh = start(f"--tool_runner.search={document}")  # no breaker is open
        upstreams.script({"query": "", "fault": fault})
        seen = stream(plan(f"all {fault}", [CAT]), on=fresh, sources=[WEB])
        result = seen[-1].result
        expect(not result.citations and not result.notes and CAT in result.report_md, f"{fault}: {result.report_md}")
        got[fault] = searched(seen)[CAT].status_code
        expect(searched(seen)[CAT].message and any(CAT in d.part for d in result.outcome.degradations), f"{fault}: {seen}")
        upstreams.script()
        fresh.stop()
    expect(all(code for code in got.values()), f"{got}")
    return ", ".join(f"{fault} {code}" for fault, code in got.items() if CODES[fault] != code) or "all as the table has them"


@check("without a source of the web the report says so, and names the option")
def _():
    bare = start()
    seen = stream(plan("bare", [CAT]), on=bare, sources=[WEB])
    told = searched(seen)[CAT]
    expect(told.status_code == 9 and "tool_runner.search" in told.message and not seen[-1].result.citations, f"{told}")
    expect(any("tool_runner.search" in d.reason for d in seen[-1].result.outcome.degradations), f"{seen[-1].result.outcome}")
    both = stream(plan("both", ["session timeout after minutes"]), on=bare, sources=[INTERNAL, WEB])[-1].result
    expect("guide/sessions.html" in {c.uri for c in both.citations} and both.outcome.degradations, f"{both}")
    bare.stop()


upstreams.close()
finish()
