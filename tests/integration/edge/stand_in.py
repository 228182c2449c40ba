"""A stand-in for all services that the edge calls: every method of the contract is answered as a test says.

    behind = StandIn()                                  # listens at 127.0.0.1:<behind.port>
    behind.answers["GetRun"] = lambda request, context: message("GetRunResponse")()
    filled(message("GetRunResponse"))                   # a message with every field set; of each oneof the member `choice`

Needs RENGA_PROTO."""
import itertools
from concurrent import futures

import grpc
from google.protobuf import any_pb2
from contract import message, pool

SERVICES = ["Orchestrator", "Helpdesk", "DeepResearch", "AutonomousResearch", "FormInterview", "AceGenerator", "LlmGateway", "ToolRunner"]
METHODS = {f"{service}_{method.name}": method
           for service in SERVICES for method in pool.FindServiceByName(f"renga.v1.{service}").methods}


class StandIn:
    def __init__(self):
        self.answers, self.requests = {}, {}
        self.server = grpc.server(futures.ThreadPoolExecutor(32))
        for service in SERVICES:
            handlers = {METHODS[name].name: self.handler(name) for name in METHODS if name.startswith(service + "_")}
            self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(f"renga.v1.{service}", handlers),))
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        where = f"127.0.0.1:{self.port}"
        self.options = [f"--peers.{peer}={where}" for peer in ("orchestrator", "llm_gateway", "tool_runner")]

    def handler(self, name):
        method = METHODS[name]

        def call(request, context):
            self.requests[name] = request
            return self.answers[name](request, context)

        make = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
        return make(call, message(method.input_type.full_name).FromString, lambda answer: answer.SerializeToString())


def details(code, text, *kept):
    """Trailing metadata with typed details."""
    status = message("google.rpc.Status")(code=code, message=text)
    for detail in kept:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.add().ParseFromString(packed.SerializeToString())
    return (("grpc-status-details-bin", status.SerializeToString()),)


TEXTS = itertools.cycle(["連歌", "a \"quoted\" \\ text", "two\nlines\t", "<b>&amp;</b>", "\U0001f319 moon", "x"])
INTEGERS = {"int32": [-2**31, 2**31 - 1, 7], "int64": [2**63 - 1, -2**63, 2**53 + 1], "uint32": [2**32 - 1], "uint64": [2**64 - 1]}
REALS = [0.1, -1e300, 1.5, 0.0]


def values(field, depth, choice):
    kind = field.type
    if kind == field.TYPE_MESSAGE:
        return [filled(message(field.message_type.full_name), depth + 1, choice)]
    if kind == field.TYPE_ENUM:
        return [field.enum_type.values[-1].number, field.enum_type.values[0].number]
    if kind == field.TYPE_STRING:
        return ['{"a": [1, "é"]}', "null"] if field.name.endswith("_json") else [next(TEXTS), next(TEXTS)]
    if kind == field.TYPE_BYTES:
        return [bytes(range(256))]
    if kind == field.TYPE_BOOL:
        return [True]
    if kind in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        return [0.5, -2.25] if kind == field.TYPE_FLOAT else REALS
    return INTEGERS[{field.TYPE_INT32: "int32", field.TYPE_INT64: "int64", field.TYPE_UINT32: "uint32"}.get(kind, "uint64")]


def filled(kind, depth=0, choice=0):
    made = kind()
    for field in kind.DESCRIPTOR.fields:
        oneof = field.containing_oneof
        if oneof and oneof.fields[choice % len(oneof.fields)] is not field and oneof.fields[choice % len(oneof.fields)].name != field.name:
            continue
        if field.message_type and field.message_type.GetOptions().map_entry:
            for key, value in (("team", "north"), ("a.b", "ä"), ("", "")):
                getattr(made, field.name)[key] = value
        elif field.label == field.LABEL_REPEATED:
            given = values(field, depth, choice)
            (getattr(made, field.name).extend)(given)
        elif field.message_type:
            getattr(made, field.name).CopyFrom(values(field, depth, choice)[0])
        else:
            setattr(made, field.name, values(field, depth, choice)[0])
    return made
