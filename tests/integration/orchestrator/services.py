"""The services that nodes call, served by this process: each method is a function of the test, and what came is kept.

    services.on("Planner/Plan", lambda request, context: message("PlanResponse")(…))
    services.of("Planner/Plan")   # the requests so far
"""
import threading
import time
from concurrent import futures

import grpc

from harness import message, pool

NAMES = ("LlmGateway", "Planner", "ToolRunner", "Reviewer")
PEERS = {"LlmGateway": "llm_gateway", "Planner": "planner", "ToolRunner": "tool_runner", "Reviewer": "reviewer"}


class Services:
    def __init__(self):
        self.behaviours, self.seen, self.lock = {}, [], threading.Lock()
        self.server = grpc.server(futures.ThreadPoolExecutor(64), options=[("grpc.http2.min_ping_interval_without_data_ms", 500)])
        for name in NAMES:
            service = pool.FindServiceByName("renga.v1." + name)
            self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
                service.full_name, {method.name: self.handler(name, method) for method in service.methods}),))
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def handler(self, name, method):
        key = f"{name}/{method.name}"
        stream = method.name in ("ChatStream", "IndexDocuments")

        def serve(request, context):
            with self.lock:
                self.seen.append((key, request, time.monotonic()))
            behaviour = self.behaviours.get(key)
            if behaviour is None:
                context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the test has no {key}")
            return behaviour(request, context)
        make = grpc.unary_stream_rpc_method_handler if stream else grpc.unary_unary_rpc_method_handler
        return make(serve, message(method.input_type.full_name).FromString,
                    message(method.output_type.full_name).SerializeToString)

    def flags(self):
        return tuple(f"--peers.{option}=ipv4:{self.address}" for option in PEERS.values())

    def on(self, key, behaviour):
        self.behaviours[key] = behaviour

    def of(self, key):
        with self.lock:
            return [request for name, request, _ in self.seen if name == key]

    def times(self, key):
        with self.lock:
            return [when for name, _, when in self.seen if name == key]

    def forget(self):
        with self.lock:
            self.seen.clear()


services = Services()


# ---- answers ---------------------------------------------------------------------------------------------------------


def said(text, **fields):
    """What a model says."""
    response = message("ChatResponse")(id="a1", message={"role": 3, "content": text}, finish={"finish_reason": 1, **fields})
    response.finish.usage.model_calls = 1
    response.finish.usage.input_tokens = 10
    return response


def called(*calls):
    """What a model calls: pairs of name and arguments as text."""
    response = message("ChatResponse")(id="a2", message={"role": 3}, finish={"finish_reason": 3})
    for number, (name, arguments) in enumerate(calls):
        response.message.tool_calls.add(id=f"c{number}", name=name, arguments_json=arguments)
    response.finish.usage.model_calls = 1
    return response


def tool(name, parameters='{"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}', server=""):
    return {"definition": {"name": name, "description": "What " + name + " does.", "parameters_json": parameters}, "server": server}


def plan(*subtasks):
    return lambda request, context: message("PlanResponse")(subtasks={"subtasks": subtasks}, usage={"model_calls": 1})


def judged(completed, advice=""):
    return lambda request, context: message("ReflectResponse")(
        reflection={"is_completed": completed, "advice": advice}, usage={"model_calls": 1})


def hit(text, uri="guide.md", line=10, **fields):
    lines = text.count("\n")
    return {"source": "documents", "collection": "docs", "uri": uri, "title": "Guide", "heading_path": ["Guide", "Part"],
            "line_from": line, "line_to": line + lines, "snippet": text, "score": 0.5, **fields}


def found(*hits, **fields):
    """A tool that finds the same whatever it is asked."""
    def run(request, context):
        response = message("RunToolsResponse")()
        for invocation in request.calls:
            text = "\n\n".join(f"[{n + 1}] {h['uri']}:{h['line_from']}-{h['line_to']} | {' > '.join(h['heading_path'])}\n"
                               f"{h['snippet']}" for n, h in enumerate(hits))
            response.results.add(call_id=invocation.call.id, name=invocation.call.name, text=text, hits=hits, **fields)
        return response
    return run
