"""A collector of a test's own: what is started with FLAG sends its spans here, in either encoding of OTLP/HTTP.

    from collector import FLAG, spans   # spans: all that came, in OTLP's JSON, each with the `service` that sent it

    from collector import LANGSMITH, faults, trees
    trees()               # what LangSmith makes of them: a list of Run, the roots, each with its children
    faults()              # why LangSmith would drop or misplace some: sentences; [] is a whole tree

LangSmith answers 200 at once and drops a span whose parent never comes, without a word; so the rules stand here."""
import re

from web import Handler, serve

spans = []
requests = []  # of each export: its headers, in lower case

KEY = "lsv2_pt_0123456789abcdef_0123456789"
PROJECT = "a project"
# What an operator writes for LangSmith, but for the address.
LANGSMITH = ["--trace.roots=runs", f"--trace.headers=x-api-key={KEY},Langsmith-Project=a%20project"]
KINDS = {"chain", "llm", "tool", "retriever", "embedding", "prompt", "parser"}
SLACK_NS = 2_000_000  # of two processes' clocks

# ---- the protobuf encoding -------------------------------------------------------------------------------------------


def _fields(data):
    """(number, wire type, value) of each field of a message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            assert kind in (1, 2, 5) and at + size <= len(data), f"no field at byte {at}"
            value = data[at:at + size]
            at += size
            if kind != 2:
                value = int.from_bytes(value, "little")
        yield tag >> 3, kind, value


_ANY = {1: ("stringValue", lambda v: v.decode()), 2: ("boolValue", bool), 3: ("intValue", lambda v: str(v - (1 << 64) if v >> 63 else v)),
        4: ("doubleValue", lambda v: __import__("struct").unpack("<d", v.to_bytes(8, "little"))[0]),
        5: ("arrayValue", lambda v: {"values": [_any(one) for _, _, one in _fields(v)]})}


def _any(data):
    return {_ANY[number][0]: _ANY[number][1](value) for number, _, value in _fields(data)}


def _message(table):
    def read(data):
        out = {}
        for number, _, value in _fields(data):
            name, turn, repeated = table[number]
            if repeated:
                out.setdefault(name, []).append(turn(value))
            else:
                out[name] = turn(value)
        return out
    return read


def _text(value):
    return value.decode()


_pair = _message({1: ("key", _text, False), 2: ("value", _any, False)})
_event = _message({1: ("timeUnixNano", str, False), 2: ("name", _text, False), 3: ("attributes", _pair, True)})
_link = _message({1: ("traceId", bytes.hex, False), 2: ("spanId", bytes.hex, False)})
_status = _message({2: ("message", _text, False), 3: ("code", int, False)})
_span = _message({1: ("traceId", bytes.hex, False), 2: ("spanId", bytes.hex, False), 4: ("parentSpanId", bytes.hex, False),
                  5: ("name", _text, False), 6: ("kind", int, False), 7: ("startTimeUnixNano", str, False), 8: ("endTimeUnixNano", str, False),
                  9: ("attributes", _pair, True), 11: ("events", _event, True), 13: ("links", _link, True), 15: ("status", _status, False),
                  16: ("flags", int, False)})
_scope = _message({1: ("scope", _message({1: ("name", _text, False), 2: ("version", _text, False)}), False), 2: ("spans", _span, True)})
_resource = _message({1: ("resource", _message({1: ("attributes", _pair, True)}), False), 2: ("scopeSpans", _scope, True)})
_request = _message({1: ("resourceSpans", _resource, True)})


class _Collector(Handler):
    def do_POST(self):
        kind = self.headers["content-type"]
        requests.append({name.lower(): value for name, value in self.headers.items()})
        if kind == "application/x-protobuf":
            body = _request(self.rfile.read(int(self.headers["content-length"])))
        elif kind == "application/json":
            body = self.asked()
        else:
            self.reply({}, 415)
            return
        for resource in body["resourceSpans"]:
            service = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "service.name")
            for scope in resource["scopeSpans"]:
                spans.extend({**span, "service": service} for span in scope["spans"])
        self.reply(b"" if kind == "application/x-protobuf" else {}, kind=kind)


FLAG = f"--trace.endpoint=http://127.0.0.1:{serve(_Collector).server_port}"

# ---- what LangSmith makes of it --------------------------------------------------------------------------------------


def _value(value):
    name, held = next(iter(value.items()))
    return int(held) if name == "intValue" else [_value(one) for one in held["values"]] if name == "arrayValue" else held


class Run:
    """A span as LangSmith shows it: a run."""

    def __init__(self, span):
        self.span, self.service, self.children, self.parent = span, span["service"], [], None
        self.id, self.trace, self.above = span["spanId"], span["traceId"], span.get("parentSpanId")
        self.attributes = {pair["key"]: _value(pair["value"]) for pair in span.get("attributes", [])}
        self.name = self.attributes.get("langsmith.trace.name", span["name"])
        self.kind = self.attributes.get("langsmith.span.kind", "")
        self.began, self.ended = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        self.failed = span.get("status", {}).get("code") == 2
        self.links = [(link["traceId"], link["spanId"]) for link in span.get("links", [])]
        self.events = {event["name"]: {pair["key"]: _value(pair["value"]) for pair in event.get("attributes", [])}
                       for event in span.get("events", [])}

    @property
    def error(self):
        return self.events.get("exception", {}).get("exception.message")

    def __iter__(self):
        """Itself and all below it."""
        yield self
        for child in self.children:
            yield from child

    def below(self, **wanted):
        return [run for run in self if run is not self and all(getattr(run, name) == value for name, value in wanted.items())]

    def draw(self, depth=0):
        return "\n".join([f"{'  ' * depth}{self.name} [{self.kind}]{' FAILED: ' + str(self.error) if self.failed else ''}"] +
                         [child.draw(depth + 1) for child in sorted(self.children, key=lambda run: run.began)])


def _runs(given):
    """A span that arrives again is the same run; the later one counts."""
    return {(span["traceId"], span["spanId"]): Run(span) for span in (spans if given is None else given)}


def trees(given=None):
    """The roots, in the order of their beginning."""
    runs = _runs(given)
    for run in runs.values():
        run.parent = runs.get((run.trace, run.above)) if run.above else None
        if run.parent:
            run.parent.children.append(run)
    return sorted((run for run in runs.values() if not run.above), key=lambda run: run.began)


def _of_one(run):
    if not re.fullmatch("(?!0{32})[0-9a-f]{32}", run.trace) or not re.fullmatch("(?!0{16})[0-9a-f]{16}", run.id):
        yield f"its ids are {run.trace} and {run.id}"
    if not run.name:
        yield "it has no name"
    if run.kind not in KINDS:
        yield f"langsmith.span.kind is '{run.kind}'"
    if not 1_500_000_000 * 10**9 < run.began <= run.ended:
        yield f"it began at {run.began} and ended at {run.ended}"
    if run.failed and not (run.span["status"].get("message") and run.error):
        yield f"it failed without a message: {run.span['status']} {run.events}"
    if run.kind in ("llm", "embedding"):
        for key in ["gen_ai.system", "gen_ai.request.model", "gen_ai.operation.name"]:
            if not run.attributes.get(key):
                yield f"it has no {key}"
        for key in [] if run.failed else ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.total_tokens"]:
            if not isinstance(run.attributes.get(key), int):
                yield f"{key} is {run.attributes.get(key)!r}"
    if run.kind == "tool" and not run.attributes.get("gen_ai.tool.name"):
        yield "it has no gen_ai.tool.name"


def _of_place(run, runs):
    above = runs.get((run.trace, run.above))
    if run.above and not above:
        yield f"its parent {run.above} has not come: LangSmith drops it"
    elif above and not above.began - SLACK_NS <= run.began <= run.ended <= above.ended + SLACK_NS:
        yield (f"it is not within its parent '{above.name}': it began {(run.began - above.began) / 1e6:.1f} ms after, "
               f"and ended {(above.ended - run.ended) / 1e6:.1f} ms before")
    seen = set()
    while above and above.id not in seen:
        seen.add(above.id)
        above = runs.get((above.trace, above.above))
    if above:
        yield "it is below itself"


def faults(given=None):
    """Each as "NAME of SERVICE: …"."""
    runs = _runs(given)
    told = [f"{run.name} of {run.service}: {fault}" for run in runs.values() for fault in (*_of_one(run), *_of_place(run, runs))]
    roots = {}
    for run in runs.values():
        roots.setdefault(run.trace, []).extend([run.name] if not run.above else [])
    told += [f"trace {trace} has {len(names)} roots: {names}" for trace, names in roots.items() if len(names) != 1]
    for headers in requests if given is None else []:
        if headers.get("x-api-key") != KEY or headers.get("langsmith-project") != PROJECT:
            told.append(f"an export has the headers {headers}")
    return told
