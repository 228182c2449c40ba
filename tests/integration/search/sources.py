"""Search over sources outside: a real tool-runner and the fakes of upstreams.py."""
import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
import uuid

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tool_runner"))
sys.path.insert(0, HERE)
from runner import SLOW, Broken, Runner, check, checks, expect, wait_until  # noqa: E402
from contract import message  # noqa: E402
from search_upstreams import Upstreams  # noqa: E402

FALLBACK, PARTIAL = 2, 3
upstreams = Upstreams()


def entry(engine, **more):
    known = upstreams[engine]
    return {"kind": engine, "url": known["url"], **({"key": known["key"]} if known.get("key") else {}), "timeout": f"{2 * SLOW}s", **more}


class Searcher(Runner):
    def __init__(self, sources, *flags, folder=None, **more):
        self.made = tempfile.TemporaryDirectory(prefix="renga-search-")
        path = f"{self.made.name}/search.json"
        with open(path, "w") as file:
            json.dump({"sources": sources}, file)
        super().__init__(None, f"--tool_runner.search={path}", *flags, folder=folder or self.made.name, **more)

    def ask(self, query, *sources, timeout=30, metadata=(), origin=None, **fields):
        request = message("SearchRequest")(query=query, sources=sources or ("web",), **fields)
        for name, value in (origin or {}).items():
            setattr(request.origin, name, value)
        return self.method("Search", "SearchRequest", "SearchResponse")(request, timeout=timeout * SLOW, metadata=metadata)

    def fails(self, query, *sources, **more):
        try:
            answer = self.ask(query, *sources, **more)
        except grpc.RpcError as error:
            return error
        raise Broken(f"it was answered: {answer}")


def code_of(error):
    return error.code().name


def word():
    """A word that only this search has, so that its requests can be counted."""
    return "w" + uuid.uuid4().hex[:10]


# ---- what is asked --------------------------------------------------------------------------------------------------

one = Searcher({"tavily": entry("tavily")})


@check("results come with source address title text and a score within one")
def _():
    hits = one.ask("backups").hits
    expect(len(hits) > 0, hits)
    for hit in hits:
        expect(hit.source == "tavily" and hit.uri.startswith("https://") and hit.title and hit.snippet, hit)
        expect(0 < hit.score <= 1, hit.score)
    expect([hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True), hits)


@check("a limit beyond twenty and a source that is not there name their fields")
def _():
    for fields, sources, field in (({"limit": 21}, ("web",), "limit"), ({"limit": -1}, ("web",), "limit"),
                                   ({}, ("tavyly",), "sources[0]"), ({"min_score": 2}, ("web",), "min_score"),
                                   ({}, ("web",) * 9, "sources"), ({"idempotency_key": "k" * 129}, ("web",), "idempotency_key")):
        error = one.fails("backups", *sources, **fields)
        expect(code_of(error) == "INVALID_ARGUMENT" and error.details().startswith(field), error)
    expect(code_of(one.fails("  ")) == "INVALID_ARGUMENT", "blank")
    expect(len(one.ask("backups", limit=1).hits) == 1, "limit 1")


@check("without a source of the web the option is named")
def _():
    with Runner() as runner:
        try:
            runner.search("backups", sources=["web"])
            raise Broken("it was answered")
        except grpc.RpcError as error:
            expect(code_of(error) == "FAILED_PRECONDITION" and "tool_runner.search" in error.details(), error)
        answer = runner.search("backups", sources=["documents", "web"])
        expect([(d.part, d.kind, d.status_code) for d in answer.degradations] == [("web", PARTIAL, 9)], answer)
        expect(not runner.search("backups", sources=["internal"]).degradations, "internal is the knowledge base")


@check("without a key the entry and its option are named")
def _():
    with Searcher({"mine": {"kind": "tavily", "url": upstreams["tavily"]["url"]}}) as runner:
        error = runner.fails("backups")
        expect(code_of(error) == "FAILED_PRECONDITION", error)
        for part in ("'mine'", "'key'", "tool_runner.search", "search.json:1:"):
            expect(part in error.details(), error.details())


# ---- faults ---------------------------------------------------------------------------------------------------------

FAULTS = {"401": "FAILED_PRECONDITION", "403": "FAILED_PRECONDITION", "404": "NOT_FOUND", "408": "UNAVAILABLE",
          "429": "RESOURCE_EXHAUSTED", "429-after": "RESOURCE_EXHAUSTED", "429-date": "RESOURCE_EXHAUSTED", "500": "UNAVAILABLE",
          "432": "RESOURCE_EXHAUSTED", "433": "RESOURCE_EXHAUSTED",
          "502": "UNAVAILABLE", "503": "UNAVAILABLE", "503-after": "UNAVAILABLE", "quota": "RESOURCE_EXHAUSTED",
          "not-json": "DATA_LOSS", "truncated": "DATA_LOSS", "cut": "UNAVAILABLE", "huge": "DATA_LOSS", "endless": "DATA_LOSS",
          "bomb": "DATA_LOSS", "slow": "DEADLINE_EXCEEDED", "late": "DEADLINE_EXCEEDED", "drip": "DEADLINE_EXCEEDED",
          "reset": "UNAVAILABLE", "closes": "UNAVAILABLE", "redirect": "FAILED_PRECONDITION", "deep": "DATA_LOSS", "shapes": "DATA_LOSS"}


@check("each fault has its code within the deadline")
def _():
    """Each in a process of its own standing: a source that failed too often is left alone."""
    for fault, code in FAULTS.items():
        seconds = 7 if code == "DATA_LOSS" else 1  # the source may have MiBs to read, beside other tests
        with Searcher({"tavily": entry("tavily", timeout=f"{seconds * SLOW}s")}) as runner:
            began = time.monotonic()
            error = runner.fails(f"fault-{fault} backups", timeout=8)
            took = time.monotonic() - began
            expect(code_of(error) == code, f"{fault}: {error}")
            expect(took < 9 * SLOW, f"{fault} took {took:.1f} s")
            expect("tavily" in error.details(), error.details())
            expect(not any(secret in error.details() for secret in upstreams.secrets()), fault)


@check("a fault that passes is tried again and a quota is not")
def _():
    with Searcher({"tavily": entry("tavily", attempts=4)}) as runner:
        for fault, requests in (("503x2", 3), ("429x1", 2), ("429-afterx1", 2), ("not-jsonx1", 2), ("resetx1", 2)):
            query = f"fault-{fault} {word()} backups"
            expect(runner.ask(query).hits, query)
            expect(len(upstreams.seen("tavily", query)) == requests, f"{fault}: {len(upstreams.seen('tavily', query))}")
    for fault in ("432", "433", "429-long", "401", "404"):
        with Searcher({"tavily": entry("tavily", attempts=4)}) as runner:
            query = f"fault-{fault} {word()} backups"
            told = "quota" in runner.fails(query).details()
            expect(told == (fault not in ("401", "404")), f"{fault}: a quota is told: {told}")
            expect(len(upstreams.seen("tavily", query)) == 1, fault)


@check("a hint is waited for and one beyond the deadline is handed on")
def _():
    with Searcher({"tavily": entry("tavily")}) as runner:
        began = time.monotonic()
        runner.ask(f"fault-429-afterx1 {word()} backups")
        expect(time.monotonic() - began >= 1, "the hint of a second was not waited for")
        began = time.monotonic()
        error = runner.fails(f"fault-429-date {word()} backups")
        expect(time.monotonic() - began < 5 * SLOW, "it waited")
        expect(code_of(error) == "RESOURCE_EXHAUSTED", error)


@check("a source that fails again and again is left alone")
def _():
    with Searcher({"tavily": entry("tavily", attempts=1)}) as runner:
        queries = [f"fault-500 {word()}" for _ in range(12)]
        for query in queries:
            runner.fails(query)
        sent = sum(len(upstreams.seen("tavily", query)) for query in queries)
        expect(5 <= sent < 12, f"{sent} requests were sent")
        expect(runner.metric("renga_search_circuit", source="tavily") in (1, 2), "the circuit is closed")


@check("a caller in a hurry does not close a source for others")
def _():
    with Searcher({"tavily": entry("tavily", attempts=1, timeout=f"{8 * SLOW}s")}) as runner:
        for _ in range(8):
            runner.fails(f"fault-slow {word()} backups", timeout=0.3)
        expect(runner.metric("renga_search_circuit", source="tavily") == 0, "the circuit is open")
        expect(runner.ask(f"{word()} backups").hits, "another caller gets no answer")


# ---- several sources ------------------------------------------------------------------------------------------------


@check("a stand in answers and is told")
def _():
    with Searcher({"tavily": entry("tavily"), "searx": entry("searxng", stand_in=True)}) as runner:
        answer = runner.ask("fault-quota backups".replace("fault-quota", ""))
        expect({hit.source for hit in answer.hits} == {"tavily"} and not answer.degradations, answer)
        upstreams.script({"engine": "tavily", "query": "", "fault": "quota"})
        try:
            answer = runner.ask("backups")
        finally:
            upstreams.script()
        expect({hit.source for hit in answer.hits} == {"searx"}, answer)
        expect([(d.part, d.kind, d.status_code) for d in answer.degradations] == [("tavily", FALLBACK, 8)], answer.degradations)
        expect(runner.metric("renga_search_stand_ins_total", source="searx") == 1, "not counted")


@check("two sources are fused and each address stands once")
def _():
    with Searcher({"tavily": entry("tavily"), "searx": entry("searxng")}) as runner:
        answer = runner.ask("backups", "tavily", "searx", limit=20)
        uris = [hit.uri for hit in answer.hits]
        expect(len(uris) == len(set(uris)) and uris, uris)
        expect(all(0 < hit.score <= 1 for hit in answer.hits), answer.hits)
        expect(answer.hits[0].score == 1, answer.hits[0])
        upstreams.script({"engine": "searxng", "query": "", "fault": "503"})
        try:
            answer = runner.ask("backups", "tavily", "searx")
        finally:
            upstreams.script()
        expect([(d.part, d.kind) for d in answer.degradations] == [("searx", PARTIAL)] and answer.hits, answer)
        error = runner.fails("fault-403 backups", "searx", "tavily")
        expect(code_of(error) == "FAILED_PRECONDITION" and "'searx'" in error.details(), error)


@check("an answer that has a page at four addresses gives it once")
def _():
    with Searcher({"tavily": entry("tavily"), "searx": entry("searxng")}) as runner:
        plain = [hit.uri.split("?")[0] for hit in runner.ask("backups", "tavily", limit=5).hits]
        for sources in (("tavily",), ("tavily", "searx")):
            hits = runner.ask(f"fault-repeated {word()} backups", *sources, limit=20).hits
            expect(sorted(hit.uri for hit in hits) == sorted(plain), f"{sources}: {[hit.uri for hit in hits]}")


@check("sources are asked side by side and a slow one does not take the others along")
def _():
    with Searcher({"tavily": entry("tavily", timeout="60s"), "searx": entry("searxng", timeout="60s")}) as runner:
        query = f"delay-1000 {word()} backups"
        runner.ask(query, "tavily", "searx")
        first, second = upstreams.seen("tavily", query)[0], upstreams.seen("searxng", query)[0]
        expect(abs(first["begun_ns"] - second["begun_ns"]) < 900e6, "one after the other")
        upstreams.script({"engine": "searxng", "query": "", "fault": "slow"})
        try:
            answer = runner.ask("backups", "tavily", "searx", timeout=3)
        finally:
            upstreams.script()
        expect([(d.part, d.status_code) for d in answer.degradations] == [("searx", 4)] and answer.hits, answer)


@check("the knowledge base is a source beside the web")
def _():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/a.md", "w") as file:
            file.write("# Backups\n\nBackups run every night.\n\nBackups are kept for a week.\n")
        with Searcher({"tavily": entry("tavily")}, f"--tool_runner.roots={folder}") as runner:
            runner.index("manual", folder)
            hits = runner.ask("backups", "internal", "web").hits
            expect({hit.source for hit in hits} == {"documents", "tavily"}, hits)
            expect(sum(hit.source == "documents" for hit in hits) == 2, hits)
            answer = runner.ask("backups", "documents", "web", collections=["none"])
            expect([(d.part, d.status_code) for d in answer.degradations] == [("documents", 5)] and answer.hits, answer)
            error = runner.fails("backups", "documents", "web", mode=7)
            expect(code_of(error) == "INVALID_ARGUMENT" and error.details().startswith("mode"), error)


# ---- the record -----------------------------------------------------------------------------------------------------


@check("a paid search is sent once for its key also after a restart")
def _():
    with Searcher({"tavily": entry("tavily", price=0.008)}) as runner:
        query, key = f"{word()} backups", uuid.uuid4().hex
        first = runner.ask(query, idempotency_key=key)
        expect(first.usage.cost_micros == 8000 and first.usage.tool_calls == 1, first.usage)
        again = runner.ask(query, idempotency_key=key)
        expect(list(again.hits) == list(first.hits) and again.hits and again.usage.cost_micros == 0, again)
        runner.restart()
        expect(list(runner.ask(query, idempotency_key=key).hits) == list(first.hits), "other hits")
        expect(len(upstreams.seen("tavily", query)) == 1, "sent again")
        error = runner.fails(query + " other", idempotency_key=key)
        expect(code_of(error) == "INVALID_ARGUMENT" and error.details().startswith("idempotency_key"), error)
        expect(runner.metric("renga_search_recorded_total", source="tavily") >= 1, "not counted")
        runner.ask(query, idempotency_key=uuid.uuid4().hex)
        expect(len(upstreams.seen("tavily", query)) == 2, "another key")


@check("two searches of one key at the same time are one request")
def _():
    query, key = f"delay-500 {word()} backups", uuid.uuid4().hex
    with Searcher({"tavily": entry("tavily")}) as runner:
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(runner.ask(query, idempotency_key=key))) for _ in range(6)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        expect(len(answers) == 6 and all(list(a.hits) == list(answers[0].hits) for a in answers), len(answers))
    expect(len(upstreams.seen("tavily", query)) == 1, "sent more than once")


@check("a paid search that a crash cut is not sent again unless the document says so")
def _():
    for more, sent in (({}, 1), ({"repeat_in_doubt": True}, 2), ({"paid": False}, 2)):
        with Searcher({"tavily": entry("tavily", **more)}) as runner:
            query, key = f"delay-800 {word()} backups", uuid.uuid4().hex
            thread = threading.Thread(target=lambda: runner.fails(query, idempotency_key=key))
            thread.start()
            wait_until(lambda: upstreams.seen("tavily", query), "the request")
            runner.kill(signal.SIGKILL)
            thread.join()
            runner.start()
            if sent == 1:
                error = runner.fails(query, idempotency_key=key)
                expect(code_of(error) == "ABORTED" and "tavily" in error.details(), error)
            else:
                expect(runner.ask(query, idempotency_key=key).hits, "no hits")
            expect(len(upstreams.seen("tavily", query)) == sent, f"{more}: {len(upstreams.seen('tavily', query))}")


@check("a refused search is tried again under its key and one without an end is not")
def _():
    with Searcher({"tavily": entry("tavily", attempts=1, timeout=f"{SLOW}s")}) as runner:
        query, key = f"fault-503x1 {word()} backups", uuid.uuid4().hex
        expect(code_of(runner.fails(query, idempotency_key=key)) == "UNAVAILABLE", "503")
        expect(runner.ask(query, idempotency_key=key).hits, "not tried again")
        query, key = f"fault-slow {word()} backups", uuid.uuid4().hex
        expect(code_of(runner.fails(query, idempotency_key=key)) == "DEADLINE_EXCEEDED", "slow")
        expect(code_of(runner.fails(query, idempotency_key=key)) == "ABORTED", "in doubt")
        expect(len(upstreams.seen("tavily", query)) == 1, "sent again")


@check("forgetting a thread forgets its searches")
def _():
    with Searcher({"tavily": entry("tavily")}) as runner:
        query, key = f"{word()} backups", uuid.uuid4().hex
        runner.ask(query, idempotency_key=key, origin={"thread_id": "thread-1"})
        expect(runner.forget("thread-1").tool_results == 1, "not forgotten")
        runner.ask(query, idempotency_key=key)
        expect(len(upstreams.seen("tavily", query)) == 2, "it was still there")


@check("the record of one tenant is not anothers")
def _():
    keys = [{"name": name, "tenant": name, "sha256": hashlib.sha256(f"key-{name}".encode()).hexdigest(), "methods": ["renga.v1.ToolRunner/*"]}
            for name in ("a", "b")]
    with Searcher({"tavily": entry("tavily")}, "--rpc.keys=" + json.dumps(keys)) as runner:
        query, key = f"{word()} backups", uuid.uuid4().hex
        for tenant, sent in (("a", 1), ("b", 2), ("a", 2), ("b", 2)):
            runner.ask(query, idempotency_key=key, metadata=[("authorization", f"Bearer key-{tenant}")])
            expect(len(upstreams.seen("tavily", query)) == sent, f"{tenant}: {len(upstreams.seen('tavily', query))}")


# ---- the caller, the log, the tool ----------------------------------------------------------------------------------


@check("a caller that leaves ends the request")
def _():
    with Searcher({"tavily": entry("tavily", timeout="60s"), "searx": entry("searxng", timeout="60s")}) as runner:
        query = f"fault-slow {word()}"
        call = runner.method("Search", "SearchRequest", "SearchResponse").future(
            message("SearchRequest")(query=query, sources=["tavily", "searx"]), timeout=60)
        wait_until(lambda: upstreams.seen("tavily", query) and upstreams.seen("searxng", query), "the requests")
        left = time.monotonic_ns()
        call.cancel()
        for engine in ("tavily", "searxng"):
            wait_until(lambda: upstreams.seen(engine, query)[0]["left_ns"], "its end")  # noqa: B023
            took = (upstreams.seen(engine, query)[0]["left_ns"] - left) / 1e6
            expect(took < 1000 * SLOW, f"{engine}: {took:.0f} ms")


@check("a paid search goes on when its caller has left, and its key has the answer; one that costs nothing ends")
def _():
    for more, goes_on in (({}, True), ({"paid": False}, False)):
        with Searcher({"tavily": entry("tavily", **more)}) as runner:
            query, key = f"delay-800 {word()} backups", uuid.uuid4().hex
            call = runner.method("Search", "SearchRequest", "SearchResponse").future(
                message("SearchRequest")(query=query, sources=["tavily"], idempotency_key=key), timeout=60)
            wait_until(lambda: upstreams.seen("tavily", query), "the request")  # noqa: B023
            call.cancel()
            expect(runner.ask(query, idempotency_key=key).hits, "no hits")
            expect(len(upstreams.seen("tavily", query)) == (1 if goes_on else 2), f"{more}: {len(upstreams.seen('tavily', query))}")


@check("a paid search whose caller has left is not repeated when it fails, and its key is free")
def _():
    with Searcher({"tavily": entry("tavily")}) as runner:
        query, key = f"delay-500 fault-503x1 {word()} backups", uuid.uuid4().hex
        call = runner.method("Search", "SearchRequest", "SearchResponse").future(
            message("SearchRequest")(query=query, sources=["tavily"], idempotency_key=key), timeout=60)
        wait_until(lambda: upstreams.seen("tavily", query), "the request")
        call.cancel()
        time.sleep(1.5)  # longer than the delay and a backoff
        expect(len(upstreams.seen("tavily", query)) == 1, "it was repeated for nobody")
        expect(runner.ask(query, idempotency_key=key).hits, "no hits")


@check("keys are in no log no error and no record")
def _():
    with Searcher({"tavily": entry("tavily", attempts=1)}, "--log.level=debug") as runner:
        runner.ask("backups", idempotency_key="k1")
        for fault in ("401", "503", "not-json", "cut", "redirect"):
            runner.fails(f"fault-{fault} backups")
        runner.kill(signal.SIGTERM)
        wait_until(lambda: runner.process.returncode is not None, "its end")
        written = "".join(runner.log)
        for name in os.listdir(runner.folder):
            if name != "search.json":
                with open(f"{runner.folder}/{name}", "rb") as file:
                    written += file.read().decode(errors="replace")
        expect(not any(secret in written for secret in upstreams.secrets()), "a key was written")
        expect("backups" not in "".join(runner.log), "a query is in the log")


@check("search web is offered where there is a web and gives hits")
def _():
    expect(not [tool for tool in Runner().list().tools if tool.definition.name == "search_web"], "offered without a web")
    expect([tool for tool in one.list().tools if tool.definition.name == "search_web"], "not offered")
    result = one.one("search_web", {"query": "backups", "limit": 2})
    expect(result.status_code == 0 and len(result.hits) == 2 and result.hits[0].source == "tavily", result)
    expect(result.hits[0].uri in result.text, result.text)
    expect(one.one("search_web", {"query": "backups", "limit": 21}).status_code == 3, "limit")
    expect(one.one("search_web", {"query": "fault-403 backups"}).status_code == 9, "403")


@check("search web pays once for a call also where a crash cut it")
def _():
    with Searcher({"tavily": entry("tavily")}) as runner:
        query, key = f"delay-800 {word()} backups", uuid.uuid4().hex
        call = runner.begin(("search_web", {"query": query}), key=key, thread="thread-2")
        wait_until(lambda: upstreams.seen("tavily", query), "the request")
        runner.kill(signal.SIGKILL)
        call.cancel()
        runner.start()
        result = runner.run(("search_web", {"query": query}), key=key, thread="thread-2")[0]
        expect(result.status_code == 10 and "tavily" in result.message, result)
        expect(len(upstreams.seen("tavily", query)) == 1, "sent again")
        query, key = f"{word()} backups", uuid.uuid4().hex
        first, again = (runner.run(("search_web", {"query": query}), ("search_web", {"query": query + " kept"}), key=key) for _ in range(2))
        expect([list(r.hits) for r in first] == [list(r.hits) for r in again] and first[0].hits, "other hits")
        expect(len(upstreams.seen("tavily", query)) == 1, "sent again")


@check("a token is read from its file and renewed without a restart")
def _():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/token"
        known = upstreams["azure_ai_search"]
        source = {"kind": "azure_ai_search", "url": known["url"], "token_file": path, "index": known.get("index", "kb")}
        with Searcher({"azure": source}) as runner:
            error = runner.fails("backups", "azure")
            expect(code_of(error) == "FAILED_PRECONDITION" and "token_file" in error.details(), error)
            with open(path, "w") as file:
                file.write(known["token"] + "\n")
            expect(runner.ask("backups", "azure").hits, "no hits")


@check("a recorded source is replayed without its network and without its key")
def _():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/exchanges.ndjson"
        with Searcher({"tavily": entry("tavily", record=path)}) as runner:
            first = runner.ask("backups")
        with open(path) as file:
            kept = file.read()
        expect("backups" in kept and upstreams["tavily"]["key"] not in kept, kept[:200])
        with Searcher({"tavily": {"kind": "tavily", "url": "http://127.0.0.1:9", "replay": path}}) as runner:
            expect(list(runner.ask("backups").hits) == list(first.hits), "other hits")
            expect(code_of(runner.fails("another")) == "NOT_FOUND", "unrecorded")


@check("huge answers take bounded memory")
def _():
    def resident():
        with open(f"/proc/{runner.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    with Searcher({"tavily": entry("tavily", attempts=1)}) as runner:
        runner.ask("backups")
        before = resident()
        for fault in ("huge", "endless", "bomb", "deep", "wide") * 2:
            try:
                runner.ask(f"fault-{fault} {word()} backups")
            except grpc.RpcError:
                pass
        grown = resident() - before
        expect(SLOW > 1 or grown < 40, f"it grew by {grown:.0f} MiB")
        return f"{grown:.1f} MiB"


one.kill(signal.SIGTERM)
upstreams.close()
checks.finish()
