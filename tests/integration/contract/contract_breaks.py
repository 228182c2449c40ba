#!/usr/bin/python3
"""Can every rule of contract.py and every check of contract.mjs fail? Breaks a copy of proto/ in one way at a time.

contract_breaks.py [CONTRACT_MJS]: one line a break, exit 1 when one goes unnoticed. Node's checks are left out where
its packages are not installed beside contract.mjs.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROTO_DIR = os.path.join(HERE, "../../../proto")
CONTRACT_PY = os.path.join(HERE, "contract.py")
CONTRACT_MJS = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(HERE, "contract.mjs")

# A file that keeps every rule, added to the copy. Each break changes one thing in it.
GOOD = '''// An extra file.
syntax = "proto3";

package renga.v1;

import "renga/v1/bounds.proto";

// Extra.
service Extra {
  // Does it. No errors of its own.
  rpc Act(ExtraThing) returns (ExtraThing) {
    option idempotency_level = NO_SIDE_EFFECTS;
  }
}

// A thing.
message ExtraThing {
  // Its name. At most 8 bytes.
  string name = 1;
  // Free facts as JSON. At most 8 bytes.
  string facts_json = 2 [(bounds) = {bytes: 8}];
  // Things counted.
  int32 count = 3;
  // How long, in milliseconds.
  int64 wait_ms = 4;
  // Price in micro-USD.
  int64 price_micros = 5;
  // Its parts. At most 8.
  repeated ExtraPart parts = 6;
  // Absent means none.
  oneof maybe_weight {
    // How heavy, a share of 1.
    double weight = 7;
  }
}

// A part.
message ExtraPart {
  // Its kind.
  ExtraKind kind = 1;
}

// Kinds.
enum ExtraKind {
  // None.
  EXTRA_KIND_UNSPECIFIED = 0;
  // Some.
  EXTRA_KIND_SOME = 1;
}
'''
EXTRA = "renga/v1/extra.proto"
GATEWAY = "renga/v1/llm_gateway.proto"
HEALTH = "grpc/health/v1/health.proto"
DETAILS = "google/rpc/error_details.proto"

COMMENT = "has a comment"
LIMIT = "how much it holds"
BOUNDS = "stand in its comment"
UNIT = "what it counts or numbers"
TIME = "_ms and say milliseconds"
JSON = "JSON travels"
LOOP = "no message contains itself"
ONEOF = "a oneof of one field"
ENUM = "every enum begins"
REPEAT = "idempotency_level"
ERRORS = "names its errors"
WORD = "word of C"
COMPILE = "protoc-c and the C compiler"

# (part of the sentence that must fail, file, what stands there, what takes its place)
BREAKS = [
    (COMMENT, EXTRA, "// A part.\n", ""),
    (COMMENT, EXTRA, "  // Its kind.\n", ""),
    (COMMENT, EXTRA, "  // Absent means none.\n", ""),
    (COMMENT, EXTRA, "// Kinds.\n", ""),
    (COMMENT, EXTRA, "  // Some.\n", ""),
    (COMMENT, EXTRA, "// Extra.\n", ""),
    (COMMENT, EXTRA, "  // Does it. No errors of its own.\n", ""),
    (LIMIT, EXTRA, "Its name. At most 8 bytes.", "Its name."),
    (LIMIT, EXTRA, "Its parts. At most 8.", "Its parts."),
    (LIMIT, EXTRA, "string name = 1;", "string name = 1;\n  // Raw.\n  bytes raw = 8;"),
    (LIMIT, EXTRA, "string name = 1;", "string name = 1;\n  // Labels.\n  map<string, string> labels = 8;"),
    (BOUNDS, EXTRA, "bytes: 8}", "bytes: 88}"),
    (BOUNDS, EXTRA, "bytes: 8}", "bytes: 8, required: true}"),
    (UNIT, EXTRA, "// Things counted.\n  int32 count", "// Many things.\n  int32 things"),
    (TIME, EXTRA, "How long, in milliseconds.", "How long, in a call."),
    (TIME, EXTRA, "int64 wait_ms", "int32 wait_ms"),
    (TIME, EXTRA, "Price in micro-USD.", "Price of a call."),
    (TIME, EXTRA, "int64 price_micros", "double price_micros"),
    (TIME, EXTRA, "int64 wait_ms", "int64 wait_seconds"),
    (JSON, EXTRA, "string facts_json", "bytes facts_json"),
    (JSON, EXTRA, "package renga.v1;\n",
     'package renga.v1;\nimport "google/protobuf/struct.proto";\n// S.\nmessage ExtraS {\n  // F.\n'
     "  google.protobuf.Struct free = 1;\n}\n"),
    (LOOP, EXTRA, "  ExtraKind kind = 1;", "  ExtraKind kind = 1;\n  // Whole.\n  ExtraThing whole = 2;"),
    ("proto3 optional", EXTRA, "  string name", "  optional string name"),
    (ONEOF, EXTRA, "oneof maybe_weight", "oneof weight_presence"),
    (ONEOF, EXTRA, "oneof maybe_weight", "oneof maybe_height"),
    (ENUM, EXTRA, "EXTRA_KIND_UNSPECIFIED", "EXTRA_KIND_NONE"),
    (ENUM, EXTRA, "EXTRA_KIND_SOME", "KIND_SOME"),
    (REPEAT, EXTRA, " {\n    option idempotency_level = NO_SIDE_EFFECTS;\n  }", ";"),
    (REPEAT, EXTRA, "Does it. No", "Does it. Not safe to repeat. No"),
    (ERRORS, EXTRA, "Does it. No errors of its own.", "Does it."),
    (WORD, EXTRA, "string name = 1", "string register = 1"),
    (WORD, EXTRA, "oneof maybe_weight", "oneof union"),
    (WORD, EXTRA, "rpc Act", "rpc Do"),
    ("120 characters", EXTRA, "// A thing.", "// A thing." + " long" * 30),
    (COMPILE, EXTRA, "  string name", "  optional string name"),
    (COMPILE, EXTRA, "string name = 1", "string base = 1"),
    ("health and reflection", HEALTH, "NOT_SERVING = 2", "NOT_SERVING = 4"),
    ("health and reflection", HEALTH, "returns (stream HealthCheckResponse)", "returns (HealthCheckResponse)"),
    ("google.rpc", DETAILS, "string reason = 1", "string reason = 4"),
    ("temperature of 0", GATEWAY, re.compile(r"oneof maybe_temperature \{(.*?)\}", re.S), r"\1"),
    ("Chat and ChatStream over gRPC", GATEWAY, "// More of the answer's text, whole characters. At most 65,536 bytes.\n"
     "    string text", "// At most 8 bytes.\n    string txt"),
    ("reads back every message", EXTRA, "  ExtraKind kind = 1;",
     "  ExtraKind kind = 1;\n  // Whole.\n  ExtraThing whole = 2;"),
]
NODE_BREAKS = [
    ("each file by itself", EXTRA, "package renga.v1;\n", 'package renga.v1;\nimport "google/api/none.proto";\n'),
    ("become clients", GATEWAY, "service LlmGateway {", "service Gateway {"),
    ("how they stream", GATEWAY, "returns (stream ChatStreamEvent)", "returns (ChatStreamEvent)"),
    ("how they stream", GATEWAY, re.compile(r"(rpc ListModels\([^{]*)\{.*?\}", re.S), r"\1;"),
    ("comes back from bytes", GATEWAY, re.compile(r"oneof maybe_temperature \{(.*?)\}", re.S), r"\1"),
    ("go over grpc-js", DETAILS, "string field = 1", "string path = 1"),
    ("go over grpc-js", GATEWAY, "ChatFinish finish = 8", "ChatFinish done = 8"),
]


def broken_copy(folder, file, old, new):
    shutil.copytree(PROTO_DIR, folder, ignore=shutil.ignore_patterns("*.md", "*.cmake", "CMakeLists.txt"))
    with open(os.path.join(folder, EXTRA), "w", encoding="utf-8") as text:
        text.write(GOOD)
    path = os.path.join(folder, file)
    with open(path, encoding="utf-8") as text:
        before = text.read()
    after = old.sub(new, before, count=1) if isinstance(old, re.Pattern) else before.replace(old, new, 1)
    with open(path, "w", encoding="utf-8") as text:
        text.write(after)
    return before != after


def lines(command, file=EXTRA, old="", new=""):
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "proto")
        changed = broken_copy(folder, file, old, new)
        done = subprocess.run(command + [folder], capture_output=True, text=True)
        return changed, done.returncode, done.stdout + done.stderr


failures = 0


def report(good, sentence, why):
    global failures
    failures += not good
    print(f"ok - {sentence}" if good else f"not ok - {sentence}: {' '.join(why.split())[:400]}", flush=True)


def prove(program, command, breaks):
    _, code, said = lines(command)
    clean = {line for line in said.splitlines() if line.startswith("not ok")}
    report(code == 0, f"{program} has nothing against a file that keeps the rules", "; ".join(sorted(clean)) or said)
    sentences = [line.split(" - ", 1)[1].split(":")[0] for line in said.splitlines() if " - " in line]
    for rule, file, old, new in breaks:
        changed, code, said = lines(command, file, old, new)
        noticed = code != 0 and any(rule in line for line in said.splitlines()
                                    if line.startswith("not ok") and line not in clean)
        what = old.pattern if isinstance(old, re.Pattern) else old
        report(changed and noticed, f"{program} notices: {rule}, {' '.join(what.split())[:40]!r} changed",
               said if changed else "the text to change was not found")
    never = [s for s in sentences if not any(rule in s for rule, *_ in breaks)]
    report(not never, f"every sentence of {program} was made to fail", ", ".join(never))


prove("contract.py", ["/usr/bin/python3", CONTRACT_PY], BREAKS)
if os.path.isdir(os.path.join(os.path.dirname(CONTRACT_MJS), "node_modules")) or \
   os.path.isdir(os.path.join(os.path.dirname(CONTRACT_MJS), "../node_modules")):
    prove("contract.mjs", ["node", CONTRACT_MJS], NODE_BREAKS)
sys.exit(failures > 0)
