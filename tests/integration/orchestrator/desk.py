#!/usr/bin/env python3
"""The help desk as a graph: every kind of node that calls a service, before services that the test scripts."""
import json

from harness import (api, check, equal, expect, finish, message, number, stands, succeeded)
from services import called, found, hit, judged, plan, said, services, tool

api.flags = services.flags()
api.start()

BACKUP = "Backups run every night at 02:00. They are kept for 30 days."
RESET = "To reset a password, open Settings and choose Security."


def model(answers, calls=(("search_documents", '{"query": "words"}'),)):
    """Chooses these tools where tools are offered, else answers by the first key that the conversation has."""
    def chat(request, context):
        if request.tools:
            return called(*calls)
        asked = "\n".join(turn.content for turn in request.messages)
        return said(next(text for key, text in answers.items() if key in asked))
    return chat


def streamed(chat):
    """The same answer piece by piece."""
    def stream(request, context):
        answer = chat(request, context)
        event = message("ChatStreamEvent")
        yield event(start={"id": "a"})
        for at in range(0, len(answer.message.content), 7):
            yield event(text=answer.message.content[at:at + 7])
        yield event(finish=answer.finish)
    return stream


def script(chat, tools=None, **methods):
    services.forget()
    services.on("LlmGateway/Chat", chat)
    services.on("LlmGateway/ChatStream", streamed(chat))
    services.on("ToolRunner/ListTools", lambda request, context: message("ListToolsResponse")(tools=[
        tool("search_documents"), tool("lookup_qa")]))
    services.on("ToolRunner/RunTools", tools or found(hit(BACKUP), hit(RESET, line=20)))
    services.on("Planner/Plan", methods.get("plan") or plan("When do backups run?", "How is a password reset?"))
    services.on("Reviewer/Reflect", methods.get("reflect") or judged(True))


ANSWERS = {"<results>": "Backups run every night at 02:00. Open Settings and choose Security to reset a password.",
           "When do backups run?\n</subtask>": "Backups run every night at 02:00.",
           "How is a password reset?\n</subtask>": "Open Settings and choose Security to reset a password."}


@check("a question becomes a plan, its subtasks are worked on, and the answer has a source for each sentence")
def _():
    script(model(ANSWERS))
    run = api.start_run("helpdesk", {"question": "When do backups run and how do I reset my password?"})
    result = succeeded(run)
    equal(result["plan"], ["When do backups run?", "How is a password reset?"], "the plan")
    equal([(s["subtask"], s["is_completed"], s["challenge_count"], s["subtask_answer"]) for s in result["subtask_results"]],
          [("When do backups run?", True, 1, ANSWERS["When do backups run?\n</subtask>"]),
           ("How is a password reset?", True, 1, ANSWERS["How is a password reset?\n</subtask>"])], "the subtasks")
    equal(result["last_answer"], ANSWERS["<results>"], "the answer")
    equal([(c["sentence_number"], c["uri"], c["line_from"], c["quote"] in BACKUP + RESET) for c in result["citations"]],
          [(1, "guide.md", 10, True), (2, "guide.md", 20, True)], "the citations")
    equal((run.usage.model_calls, run.usage.tool_calls), (1 + 2 * 3 + 1, 2), "what it cost")


@check("the planner, the reviewer and tools are told what they need, in the language of the question")
def _():
    script(model({"": "夜間バックアップは午前2時に実行されます。"}), plan=plan("バックアップの時刻"))
    succeeded(api.start_run("helpdesk", {"question": "バックアップはいつ実行されますか"}, configuration_json='{"model": "fast"}'))
    asked, = services.of("Planner/Plan")
    equal((asked.subtasks.question, asked.subtasks.max_subtasks, asked.prompting.language, asked.prompting.model),
          ("バックアップはいつ実行されますか", 8, "ja", "fast"), "the plan's request")
    equal((asked.origin.agent, asked.origin.node, bool(asked.origin.run_id)), ("helpdesk", "create_plan/ask_planner", True), "its origin")
    reflect = services.of("Reviewer/Reflect")[0]
    equal((reflect.subtask, list(reflect.plan.subtasks), reflect.challenge_count, reflect.tool_results[0].hits[0].snippet),
          ("バックアップの時刻", ["バックアップの時刻"], 1, BACKUP), "the reviewer's request")
    tools = services.of("ToolRunner/RunTools")[0]
    equal((tools.calls[0].call.name, tools.attempt, bool(tools.idempotency_key), tools.origin.node),
          ("search_documents", 1, True, "execute_subtasks[0]/execute_tools"), "the tools' request")
    chats = services.of("LlmGateway/Chat")
    equal({chat.model for chat in chats}, {"fast", "extractive"}, "the models: no source carries a sentence of the answer")
    expect("ヘルプデスク" in chats[0].messages[0].content, chats[0].messages[0].content)


@check("subtasks overlap in time")
def _():
    import threading
    both = threading.Barrier(2, timeout=10)

    def run(request, context):
        both.wait()
        return found(hit(BACKUP))(request, context)
    script(model(ANSWERS), run)
    succeeded(api.start_run("helpdesk", {"question": "Two things?"}))


@check("reflection that is never content gives exactly three tries, and then the answer says that nothing was found")
def _():
    script(model({"": "The system can fly."}), plan=plan("Can it fly?"), reflect=judged(False, "look for wings"))
    run = api.start_run("helpdesk", {"question": "Can it fly?"})
    result = succeeded(run)
    subtask, = result["subtask_results"]
    equal((subtask["challenge_count"], len(subtask["tool_results"]), len(subtask["reflection_results"]),
           subtask["is_completed"]), (3, 5, 3, False), "the tries, and two searches for an answer without a model")
    expect("fly." not in result["last_answer"].replace("Can it fly?", "") and "No information was found" in result["last_answer"],
           result["last_answer"])
    expect("- Can it fly?" in result["last_answer"], result["last_answer"])
    equal(result.get("citations", []), [], "the citations")
    equal([r.challenge_count for r in services.of("Reviewer/Reflect")], [1, 2, 3], "the counts that the reviewer was told")
    equal(list(services.of("Reviewer/Reflect")[2].earlier_advice), ["look for wings"] * 2, "the earlier advice")


@check("a retry is asked without tool messages, with the advice")
def _():
    chosen = [chat for chat in services.of("LlmGateway/Chat") if chat.tools and chat.model != "extractive"]
    equal(len(chosen), 3, "how often tools were chosen")
    for chat in chosen[1:]:
        expect(all(turn.role != number("ChatRole", "CHAT_ROLE_TOOL") and not turn.tool_calls for turn in chat.messages),
               "a retry has tool messages")
        expect("<advice>\nlook for wings\n</advice>" in chat.messages[-1].content, chat.messages[-1].content)
    equal([len(chat.messages) for chat in chosen], [2, 4, 6], "the length of the conversation, without the search that no model asked for")
    answers = [chat for chat in services.of("LlmGateway/Chat") if not chat.tools and chat.model != "extractive"]
    equal([sum(turn.role == number("ChatRole", "CHAT_ROLE_TOOL") for turn in chat.messages) for chat in answers], [1, 1, 1],
          "the tool messages that answers are written from: those of their own try")
    equal([turn.content for turn in answers[0].messages if turn.tool_call_id],
          [f"[1] guide.md:10-10 | Guide > Part\n{BACKUP}\n\n[2] guide.md:20-20 | Guide > Part\n{RESET}"], "what they say")


@check("an answer without any support is not shown, whatever the model says")
def _():
    script(model({"": "The moon is made of cheese."}))
    result = succeeded(api.start_run("helpdesk", {"question": "What is the moon made of?"}))
    expect("cheese" not in result["last_answer"] and "No information was found" in result["last_answer"], result["last_answer"])


@check("that a search found nothing supports nothing, though it has all the words of the question")
def _():
    nothing = 'Nothing was found for "Can it swim?" in the documents.'

    def run(request, context):
        return message("RunToolsResponse")(results=[{"call_id": c.call.id, "name": c.call.name, "text": nothing, "found_nothing": True}
                                                    for c in request.calls])
    script(model({"": nothing}), run, plan=plan("Can it swim?"))
    result = succeeded(api.start_run("helpdesk", {"question": "Can it swim?"}))
    equal(result.get("citations", []), [], "the citations")
    expect("No information was found" in result["last_answer"], result["last_answer"])
    equal("text" in result["subtask_results"][0]["tool_results"][0]["results"][0], False, "a text")
    asked = [chat for chat in services.of("LlmGateway/Chat") if not chat.tools][0]
    expect(nothing in [turn.content for turn in asked.messages], "the model does not hear of it")


@check("a tool that times out, one that fails and one that returns 5 MB stand with their subtask, and the prompt stays bounded")
def _():
    def run(request, context):
        response = message("RunToolsResponse")()
        for invocation in request.calls:
            name = invocation.call.name
            expect(invocation.output_max_bytes <= 32768 // 3, f"{invocation.output_max_bytes} bytes may come")
            result = response.results.add(call_id=invocation.call.id, name=name)
            if name == "slow":
                result.status_code, result.message = 4, "the tool 'slow' has not ended within 1000 ms"
            elif name == "broken":
                result.status_code, result.message = 2, "it fell over"
            else:
                result.text, result.full_bytes, result.truncated = "x" * (3 << 20), 5 << 20, True
        return response
    script(model({"": "Nothing certain."}, [("slow", "{}"), ("broken", "not json"), ("huge", "{}")]), run, plan=plan("Everything?"))
    run = api.start_run("helpdesk", {"question": "Everything?"})
    result = succeeded(run)
    tools = result["subtask_results"][0]["tool_results"][0]["results"]
    equal([(t["tool_name"], t.get("status_code", 0), t.get("message", "")) for t in tools],
          [("slow", 4, "the tool 'slow' has not ended within 1000 ms"), ("broken", 2, "it fell over"), ("huge", 0, "")], "the tools")
    equal((tools[1]["args"], tools[2]["truncated"]), ("not json", True), "what was asked and cut")
    asked = [chat for chat in services.of("LlmGateway/Chat") if not chat.tools][0]
    expect(sum(len(turn.content) for turn in asked.messages) < 40000, "the prompt is not bounded")
    contents = [turn.content for turn in asked.messages if turn.tool_call_id]
    equal([contents[0], contents[1], contents[2][:3], contents[2][-3:]],
          ["DEADLINE_EXCEEDED: the tool 'slow' has not ended within 1000 ms", "UNKNOWN: it fell over", "xxx", "[…]"], "what is read")
    equal([turn.tool_failed for turn in asked.messages if turn.tool_call_id], [True, True, False], "which failed")
    # The scripted gateway answers the search without a model with the same tools, which fail again.
    equal(sorted({(d.part, d.status_code) for d in run.degradations if d.status_code}), [("broken", 2), ("slow", 4)], "the degradations")


@check("a subtask that breaks off leaves the others alone")
def _():
    def chat(request, context):
        if any("When do backups run?\n</subtask>" in turn.content for turn in request.messages):
            import grpc
            context.abort(grpc.StatusCode.DATA_LOSS, "the model said nothing that could be read")
        return model(ANSWERS)(request, context)
    script(chat)
    run = api.start_run("helpdesk", {"question": "Both?"})
    result = succeeded(run)
    equal([s["is_completed"] for s in result["subtask_results"]], [False, True], "what was completed")
    equal(result["last_answer"], ANSWERS["<results>"], "the answer")


@check("a model that calls no tool, and a plan that is empty, come to an end")
def _():
    def chat(request, context):
        return said("I know it all.") if request.tools else said("It is so.")
    script(chat, plan=plan("Why?"), reflect=judged(False))
    result = succeeded(api.start_run("helpdesk", {"question": "Why?"}))
    expect("No information was found" in result["last_answer"], result["last_answer"])
    equal(len(services.of("ToolRunner/RunTools")), 0, "how often tools ran")
    script(chat, plan=plan())
    result = succeeded(api.start_run("helpdesk", {"question": "Hello"}))
    expect("No question" in result["last_answer"], result["last_answer"])


@check("a planner that goes away for a while is asked again; one that says no fails the run")
def _():
    import grpc
    times = []

    def flaky(request, context):
        times.append(1)
        if len(times) == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
        return plan("When do backups run?")(request, context)
    script(model(ANSWERS), plan=flaky)
    succeeded(api.start_run("helpdesk", {"question": "When?"}))
    script(model(ANSWERS), plan=lambda request, context: context.abort(grpc.StatusCode.NOT_FOUND, "no such model"))
    run = stands(api.start_run("helpdesk", {"question": "When?"}), "FAILED", "NODE_FAILED")
    equal((run.failures[0].node, run.failures[0].status_code), ("ask_planner", 5), "the failure")


finish()
