"""A scripted model that plays the agents of the interview, over OpenAI's protocol. An agent is known by the tools it is
offered. A part is a function of the request; it returns a list of calls (name, arguments), a text, a message, or raw
bytes of a response. PARTS play by the rules.

    Model.plays = {**PARTS, "review": mine}
    desk = Desk(model=serve(Model).server_port)"""
import json
import re
import threading

from web import Handler, completion


def prompts(request):
    """All that the agent is shown, as it reads it."""
    return "\n".join(turn.get("content") or "" for turn in request["messages"])


def between(tag, text):
    """The last part of the text that stands between tags of this name."""
    found = re.findall(rf"<{tag}>\n(.*?)\n</{tag}>", text, re.S)
    return found[-1] if found else ""


def said(request):
    """The person's last words."""
    return between("said", prompts(request))


def called(request):
    return any(turn["role"] == "tool" for turn in request["messages"])


def form_of(request):
    return json.loads(between("form", prompts(request)))


def field_shown(request):
    found = re.findall(r"field_id: (\S*)", prompts(request))
    return found[-1] if found else ""


def field_reviewed(request):
    return json.loads(between("field", prompts(request)))["field_id"]


def answer_reviewed(request):
    """The last answer of the field under review."""
    return re.sub(r"^(Person|回答者): ", "", between("conversation", prompts(request)).split("\n")[-1])


def waits(request):
    """Whether a value waits for its review; the system prompt of each turn says so."""
    return between("waiting", prompts(request)).startswith("[{")


def greeter(request):
    if called(request):
        return "That is all I need."
    if "Japan" in said(request):
        return [("set_language", {"language": "en"}), ("set_country", {"country": "JP"}), ("set_timezone", {"timezone": "Asia/Tokyo"})]
    return [("ask", {"text": "Hello! Which language, and which country?"})]


def architect(request):
    return [("create_plan", {"fields": [{"field_id": one["field_id"], "label": one["label"], "intent": "to know", "required": one.get("required", False)}
                                        for one in form_of(request)["fields"]]})]


def interviewer(request):
    if waits(request):
        return [("subtask", {"agent": "reviewer"})]
    return [("ask", {"text": f"What is your {field_shown(request)}?"})]


def reviewer(request):
    words = answer_reviewed(request)
    value = re.findall(r"[\w.]+@[\w.]+\w", words)[-1:] if field_reviewed(request) == "mail" else [words]
    return [("review", {"passed": True, "field_value": (value or [words])[0], "extracted_facts": [], "missing_facts": []})]


PARTS = {"set_language": greeter, "create_plan": architect, "subtask": interviewer, "review": reviewer}


class Model(Handler):
    plays, seen, lock = dict(PARTS), [], threading.Lock()

    def do_POST(self):
        request = self.asked()
        names = [tool["function"]["name"] for tool in request.get("tools", [])]
        part = next((name for name in PARTS if name in names), None)
        with Model.lock:
            Model.seen.append((part, request))
        made = Model.plays[part](request) if part else "no tools"
        if isinstance(made, bytes):
            return self.reply(made)
        if isinstance(made, dict):
            return self.reply(completion(made))
        if isinstance(made, str):
            return self.reply(completion({"role": "assistant", "content": made}))
        calls = [{"id": f"c{i}", "type": "function",
                  "function": {"name": name, "arguments": how if isinstance(how, str) else json.dumps(how)}} for i, (name, how) in enumerate(made)]
        return self.reply(completion({"role": "assistant", "content": None, "tool_calls": calls}))
