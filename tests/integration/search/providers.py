"""Each provider of searches against its fake: right hits in each mode, each fault as a status within the deadline and in
bounded memory, keys in no error and no log, a stand-in that steps in. Once with all services in one process, once with the
gateway in a process of its own."""
import base64
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tool_runner"))
sys.path.insert(0, HERE)
from runner import BIN, SLOW, Runner, check, checks, expect  # noqa: E402
from contract import message  # noqa: E402
from search_upstreams import Upstreams  # noqa: E402

FALLBACK, PARTIAL = 2, 3
DEADLINE_S = 60  # sixteen faults at once on a loaded machine; only the faults that wait take their whole time
GROWTH_MAX_MIB = 40  # by 16 faults at once; three of them send more than the 2 MiB that are taken
upstreams = Upstreams()
secrets = upstreams.secrets() + [base64.b64encode(f"reader:{upstreams['opensearch']['password']}".encode()).decode()]
told = []  # texts of all errors and degradations
folder = tempfile.TemporaryDirectory(prefix="renga-providers-")
token_file = f"{folder.name}/token"
with open(token_file, "w") as file:
    file.write(upstreams["azure_ai_search"]["token"] + "\n")

OWN_FIELDS = {"title_field": "title", "url_field": "url", "content_field": "body", "date_field": "updated"}
KINDS = {
    "tavily": {"kind": "tavily"},
    "searxng": {"kind": "searxng"},
    "brave": {"kind": "brave", "extra_snippets": True},
    "azure_ai_search": {"kind": "azure_ai_search", "index": "kb", "date_field": "updated"},
    "opensearch": {"kind": "opensearch", "index": "kb", "user": "reader", **OWN_FIELDS},
    "elasticsearch": {"kind": "opensearch", "dialect": "elasticsearch", "index": "kb", **OWN_FIELDS},
}


def entry(engine, **more):
    known = upstreams[engine]
    key = known["password"] if "user" in KINDS[engine] else known.get("key")
    made = {**KINDS[engine], "url": known["url"], "timeout": f"{2 * SLOW}s", "attempts": 2, "key": key or None, **more}
    return {name: value for name, value in made.items() if value is not None}


AZURE_VECTORS, LUCENE_VECTORS = {"vector_fields": ["vector"]}, {"vector_field": "vec"}
BY_WORDS = {
    "tavily": entry("tavily"), "searxng": entry("searxng"), "brave": entry("brave"),
    "azure-keyword": entry("azure_ai_search"), "opensearch-keyword": entry("opensearch"),
    "elasticsearch-keyword": entry("elasticsearch", whole_content=True),
}
BY_BOTH = {
    "azure-hybrid": entry("azure_ai_search", mode="hybrid", **AZURE_VECTORS, api_version="2026-04-01"),
    "azure-semantic": entry("azure_ai_search", mode="semantic", semantic_configuration="kb-semantic", **AZURE_VECTORS),
    "opensearch-hybrid": entry("opensearch", mode="hybrid", **LUCENE_VECTORS, user=None, key=upstreams["opensearch"]["key"]),
    "elasticsearch-hybrid": entry("elasticsearch", mode="hybrid", **LUCENE_VECTORS),
}
BY_VECTOR = {
    "azure-vector": entry("azure_ai_search", mode="vector", **AZURE_VECTORS, key=None, token_file=token_file),
    "opensearch-vector": entry("opensearch", mode="vector", **LUCENE_VECTORS),
    "elasticsearch-vector": entry("elasticsearch", mode="vector", **LUCENE_VECTORS),
}
FILTERED = {
    "azure-filter": entry("azure_ai_search", filter="lang eq 'ja' and updated ge 2030-01-01T00:00:00Z"),
    "opensearch-filter": entry("opensearch", mode="hybrid", **LUCENE_VECTORS, filter='{"term": {"lang": "ja"}}'),
    "elasticsearch-filter": entry("elasticsearch", mode="vector", **LUCENE_VECTORS, filter='{"term": {"lang": "ja"}}'),
}


class Suite:
    """A tool-runner with these sources, and a gateway that makes vectors."""

    def __init__(self, sources, apart, model="vec"):
        self.gateway = None
        path = f"{folder.name}/search-{len(os.listdir(folder.name))}.json"
        with open(path, "w") as file:
            json.dump({"sources": sources}, file)
        flags = [f"--tool_runner.search={path}", f"--tool_runner.embedding_model={model}", "--log.level=debug"]
        vectors = [f"--llm_gateway.upstream={upstreams['embeddings']['url']}", "--llm_gateway.key=any", "--llm_gateway.models=vec"]
        if apart:
            self.gateway = subprocess.Popen([f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json", *vectors],
                                            stderr=subprocess.PIPE, text=True)
            port = next(found.group(1) for found in (re.search(r'"rpc\.listening".*?port (\d+)', line) for line in self.gateway.stderr) if found)
            self.runner = Runner(None, *flags, f"--peers.llm_gateway=127.0.0.1:{port}")
        else:
            self.runner = Runner(None, *flags, *vectors, "--orchestrator.store=memory:", binary=("renga", "serve"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.runner.__exit__()
        logs.append("".join(self.runner.log))
        if self.gateway:
            self.gateway.terminate()
            logs.append(self.gateway.communicate(timeout=20 * SLOW)[1])

    def ask(self, query, *sources, timeout=DEADLINE_S, **fields):
        request = message("SearchRequest")(query=query, sources=sources, limit=fields.pop("limit", 5), **fields)
        answer = self.runner.method("Search", "SearchRequest", "SearchResponse")(request, timeout=timeout * SLOW)
        told.extend(degradation.reason for degradation in answer.degradations)
        return answer

    def ends(self, query, *sources, **more):
        """The code of its status, the answer or the text of the error, and the seconds it took."""
        began = time.monotonic()
        try:
            answer, code = self.ask(query, *sources, **more), "OK"
        except grpc.RpcError as error:
            answer, code = error.details(), error.code().name
            told.append(answer)
        return code, answer, time.monotonic() - began

    def memory_mib(self, name):
        with open(f"/proc/{self.runner.process.pid}/status") as file:
            return int(re.search(rf"{name}:\s+(\d+) kB", file.read()).group(1)) / 1024


logs = []

# ---- faults ---------------------------------------------------------------------------------------------------------

FAULTS = {"401": "FAILED_PRECONDITION", "403": "FAILED_PRECONDITION", "404": "NOT_FOUND", "408": "UNAVAILABLE", "429": "RESOURCE_EXHAUSTED",
          "429-after": "RESOURCE_EXHAUSTED", "500": "UNAVAILABLE", "503": "UNAVAILABLE", "206": "OK", "not-json": "DATA_LOSS",
          "truncated": "DATA_LOSS", "huge": "DATA_LOSS", "endless": "DATA_LOSS", "slow": "DEADLINE_EXCEEDED", "bomb": "DATA_LOSS", "deep": "DATA_LOSS"}
MORE_FAULTS = {"cut": "UNAVAILABLE", "reset": "UNAVAILABLE", "closes": "UNAVAILABLE", "redirect": "FAILED_PRECONDITION", "late": "DEADLINE_EXCEEDED",
               "drip": "DEADLINE_EXCEEDED", "429-date": "RESOURCE_EXHAUSTED", "503-after": "UNAVAILABLE", "echo": "FAILED_PRECONDITION", "echo-cut": "FAILED_PRECONDITION",
               "hostile": "OK", "wide": "OK", "empty": "OK", "shapes": "DATA_LOSS", "surrogate": "OK"}
OTHERWISE = {("brave", "404"): "FAILED_PRECONDITION",  # a key without a plan
             ("searxng", "redirect"): "RESOURCE_EXHAUSTED"}  # its limiter's answer to a client that it suspects
INTERNAL = ("azure_ai_search", "opensearch", "elasticsearch")
ENDLESS_WAITS = ("slow", "late", "drip")  # sent once: each request takes its whole time
TELLS_PARTIAL = ("azure_ai_search", "searxng", "opensearch", "elasticsearch")


def faults_of(suite, engine, faults):
    """All at once, each by a source of its own."""
    with concurrent.futures.ThreadPoolExecutor(len(faults)) as pool:
        asked = {fault: pool.submit(suite.ends, f"fault-{fault} backups", f"by-{fault}") for fault in faults}
        for fault, ended in asked.items():
            code, answer, took = ended.result()
            wanted = OTHERWISE.get((engine, fault), faults[fault])
            expect(code == wanted, f"{engine} {fault}: {code}, not {wanted}: {answer}")
            expect(took < (DEADLINE_S + 1) * SLOW, f"{engine} {fault} took {took:.1f} s")
            if fault == "206" and engine in TELLS_PARTIAL:
                expect(answer.hits and [d.kind for d in answer.degradations] == [PARTIAL], f"{engine}: {answer}")
            if fault in ("hostile", "wide"):
                allowed = ("https://", "file:///") if engine in INTERNAL else ("https://",)  # an index inside may hold files
                expect(0 < len(answer.hits) <= 5 and all(hit.uri.startswith(allowed) for hit in answer.hits), f"{engine} {fault}: {answer.hits}")
            if fault == "empty":
                expect(not answer.hits and not answer.degradations, f"{engine}: {answer}")


def check_faults(label, apart):
    for engine in KINDS:
        @check(f"{label}: {engine} has a status for each fault within the deadline in bounded memory")
        def _(engine=engine):
            most = 0
            for faults in (FAULTS,) if apart else (FAULTS, MORE_FAULTS):
                sources = {f"by-{fault}": entry(engine, attempts=1 if fault in ENDLESS_WAITS else 2,
                                                timeout=f"{(2 if fault in ENDLESS_WAITS else DEADLINE_S - 1) * SLOW}s") for fault in faults}
                with Suite(sources, apart) as suite:
                    before = suite.memory_mib("VmRSS")
                    faults_of(suite, engine, faults)
                    most = max(most, suite.memory_mib("VmHWM") - before)
            expect(SLOW > 1 or most < GROWTH_MAX_MIB, f"{most:.0f} MiB more")
            return f"{most:.0f} MiB more at most"


# ---- good answers ---------------------------------------------------------------------------------------------------


def check_answers(label, suite):
    @check(f"{label}: each source finds what the words say, in English and in Japanese")
    def _():
        for name in {**BY_WORDS, **BY_BOTH}:
            for query, uri in (("backups of the database", "docs.example.org/backups"), ("出張旅費の上限", "kb.example.jp/ryohi")):
                answer = suite.ask(query, name)
                first = answer.hits[0]
                expect(uri in first.uri and first.source == name and not answer.degradations, f"{name} {query}: {answer}")
                expect(first.title and first.snippet and 0 < first.score <= 1, f"{name}: {first}")
                expect("<" not in first.snippet and not re.search("[\x00-\x1f]", first.snippet), f"{name}: {first.snippet}")

    @check(f"{label}: eight sources that find the same give each address once")
    def _():
        names = list({**BY_WORDS, **BY_BOTH})[:8]
        uris = [hit.uri for hit in suite.ask("restore the backup file", *names, limit=20).hits]
        expect(sum("docs.example.org/restore" in uri for uri in uris) == 1 and len(uris) == len(set(uris)), uris)

    @check(f"{label}: vectors of the gateway find what shares no word with the query")
    def _():
        for name in {**BY_VECTOR, **BY_BOTH}:
            answer = suite.ask("feline", name)
            expect("animals.example.net/cat" in answer.hits[0].uri and not answer.degradations, f"{name}: {answer}")
        for name in BY_WORDS:
            expect(not suite.ask("feline", name).hits, name)

    @check(f"{label}: filters of the document hold")
    def _():
        for name in FILTERED:
            hits = suite.ask("backups データベースのバックアップ", name).hits
            expect(hits and all("kb.example.jp" in hit.uri for hit in hits), f"{name}: {[hit.uri for hit in hits]}")


def check_partial_vectors(label, apart):
    @check(f"{label}: a search of vectors that failed beside that of words is told")
    def _():
        with Suite({"opensearch-hybrid": BY_BOTH["opensearch-hybrid"]}, apart) as suite:
            answer = suite.ask("fault-partial backups", "opensearch-hybrid")
            expect(answer.hits and [(d.part, d.kind) for d in answer.degradations] == [("opensearch-hybrid", PARTIAL)], answer)
            expect("not knn_vector" in answer.degradations[0].reason, answer.degradations)


def check_no_model(label, apart):
    @check(f"{label}: without a model of vectors both ways become words, which is told, and vectors alone fail")
    def _():
        sources = {name: {**BY_BOTH, **BY_VECTOR}[name] for name in ("azure-hybrid", "opensearch-hybrid", "azure-vector", "elasticsearch-vector")}
        with Suite(sources, apart, model="") as suite:
            for name in sources:
                code, answer, _ = suite.ends("backups", name)
                if name.endswith("-vector"):
                    expect(code == "FAILED_PRECONDITION" and "tool_runner.embedding_model" in answer, f"{name}: {code} {answer}")
                else:
                    expect(code == "OK" and answer.hits and [(d.part, d.kind) for d in answer.degradations] == [("vectors", PARTIAL)], f"{name}: {answer}")


def check_stand_ins(label, apart):
    @check(f"{label}: a stand-in steps in for each kind, and is told")
    def _():
        for engine in KINDS:
            other = "brave" if engine != "brave" else "tavily"
            group = {"group": "web"}
            with Suite({"first": entry(engine, **group), "second": entry(other, stand_in=True, **group)}, apart) as suite:
                upstreams.script({"engine": engine, "query": "", "fault": "403"})
                try:
                    answer = suite.ask("backups", "web")
                finally:
                    upstreams.script()
                expect({hit.source for hit in answer.hits} == {"second"}, f"{engine}: {answer}")
                expect([(d.part, d.kind) for d in answer.degradations] == [("first", FALLBACK)], f"{engine}: {answer.degradations}")


def check_keys(label, apart):
    @check(f"{label}: a wrong key is told by the name of its source, and not shown")
    def _():
        wrong = "wrong-key-4711-0815"
        secrets.append(wrong)
        sources = {engine: entry(engine, key=wrong) for engine in KINDS if engine != "searxng"}
        sources["api-key"] = entry("opensearch", user=None, key=wrong)
        with Suite(sources, apart) as suite:
            for name in sources:
                code, answer, _ = suite.ends("backups", name)
                expect(code == "FAILED_PRECONDITION" and f"'{name}'" in answer, f"{name}: {code} {answer}")


for label, apart in (("one process", False), ("processes of their own", True)):
    with Suite({**BY_WORDS, **BY_BOTH, **BY_VECTOR, **FILTERED}, apart) as suite:
        check_answers(label, suite)
    check_partial_vectors(label, apart)
    check_no_model(label, apart)
    check_stand_ins(label, apart)
    check_keys(label, apart)
    check_faults(label, apart)


@check("no key stands in an error, a degradation or a log")
def _():
    expect(told and logs and all(logs), "nothing was collected")
    for secret in secrets:
        for text in [*told, *logs]:
            expect(secret[:8] not in text, f"{secret[:8]}… is in {text[:400]}")
    return f"{len(told)} texts, {len(logs)} logs, {len(secrets)} secrets"


upstreams.close()
checks.finish()
