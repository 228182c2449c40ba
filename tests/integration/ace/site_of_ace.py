"""The real services before the model of the toy world (toy.py), and calls of what they learn with."""
import json
import threading

import grpc

import toy
from checks import check
from contract import message
from suite import SLOW
from web import Handler, completion, serve


class Model(Handler):
    seen, lock = [], threading.Lock()

    def do_POST(self):
        asked = self.asked()
        text = "\n".join(turn["content"] or "" for turn in asked["messages"])
        with Model.lock:
            Model.seen.append(text)
        self.reply(completion({"role": "assistant", "content": toy.answer(text, json.dumps(asked.get("response_format", {})))}))


GATEWAY = [f"--llm_gateway.upstream=http://127.0.0.1:{serve(Model).server_port}/v1", "--llm_gateway.provider=openai", "--llm_gateway.key=k", "--llm_gateway.models=scripted"]


class Site:
    def __init__(self, suite, tools):
        self.suite, self.tools = suite, tools

    def call(self, channel, service, method, request, reply, stream=False, timeout=240):
        make = getattr(channel, "unary_stream" if stream else "unary_unary")
        made = make(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(), response_deserializer=message(reply).FromString)(
            request, timeout=timeout * SLOW, wait_for_ready=True)
        return list(made) if stream else made

    def adapt(self, mode, samples, dataset="toy", **fields):
        events = self.call(self.suite.channel, "AceGenerator", "Adapt", message("AdaptRequest")(mode=mode, samples=samples, dataset=dataset, **fields), "AdaptEvent", True)
        return [event.sample for event in events if event.WhichOneof("event") == "sample"], events[-1].result

    def put(self, dataset="toy", **fields):
        return self.call(self.tools, "ToolRunner", "PutPlaybook", message("PutPlaybookRequest")(dataset=dataset, **fields), "PutPlaybookResponse")

    def bullets(self, dataset="toy"):
        return self.call(self.tools, "ToolRunner", "GetPlaybook", message("GetPlaybookRequest")(dataset=dataset), "GetPlaybookResponse").bullets

