#!/usr/bin/env python3
"""Tool servers on good days and bad ones. RENGA_BIN, RENGA_PROTO; one line a check, exit 1 when one fails."""
import json
import os
import time

from runner import Runner, SLOW, check, checks, expect, odd, wait_until

OK, UNKNOWN, INVALID, LATE, UNAVAILABLE = 0, 2, 3, 4, 14


def names(answer, server):
    return {tool.definition.name: tool for tool in answer.tools if tool.server == server}


def lives(runner, server="odd"):
    """It answers, after it was started anew at most."""
    def works():
        return runner.one(f"{server}__parts", {}).status_code == OK
    wait_until(works, f"{server} works again", 20 * SLOW, 0.05)


with Runner({"odd": odd(probe_timeout=f"{300 * SLOW}ms"), "paged": odd("--pages", "4"), "modern": odd("--modern"),
             "new": odd("--modern", revision="2026-07-28"), "few": odd(tools=["error", "count"], side_effects=False),
             "gone": {"command": "no-such-program"}, "crashing": odd("--crash"),
             "mute": odd("--mute", start_timeout="700ms")}) as runner:
    answer = runner.list()

    @check("servers that are down keep nobody's tools from being listed, and are told")
    def _():
        parts = {degradation.part: degradation for degradation in answer.degradations}
        expect(set(parts) == {"gone", "crashing", "mute"}, f"degraded were {sorted(parts)}")
        expect("no program 'no-such-program'" in parts["gone"].reason, parts["gone"].reason)
        expect("ended with 7" in parts["crashing"].reason, parts["crashing"].reason)
        expect(parts["mute"].status_code == LATE or "700 ms" in parts["mute"].reason, parts["mute"].reason)
        expect(len(names(answer, "odd")) == 24, f"{len(names(answer, 'odd'))} tools")

    @check("pages are one list, and both revisions of the protocol have the same tools")
    def _():
        plain = {name.split("__")[1] for name in names(answer, "odd")}
        for server in ("paged", "modern", "new"):
            others = {name.split("__")[1] for name in names(answer, server)}
            expect(len(others) == len(plain), f"{server} has {len(others)} of {len(plain)}")

    @check("names are made legal, unique and short enough")
    def _():
        for name in names(answer, "odd"):
            expect(len(name) <= 64 and all(c.isalnum() and c.isascii() or c in "_-" for c in name), name)
        long = [name for name in names(answer, "odd") if "xxxx" in name]
        expect(len(set(long)) == 2, f"{long}")

    @check("only allowed tools are there, and the document overrules what a server says of side effects")
    def _():
        expect(set(names(answer, "few")) == {"few__error", "few__count"}, f"{list(names(answer, 'few'))}")
        expect(not names(answer, "few")["few__count"].side_effects, "few__count has side effects")
        expect(names(answer, "odd")["odd__count"].side_effects and not names(answer, "odd")["odd__slow"].side_effects,
               "hints are not kept")

    @check("texts are joined, structured content comes as JSON, and what cannot be read is told as left out")
    def _():
        result = runner.one("odd__parts", {})
        expect(result.text == "first\n[image of type image/png left out]\n[link to file:///a: a]\ninside", result.text)
        expect(json.loads(result.structured_json) == {"answer": 42, "list": [1.5, None, True]}, result.structured_json)

    @check("a tool's own failure is a result with its text")
    def _():
        result = runner.one("odd__error", {})
        expect((result.status_code, result.text) == (UNKNOWN, "it did not work"), str(result))

    @check("that a server found nothing is read from its words, once for all")
    def _():
        result = runner.one("odd__vain", {})
        expect(result.found_nothing and result.text == 'No results for "zebra".', str(result))
        expect(not runner.one("odd__parts", {}).found_nothing, "a result with content has found nothing")

    @check("a tool that wants more input ends instead of waiting")
    def _():
        result = runner.one("new__wants_input", {})
        expect(result.status_code == UNKNOWN and "input_required" in result.message, str(result))

    @check("arguments are refused before the server sees them; a schema beyond ours is left to the server")
    def _():
        wrong, beyond = runner.run(("odd__slow", {"ms": "soon"}), ("odd__pattern", {"a": "A"}))
        expect(wrong.status_code == INVALID and "ms: must be an integer" in wrong.message, wrong.message)
        expect(beyond.status_code == UNKNOWN, str(beyond))

    @check("arguments may have line breaks between them")
    def _():
        result = runner.one("odd__slow", '{\n  "ms":\r\n 1\n}')
        expect(result.text == "done", str(result))

    @check("the server's own requests are answered: ping, and that there are neither roots nor sampling")
    def _():
        result = runner.one("odd__curious", {})
        expect(json.loads(result.text) == [{}, -32601, -32601], result.text)

    @check("a changed list of tools is read again")
    def _():
        runner.one("odd__grow", {})
        wait_until(lambda: "odd__grown" in names(runner.list(), "odd"), "the new tool is listed", 5 * SLOW)

    @check("calls of one server run at the same time")
    def _():
        before = time.monotonic()
        results = runner.run(*[("odd__slow", {"ms": 1000})] * 8)
        took = time.monotonic() - before
        expect([result.status_code for result in results] == [OK] * 8, str(results))
        expect(took < 8 * SLOW, f"it took {took:.1f} s")

    @check("what takes too long is stopped: the server is told, and lives")
    def _():
        note = f"{runner.folder}/cancelled"
        late, fine = runner.run(("odd__slow", {"ms": 20000, "file": note}, {"timeout_ms": 200}), ("odd__parts", {}))
        expect((late.status_code, fine.status_code) == (LATE, OK), f"{late} {fine}")
        expect("within 200 ms" in late.message, late.message)
        wait_until(lambda: os.path.exists(note), "the server was told", 5 * SLOW)
        lives(runner)

    @check("when the caller leaves, the server is told")
    def _():
        note = f"{runner.folder}/left"
        call = runner.begin(("odd__slow", {"ms": 20000, "file": note}))
        wait_until(lambda: runner.metric("renga_tool_in_flight") == 1, "the tool runs", 5 * SLOW)
        call.cancel()
        wait_until(lambda: os.path.exists(note), "the server was told", 5 * SLOW)
        wait_until(lambda: runner.metric("renga_tool_in_flight") == 0, "its place is free", 5 * SLOW)

    @check("garbage between messages and noise on standard error harm nothing")
    def _():
        result = runner.one("odd__garbage", {})
        expect(result.text == "after the garbage", str(result))

    @check("5 MB are cut at a character to what the caller takes, and their size is told")
    def _():
        result = runner.one("odd__big", {"size": 5_000_000}, {"output_max_bytes": 1000})
        expect(result.status_code == OK and result.truncated, str(result)[:200])
        expect(len(result.text.encode()) == 999 and result.full_bytes == 4_999_998,
               f"{len(result.text.encode())} of {result.full_bytes}")

    @check("an answer of 12 MB is read by a worker thread, also where its server ends behind it, and a short call beside it is answered")
    def _():
        before = runner.metric("renga_jobs_total")
        for name in ("paged__farewell", "odd__big"):
            large, short = runner.run((name, {"size": 12_000_000}, {"output_max_bytes": 1000}), ("new__parts", {}))
            expect((large.status_code, large.full_bytes, short.status_code) == (OK, 12_000_000, OK), f"{name}: {large} {short}"[:300])
        jobs = runner.metric("renga_jobs_total") - before
        expect(jobs >= 2, f"{jobs} jobs")
        lives(runner, "paged")

    @check("a server that dies in the middle fails its calls, not ours, and is started anew")
    def _():
        for attempt in range(5):  # on a busy machine the second call may come after the pause
            dead, fine = runner.run(("odd__die", {}), ("paged__slow", {"ms": 50}))
            expect((dead.status_code, fine.status_code) == (UNAVAILABLE, OK), f"{dead} {fine}")
            expect("ended with 3" in dead.message, dead.message)
            path = f"{runner.folder}/rest{attempt}"
            resting = runner.one("odd__count", {"file": path}, key=f"rest{attempt}")
            if resting.status_code != OK:
                break
        expect(resting.status_code == UNAVAILABLE and "tried again in" in resting.message, str(resting))
        lives(runner)
        again = runner.one("odd__count", {"file": path}, key=f"rest{attempt}")
        expect(again.text == "1 times" and not again.recorded, f"what never reached it may be repeated: {again}")
        expect(runner.metric("renga_mcp_starts_total", server="odd") >= 2, "it was not started again")

    @check("a line without an end kills its server, and no more")
    def _():
        result = runner.one("paged__endless", {})
        expect(result.status_code == UNAVAILABLE and "longer than its output_max" in result.message, str(result))
        lives(runner, "paged")
        result = runner.one("paged__big", {"size": 20_000_000})
        expect(result.status_code == UNAVAILABLE and "longer than its output_max" in result.message, str(result)[:300])

    @check("a server that hangs is found out, killed and started anew")
    def _():
        result = runner.one("odd__hang", {}, {"timeout_ms": 100})
        expect(result.status_code == LATE, str(result))
        lives(runner)
        expect(runner.metric("renga_mcp_failures_total", server="odd") >= 2, "it was not found to hang")

    @check("a server has nothing of ours but what it is given")
    def _():
        around = json.loads(runner.one("odd__around", {}).text)
        expect(set(around["env"]) <= {"PATH", "HOME", "LANG", "LC_CTYPE"}, f"{sorted(around['env'])}")
        expect(around["files"] == [], f"it has {around['files']} open")
        expect(around["group"] and around["core"] == 0 and around["open"] == 1024, str(around))
        expect((around["no_new_privs"], around["seccomp"]) == ("1", "2"), str(around))

    @check("a server cannot trace its parent")
    def _():
        result = runner.one("odd__trace", {"pid": runner.process.pid})
        expect(result.text == "-1 1", result.text)

    @check("a call of a server that cannot be had says why, and may be tried again under the same key")
    def _():
        for _ in range(2):
            result = runner.one("gone__anything", {}, key="the same")
            expect(result.status_code == UNAVAILABLE and "gone" in result.message and not result.recorded, str(result))

with Runner({"odd": odd()}) as runner:
    @check("when we die a hanging server dies with us")
    def _():
        server = json.loads(runner.one("odd__around", {}).text)["pid"]
        call = runner.begin(("odd__hang", {}))
        wait_until(lambda: runner.metric("renga_tool_in_flight") == 1, "it hangs", 5 * SLOW)
        runner.kill()
        call.cancel()
        wait_until(lambda: not os.path.exists(f"/proc/{server}"), "the server is gone", 5 * SLOW)
        runner.start()

with Runner({"fenced": odd(writable=["/no/such/folder"])}) as runner:
    @check("a folder that cannot be had for writing keeps its server from starting")
    def _():
        reasons = [degradation.reason for degradation in runner.list().degradations]
        expect(len(reasons) == 1 and "'writable': '/no/such/folder'" in reasons[0], str(reasons))

with Runner() as runner:
    folder = f"{runner.folder}/may"
    os.mkdir(folder)

    @check("a server without servers is one with tools of its own alone")
    def _():
        expect([tool.definition.name for tool in runner.list().tools] == ["calculate", "clock", "lookup_qa", "search_documents"], str(runner.list()))

    with Runner({"kept": odd(writable=[folder]), "free": odd(env={"SECRET": "file:" + __file__}, log_stderr=True)}) as other:
        @check("Landlock keeps a server's writing where it is allowed")
        def _():
            inside, outside = other.run(("kept__write", {"path": f"{folder}/a"}),
                                        ("kept__write", {"path": f"{runner.folder}/b"}))
            expect(inside.text == "written", str(inside))
            expect(outside.text == "Permission denied" and not os.path.exists(f"{runner.folder}/b"), str(outside))

        @check("a secret of the environment comes from its file, and stands in no log")
        def _():
            around = json.loads(other.one("free__around", {}).text)
            expect("Landlock keeps" in around["env"]["SECRET"], around["env"]["SECRET"][:80])
            expect("Landlock keeps" not in "".join(other.log), "it is in the log")

        @check("what a server writes to standard error is logged only where the document says so")
        def _():
            other.run(("free__garbage", {}), ("kept__garbage", {}))
            wait_until(lambda: any("'free': noise" in line for line in other.log), "it is logged", 5 * SLOW)
            expect(not any("'kept': noise" in line for line in other.log), "that of another is logged")

checks.finish()
