"""A tool-runner that holds searches back, for tests of callers that leave and of searches that take too long.

    slow = SlowTools(port)           before the one that listens there; its own port is slow.port
    slow.slow = "holdup"             queries with this word wait until they are cancelled, and slow.left has when that was
"""
import os
import time
from concurrent import futures

import grpc
from contract import message, pool

SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time


class SlowTools:
    """The tool-runner behind another one, which holds searches for some words back."""

    def __init__(self, port):
        self.channel, self.slow, self.left = grpc.insecure_channel(f"127.0.0.1:{port}"), None, []
        service = pool.FindServiceByName("renga.v1.ToolRunner")
        server = grpc.server(futures.ThreadPoolExecutor(32), options=[("grpc.http2.min_ping_interval_without_data_ms", 500)])
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
            service.full_name, {method.name: self.handler(method) for method in service.methods if method.name != "IndexDocuments"}),))
        self.port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.server = server

    def handler(self, method):
        answer = message(method.output_type.full_name)
        ask = self.channel.unary_unary(f"/renga.v1.ToolRunner/{method.name}", request_serializer=lambda m: m.SerializeToString(),
                                       response_deserializer=answer.FromString)

        def serve_call(request, context):
            if method.name == "Search" and self.slow and self.slow in request.query:
                begun = time.monotonic()
                while context.is_active() and time.monotonic() < begun + 60:
                    time.sleep(0.002)
                self.left.append(time.monotonic())
            kept = [(key, value) for key, value in context.invocation_metadata() if key in ("renga-forwarded-bin", "authorization")]
            try:
                return ask(request, timeout=20 * SLOW, metadata=kept)
            except grpc.RpcError as error:
                context.abort(error.code(), error.details())
        return grpc.unary_unary_rpc_method_handler(serve_call, message(method.input_type.full_name).FromString,
                                                   lambda m: m.SerializeToString())
