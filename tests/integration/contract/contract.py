#!/usr/bin/python3
"""Is the contract as its README promises? contract.py [PROTO_DIR]: one line a rule, exit 1 when one is broken.

Reads the .proto files through protoc, comments included. contract_breaks.py shows that every rule can be broken.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HERE = os.path.dirname(os.path.abspath(__file__))
PROTO_DIR = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../../../proto"))
PUBLIC_DIR = "/usr/share/grpc-proto"  # Debian's package grpc-proto
OURS = "renga.v1"

Field = descriptor_pb2.FieldDescriptorProto
INTEGERS = {Field.TYPE_INT32, Field.TYPE_INT64, Field.TYPE_UINT32, Field.TYPE_UINT64}
C_WORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    asm typeof unix linux bool true false assert errno stdin stdout stderr major minor base""".split())
# What an integer may be: one of these words stands in its name or its comment.
UNITS = re.compile(
    r"millisecond|micro-USD|byte|character|token|call|file|document|paragraph|vector|note|bullet|result|row|page|line|"
    r"step|attempt|question|round|cycle|run|node|thread|checkpoint|event|item|level|"
    r"count|number|code|offset|share|rank|status|times|how often|how many|once|right of|revision|place|seed|"
    r"from 0|from 1|0 to|(?<!at )\bmost\b", re.I)


def protoc(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def proto_names(root):
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names if name.endswith(".proto"))


def load_set(root, names):
    with tempfile.NamedTemporaryFile() as out:
        done = protoc("protoc", "-I" + root, "-I/usr/include", "--include_imports", "--include_source_info",
                      "--descriptor_set_out=" + out.name, *names)
        if done.returncode:
            sys.exit("not ok - protoc reads every file: " + done.stderr.strip())
        return descriptor_pb2.FileDescriptorSet.FromString(out.read())


class Part:
    """Something with a name and a comment: message, field, oneof, enum, value, service or method."""

    def __init__(self, kind, proto, name, comment):
        self.kind, self.proto, self.name, self.comment = kind, proto, name, " ".join(comment.split())


def parts_of(file):
    """Every part of a file, each with its comment, in the order of the file's descriptor."""
    comments = {tuple(l.path): l.leading_comments or l.trailing_comments for l in file.source_code_info.location}
    parts = []

    def add(kind, proto, path, scope):
        name = scope + "." + proto.name
        parts.append(Part(kind, proto, name, comments.get(path, "")))
        return name

    def enum(proto, path, scope):
        name = add("enum", proto, path, scope)
        for i, value in enumerate(proto.value):
            add("value", value, path + (2, i), name)

    def message(proto, path, scope):
        if proto.options.map_entry:
            return
        name = add("message", proto, path, scope)
        for i, field in enumerate(proto.field):
            add("field", field, path + (2, i), name)
        for i, oneof in enumerate(proto.oneof_decl):
            add("oneof", oneof, path + (8, i), name)
        for i, nested in enumerate(proto.nested_type):
            message(nested, path + (3, i), name)
        for i, nested in enumerate(proto.enum_type):
            enum(nested, path + (4, i), name)

    for i, proto in enumerate(file.message_type):
        message(proto, (4, i), file.package)
    for i, proto in enumerate(file.enum_type):
        enum(proto, (5, i), file.package)
    for i, proto in enumerate(file.service):
        name = add("service", proto, (6, i), file.package)
        for j, method in enumerate(proto.method):
            add("method", method, (6, i, 2, j), name)
    return parts


NAMES = proto_names(PROTO_DIR)
SET = load_set(PROTO_DIR, NAMES)
INTERNAL = ("renga/v1/log.proto", "renga/v1/fanout.proto")  # what the orchestrator keeps, and its loops say to each other
PARTS = [part for file in SET.file if file.package == OURS and file.name not in INTERNAL for part in parts_of(file)]
FIELDS = [part for part in PARTS if part.kind == "field"]
METHODS = [part for part in PARTS if part.kind == "method"]
POOL = descriptor_pool.DescriptorPool()
for each in SET.file:
    POOL.Add(each)
FACTORY = message_factory.MessageFactory(POOL)


def message_class(name):
    return FACTORY.GetPrototype(POOL.FindMessageTypeByName(name))


# The rules. Each is a sentence and yields what breaks it.
RULES = []


def rule(sentence):
    return lambda check: RULES.append((sentence, check)) or check


@rule("every message, field, oneof, enum, value, service and method has a comment")
def _():
    return [p.name for p in PARTS if not p.comment]


@rule("every string, bytes, repeated and map field says how much it holds at most")
def _():
    return [p.name for p in FIELDS if not re.search(r"\bat most\b", p.comment, re.I) and
            (p.proto.label == Field.LABEL_REPEATED or p.proto.type in (Field.TYPE_STRING, Field.TYPE_BYTES))]


def bounds_of(part):
    """The option (renga.v1.bounds) of a field, or None."""
    options = message_class("google.protobuf.FieldOptions").FromString(part.proto.options.SerializeToString())
    extension = POOL.FindExtensionByName(OURS + ".bounds")
    return options.Extensions[extension] if options.HasExtension(extension) else None


@rule("the bounds of a field's option stand in its comment")
def _():
    for p in FIELDS:
        bounds = bounds_of(p)
        if bounds is None:
            continue
        numbers = [bounds.bytes, bounds.items, bounds.key_bytes, bounds.max if bounds.HasField("max") else 0]
        missing = [f"{int(n):,}" for n in numbers if n > 1 and not re.search(rf"(?<![\d,]){int(n):,}(?![\d,]*\d)", p.comment)]
        in_oneof = p.proto.HasField("oneof_index")
        if bounds.required and not in_oneof and not re.search(r"\bRequired\b|\b[Aa]t least\b|\b1 to\b", p.comment):
            missing.append("Required")
        if missing:
            yield f"{p.name} ({', '.join(missing)})"


@rule("every integer says what it counts or numbers")
def _():
    return [p.name for p in FIELDS if p.proto.type in INTEGERS and not UNITS.search(p.proto.name + " " + p.comment)]


@rule("times and durations are int64 named _ms and say milliseconds, money is int64 named _micros and says micro-USD")
def _():
    for p in FIELDS:
        for suffix, word in (("_ms", "millisecond"), ("_micros", "micro-USD")):
            if p.proto.name.endswith(suffix) and (p.proto.type != Field.TYPE_INT64 or word not in p.comment):
                yield p.name
        if p.proto.type in INTEGERS and re.search(r"_(at|seconds?|secs?|time|usd|cost)$", p.proto.name):
            yield p.name


@rule("JSON travels in strings named _json, never as google.protobuf.Struct")
def _():
    for p in FIELDS:
        if p.proto.name.endswith("_json") and p.proto.type != Field.TYPE_STRING:
            yield p.name
        if p.proto.type_name in (".google.protobuf.Struct", ".google.protobuf.Value", ".google.protobuf.ListValue"):
            yield p.name


@rule("no message contains itself, however far down")
def _():
    below = {}

    def collect(message, scope):
        name = scope + "." + message.name
        below[name] = [f.type_name for f in message.field if f.type == Field.TYPE_MESSAGE]
        for nested in message.nested_type:
            collect(nested, name)

    for file in SET.file:
        for message in file.message_type:
            collect(message, "." + file.package)

    def reaches(start, name, seen):
        for inner in below[name]:
            if inner == start or (inner not in seen and reaches(start, inner, seen | {inner})):
                return True
        return False

    return [name[1:] for name in below if name.startswith("." + OURS + ".") and reaches(name, name, {name})]


@rule("no field is proto3 optional, which protoc-c refuses")
def _():
    return [p.name for p in FIELDS if p.proto.proto3_optional]


@rule("a oneof of one field is named maybe_ and the field, any other has at least two")
def _():
    for message in (p.proto for p in PARTS if p.kind == "message"):
        for i, oneof in enumerate(message.oneof_decl):
            members = [f.name for f in message.field if f.HasField("oneof_index") and f.oneof_index == i]
            if (len(members) == 1) != oneof.name.startswith("maybe_") or \
               (len(members) == 1 and oneof.name != "maybe_" + members[0]):
                yield message.name + "." + oneof.name


@rule("every enum begins with _UNSPECIFIED = 0 and its values carry its name")
def _():
    for p in PARTS:
        if p.kind == "enum":
            prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", p.proto.name).upper() + "_"
            zero = p.proto.value[0]
            if zero.name != prefix + "UNSPECIFIED" or zero.number:
                yield p.name
            yield from (p.name + "." + v.name for v in p.proto.value if not v.name.startswith(prefix))


@rule("every method has an idempotency_level or says that it is not safe to repeat, not both")
def _():
    return [p.name for p in METHODS
            if p.proto.options.HasField("idempotency_level") == ("not safe to repeat" in p.comment.lower())]


@rule("every method names its errors, or says that it has none of its own")
def _():
    return [p.name for p in METHODS
            if not re.search(r"\b[A-Z]+_[A-Z_]+\b|\b(ABORTED|UNAVAILABLE|INTERNAL|CANCELLED)\b|\berrors as\b|"
                             r"\bno errors?\b|\bsame (errors|codes)\b", p.comment, re.I)]


@rule("no name is a word of C")
def _():
    return [p.name for p in PARTS if p.kind in ("field", "oneof", "method") and p.proto.name.lower() in C_WORDS]


@rule("no line is longer than 120 characters")
def _():
    for name in NAMES:
        with open(os.path.join(PROTO_DIR, name), encoding="utf-8") as text:
            yield from (f"{name}:{i}" for i, line in enumerate(text, 1) if len(line.rstrip("\n")) > 120)


@rule("protoc-c and the C compiler take every file")
def _():
    with tempfile.TemporaryDirectory() as out:
        for name in NAMES + [f"google/protobuf/{name}.proto" for name in ("any", "descriptor", "duration")]:
            done = protoc("protoc-c", "-I" + PROTO_DIR, "-I/usr/include", "--c_out=" + out, name)
            if done.returncode:
                yield done.stderr.strip()
        for name in NAMES:
            source = os.path.join(out, name[:-len(".proto")] + ".pb-c.c")
            if os.path.exists(source):
                done = protoc("cc", "-std=gnu11", "-fsyntax-only", "-I" + out, source)
                if done.returncode:
                    yield name + ": " + done.stderr.strip().splitlines()[0]


def wire_of(file):
    """What counts on the wire and for a client: names, numbers, types, streams."""
    wire = set()

    def message(proto, scope):
        for f in proto.field:
            wire.add((scope + proto.name, f.name, f.number, f.type, f.label, f.type_name))
        for nested in proto.nested_type:
            message(nested, scope + proto.name + ".")
        for nested in proto.enum_type:
            wire.update((scope + proto.name, nested.name, v.name, v.number) for v in nested.value)

    for proto in file.message_type:
        message(proto, "")
    for service in file.service:
        wire.update((service.name, m.name, m.input_type, m.output_type, m.client_streaming, m.server_streaming)
                    for m in service.method)
    return file.package, wire


@rule("health and reflection are on the wire what the public files are")
def _():
    names = ["grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto",
             "grpc/reflection/v1alpha/reflection.proto"]
    public = {file.name: wire_of(file) for file in load_set(PUBLIC_DIR, names).file}
    ours = {file.name: wire_of(file) for file in SET.file}
    return [name for name in names if public[name] != ours.get(name)]


@rule("google.rpc is on the wire what the public files are")
def _():
    text, message, once, many = Field.TYPE_STRING, Field.TYPE_MESSAGE, Field.LABEL_OPTIONAL, Field.LABEL_REPEATED
    public = {
        ("Status", "code", 1, Field.TYPE_INT32, once, ""), ("Status", "message", 2, text, once, ""),
        ("Status", "details", 3, message, many, ".google.protobuf.Any"),
        ("BadRequest", "field_violations", 1, message, many, ".google.rpc.BadRequest.FieldViolation"),
        ("BadRequest.FieldViolation", "field", 1, text, once, ""),
        ("BadRequest.FieldViolation", "description", 2, text, once, ""),
        ("RetryInfo", "retry_delay", 1, message, once, ".google.protobuf.Duration"),
        ("ErrorInfo", "reason", 1, text, once, ""), ("ErrorInfo", "domain", 2, text, once, ""),
        ("ErrorInfo", "metadata", 3, message, many, ".google.rpc.ErrorInfo.MetadataEntry"),
        ("ErrorInfo.MetadataEntry", "key", 1, text, once, ""),
        ("ErrorInfo.MetadataEntry", "value", 2, text, once, ""),
        ("QuotaFailure", "violations", 1, message, many, ".google.rpc.QuotaFailure.Violation"),
        ("QuotaFailure.Violation", "subject", 1, text, once, ""),
        ("QuotaFailure.Violation", "description", 2, text, once, ""),
    }
    ours = set().union(*(wire_of(file)[1] for file in SET.file if file.package == "google.rpc"))
    return [".".join(map(str, entry[:3])) for entry in public ^ ours]


def fill(message):
    """Sets every field to something that is not its default; of a oneof the last member stays."""
    for f in message.DESCRIPTOR.fields:
        if f.message_type and f.message_type.GetOptions().map_entry:
            value = f.message_type.fields_by_name["value"]
            if value.message_type:
                fill(getattr(message, f.name)["鍵"])
            else:
                getattr(message, f.name)["鍵"] = sample(value)
        elif f.label == f.LABEL_REPEATED:
            for _ in range(2):
                if f.message_type:
                    fill(getattr(message, f.name).add())
                else:
                    getattr(message, f.name).append(sample(f))
        elif f.message_type:
            getattr(message, f.name).SetInParent()
            fill(getattr(message, f.name))
        else:
            setattr(message, f.name, sample(f))
    return message


def sample(f):
    if f.enum_type:
        return f.enum_type.values[-1].number
    return {f.CPPTYPE_STRING: b"\0\xff" if f.type == f.TYPE_BYTES else "連歌", f.CPPTYPE_BOOL: True,
            f.CPPTYPE_DOUBLE: 0.25, f.CPPTYPE_FLOAT: 0.25}.get(f.cpp_type, 7)


@rule("python reads back every message as it was written, from the descriptor set alone")
def _():
    for name in (p.name for p in PARTS if p.kind == "message"):
        full = fill(message_class(name)())
        if type(full).FromString(full.SerializeToString()) != full:
            yield name


@rule("a temperature of 0 is present, none is absent, and both look on the wire as proto3 optional would")
def _():
    sampling = message_class(OURS + ".Sampling")
    if sampling(temperature=0).SerializeToString() != b"\x09" + bytes(8) or sampling().SerializeToString() != b"":
        yield "bytes"
    if not sampling(temperature=0).HasField("temperature") or sampling().HasField("temperature"):
        yield "presence"


@rule("python calls Chat and ChatStream over gRPC without generated code")
def _():
    request, response, event = (message_class(f"{OURS}.{name}")
                                for name in ("ChatRequest", "ChatResponse", "ChatStreamEvent"))
    asked = fill(request())

    def chat(got, context):
        return response(id="whole" if got == asked else "changed")

    def chat_stream(got, context):
        yield event(text="連")
        yield event(text="歌")
        yield event(finish={"finish_reason": "FINISH_REASON_STOP"})

    server = grpc.server(futures.ThreadPoolExecutor(2))
    port = server.add_insecure_port("127.0.0.1:0")
    bytes_of = lambda m: m.SerializeToString()
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(OURS + ".LlmGateway", {
        "Chat": grpc.unary_unary_rpc_method_handler(chat, request.FromString, bytes_of),
        "ChatStream": grpc.unary_stream_rpc_method_handler(chat_stream, request.FromString, bytes_of)})])
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)]) as channel:
        path = f"/{OURS}.LlmGateway/"
        whole = channel.unary_unary(path + "Chat", bytes_of, response.FromString)(asked, timeout=10)
        events = list(channel.unary_stream(path + "ChatStream", bytes_of, event.FromString)(asked, timeout=10))
    server.stop(None).wait()
    if whole.id != "whole":
        yield "the request arrived " + whole.id
    if "".join(e.text for e in events) != "連歌" or events[-1].WhichOneof("event") != "finish":
        yield "the stream arrived changed"


failures = 0
for sentence, check in RULES:
    try:
        broken = list(check())
    except Exception as error:  # a rule that cannot even be looked at is broken
        broken = [f"{type(error).__name__}: {error}".replace("\n", " ")[:200]]
    failures += bool(broken)
    more = f" and {len(broken) - 8} more" if len(broken) > 8 else ""
    print(f"not ok - {sentence}: {', '.join(broken[:8])}{more}" if broken else f"ok - {sentence}", flush=True)
sys.exit(failures > 0)
