#!/usr/bin/python3
"""SearchPlaybook over gRPC: by words on SQLite and Redis; with an embedding model, by vectors that are paid for once. And
what GetPlaybook writes is read by an independent reader of the reference's format."""
import base64
import contextlib
import re
import shutil
import struct
import tempfile
import time

from playbook_client import JSON, Playbooks, TEXT, add, count, refused, update
from redis_server import RedisServer
from runner import Runner, SLOW, check, checks, expect
from web import Handler, serve

LEXICAL, VECTOR, HYBRID = 1, 2, 3
SUBJECTS = [("cat", "feline", "kitten"), ("car", "automobile", "vehicle"), ("soup", "broth", "bouillon")]


def equal(got, wanted, what="it"):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def search(client, query, dataset="d", **fields):
    return client.call("SearchPlaybook", dataset=dataset, query=query, **fields)


def ids(answer):
    return [hit.bullet.id for hit in answer.hits]


def read_reference(text):
    """The rules of the reference: a line that matches the expression is a bullet of the section above."""
    line_of = re.compile(r"\[([^\]]+)\]\s*helpful=(\d+)\s*harmful=(\d+)\s*::\s*(.*)")
    section, bullets = "", []
    for line in text.strip().split("\n"):
        line = line.strip()
        found = line_of.match(line)
        if line.startswith("##"):
            section = line[2:].strip()
        elif found:
            bullets.append((section, found[1], int(found[2]), int(found[3]), found[4]))
    return bullets


def words_checks(kind, runner):
    client = Playbooks(runner)

    @check(f"{kind}: a task finds the bullets that fit, best first, with their revision")
    def _():
        equal(len(search(client, "anything").hits), 0)
        client.put("d", operations=[add("strategies", "Convert times to the zone of the customer."),
                                    add("strategies", "通貨の単位は円に換算する。"), add("errors", "Retry a call that timed out.")])
        answer = search(client, "In which zone does the customer see it?")
        equal((ids(answer), answer.mode, answer.revision), (["s-00001"], LEXICAL, 1))
        expect(0 < answer.hits[0].score <= 1 and answer.hits[0].bullet.section == "strategies", f"{answer}")
        equal(ids(search(client, "円に換算した金額")), ["s-00002"])
        equal(ids(search(client, "quaternion")), [])

    @check(f"{kind}: a bullet whose id is named comes first")
    def _():
        errors = [b.id for b in client.get("d").bullets if b.section == "errors"][0]
        equal(ids(search(client, f"zone of the customer as in [{errors}]")), [errors, "s-00001"])

    @check(f"{kind}: a change is searched at once, and counts move a bullet without hiding it")
    def _():
        client.put("d", operations=[add("strategies", "Show times in the zone of the server.")])
        first = ids(search(client, "zone"))
        equal(len(first), 2)
        client.put("d", operations=[count(first[0], harmful=20)])
        answer = search(client, "zone")
        equal(ids(answer), first[::-1])
        expect(answer.hits[1].bullet.harmful == 20, f"{answer}")
        other = "customer" if first[0] == "s-00001" else "server"
        equal(ids(search(client, other))[:1], [first[0]])
        client.put("d", operations=[update("s-00002", "Walk the dog.")])
        equal(ids(search(client, "dog")), ["s-00002"])
        equal(ids(search(client, "円に換算した金額")), [])

    @check(f"{kind}: at most `limit` bullets come, ten if it is zero")
    def _():
        client.put("many", operations=[add("s", f"Rule {i} about planets, number {i * i}.") for i in range(30)])
        equal([len(search(client, "planets", "many", limit=n).hits) for n in (0, 1, 30, 100)], [10, 1, 30, 30])

    @check(f"{kind}: a wrong request names its field")
    def _():
        for fields, field in (({"dataset": ""}, "dataset"), ({"dataset": "../x"}, "dataset"), ({"query": ""}, "query"),
                              ({"query": " 　\n"}, "query"), ({"query": "x" * 65537}, "query"), ({"limit": -1}, "limit"),
                              ({"limit": 101}, "limit"), ({"mode": 4}, "mode")):
            fields = {"dataset": "d", "query": "q", **fields}
            refused("INVALID_ARGUMENT", lambda: client.call("SearchPlaybook", **fields), field)
        refused("FAILED_PRECONDITION", lambda: search(client, "q", mode=VECTOR), "embedding_model")

    @check(f"{kind}: hostile queries of 64 KiB are answered in time")
    def _():
        for unit in ("a ", "日", "日本", "s-00001 ", "x1 ", "-", "[", "ｱ", "é", "\u0301", "don't ", "1,"):
            query = (unit * 65536).encode()[:65535].decode(errors="ignore")
            start = time.monotonic()
            search(client, query)
            took = time.monotonic() - start
            expect(took < 2 * SLOW, f"{unit!r} took {took:.2f} s")

    @check(f"{kind}: what is exported is read by the rules of the reference, and what the reference writes is imported")
    def _():
        odd = ["{query} {{x}} :: helpful=3 harmful=9", "[s-00001] helpful=1", "日本語 😀 — «x»", "## no section", "a\nb\r\nc",
               "back\\slash % $ #", "tab\tinside"]
        client.put("odd", operations=[add("STRATEGIES & INSIGHTS" if i % 2 else "others", text) for i, text in enumerate(odd)])
        kept = client.get("odd", format=TEXT)
        wanted = [(b.section, b.id, b.helpful, b.harmful, re.sub(r"\r\n|\n", " ", b.content)) for b in kept.bullets]
        equal(read_reference(kept.text), wanted)
        client.put("copy", text=kept.text)
        again = client.get("copy", format=TEXT)
        equal(again.text, kept.text)
        exported = client.get("odd", format=JSON)
        client.put("copy", text=exported.text, format=JSON, replace=True)
        equal([(b.id, b.section, b.content, b.created_ms) for b in client.get("copy").bullets],
              [(b.id, b.section, b.content, b.created_ms) for b in exported.bullets])


class Upstream(Handler):
    working, texts = True, []

    def do_POST(self):
        asked = self.asked()
        inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        if not Upstream.working:
            self.reply({"error": {"message": "no vectors today"}}, 400)
            return
        Upstream.texts += inputs
        data = []
        for index, text in enumerate(inputs):
            vector = [0.01 + sum(text.lower().count(word) for word in words) for words in SUBJECTS] + [0.01] * 13
            packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            data.append({"index": index, "object": "embedding", "embedding": packed if asked.get("encoding_format") == "base64" else vector})
        self.reply({"object": "list", "data": data, "model": asked["model"], "usage": {"prompt_tokens": len(inputs), "total_tokens": len(inputs)}})


def vectors_checks(server, state):
    def start():
        return Runner(None, f"--llm_gateway.upstream=http://127.0.0.1:{server.server_port}/v1", "--llm_gateway.key=any",
                      "--llm_gateway.models=vec", "--llm_gateway.attempts=1", "--llm_gateway.breaker=off", "--orchestrator.store=memory:",
                      f"--tool_runner.record=sqlite:{state}/record.db", "--tool_runner.embedding_model=vec", folder=state,
                      binary=("renga", "serve"))

    def asked(client, query, **fields):
        Upstream.texts = []
        return search(client, query, **fields), sorted(Upstream.texts)

    texts = ["The cat sleeps on the mat.", "A car needs petrol.", "Hot soup for dinner."]
    with start() as runner:
        client = Playbooks(runner)

        @check("a bullet is found by its meaning, and each vector is made once")
        def _():
            client.put("d", operations=[add("s", text) for text in texts])
            answer, paid = asked(client, "feline")
            equal((ids(answer)[:1], answer.mode), (["s-00001"], HYBRID))
            equal(paid, sorted(texts + ["feline"]))
            expect(answer.usage.model_calls == 1 and answer.usage.input_tokens == 4, f"{answer.usage}")
            answer, paid = asked(client, "bouillon", mode=VECTOR)
            equal((ids(answer)[:1], answer.mode, paid), (["s-00003"], VECTOR, ["bouillon"]))
            answer, paid = asked(client, "petrol", mode=LEXICAL)
            equal((ids(answer), answer.mode, paid), (["s-00002"], LEXICAL, []))

        @check("a bullet that is new is paid for, one that was counted or comes back is not")
        def _():
            client.put("d", operations=[add("s", "Feed the kitten."), count("s-00001", helpful=2)])
            equal(asked(client, "feline")[1], ["Feed the kitten.", "feline"])
            client.put("d", operations=[update("s-00002", "Park the vehicle.")])
            equal(asked(client, "feline")[1], ["Park the vehicle.", "feline"])
            client.restore("d", 2)
            answer, paid = asked(client, "automobile")
            equal((ids(answer)[:1], paid), (["s-00002"], ["automobile"]))

        @check("two searches at once do not pay for the same bullet")
        def _():
            client.put("both", operations=[add("s", f"Rule {i} of cats.") for i in range(40)])
            Upstream.texts = []
            calls = [client.begin("SearchPlaybook", dataset="both", query="feline") for _ in range(4)]
            [call.result() for call in calls]
            equal(len([t for t in Upstream.texts if t.startswith("Rule")]), 40)

        @check("without the gateway hybrid search goes on by words and says so, vector search fails")
        def _():
            Upstream.working = False
            answer = search(client, "soup")
            equal((ids(answer), answer.mode), (["s-00003"], LEXICAL))
            refused("INVALID_ARGUMENT", lambda: search(client, "soup", mode=VECTOR), "vectors today")
            Upstream.working = True
            equal(search(client, "soup").mode, HYBRID)

        @check("a caller that leaves while vectors are made ends nothing but its own call")
        def _():
            calls = [client.begin("SearchPlaybook", dataset="d", query=f"cat {i}") for i in range(20)]
            [call.cancel() for call in calls[::2]]
            equal([call.result().mode for call in calls[1::2]], [HYBRID] * 10)

    with start() as runner:
        client = Playbooks(runner)

        @check("after a restart only queries are paid for, and a playbook that was deleted has left no vectors")
        def _():
            answer, paid = asked(client, "feline")
            expect(answer.mode == HYBRID and paid == ["feline"], f"{answer.mode}, {paid}")
            answer, paid = asked(client, "feline", dataset="both", limit=100)
            equal((len(answer.hits), paid), (40, ["feline"]))
            client.delete("d")
            client.put("d", operations=[add("s", texts[0])])
            equal(asked(client, "feline")[1], sorted([texts[0], "feline"]))

        @check("more than 256 bullets get their vectors in several searches, and are found by words meanwhile")
        def _():
            client.put("large", text="\n".join(f"[r-{i}] helpful=0 harmful=0 :: Rule {i} of cats." for i in range(600)))
            paid = [len(asked(client, "Rule 599", dataset="large")[1]) for _ in range(4)]
            equal(paid, [257, 257, 89, 1])
            equal(ids(search(client, "Rule 599", dataset="large", mode=LEXICAL))[:1], ["r-599"])


with contextlib.ExitStack() as stack:
    redis = stack.enter_context(RedisServer())
    words_checks("SQLite", stack.enter_context(Runner()))
    words_checks("Redis", stack.enter_context(Runner(None, f"--tool_runner.record={redis.url}?name=playbooks")))
    server, state = serve(Upstream), tempfile.mkdtemp(prefix="renga-playbook-")
    stack.callback(shutil.rmtree, state)
    stack.callback(server.shutdown)
    vectors_checks(server, state)
checks.finish()
