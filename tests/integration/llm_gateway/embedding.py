#!/usr/bin/env python3
"""Embeddings as python3-grpcio gets them. RENGA_BIN=<folder of renga-llm-gateway>
RENGA_PROTO=<folder of renga_descriptor_set.bin> embedding.py; one line a check, exit 1 when one fails."""
import os
import random
import re
import struct
import subprocess
import sys
import time

for _name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "GRPC_PROXY"):
    os.environ.pop(_name, None)

import grpc  # noqa: E402 - after the proxies are gone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, follow  # noqa: E402
from contract import message  # noqa: E402

upstream = subprocess.Popen(["/usr/bin/python3", f"{HERE}/upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
_, upstream_port, models = upstream.stdout.readline().split()
gateway = subprocess.Popen(
    [f"{os.environ['RENGA_BIN']}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json",
     "--llm_gateway.key=sk-test-0123456789", f"--llm_gateway.upstream=http://127.0.0.1:{upstream_port}/v1",
     f"--llm_gateway.models={models}"], stderr=subprocess.PIPE, text=True)
for line in gateway.stderr:
    listening = re.search(r"rpc\.listening.*?port (\d+)", line)
    if listening:
        break
follow("the gateway", gateway)

EmbedRequest, EmbedResponse = message("EmbedRequest"), message("EmbedResponse")
channel = grpc.insecure_channel(f"127.0.0.1:{listening.group(1)}")
embed = channel.unary_unary("/renga.v1.LlmGateway/Embed", request_serializer=EmbedRequest.SerializeToString,
                            response_deserializer=EmbedResponse.FromString)


def refusal(**request):
    try:
        embed(EmbedRequest(**request), timeout=20)
    except grpc.RpcError as error:
        return error
    raise AssertionError("it went well")


@check("floats arrive to the bit, in the order of the texts, in both forms")
def _():
    words = [[random.getrandbits(32) & 0xbf7fffff for _ in range(512)] for _ in range(3)]  # no infinities
    inputs = [" ".join("%08x" % word for word in vector) for vector in words]
    for model in ("embeds", "embeds-base64", "embeds-numbers"):
        response = embed(EmbedRequest(model=model, inputs=inputs), timeout=20)
        got = [list(struct.unpack("<512I", struct.pack("<512f", *embedding.values))) for embedding in response.embeddings]
        expect(got == words, model)
        expect(response.answered_by.model == "scripted-embedding-2026" and response.usage.input_tokens == 11, response.usage)


@check("a million numbers come in one answer")
def _():
    for model in ("embeds-base64", "embeds-numbers"):
        began = time.monotonic()
        response = embed(EmbedRequest(model=model, inputs=["488 long"] * 2048), timeout=60)
        expect(sum(len(embedding.values) for embedding in response.embeddings) == 2048 * 488, model)
        print(f"# {model}: {time.monotonic() - began:.2f} s, the upstream's own work included")


@check("what is wrong is said by its field")
def _():
    for request, part in (({"inputs": ["a", ""]}, "inputs[1]: is empty"), ({"inputs": []}, "inputs: has 0 entries"),
                          ({"inputs": ["a"], "dimensions": 9000}, "dimensions: is 9000"),
                          ({"inputs": ["a"] * 2000, "dimensions": 501}, "send at most 1996 texts at a time")):
        error = refusal(model="embeds", **request)
        expect(error.code() == grpc.StatusCode.INVALID_ARGUMENT and part in error.details(), f"{error.code()} {error.details()}")


@check("an answer that is none is DATA_LOSS")
def _():
    for model in ("embeds-one", "embeds-twice", "embeds-unevenly", "embeds-nan", "embeds-garbage", "embeds-endless"):
        error = refusal(model=model, inputs=["a", "b"])
        expect(error.code() == grpc.StatusCode.DATA_LOSS, f"{model}: {error.code()} {error.details()}")


gateway.kill()
upstream.stdin.close()
finish()
