#!/usr/bin/env python3
"""Tasks with the real services and two tenants: each has its own playbook of the same name. `whole.py one|five`: the suite in
one process, or as five. In one process also without keys and without a model."""
import io
import json
import os
import sys
import threading

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "tenants"))
sys.path.insert(0, os.path.join(HERE, "..", "helpdesk"))
import toy  # noqa: E402
from house import House, Model, client, completion, expect  # noqa: E402
from suite import SLOW, Suite  # noqa: E402
from checks import check, finish  # noqa: E402
from contract import message, word  # noqa: E402

HOW = sys.argv[1]
house = House(HOW)
anna, bert = client(house, "anna"), client(house, "bert")
LESSONS = {"anna": "The harbour of Acme opens at six.", "bert": "The harbour of Other opens at nine."}


def generate(who, query="When does the harbour open?", dataset="harbours", **fields):
    return who("AceGenerator", "Generate", query=query, dataset=dataset, options={"model": "m"}, **fields)


def learn(who, *lessons, dataset="harbours"):
    return who("ToolRunner", "PutPlaybook", dataset=dataset, bullets=[{"section": "Harbours", "content": lesson} for lesson in lessons]).new_ids


def status(trajectory):
    return word("TrajectoryStatus", trajectory.status).removeprefix("TRAJECTORY_STATUS_")


@check("each tenant's task is done with the playbook of its own, and the run is nobody else's")
def _():
    ids = {name: list(learn(who, LESSONS[name], *extra)) for name, who, extra in (("anna", anna, ["The tide is at noon in the harbour."]), ("bert", bert, []))}
    for name, who, other in (("anna", anna, bert), ("bert", bert, anna)):
        answer = generate(who)
        made = answer.trajectory
        expect(status(made) == "SUCCESS" and made.generated_answer.startswith("answer "), f"{made}")
        expect(set(made.used_bullet_ids) == set(ids[name]), f"{name} used {made.used_bullet_ids} of {ids[name]}")
        try:
            other("Orchestrator", "GetRun", run_id=answer.outcome.run_id)
            raise AssertionError("the other tenant has read the run")
        except grpc.RpcError as error:
            expect(error.code() == grpc.StatusCode.NOT_FOUND, error.code())


@check("a tenant without a playbook gets an empty context, though another has one of the name")
def _():
    learn(anna, "Only anna knows the harbour of the moon.", dataset="moons")
    made = generate(bert, dataset="moons").trajectory
    expect((status(made), list(made.used_bullet_ids)) == ("SUCCESS", []), f"{made}")


@check("the help desk of a tenant keeps which of its own bullets it used")
def _():
    learn(anna, "Say when the harbour opens in hours and minutes.", dataset="helpdesk")
    for who, used in ((anna, 1), (bert, 0)):
        run = who("Orchestrator", "StartRun", agent="helpdesk", input_json=json.dumps({"question": "When does the harbour open?"}),
                  configuration_json='{"model": "m"}', wait=True, timeout=60).run
        state = who("Orchestrator", "GetState", thread_id=run.thread_id)
        told = json.loads(state.state_json).get("playbook_used", {}).get("bullet_ids", [])
        expect(len(told) == used and "playbook" not in [d.part for d in run.degradations], f"{told}, {run.degradations}")


def of_toy_world(model, usual=Model.do_POST):
    """The toy world (toy.py) for its own tasks and for what is learnt, the numbered answers for all others."""
    body = model.rfile.read(int(model.headers["Content-Length"]))
    request = json.loads(body)
    text, schema = "\n".join(turn["content"] or "" for turn in request["messages"]), json.dumps(request.get("response_format", ""))
    if "key_insight" in schema or "operations" in schema or toy.TASK.search(text):
        with Model.lock:
            Model.answers += 1
        model.reply(completion({"role": "assistant", "content": toy.answer(text, schema)}))
        return
    connection, model.rfile = model.rfile, io.BytesIO(body)
    usual(model)
    model.rfile = connection


def adapt(who, samples, dataset, name):
    described = message("AdaptRequest")(mode=1, dataset=dataset, samples=samples, options={"request_id": name, "model": "few"})
    events = house.at["AceGenerator"].channel.unary_stream("/renga.v1.AceGenerator/Adapt", request_serializer=lambda m: m.SerializeToString(),
                                                           response_deserializer=message("AdaptEvent").FromString)(described, timeout=60 * SLOW, metadata=who.metadata)
    return [(event.sample.number, event.sample.verdict, event.sample.answer, event.sample.revision) for event in events if event.WhichOneof("event") == "sample"]


@check("two tenants that learn at once, with one dataset and the same request ids, learn as each alone, and pay once")
def _():
    Model.do_POST = of_toy_world
    tasks = {"anna": (anna, toy.LESSONS[:10]), "bert": (bert, toy.LESSONS[10:20])}
    made, again, books = {}, {}, {}
    for name, (who, samples) in tasks.items():
        made[name] = adapt(who, samples, "alone", "alone-1")
    for out in (made, again):
        shared, before = {}, Model.answers
        threads = [threading.Thread(target=lambda name=name: shared.update({name: adapt(*tasks[name], "shared", "same-1")})) for name in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect(shared == made, f"{shared}, alone {made}")
    expect(Model.answers == before, f"{Model.answers - before} calls of the model for what was done before")
    for name, (who, _) in tasks.items():
        run = generate(who, query=toy.LESSONS[0]["query"], dataset="shared").outcome.run_id
        who("AceGenerator", "Reflect", trajectory={"query": "Crate 1 has the base price 5. What does it cost to send it from Quito?", "dataset": "shared"}, feedback={"ground_truth": "6"}, options={"request_id": "same-2", "model": "few"})
        who("AceGenerator", "Feedback", run_id=run, verdict=1, options={"request_id": "same-3", "model": "few"})
        books[name] = {dataset: [bullet.content for bullet in who("ToolRunner", "GetPlaybook", dataset=dataset).bullets] for dataset in ("alone", "shared")}
        expect(books[name]["alone"] == books[name]["shared"] and len(books[name]["alone"]) > 2, f"{books[name]}")
    expect(books["anna"] != books["bert"], "both learnt the same")


house.stop()

if HOW == "one":
    suite = Suite().one()

    def call(service, method, kind=None, **fields):
        kind = kind or method
        make = suite.channel.unary_unary(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(),
                                         response_deserializer=message(kind + "Response").FromString)
        return make(message(kind + "Request")(**fields), timeout=30 * SLOW, wait_for_ready=True)

    @check("without a model the answer is made of sentences of the bullets, and marked degraded")
    def _():
        for dataset, lesson, query in (("en", "A password is reset under Settings and Security.", "How is a password reset?"),
                                       ("ja", "パスワードは設定のセキュリティから再設定します。", "パスワードはどこで再設定しますか")):
            call("ToolRunner", "PutPlaybook", dataset=dataset, bullets=[{"section": "s", "content": lesson}])
            answer = call("AceGenerator", "Generate", query=query, dataset=dataset)
            made = answer.trajectory
            expect(status(made) == "SUCCESS" and lesson in made.generated_answer, f"{made}")
            expect([word("DegradationKind", d.kind) for d in answer.outcome.degradations] == ["DEGRADATION_KIND_EXTRACTIVE"], f"{answer.outcome.degradations}")

    @check("without a model, a task that no bullet answers is a trajectory with FAILURE")
    def _():
        for dataset in ("en", "empty"):
            made = call("AceGenerator", "Generate", query="Who painted the ceiling of the chapel?", dataset=dataset).trajectory
            expect(status(made) == "FAILURE" and "no model" in made.error_message, f"{made}")

    @check("without a model Reflect and Curate are refused with NO_MODEL and what to set up")
    def _():
        for method, kind, fields in (("Reflect", "AceReflect", {"trajectory": {"query": "q", "dataset": "en"}, "feedback": {"verdict": 2}}),
                                     ("Curate", "Curate", {"dataset": "en", "reflections": [{"key_insight": "Read the manual."}]})):
            try:
                call("AceGenerator", method, kind, **fields)
                raise AssertionError(f"{method} was not refused")
            except grpc.RpcError as error:
                details = dict(error.trailing_metadata())["grpc-status-details-bin"]
                expect(error.code() == grpc.StatusCode.FAILED_PRECONDITION and b"NO_MODEL" in details and "needs a model" in error.details(), f"{method}: {error}")

    @check("without a model feedback on a run counts the bullets that it used, also where a person says why")
    def _():
        lesson = call("ToolRunner", "PutPlaybook", dataset="counts", bullets=[{"section": "s", "content": "A password is reset under Settings and Security."}]).new_ids[0]
        run = call("AceGenerator", "Generate", query="How is a password reset?", dataset="counts").outcome.run_id
        made = call("AceGenerator", "Feedback", run_id=run, verdict=2, remark="It does not say where Settings are.")
        expect(made.dataset == "counts" and not made.HasField("reflection") and len(made.curation.results) == 1, f"{made}")
        bullet = call("ToolRunner", "GetPlaybook", dataset="counts").bullets[0]
        expect((bullet.id, bullet.helpful, bullet.harmful) == (lesson, 0, 1), f"{bullet}")

    suite.stop()

finish()
