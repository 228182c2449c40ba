#!/usr/bin/python3
"""Vectors: a real renga with an upstream that makes vectors of what texts are about, and fails when it is told to."""
import base64
import shutil
import struct
import tempfile

import grpc

from runner import Runner, check, checks, expect
from web import Handler, serve

LEXICAL, VECTOR, HYBRID = 1, 2, 3
SUBJECTS = [("cat", "feline", "kitten"), ("car", "automobile", "vehicle"), ("soup", "broth", "bouillon")]


class Upstream(Handler):
    working, dimensions, texts = True, 40, 0

    def do_POST(self):
        asked = self.asked()
        inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        if not Upstream.working:
            self.reply({"error": {"message": "no vectors today"}}, 400)
            return
        Upstream.texts += len(inputs)
        data = []
        for index, text in enumerate(inputs):
            vector = [float(sum(text.lower().count(word) for word in words)) for words in SUBJECTS]
            vector = [0.01 + value for value in vector] + [0.01] * (Upstream.dimensions - len(vector))
            packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            data.append({"index": index, "object": "embedding", "embedding": packed if asked.get("encoding_format") == "base64" else vector})
        self.reply({"object": "list", "data": data, "model": asked["model"], "usage": {"prompt_tokens": 3 * len(inputs), "total_tokens": 3 * len(inputs)}})


server = serve(Upstream)
docs, state = tempfile.mkdtemp(prefix="renga-vectors-"), tempfile.mkdtemp(prefix="renga-state-")
TEXTS = {"cat.md": "The cat sleeps on the mat.", "car.md": "A car needs petrol.", "soup.md": "Hot soup for dinner."}
for name, text in TEXTS.items():
    with open(f"{docs}/{name}", "w") as file:
        file.write(f"# {name[:-3].title()}\n\n{text}\n\nNothing else is here {name}.\n")


def start(model="vec"):
    return Runner(None, f"--llm_gateway.upstream=http://127.0.0.1:{server.server_port}/v1", "--llm_gateway.key=any",
                  f"--llm_gateway.models={model}", "--llm_gateway.attempts=1", "--llm_gateway.breaker=off", "--orchestrator.store=memory:",
                  f"--tool_runner.embedding_model={model}", roots=[docs], folder=state, binary=("renga", "serve"))


with start() as runner:
    @check("indexing makes vectors through the gateway and counts what they cost")
    def _():
        last, skipped = runner.index("zoo", docs)
        kept = runner.collections()["zoo"]
        expect(not skipped and last.usage.model_calls >= 1 and last.usage.input_tokens == 3 * 6, f"the last message was {last}")
        expect(kept.embedding_model == "vec" and kept.vectors == 6 and kept.paragraphs == 6, f"the collection is {kept}")

    @check("what is unchanged gets no new vectors")
    def _():
        before = Upstream.texts
        runner.index("zoo", docs)
        expect(Upstream.texts == before, f"{Upstream.texts - before} texts were asked for again")

    @check("a text is found by its meaning that shares no word with the query")
    def _():
        for query, uri in (("feline", "cat.md"), ("automobile vehicle", "car.md"), ("bouillon", "soup.md")):
            expect(not runner.search(query, mode=LEXICAL).hits, f"{query} is found by its words")
            for mode in (VECTOR, HYBRID, 0):
                answer = runner.search(query, mode=mode)
                expect(answer.hits[0].uri == uri, f"{query} finds {answer.hits[0].uri} by mode {mode}")
                expect(answer.mode == (mode or HYBRID) and answer.usage.model_calls == 1, f"it answered {answer.mode}, {answer.usage}")
                scores = [hit.score for hit in answer.hits]
                expect(scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores), f"scores are {scores}")

    @check("hybrid search puts first what both ways put first")
    def _():
        answer = runner.search("cat mat", mode=HYBRID)
        expect(answer.hits[0].uri == "cat.md" and answer.hits[0].score > answer.hits[1].score and not answer.degradations, f"{answer}")

    @check("without the gateway hybrid search goes on by words and says so, vector search fails")
    def _():
        Upstream.working = False
        answer = runner.search("petrol", mode=HYBRID)
        expect(answer.hits[0].uri == "car.md" and answer.mode == LEXICAL, f"it answered {answer}")
        expect([d.part for d in answer.degradations] == ["vectors"] and answer.degradations[0].status_code, f"it says {answer.degradations}")
        try:
            runner.search("petrol", mode=VECTOR)
            expect(False, "vector search answered")
        except grpc.RpcError as error:
            expect(error.code() != grpc.StatusCode.OK and "vectors today" in error.details(), f"{error.code()}: {error.details()}")

    @check("documents that are indexed without the gateway are found by words, and get their vectors the next time")
    def _():
        with open(f"{docs}/late.md", "w") as file:
            file.write("A kitten arrives late.")
        last, skipped = runner.index("zoo", docs)
        expect(last.done and [one.part for one in skipped] == ["vectors"] and last.files_done == 4, f"{last} {skipped}")
        expect(runner.search("arrives late", mode=LEXICAL).hits[0].uri == "late.md", "it is not found by its words")
        Upstream.working = True
        answer = runner.search("feline", mode=HYBRID)
        expect(answer.degradations, "nobody says that a vector is missing")
        _, skipped = runner.index("zoo", docs)
        found = {hit.uri for hit in runner.search("feline", mode=VECTOR, limit=3).hits}
        expect(not skipped and found == {"cat.md", "late.md"}, f"{skipped}, {found}")

with start("other") as runner:
    @check("vectors of another model are not compared, and are replaced by indexing again")
    def _():
        answer = runner.search("feline", mode=HYBRID)
        expect(answer.degradations and not answer.hits, f"it answered {answer}")
        Upstream.dimensions = 100
        runner.index("zoo", docs)
        kept = runner.collections()["zoo"]
        expect(kept.embedding_model == "other" and kept.vectors == kept.paragraphs == 7, f"the collection is {kept}")
        expect(runner.search("feline", mode=VECTOR).hits[0].uri in ("cat.md", "late.md"), "it is not found")

server.shutdown()
shutil.rmtree(docs)
shutil.rmtree(state)
checks.finish()
