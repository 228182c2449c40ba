#!/usr/bin/env python3
"""The node `compare` of the agent guess: guess_node.py RENGA_DESC [ADDRESS]. RENGA_DESC is the contract as a descriptor set:

    protoc --include_imports -Iproto --descriptor_set_out=renga.desc proto/renga/v1/*.proto
"""
import json
import sys
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

pool = descriptor_pool.DescriptorPool()
with open(sys.argv[1], "rb") as descriptors:
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors.read()).file:
        pool.Add(file)


def message(name):
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("renga.v1." + name))


def run(request, context):
    if request.function != "compare":
        context.abort(grpc.StatusCode.NOT_FOUND, f"there is no function '{request.function}' here")
    state = json.loads(request.state_json)
    difference = state["guess"] - state["secret"]
    outcome = "low" if difference < 0 else "high" if difference > 0 else "right"
    return message("RunNodeResponse")(outcome=outcome, update_json=json.dumps({"hints": [outcome]}))


server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("renga.v1.NodeService", {
    "Run": grpc.unary_unary_rpc_method_handler(run, message("RunNodeRequest").FromString, lambda reply: reply.SerializeToString())})])
server.add_insecure_port(sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:15300")
server.start()
server.wait_for_termination()
