#!/usr/bin/env python3
"""Two tenants that use the same names for everything: neither sees, gets or destroys what the other has. In one process
or as five; each client by its own key, and through a service that forwards.
    tenants.py one|five        RENGA_BIN=<binaries> RENGA_PROTO=<folder of renga_descriptor_set.bin>; one line a check."""
import json
import os
import sys

import grpc
from google.protobuf import descriptor_pb2

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
from house import Caller, House, Model, Process, Source, TENANTS, client, forwarded  # noqa: E402
from checks import check, expect, finish, wait_until  # noqa: E402
from contract import message, number, pool  # noqa: E402
import house as parts  # noqa: E402

house = House(sys.argv[1])


def refused(code, function):
    try:
        function()
    except grpc.RpcError as error:
        expect(error.code() == getattr(grpc.StatusCode, code), f"it failed with {error.code()}: {error.details()}")
        return error.details()
    expect(False, f"it was not refused with {code}")


def equal(got, wanted, what):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


# ---- what a method keeps, and how it is asked for --------------------------------------------------------------------
# Each row is a function of (a, b, n): two callers of different tenants, and a name that is new each time.


def run_of(caller, agent, n, state=None, **fields):
    return caller("Orchestrator", "StartRun", agent=agent, thread_id=n, input_json=json.dumps(state or {}), **{"wait": True, **fields}).run


def note_of(text):
    return {"run_id": "r", "step_no": 1, "query": text, "summary_md": text}


def notes(caller, n):
    return [note.query for note in caller("ToolRunner", "ListNotes", thread_id=n).notes]


def keep_notes(a, b, n):
    for caller, text in ((a, "mine"), (b, "yours")):
        caller("ToolRunner", "SaveNote", thread_id=n, note=note_of(text))
    equal((notes(a, n), notes(b, n)), (["mine"], ["yours"]), "the notes")
    b("ToolRunner", "ForgetThread", thread_id=n)
    equal((notes(a, n), notes(b, n)), (["mine"], []), "the notes after the other has forgotten")


def calculated(caller, n, formula, thread=None):
    return caller("ToolRunner", "RunTools", idempotency_key=n, origin={"thread_id": thread or n}, calls=[
        {"call": {"id": "1", "name": "calculate", "arguments_json": json.dumps({"expression": formula})}}]).results[0]


def record_results(a, b, n):
    equal(calculated(a, n, "1+1").recorded, False, "the first")
    equal((calculated(b, n, "2+3").recorded, calculated(b, n, "2+3").recorded), (False, True), "recorded for the other")
    b("ToolRunner", "ForgetThread", thread_id=n)
    equal(calculated(a, n, "1+1").recorded, True, "what the first has recorded, after the other has forgotten the thread")


def index(caller, collection, text, path="a.md"):
    return caller("ToolRunner", "IndexDocuments", collection=collection, documents={"documents": [{"path": path, "content": text.encode()}]})


def found(caller, **fields):
    return [hit.snippet for hit in caller("ToolRunner", "Search", query="harbour", **fields).hits]


def keep_documents(a, b, n):
    index(a, n, f"The harbour of {n} is open.")
    refused("NOT_FOUND", lambda: found(b, collections=[n]))
    expect(not any(n in text for text in found(b)), "the other finds it")
    expect(n not in [c.name for c in b("ToolRunner", "GetKnowledgeBase").collections], "the other sees the collection")
    index(b, n, "The harbour is closed.")
    b("ToolRunner", "DeleteDocuments", collection=n)
    equal(found(a, collections=[n]), [f"The harbour of {n} is open."], "what the first finds")


def pay_for_searches(a, b, n):
    def uris(caller):
        return [hit.uri for hit in caller("ToolRunner", "Search", query=n, sources=["web"], idempotency_key=n, origin={"thread_id": n}).hits]
    first = uris(a)
    expect(first and uris(a) == first, "a search of a key was paid twice")
    expect(uris(b) != first, "the other tenant got the search that the first has paid")
    b("ToolRunner", "ForgetThread", thread_id=n)
    equal(uris(a), first, "what the first has recorded, after the other has forgotten the thread")


def share_places(a, b, n):
    """Of two places at a source a tenant has one, so that its searches do not keep the other's out."""
    def search(caller, query):
        return caller.future("ToolRunner", "Search", query=query, sources=["narrow"])
    Source.gate.clear()
    before = Source.held
    calls = [search(a, f"held {n} {i}") for i in range(3)]
    try:
        wait_until(lambda: Source.held == before + 1 and sum(call.done() for call in calls) == 2, "not one of three is held", 10 * parts.SLOW)
        expect(search(b, n).result().hits, "the other tenant finds nothing")
    finally:
        Source.gate.set()
    told = [call.exception() for call in calls if call.exception()]
    expect(len(told) == 2 and all("this tenant" in error.details() for error in told), f"{told}")


def learn(caller, n, content, **fields):
    return caller("ToolRunner", "PutPlaybook", dataset=n, **fields, operations=[
        {"kind": number("PlaybookOperationKind", "PLAYBOOK_OPERATION_KIND_ADD"), "section": "s", "content": content}])


def learnt(caller, n):
    return [bullet.content for bullet in caller("ToolRunner", "GetPlaybook", dataset=n).bullets]


def playbooks(caller):
    return [each.dataset for each in caller("ToolRunner", "ListPlaybooks", page_size=1000).playbooks]


def bullets_found(caller, n, query):
    return [hit.bullet.content for hit in caller("ToolRunner", "SearchPlaybook", dataset=n, query=query).hits]


def keep_playbooks(a, b, n):
    learn(a, n, "mine", request_id=n)
    equal((bullets_found(a, n, "mine or s-00001"), bullets_found(b, n, "mine or s-00001")), (["mine"], []), "what a search finds")
    for method in ("GetPlaybook", "ListPlaybookChanges", "RestorePlaybook"):
        refused("NOT_FOUND", lambda: b("ToolRunner", method, dataset=n))
    expect(n in playbooks(a) and n not in playbooks(b), "the other sees it in the list")
    equal(b("ToolRunner", "DeletePlaybook", dataset=n).bullets, 0, "what the other has deleted")
    equal(learn(b, n, "yours", request_id=n).revision, 1, "the other's first revision, with the same request_id")
    equal((learnt(a, n), learnt(b, n)), (["mine"], ["yours"]), "the playbooks")
    learn(b, n, "yours too")
    b("ToolRunner", "RestorePlaybook", dataset=n, revision=1)
    equal([len(caller("ToolRunner", "ListPlaybookChanges", dataset=n).changes) for caller in (a, b)], [1, 3], "their changes")
    b("ToolRunner", "DeletePlaybook", dataset=n)
    equal(learnt(a, n), ["mine"], "what the first has after the other has deleted its own")


def chat(caller, text, **fields):
    return caller("LlmGateway", "Chat", model="m", messages=[{"role": number("ChatRole", "CHAT_ROLE_USER"), "content": text}], **fields)


def keep_answers(a, b, n):
    first = chat(a, n).message.content
    equal(chat(a, n).message.content, first, "the same of the same tenant")
    expect(chat(b, n).message.content != first, "the other tenant got the answer of the cache")
    keyed = chat(a, f"{n} keyed", idempotency_key=n).message.content
    expect(chat(b, f"{n} other", idempotency_key=n).message.content != keyed, "the other tenant got the key's answer")


def stream_answers(a, b, n):
    def text(caller):
        return "".join(event.text for event in caller("LlmGateway", "ChatStream", model="m", messages=[
            {"role": number("ChatRole", "CHAT_ROLE_USER"), "content": n}]))
    expect(text(a) == text(a) != text(b), "the other tenant got the answer of the cache")


def coalesce(a, b, n):
    Model.gate.clear()
    before = Model.answers
    calls = [caller.future("LlmGateway", "Chat", model="m", messages=[
        {"role": number("ChatRole", "CHAT_ROLE_USER"), "content": f"held {n}"}]) for caller in (a, b, a)]
    try:
        wait_until(lambda: Model.answers == before + 2, f"not both tenants have asked: {Model.answers - before}", 10 * parts.SLOW)
    finally:
        Model.gate.set()
    texts = [call.result().message.content for call in calls]
    expect(texts[0] == texts[2] != texts[1], f"{texts}")


def usage_of(caller, **fields):
    return caller("LlmGateway", "GetUsage", group_by=[number("UsageGroup", "USAGE_GROUP_TENANT"), number("UsageGroup", "USAGE_GROUP_CLIENT"),
                                                      number("UsageGroup", "USAGE_GROUP_THREAD")], **fields).rows


def count_usage(a, b, n):
    chat(a, n, origin={"thread_id": n})
    equal([(row.tenant, row.client, row.calls) for row in usage_of(a, thread_id=n)], [("acme", "anna", 1)], "the account")
    equal(list(usage_of(b, thread_id=n)), [], "what the other sees of it")
    refused("PERMISSION_DENIED", lambda: usage_of(b, tenant="acme"))


def keep_runs(a, b, n):
    run = run_of(a, "asker", n)
    name = {"run_id": run.run_id}
    for method, more in (("GetRun", {}), ("CancelRun", {}), ("ResumeRun", {"answer_json": "1"}), ("MigrateRun", {"dry_run": True})):
        refused("NOT_FOUND", lambda: b("Orchestrator", method, **name, **more))
    refused("NOT_FOUND", lambda: b("Orchestrator", "WatchRun", **name))
    for method, more in (("GetState", {}), ("ListCheckpoints", {}), ("UpdateState", {"update_json": "{\"x\": 1}"}),
                         ("ForkThread", {"new_thread_id": f"{n}-f"}), ("CopyThread", {"new_thread_id": f"{n}-c"})):
        refused("NOT_FOUND", lambda: b("Orchestrator", method, thread_id=n, **more))
    expect(not b("Orchestrator", "DeleteThread", thread_id=n).deleted, "the other has deleted it")
    for method, field in (("ListRuns", "runs"), ("ListThreads", "threads")):
        listed = getattr(b("Orchestrator", method), field)
        expect(run.run_id not in str(listed) and n not in str(listed), f"{method} shows it")
    other = run_of(b, "asker", n)  # a thread of the same name
    b("Orchestrator", "DeleteThread", thread_id=n)
    refused("NOT_FOUND", lambda: b("Orchestrator", "GetRun", run_id=other.run_id))
    equal(a("Orchestrator", "ResumeRun", run_id=run.run_id, answer_json="7", wait=True).run.output_json, '{"x":7}', "the run's output")
    events = [event.WhichOneof("event") for event in a("Orchestrator", "WatchRun", run_id=run.run_id)]
    expect("stopped" in events, f"{events}")


def repeat_requests(a, b, n):
    runs = [run_of(caller, "asker", "", request_id=n).run_id for caller in (a, a, b)]
    expect(runs[0] == runs[1] != runs[2], f"{runs}")


def notes_of_runs(a, b, n):
    for caller, text in ((a, "mine"), (b, "yours")):
        run_of(caller, "noter", n, {"notes": [{"query": text, "summary_md": text}]})
    equal((notes(a, n), notes(b, n)), (["mine"], ["yours"]), "the notes of a thread of the same name")
    b("Orchestrator", "DeleteThread", thread_id=n)
    equal((notes(a, n), notes(b, n)), (["mine"], []), "the notes after the other has deleted its thread")


def answers_of_runs(a, b, n):
    said = [json.loads(run_of(caller, "thinker", f"{n}-{i}", {"question": n}).output_json)["answer"] for i, caller in enumerate((a, a, b))]
    expect(said[2] not in said[:2], f"the gateway's cache: {said}")
    equal([(row.tenant, row.client) for row in usage_of(a, thread_id=f"{n}-0")], [("acme", "anna")], "whose account it is")
    equal([(row.tenant, row.client) for row in usage_of(b, thread_id=f"{n}-2")], [("other", "bert")], "whose account it is")


def documents_of_runs(a, b, n):
    index(a, n, f"The harbour of {n} is open.")
    hits = [str(json.loads(run_of(caller, "searcher", n, {"question": f"harbour {n}"}).output_json).get("hits")) for caller in (a, b)]
    expect(n in hits[0] and n not in hits[1], f"{hits}")


def think(service, method, **fields):
    """It keeps nothing itself; what its model costs is the caller's tenant's."""
    def row(a, b, n):
        expect(a(service, method, prompting={"model": "m"}, origin={"thread_id": n}, **fields), "no answer")
        equal({(one.tenant, one.client) for one in usage_of(a, thread_id=n)}, {("acme", "anna")}, "whose account it is")
        equal(list(usage_of(b, thread_id=n)), [], "what the other sees of it")
    return row


def ask(method):
    def row(a, b, n):
        index(a, n, f"The harbour of {n} opens at nine.")
        question = {"question": f"When does the harbour of {n} open?", "options": {"thread_id": n, "model": "m"}}
        a("Helpdesk", method, **question)
        b("Helpdesk", method, **question)
        expect("opens at nine" not in b("Orchestrator", "GetState", thread_id=n).state_json, "the other was told of it")
        equal({row.tenant for row in usage_of(a, thread_id=n)}, {"acme"}, "whose account it is")
    return row


def study(a, b, n):
    index(a, n, f"The harbour of {n} opens at nine.")
    question = {"question": f"When does the harbour of {n} open?", "options": {"thread_id": n, "request_id": n, "model": "m"}}
    mine, yours = (caller("DeepResearch", "Research", **question).result for caller in (a, b))
    expect("opens at nine" in mine.report_md and "opens at nine" not in str(yours), f"{mine} {yours}")
    expect(mine.outcome.run_id != yours.outcome.run_id, "the other tenant got the run of the first")
    equal([e.accepted.run_id for e in b("DeepResearch", "ResearchStream", **question) if e.HasField("accepted")], [yours.outcome.run_id],
          "the stream of the other's request")
    expect("nine" not in str(notes(b, n)) and notes(a, n), "the notes")
    further = {"run_id": mine.outcome.run_id, "question": "When?"}
    refused("NOT_FOUND", lambda: b("DeepResearch", "FollowUp", **further))
    b("Orchestrator", "DeleteThread", thread_id=n)
    answer = a("DeepResearch", "FollowUp", **further).result
    expect(any("opens at nine" in note.summary_md for note in answer.notes), f"the first has lost its run: {answer}")
    equal({row.tenant for row in usage_of(a, thread_id=n)}, {"acme"}, "whose account it is")


def nothing_kept(service, method, **fields):
    return lambda a, b, n: b(service, method, **fields)



ROWS = {
    "ToolRunner": {
        "SaveNote": keep_notes, "ListNotes": keep_notes, "ForgetThread": keep_notes, "RunTools": record_results,
        "Search": [keep_documents, pay_for_searches, share_places], "IndexDocuments": keep_documents, "GetKnowledgeBase": keep_documents,
        "DeleteDocuments": keep_documents, "ListTools": nothing_kept("ToolRunner", "ListTools"),
        **{name: keep_playbooks for name in ("GetPlaybook", "PutPlaybook", "ListPlaybooks", "ListPlaybookChanges", "RestorePlaybook",
                                             "DeletePlaybook", "SearchPlaybook")}},
    "LlmGateway": {
        "Chat": [keep_answers, coalesce], "ChatStream": stream_answers, "GetUsage": count_usage,
        "ListModels": nothing_kept("LlmGateway", "ListModels"), "Embed": count_usage},
    "Planner": {
        "Plan": think("Planner", "Plan", subtasks={"question": "Why, and when?"}),
        "ImproveQueries": think("Planner", "ImproveQueries", base_queries=["why"], feedback="Too short."),
        "Route": nothing_kept("Planner", "Route", plan={"theme": "Why?"}, max_iterations=3)},
    "Reviewer": {
        "Reflect": think("Reviewer", "Reflect", question="Why?", subtask="Why?", answer="So."),
        "ReviewAnswer": think("Reviewer", "ReviewAnswer", field={"id": "1", "field_id": "f", "label": "F"}, conversation_summary="It is so."),
        "ReviewDraft": think("Reviewer", "ReviewDraft", draft="It is so.")},
    "Orchestrator": {
        **{name: keep_runs for name in ("GetRun", "WatchRun", "ListRuns", "CancelRun", "ResumeRun", "GetState", "UpdateState",
                                        "ListCheckpoints", "ForkThread", "CopyThread", "ListThreads", "MigrateRun")},
        "StartRun": [repeat_requests, answers_of_runs, documents_of_runs], "DeleteThread": notes_of_runs,
        "ListAgents": nothing_kept("Orchestrator", "ListAgents"),
        "DescribeAgent": nothing_kept("Orchestrator", "DescribeAgent", agent="asker")},
    "Helpdesk": {"Ask": ask("Ask"), "AskStream": ask("AskStream")},
    "DeepResearch": {"Research": study, "ResearchStream": study, "FollowUp": study},
}

# Services with two tenants in tests of their own; NodeService is the callers', who keep what they like.
ELSEWHERE = {"FormInterview": "interview/tenants.py", "AutonomousResearch": "autonomous/flow.py", "AceGenerator": "ace/whole.py",
             "NodeService": ""}

# ---- the checks ------------------------------------------------------------------------------------------------------

WAYS = {"by their own keys": tuple(client(house, name) for name in TENANTS),
        "through a service": tuple(forwarded(house, name, tenant) for name, tenant in TENANTS.items())}
made = 0


@check("each service of the contract has its test, and each method of those that are built a row in the table")
def _():
    with open(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), "rb") as file:
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
    equal({service.name for one in files if one.package == "renga.v1" for service in one.service}, {*ROWS, *ELSEWHERE}, "the services")
    for service, rows in ROWS.items():
        methods = {method.name for method in pool.FindServiceByName(f"renga.v1.{service}").methods}
        equal(set(rows), methods, service)


for way, callers in WAYS.items():
    for service, rows in ROWS.items():
        checks = {row: None for value in rows.values() for row in (value if isinstance(value, list) else [value])}
        for row in checks:
            names = [name for name, value in rows.items() if row is value or (isinstance(value, list) and row in value)]

            @check(f"{way}: of {service}'s {', '.join(names)} ({row.__name__}) a tenant has nothing of another's")
            def _():
                global made
                made += 1
                row(*callers, f"n{made}")


@check("a limit of a tenant holds for what is forwarded for it, and for nobody else")
def _():
    meagre = forwarded(house, "mia", "meagre")
    chat(meagre, "one")
    expect("meagre" in refused("RESOURCE_EXHAUSTED", lambda: chat(meagre, "two")), "it was another limit")
    chat(WAYS["through a service"][0], "three")


@check("a limit of a tenant holds for what our own services ask for its clients, and for nobody else")
def _():
    sara = client(house, "sara")
    run = run_of(sara, "thinker", "scarce-1", {"question": "first of few"})
    expect(run.state == number("RunState", "RUN_STATE_SUCCEEDED"), run.stop_text)
    run = run_of(sara, "thinker", "scarce-2", {"question": "second of few"})
    expect(run.status_code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0] and "scarce" in run.stop_text, run.stop_text or "it was not refused")
    run = run_of(client(house, "anna"), "thinker", "scarce-3", {"question": "of many"})
    expect(run.state == number("RunState", "RUN_STATE_SUCCEEDED"), run.stop_text)


@check("no service believes a key that may not forward")
def _():
    for service, method in (("Planner", "Plan"), ("Reviewer", "Reflect"), ("ToolRunner", "ListTools"), ("LlmGateway", "ListModels"),
                            ("Orchestrator", "ListRuns"), ("Helpdesk", "Ask"), ("ToolRunner", "IndexDocuments")):
        for shown in ("chatty", "bert"):
            text = refused("PERMISSION_DENIED", lambda: forwarded(house, "anna", "acme", shown)(service, method))
            expect(f"renga.v1.{service}/forward" in text, text)


@check("an identity that is none is refused: too long, without a name, with control characters, twice")
def _():
    for value in (b"acme", b"", b"a" * 97 + b"\0anna", b"acme\0" + b"a" * 129, b"acme\0anna\0x", b"ac\nme\0anna", b"\xff\0anna"):
        caller = Caller(house, ("authorization", "Bearer services"), ("renga-forwarded-bin", value))
        refused("INVALID_ARGUMENT", lambda: caller("ToolRunner", "ListTools"))
    twice = Caller(house, *WAYS["through a service"][0].metadata, ("renga-forwarded-bin", b"other\0bert"))
    refused("INVALID_ARGUMENT", lambda: twice("ToolRunner", "ListTools"))


@check("a forwarded client has the rights of its own key, not those of the service")
def _():
    refused("PERMISSION_DENIED", lambda: WAYS["through a service"][0]("LlmGateway", "GetUsage", tenant="other"))
    refused("PERMISSION_DENIED", lambda: forwarded(house, "nobody", "acme")("Orchestrator", "ListRuns"))


if sys.argv[1] == "five":
    @check("an orchestrator whose key may not forward is refused, and says what would be right")
    def _():
        peer = f"--peers.tool_runner=ipv4:127.0.0.1:{house.at['ToolRunner'].port}"
        process = Process(f"{parts.BIN}/renga-orchestrator", peer, f"--orchestrator.agents={parts.folder}/agents",
                          "--orchestrator.store=memory:", shown="chatty")
        lone = House.__new__(House)
        lone.at = {"Orchestrator": process}
        run = run_of(client(lone, "anna"), "noter", "t", {"notes": [{"query": "q", "summary_md": "s"}]})
        expect("renga.v1.ToolRunner/forward" in run.stop_text, run.stop_text)
        process.process.terminate()


METHODS = {"Planner": "Plan", "Reviewer": "Reflect", "ToolRunner": "ListTools", "LlmGateway": "ListModels", "Orchestrator": "ListRuns"}

for service, calls in parts.CALLS.items():
    @check(f"the {service}'s own key may forward to {', '.join(calls) or 'no service'}, and nowhere else")
    def _():
        caller = forwarded(house, "anna", "acme", f"own-{service}")
        for target, method in METHODS.items():
            if target in calls and target not in ("Planner", "Reviewer"):
                caller(target, method)
            elif target in calls:
                refused("INVALID_ARGUMENT", lambda: caller(target, method))  # it comes as far as the request, which is empty
            else:
                expect(f"own-{service}" in refused("PERMISSION_DENIED", lambda: caller(target, method)), f"{target} names another key")


if sys.argv[1] == "five":
    @check("an orchestrator that shows the planner's key is refused by the tool-runner")
    def _():
        process = Process(f"{parts.BIN}/renga-orchestrator", f"--peers.tool_runner=ipv4:127.0.0.1:{house.at['ToolRunner'].port}",
                          f"--orchestrator.agents={parts.folder}/agents", "--orchestrator.store=memory:", shown="own-planner")
        lone = House.__new__(House)
        lone.at = {"Orchestrator": process}
        run = run_of(client(lone, "anna"), "noter", "planner's", {"notes": [{"query": "q", "summary_md": "s"}]})
        expect("own-planner" in run.stop_text and run.status_code == grpc.StatusCode.PERMISSION_DENIED.value[0], run)
        equal(notes(client(house, "anna"), "planner's"), [], "the notes")
        process.process.terminate()


@check("all processes end with 0")
def _():
    house.stop()


finish()
