"""A real renga-tool-runner in a process of its own, its knowledge base in a folder that goes away, and its functions.

    with ToolRunner(roots=[folder]) as runner:
        runner.index("manual", folder)
        runner.search("ports").hits[0].uri

Needs RENGA_BIN and RENGA_PROTO."""
import os
import re
import shutil
import signal
import subprocess
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

BIN = os.environ["RENGA_BIN"]

pool = descriptor_pool.DescriptorPool()
with open(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), "rb") as descriptor_file:
    for descriptor in descriptor_pb2.FileDescriptorSet.FromString(descriptor_file.read()).file:
        pool.Add(descriptor)
factory = message_factory.MessageFactory(pool)


def message(name):
    return factory.GetPrototype(pool.FindMessageTypeByName("renga.v1." + name))


class ToolRunner:
    """`binary` may be renga with `serve`, for all services."""

    def __init__(self, roots=(), state=None, options=(), binary=("renga-tool-runner",), environment=None):
        self.own_state = state is None
        self.state = state or tempfile.mkdtemp(prefix="renga-tools-")
        self.arguments = [os.path.join(BIN, binary[0]), *binary[1:], "--rpc.listen=127.0.0.1:0", "--http.listen=",
                          f"--tool_runner.store={self.state}/knowledge.db", "--tool_runner.record=memory:", "--log.format=json", *options]
        if roots:
            self.arguments.append("--tool_runner.roots=" + ",".join(roots))
        self.environment = {**os.environ, **(environment or {})}
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stderr=subprocess.PIPE, text=True, cwd=self.state, env=self.environment)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            listening = re.search(r"rpc\.listening.*?port (\d+)", line)
            if listening:
                self.port = int(listening.group(1))
                break
        else:
            raise RuntimeError("the tool-runner did not start: " + "".join(self.log))
        # Nobody reads on: what it still says must not hold it up.
        subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}")

    def stop(self, kill=False):
        self.channel.close()
        self.process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        return self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        if self.own_state:
            shutil.rmtree(self.state, ignore_errors=True)

    def call(self, method, request, answer, stream=False, service="ToolRunner", timeout=300):
        kind = self.channel.unary_stream if stream else self.channel.unary_unary
        function = kind(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(),
                        response_deserializer=message(answer).FromString)
        return function(request, timeout=timeout, wait_for_ready=True)

    def index_stream(self, collection, folder, **fields):
        request = message("IndexDocumentsRequest")(collection=collection, folder=folder, **fields)
        return self.call("IndexDocuments", request, "IndexDocumentsProgress", stream=True, timeout=3600)

    def index(self, collection, folder, **fields):
        """The last message; `skipped` is that of all."""
        skipped, last = [], None
        for last in self.index_stream(collection, folder, **fields):
            skipped += last.skipped
        return last, skipped

    def search(self, query, **fields):
        return self.call("Search", message("SearchRequest")(query=query, **fields), "SearchResponse")

    def collections(self):
        answer = self.call("GetKnowledgeBase", message("GetKnowledgeBaseRequest")(), "GetKnowledgeBaseResponse")
        return {collection.name: collection for collection in answer.collections}
