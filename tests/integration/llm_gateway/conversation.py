#!/usr/bin/env python3
"""One conversation with a tool over gRPC, for conversation.mjs: PORT whole|stream QUESTION RESULT PARAMETERS. Prints what
was said as JSON. RENGA_PROTO=<folder of renga_descriptor_set.bin>"""
import json
import os
import sys

for _name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "GRPC_PROXY"):
    os.environ.pop(_name, None)

import grpc  # noqa: E402 - after the proxies are gone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from contract import message, number, word  # noqa: E402

port, way, question, result, parameters = sys.argv[1:]
Request, Response, Event, Message = (message(name) for name in
                                     ("ChatRequest", "ChatResponse", "ChatStreamEvent", "ChatMessage"))
channel = grpc.insecure_channel(f"127.0.0.1:{port}")
chat = channel.unary_unary("/renga.v1.LlmGateway/Chat", Request.SerializeToString, Response.FromString)
stream = channel.unary_stream("/renga.v1.LlmGateway/ChatStream", Request.SerializeToString, Event.FromString)


def gathered(request):
    said, finish = Message(role=number("ChatRole", "CHAT_ROLE_ASSISTANT")), None
    for event in stream(request, timeout=20):
        kind = event.WhichOneof("event")
        if kind == "text":
            said.content += event.text
        elif kind == "tool_call":
            piece = event.tool_call
            while len(said.tool_calls) <= piece.index:
                said.tool_calls.add(id=piece.id, name=piece.name)
            said.tool_calls[piece.index].arguments_json += piece.arguments_json
        elif kind == "finish":
            finish = event.finish
    return said, finish


def ask(messages):
    request = Request(model="converses", messages=messages, tools=[{"name": "get_weather", "parameters_json": parameters}])
    if way == "stream":
        said, finish = gathered(request)
    else:
        response = chat(request, timeout=20)
        said, finish = response.message, response.finish
    messages.append(said)
    return {"text": said.content, "finish": word("FinishReason", finish.finish_reason).replace("FINISH_REASON_", "").lower(),
            "tokens": finish.usage.input_tokens + finish.usage.output_tokens,
            "calls": [[call.id, call.name, call.arguments_json] for call in said.tool_calls]}


turns = [Message(role=number("ChatRole", "CHAT_ROLE_USER"), content=question)]
first = ask(turns)
turns.append(Message(role=number("ChatRole", "CHAT_ROLE_TOOL"), tool_call_id=first["calls"][0][0], content=result))
print(json.dumps([first, ask(turns)], ensure_ascii=False))
