#!/usr/bin/env python3
"""Autonomous research before a fake of Tavily that refuses, is used up, slow or repeats itself: each search tells its status, what
is used up is asked once, and a summary has at most 500 characters. No model. Needs RENGA_BIN and RENGA_PROTO."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "helpdesk"), os.path.join(HERE, "..", "search")]
from suite import SLOW, Suite, expect, folder  # noqa: E402
from checks import check, finish  # noqa: E402
from contract import message, word  # noqa: E402
from search_upstreams import Upstreams  # noqa: E402

THEME, THEME_JA = "The harbour of Sund", "潮見港の歴史"
LONG = "".join(f"潮見港の第{n}埠頭は昭和{n}年に完成し、長さは{n * 13}メートルである。" for n in range(1, 40))  # some 1,000 characters
FACTS = ("The harbour of Sund was opened in 1871.", "The harbour of Sund has 26 cranes and 9 piers.", "The harbour of Sund had 1.9 million containers in 2030.",
         "The problems of the harbour of Sund are mud and wind.", "The outlook of the harbour of Sund is a tenth pier in 2034.",
         "An example of the current state of the harbour of Sund is pier 4.")
upstreams = Upstreams()
upstreams.documents([{"id": f"e{n}", "title": f"Harbour {n}", "url": f"https://sund.example/{n}", "lang": "en", "updated": "2031-01-01T00:00:00Z", "content": fact}
                     for n, fact in enumerate(FACTS)]
                    + [{"id": f"j{n}", "title": f"港 {n}", "url": f"https://shiomi.example/{n}", "lang": "ja", "updated": "2031-01-01T00:00:00Z",
                        "content": LONG[n * 7:]} for n in range(6)])
STARTED = iter(range(1000))


def study(theme=THEME, fault=None, times=-1, key=upstreams["tavily"]["key"], **more):
    """A run in a fresh suite, where no source rests."""
    path = os.path.join(folder, f"tavily-{next(STARTED)}.json")
    entry = {"kind": "tavily", "url": upstreams["tavily"]["url"], "key": key, "timeout": f"{SLOW}s", **more}
    with open(path, "w") as file:
        json.dump({"sources": {"tavily": {name: value for name, value in entry.items() if value is not None}}}, file)
    upstreams.forget()
    upstreams.script(*([{"engine": "tavily", "query": "", "fault": fault, "times": times}] if fault else []))
    suite = Suite(tool_runner=[f"--tool_runner.search={path}"]).one()
    make = suite.channel.unary_unary("/renga.v1.Orchestrator/StartRun", request_serializer=lambda m: m.SerializeToString(),
                                     response_deserializer=message("StartRunResponse").FromString)
    run = make(message("StartRunRequest")(agent="autonomous_research", wait=True, input_json=json.dumps({"theme": theme, "sources": ["web"], "max_iterations": 4})),
               timeout=60 * SLOW, wait_for_ready=True).run
    suite.stop()
    expect(word("RunState", run.state) == "RUN_STATE_SUCCEEDED", f"{fault}: {run}"[:2000])
    return run, json.loads(run.output_json)


def sent(output):
    return {one["query"]: len(upstreams.seen("tavily", one["query"])) for one in output["searches"]}


def is_empty(run, output, code, *told):
    """Nothing was found: every search has the code, and the report has no source and no fact."""
    searches = output["searches"]
    expect(searches and {one.get("status_code", 0) for one in searches} == {code}, f"{searches}"[:1000])
    expect(not output.get("research_data") and not output.get("citations") and output["stop_reason"] == "no_sources", f"{output}"[:2000])
    expect("[^" not in (output.get("current_draft") or ""), output.get("current_draft"))
    for part in told:
        expect(all(part in one["message"] for one in searches), f"{part}: {searches[0]}")
    expect(any(d.status_code == code for d in run.degradations), f"{run.degradations}"[:1000])
    expect(upstreams["tavily"]["key"] not in f"{run}", "the key is told")


@check("without a key each search says FAILED_PRECONDITION and names the entry and its option, and no request is sent")
def _():
    run, output = study(key=None)
    is_empty(run, output, 9, "'tavily'", "'key'", "tool_runner.search")
    expect(not any(sent(output).values()), f"{sent(output)}")


@check("a key that is refused (401) is FAILED_PRECONDITION and sent once a query")
def _():
    run, output = study(fault="401")
    is_empty(run, output, 9, "tavily")
    expect(set(sent(output).values()) <= {0, 1} and any(sent(output).values()), f"{sent(output)}")


@check("a 429 with Retry-After is waited for and asked again, and the search succeeds")
def _():
    _, output = study(fault="429-after", times=1)
    expect(all(not one.get("status_code") for one in output["searches"]) and output["research_data"], f"{output['searches']}")
    expect(sorted(sent(output).values())[-1] == 2, f"{sent(output)}")


@check("a plan that is used up (432, 433) is RESOURCE_EXHAUSTED and no query is sent twice")
def _():
    for fault in ("432", "433"):
        run, output = study(fault=fault)
        is_empty(run, output, 8, "tavily")
        requests = sent(output)
        expect(set(requests.values()) <= {0, 1} and any(requests.values()), f"{fault}: {requests}")
        for one in output["searches"]:  # the source rests by the time that a later query begins
            part = "quota" if requests[one["query"]] else "was not asked"
            expect(part in one["message"], f"{fault}: {one}")


@check("a Tavily that is broken (500) or slow is UNAVAILABLE or DEADLINE_EXCEEDED, and the run ends without sources")
def _():
    run, output = study(fault="500", attempts=1)
    is_empty(run, output, 14)
    run, output = study(fault="slow", attempts=1)
    searches = output["searches"]
    expect(searches and {one.get("status_code", 0) for one in searches} <= {4, 14} and any(one.get("status_code") == 4 for one in searches), f"{searches}"[:1000])
    expect(output["stop_reason"] == "no_sources", output["stop_reason"])


@check("one query that fails is told and passed over, and the report is written from the others")
def _():
    run, output = study(fault="500", times=1, attempts=1)
    codes = [one.get("status_code", 0) for one in output["searches"]]
    expect(len(output["research_data"]) >= 5 and "[^1]" in output["current_draft"], f"{output}"[:2000])
    return f"{codes}"


@check("an answer that has a page at four addresses gives it to the report once")
def _():
    _, output = study(fault="repeated")
    pages = [one["url"].split("?")[0].split("#")[0].rstrip("/").rsplit("/", 1)[-1] for one in output["research_data"]]
    expect(pages and len(pages) == len(set(pages)), f"{[one['url'] for one in output['research_data']]}")


@check("a Japanese summary has 500 characters, not bytes, and ends with a whole one")
def _():
    _, output = study(theme=THEME_JA)
    summaries = [one["summary"] for one in output["research_data"]]
    expect(summaries and all(0 < len(one) <= 500 for one in summaries) and max(map(len, summaries)) > 400, f"{[len(one) for one in summaries]}")
    expect(all(one.rstrip("…") in LONG for one in summaries), f"{summaries}"[:1000])
    return f"{sorted(map(len, summaries))}"


upstreams.close()
finish()
