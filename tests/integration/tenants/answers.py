#!/usr/bin/env python3
"""What the help desk answers two tenants that use the same names: each is answered from its own documents, and what only the other
has is not found, in words, in structure, in streams, and in `renga eval`. Without a model; in one process or as five.
    answers.py one|five        RENGA_BIN=<binaries> RENGA_PROTO=<folder of renga_descriptor_set.bin>; one line a check."""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
from house import BIN, House, SLOW, client, folder, write  # noqa: E402
from checks import check, expect, finish  # noqa: E402

house = House(sys.argv[1])
anna, bert = client(house, "anna"), client(house, "bert")
COLLECTION = "handbook"
PAGES = {"anna": "# Harbour\n\nThe harbour opens at nine.\n\n# Lighthouse\n\nThe lighthouse was built in 1874.\n",
         "bert": "# Harbour\n\nThe harbour opens at seven.\n\n# Pilot\n\nThe pilot is Eva Brandt.\n"}
OWN = {"anna": ["nine", "1874"], "bert": ["seven", "Eva Brandt"]}
CALLERS = {"anna": anna, "bert": bert}
EXTRACTIVE = {"model": "extractive"}


def equal(got, wanted, what):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def ask(name, question, **options):
    return CALLERS[name]("Helpdesk", "Ask", question=question, collections=[COLLECTION], options={**EXTRACTIVE, **options}).result


def has_nothing_of(message, name, what):
    """Whether no fact of this tenant stands anywhere in the message."""
    leaked = [fact for fact in OWN[name] if fact in str(message)]
    expect(not leaked, f"{what} has {leaked}")


for each, page in PAGES.items():
    CALLERS[each]("ToolRunner", "IndexDocuments", collection=COLLECTION, documents={"documents": [{"path": "harbour.md", "content": page.encode()}]})


@check("one question over one collection is answered to each from its own page")
def _():
    for name, other, answer in (("anna", "bert", "The harbour opens at nine."), ("bert", "anna", "The harbour opens at seven.")):
        result = ask(name, "When does the harbour open?")
        equal((result.found, result.answer, [c.quote for c in result.citations]), (True, answer, [answer]), f"{name}'s answer")
        expect(not result.HasField("not_found"), result.not_found)
        has_nothing_of(result, other, f"{name}'s result")


@check("a collection that only the other tenant has is not there, and its name is not told")
def _():
    anna("ToolRunner", "IndexDocuments", collection="tides", documents={"documents": [{"path": "t.md", "content": b"# Tides\n\nHigh tide is at four.\n"}]})
    for service, method in (("Helpdesk", "Ask"), ("DeepResearch", "Research")):
        for wanted in (["tides"], ["tidy"], [COLLECTION, "tidy"]):
            try:
                bert(service, method, question="When is high tide?", collections=wanted, options=EXTRACTIVE)
                expect(False, f"{service} took {wanted}")
            except grpc.RpcError as error:
                equal((error.code().name, error.details()), ("NOT_FOUND", f"collections[{len(wanted) - 1}]: there is no collection '{wanted[-1]}'; "
                                                             f"there is '{COLLECTION}'"), f"what {service} says of {wanted}")
    for agent in ("helpdesk", "deep_research"):
        try:
            bert("Orchestrator", "StartRun", agent=agent, input_json=json.dumps({"question": "When is high tide?", "collections": ["tides"]}))
            expect(False, f"a run of {agent} took them")
        except grpc.RpcError as error:
            equal((error.code().name, error.details()), ("NOT_FOUND", "input_json.collections[0]: there is no collection 'tides'; "
                                                         f"there is '{COLLECTION}'"), f"what StartRun of {agent} says")
    own = anna("Helpdesk", "Ask", question="When is high tide?", collections=["tides"], options=EXTRACTIVE).result
    equal([c.quote for c in own.citations], ["High tide is at four."], "anna's own")
    anna("ToolRunner", "DeleteDocuments", collection="tides")


@check("what only the other tenant has is not found, and the nearest passages are one's own")
def _():
    for name, other, question in (("bert", "anna", "When was the lighthouse built?"), ("anna", "bert", "Who is the pilot?")):
        result = ask(name, question)
        equal((result.WhichOneof("maybe_found"), result.found, len(result.citations)), ("found", False, 0), question)
        equal([s.found for s in result.subtasks], [False], f"the subtask of {question}")
        equal(list(result.not_found.looked_for), [question], "what was looked for")
        for hit in result.not_found.nearest:
            expect(hit.quote and hit.quote in PAGES[name], f"a passage of somebody else: {hit.quote}")
        has_nothing_of(result, other, f"{name}'s result")


@check("a comparison of which only the other tenant has one side is not answered; in part, two questions are")
def _():
    result = ask("anna", "Which is older, the lighthouse or the pilot?")
    equal((result.found, len(result.citations)), (False, 0), "of the comparison")
    result = ask("anna", "When was the lighthouse built, and who is the pilot?")
    equal((result.found, len(result.not_found.looked_for)), (True, 1), "of the two questions")
    has_nothing_of(result, "bert", "anna's result")


@check("both tenants ask at the same time under the same request ids, and each gets its own run and answer")
def _():
    def one(number):
        name = ("anna", "bert")[number % 2]
        return name, number, ask(name, "When does the harbour open?", request_id=f"same-{number // 2}", keep_running=True)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(one, range(24)))
    wanted = {"anna": "The harbour opens at nine.", "bert": "The harbour opens at seven."}
    equal([result.answer for name, _, result in done], [wanted[name] for name, _, _ in done], "the answers")
    runs = {result.outcome.run_id for _, _, result in done}
    equal(len(runs), 24, "the runs")
    name, _, result = done[0]
    try:
        bert("Orchestrator", "GetRun", run_id=result.outcome.run_id)
        expect(False, "bert reads anna's run")
    except grpc.RpcError as error:
        equal(error.code(), grpc.StatusCode.NOT_FOUND, "of another's run")


@check("a stream shows the checked answer, each piece once, and nothing of the other's")
def _():
    events = bert("Helpdesk", "AskStream", question="When does the harbour open, and who is the pilot?", collections=[COLLECTION], options=EXTRACTIVE)
    result = events[-1].result
    equal("".join(event.answer_text for event in events), result.answer, "the text")
    expect("seven" in result.answer and "Eva Brandt" in result.answer, result.answer)
    for event in events:
        has_nothing_of(event, "anna", "an event")
    done = [event.subtask for event in events if event.WhichOneof("event") == "subtask" and event.subtask.stage == 6]
    equal([(one.WhichOneof("maybe_found"), one.found) for one in done], [("found", True)] * 2, "how the subtasks ended")


environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))},
               "XDG_DATA_HOME": f"{folder}/data"}


def renga(name, *arguments):
    place = f"127.0.0.1:{house.at['Helpdesk'].port}"
    return subprocess.run([f"{BIN}/renga", arguments[0], "--connect", place, f"--peers.key={name}", "--model=extractive", *arguments[1:]],
                          env=environment, cwd=folder, capture_output=True, text=True, timeout=60 * SLOW)


@check("`renga eval` measures each tenant on its own documents: right, and rightly not answered")
def _():
    questions = [{"question": "When does the harbour open?", "answers": ["nine"], "file": "harbour.md"},
                 {"question": "When was the lighthouse built?", "answers": ["1874"]}, {"question": "Who is the pilot?", "found": False}]
    path = write("questions.jsonl", "".join(json.dumps(one) + "\n" for one in questions))
    verdicts = {}
    for name in CALLERS:
        done = renga(name, "eval", "--collection", COLLECTION, "--json", path)
        expect(done.returncode == 0, f"{name}: {done.returncode} {done.stderr}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        verdicts[name] = [line["why"] for line in lines[:-1]]
        expect(not [fact for fact in OWN["bert" if name == "anna" else "anna"] if fact in json.dumps([line.get("answer") for line in lines[:-1]])],
               f"{name} reads the other's: {done.stdout}")
    equal(verdicts["anna"], ["right"] * 3, "anna's verdicts")
    expect(verdicts["bert"][0] != "right" and verdicts["bert"][1] in ("not_found", "abstained") and verdicts["bert"][2] != "right", verdicts["bert"])


@check("`renga ask --connect` says that the other's fact is not found, and keeps no run")
def _():
    done = renga("bert", "ask", "--collection", COLLECTION, "--json", "When was the lighthouse built?")
    equal((done.returncode, json.loads(done.stdout)["found"]), (3, False), "bert's question")
    done = renga("anna", "ask", "--collection", COLLECTION, "When was the lighthouse built?")
    expect(done.returncode == 0 and "1874" in done.stdout and "feedback" not in done.stderr, f"{done.returncode}: {done.stdout} {done.stderr}")
    expect(not os.path.exists(f"{folder}/data/renga/asked") or not os.listdir(f"{folder}/data/renga/asked"), "a run is kept")


@check("an answer that goes away with its tenant's documents leaves the other's as it is")
def _():
    anna("ToolRunner", "DeleteDocuments", collection=COLLECTION)
    result = anna("Helpdesk", "Ask", question="When does the harbour open?", options=EXTRACTIVE).result
    equal((result.found, len(result.citations)), (False, 0), "anna's answer")
    has_nothing_of(result, "bert", "anna's answer")
    try:
        ask("anna", "When does the harbour open?")
        expect(False, "a collection that is gone was searched")
    except grpc.RpcError as error:
        equal((error.code().name, error.details()), ("NOT_FOUND", f"collections[0]: there is no collection '{COLLECTION}'; no documents have been "
                                                     "indexed"), "of the collection that is gone")
    equal(ask("bert", "When does the harbour open?").answer, "The harbour opens at seven.", "bert's answer")


@check("all processes end with 0")
def _():
    house.stop()


finish()
