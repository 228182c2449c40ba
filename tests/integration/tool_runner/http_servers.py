#!/usr/bin/env python3
"""Tool servers over HTTP on good days and bad ones. RENGA_BIN, RENGA_PROTO; one line a check, exit 1 when one fails."""
import json

from odd_http import OddHttp
from runner import Runner, SLOW, check, checks, expect, wait_until
from ports import free_port
from runner import odd as odd_child

OK, UNKNOWN, LATE, UNAVAILABLE = 0, 2, 4, 14
odd = OddHttp()
KEY = "Bearer sesame"
servers = {how: {"url": odd.url(how)} for how in ("json", "events", "sessions", "broken", "cut", "silent", "redirect", "resumes", "stuck",
                                                            "forgets", "slow")}
servers["keyed"] = {"url": odd.url("keyed"), "headers": {"Authorization": KEY}}
servers["locked"] = {"url": odd.url("keyed"), "headers": {"Authorization": "Bearer wrong"}}
servers["nobody"] = {"url": f"http://127.0.0.1:{free_port()}/"}

servers["child"] = odd_child()
with Runner(servers) as runner:
    answer = runner.list()

    @check("whoever lets nobody in, is not there or sends us elsewhere is told, and the others are listed")
    def _():
        parts = {degradation.part: degradation.reason for degradation in answer.degradations}
        expect(set(parts) == {"locked", "nobody", "redirect"}, str(parts))
        expect("does not let us in (HTTP 401)" in parts["locked"] and "HTTP 307" in parts["redirect"], str(parts))
        theirs = [tool for tool in answer.tools if tool.server]
        expect(len(theirs) == 11 + 24, f"{len(theirs)} tools")

    @check("answers as JSON and as events, in pieces of seven bytes, are read")
    def _():
        for result in runner.run(("json__say", {}), ("events__say", {}), ("keyed__say", {})):
            expect(result.text == "said 言った", str(result))

    @check("every request says what it takes, and after the greeting which revision it speaks")
    def _():
        for how, method, headers, _ in [seen for seen in odd.seen if seen[0] == "json"]:
            expect(headers["Accept"] == "application/json, text/event-stream", str(headers))
            expect(method == "initialize" or headers.get("MCP-Protocol-Version") == "2025-06-18", f"{method}: {headers}")

    @check("a session that is gone is begun anew, and the call is answered as if nothing was")
    def _():
        expect(runner.one("sessions__say", {}).status_code == OK, "not even the first")
        odd.sessions.clear()
        results = runner.run(*[("sessions__say", {})] * 5)
        expect([result.status_code for result in results] == [OK] * 5, str(results))
        expect(odd.sessions_made == 2, f"{odd.sessions_made} sessions were begun")

    @check("an error of HTTP, a stream that is cut and a silence end in their own call alone")
    def _():
        broken, cut, silent, fine = runner.run(("broken__say", {}), ("cut__say", {}),
                                               ("silent__say", {}, {"timeout_ms": 300}), ("json__say", {}))
        expect([result.status_code for result in (broken, cut, silent, fine)] == [UNAVAILABLE, UNAVAILABLE, LATE, OK],
               f"{broken} {cut} {silent} {fine}")
        expect("HTTP 500" in broken.message and "without a result" in cut.message and "(HTTP 405)" in cut.message, f"{broken} {cut}")

    @check("a stream that was cut is taken up where it ended, as long as it goes on and the server remembers")
    def _():
        resumed, stuck, forgotten = runner.run(("resumes__say", {}), ("stuck__say", {}), ("forgets__say", {}))
        expect([result.status_code for result in (resumed, stuck, forgotten)] == [OK, UNAVAILABLE, UNAVAILABLE], f"{resumed} {stuck} {forgotten}")
        asked = {how: [seen[2] for seen in odd.seen if seen[:2] == ("GET", how)] for how in ("resumes", "stuck", "forgets")}
        expect(asked == {"resumes": ["a", "b"], "stuck": ["a"] * 16, "forgets": ["a"]}, f"{asked}")
        headers = [seen[3] for seen in odd.seen if seen[:2] == ("GET", "resumes")][0]
        expect("text/event-stream" in headers["Accept"] and headers["MCP-Protocol-Version"] == "2025-06-18", f"{headers}")

    @check("a call that waits for its stream to go on ends when its time is over")
    def _():
        result = runner.one("slow__say", {}, {"timeout_ms": 200})
        expect(result.status_code == LATE, f"{result}")

    @check("a call that is stopped is told to its server")
    def _():
        wait_until(lambda: any(seen[:2] == ("silent", "notifications/cancelled") for seen in odd.seen), "it is told",
                   5 * SLOW)

    @check("a child has none of our connections, though curl's are not closed by themselves")
    def _():
        before = runner.one("child__around", {})
        runner.one("child__die", {})
        expect(runner.one("json__say", {}).status_code == OK, "no connection is open")
        wait_until(lambda: runner.one("child__parts", {}).status_code == OK, "it is started again", 20 * SLOW, 0.05)
        files = json.loads(runner.one("child__around", {}).text)["files"]
        expect(files == [] == json.loads(before.text)["files"], f"it has {files} open")

    @check("keys of headers stand in no log")
    def _():
        expect("sesame" not in "".join(runner.log), "one does")

@check("at the end a session is given back")
def _():
    wait_until(lambda: ("DELETE", "session-2") in odd.seen, "it is deleted", 5 * SLOW)

checks.finish()
