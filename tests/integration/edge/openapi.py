#!/usr/bin/env python3
"""Whether /openapi.json is whole, valid and true: every public method and every comment of the contract stands in it, a linter of
OpenAPI has nothing to say, and a client generated from it compiles and works against `renga serve`. Needs RENGA_BIN, RENGA_PROTO
(renga_descriptor_set.bin) and NODE with the packages of tests/integration/package.json."""
import json
import os
import re
import shutil
import subprocess

from front import HERE, SLOW, Front, expect, folder
from checks import check, finish
from google.protobuf import descriptor_pb2

NPM = os.path.realpath(f"{HERE}/../node_modules")
NODE = os.environ["NODE"]
INTERNAL = {"Planner", "Reviewer", "NodeService"}  # services that are not for clients
STRICT = {"noEmit": True, "strict": True, "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True, "module": "nodenext",
          "target": "es2022", "lib": ["es2024", "dom", "dom.iterable", "dom.asynciterable"], "types": [],
          "allowImportingTsExtensions": True, "skipLibCheck": True}
STREAM_TYPES = {"application/x-ndjson", "text/event-stream"}

with open(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), "rb") as file:
    FILES = [file for file in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file if file.package == "renga.v1"]
MESSAGES = {message.name: message for file in FILES for message in file.message_type}
front = Front()
status, headers, document = front.ask("GET", "/openapi.json")
operations = {operation["operationId"]: (verb, path, operation)
              for path, item in document["paths"].items() for verb, operation in item.items()}
of_methods = {name: each for name, each in operations.items() if not name.startswith("Edge_")}
schemas = document["components"]["schemas"]


def npm(tool, *arguments):
    environment = dict(os.environ, REDOCLY_TELEMETRY="off", REDOCLY_SUPPRESS_UPDATE_NOTICE="true", NO_COLOR="1")
    return subprocess.run([NODE, f"{NPM}/{tool}", *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=240 * SLOW)


def resolved(schema):
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    return schema


def properties(schema, path):
    """Every property below a schema, with its path."""
    for name, value in schema.get("properties", {}).items():
        yield f"{path}.{name}", value
        yield from properties(value, f"{path}.{name}")
    for part in ("allOf", "oneOf"):
        for i, value in enumerate(schema.get(part, ())):
            yield from properties(value, f"{path}[{i}]")


@check("the document is served as OpenAPI 3.1 with an ETag, compressed to clients that take it")
def _():
    expect(status == 200 and document["openapi"].startswith("3.1."), f"{status} {str(document)[:200]}")
    expect(headers["content-type"].startswith("application/json") and re.fullmatch(r'"\w+"', headers["etag"]), str(headers))
    again, _, body = front.ask("GET", "/openapi.json", if_none_match=headers["etag"])
    expect(again == 304 and not body, f"{again} for its own ETag")
    expect(front.ask("GET", "/openapi.json", if_none_match='"other", W/' + headers["etag"])[0] == 304, "a list of ETags is not read")
    packed = front.ask("GET", "/openapi.json", accept_encoding="br, gzip")[1]
    expect(packed.get("content-encoding") == "gzip" and "accept-encoding" in packed.get("vary", "").lower(), str(packed))
    return f"{int(headers['content-length']) // 1000} kB, {int(packed['content-length']) // 1000} kB compressed"


@check("every public method of the contract stands in it once, and no internal one")
def _():
    methods = {f"{service.name}_{method.name}": method for file in FILES for service in file.service for method in service.method}
    public = {name for name in methods if name.split("_")[0] not in INTERNAL}
    expect(set(of_methods) == public, f"{sorted(set(of_methods) ^ public)} stand in one alone")
    for name, (_, path, operation) in of_methods.items():
        streams = set(operation["responses"]["200"]["content"]) == STREAM_TYPES
        expect(streams == methods[name].server_streaming, f"{name} streams in one alone")
        expect(operation["x-grpc-method"] == f"renga.v1.{name.replace('_', '/')}", name)
    return f"{len(public)} methods"


@check("every operation, parameter, field and enum value has a description, and every path its summary")
def _():
    silent = [name for name, (_, _, operation) in of_methods.items() if not operation.get("summary") or not operation.get("description")]
    for name, (_, _, operation) in operations.items():
        for parameter in operation.get("parameters", ()):
            parameter = document["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]] if "$ref" in parameter else parameter
            silent += [] if parameter.get("description") else [f"{name} {parameter['name']}"]
    for name, schema in schemas.items():
        silent += [] if schema.get("description") else [name]
        silent += [path for path, value in properties(schema, name) if not value.get("description") and "const" not in value]
        silent += [f"{name}.{value}" for value in schema.get("enum", ()) if f"- `{value}`: " not in schema["description"]]
    expect(not silent, f"{len(silent)} have none: {silent[:5]}")


@check("every field of a request is a parameter or stands in the body, with the comment of the contract")
def _():
    for file in FILES:
        for service in file.service:
            for method in service.method if service.name not in INTERNAL else ():
                operation = operations[f"{service.name}_{method.name}"][2]
                told = {parameter["name"] for parameter in operation["parameters"] if "name" in parameter}
                if "requestBody" in operation:
                    told |= set(resolved(operation["requestBody"]["content"]["application/json"]["schema"])["properties"])
                fields = {field.json_name for field in MESSAGES[method.input_type.rsplit(".", 1)[1]].field}
                expect(told >= fields, f"{service.name}_{method.name} lacks {fields - told}")
                answer = operation["responses"]["200"]["content"].get("application/json")
                if answer:
                    fields = {field.json_name for field in MESSAGES[method.output_type.rsplit(".", 1)[1]].field}
                    expect(set(resolved(answer["schema"])["properties"]) == fields, f"the answer of {service.name}_{method.name}")


@check("every body has an example, and every list of errors of the contract is told as statuses of HTTP")
def _():
    without = [name for name, (_, _, operation) in of_methods.items()
               if "requestBody" in operation and "example" not in operation["requestBody"]["content"]["application/json"]]
    expect(not without, f"{without} have no example")
    main = ["Helpdesk_Ask", "Orchestrator_StartRun", "Orchestrator_GetRun", "Orchestrator_ListRuns", "Orchestrator_GetState",
            "Orchestrator_ListAgents", "FormInterview_Start", "LlmGateway_ListModels", "ToolRunner_Search"]
    without = [name for name in main if "example" not in operations[name][2]["responses"]["200"]["content"]["application/json"]]
    expect(not without, f"answers of {without} have no example")
    get = operations["Orchestrator_GetRun"][2]["responses"]
    expect("no such run" in get["404"]["description"] and "UNAUTHENTICATED" in get["401"]["description"], str(get))
    start = operations["Orchestrator_StartRun"][2]["responses"]
    expect("THREAD_BUSY" in start["409"]["description"] and "OTHER_AGENT" in start["400"]["description"], str(start))
    poor = [name for name, (_, _, operation) in of_methods.items() if not {"400", "401", "403", "503", "default"} <= set(operation["responses"])]
    expect(not poor, f"{poor} lack an error that every method has")


@check("64-bit integers are strings, members of a oneof are optional and named, and what is always printed is required")
def _():
    usage = schemas["Usage"]
    expect(usage["properties"]["costMicros"]["type"] == "string" and set(usage["required"]) == set(usage["properties"]), str(usage))
    budget = schemas["Budget"]
    expect(budget["properties"]["tokens"]["type"] == ["string", "integer"] and "required" not in budget, str(budget))
    event = schemas["RunEvent"]
    expect(event["x-oneof"][0]["name"] == "event" and not set(event["x-oneof"][0]["members"]) & set(event["required"]), str(event["x-oneof"]))
    expect(schemas["AskRequest"]["required"] == ["question"], str(schemas["AskRequest"]))


@check("bounds of the contract are those of the schemas: lengths, entries, ranges, keys of maps, and required fields")
def _():
    start = schemas["StartRunRequest"]
    fields = start["properties"]
    expect(start["required"] == ["agent"] and fields["agent"]["minLength"] == 1 and fields["agent"]["maxLength"] == 64, str(fields["agent"]))
    expect(fields["recursionLimit"]["minimum"] == 0 and fields["recursionLimit"]["maximum"] == 1000000, str(fields["recursionLimit"]))
    expect(fields["interruptBefore"]["maxItems"] == 64 and fields["interruptBefore"]["items"]["maxLength"] == 1024, str(fields["interruptBefore"]))
    expect(fields["labels"]["maxProperties"] == 64 and fields["labels"]["propertyNames"]["maxLength"] == 64, str(fields["labels"]))


with open(f"{folder}/openapi.json", "w") as file:
    json.dump(document, file)


@check("a linter has nothing to say of it")
def _():
    done = npm("@redocly/cli/bin/cli.js", "lint", f"--config={HERE}/redocly.yaml", "--format=stylish", "openapi.json")
    expect(done.returncode == 0 and "warning" not in done.stdout + done.stderr, (done.stdout + done.stderr)[-2000:])


@check("the linter finds what is planted: two paths that are one, a parameter that no path has, an example that does not fit")
def _():
    broken = json.loads(json.dumps(document))
    broken["paths"]["/v1/runs/{id}"] = {"get": dict(broken["paths"]["/v1/runs/{runId}"]["get"], operationId="Planted")}
    broken["paths"]["/v1/helpdesk:ask"]["post"]["requestBody"]["content"]["application/json"]["example"] = {"qestion": "?"}
    with open(f"{folder}/broken.json", "w") as file:
        json.dump(broken, file)
    done = npm("@redocly/cli/bin/cli.js", "lint", f"--config={HERE}/redocly.yaml", "--format=stylish", "broken.json")
    told = done.stdout + done.stderr
    for rule in ("no-identical-paths", "path-parameters-defined", "no-invalid-media-type-examples"):
        expect(done.returncode == 1 and rule in told, f"not {rule}: {told[-1500:]}")


@check("a typed client is made from it, compiles strictly, and is answered by the server")
def _():
    os.symlink(NPM, f"{folder}/node_modules")
    shutil.copy(f"{HERE}/openapi_client.ts", folder)
    with open(f"{folder}/package.json", "w") as file:
        file.write('{"type": "module"}')
    made = npm("openapi-typescript/bin/cli.js", "openapi.json", "-o", "schema.d.ts")
    expect(made.returncode == 0, made.stderr)
    with open(f"{folder}/tsconfig.json", "w") as file:
        json.dump({"compilerOptions": STRICT, "files": ["openapi_client.ts"]}, file)
    compiled = npm("typescript/bin/tsc", "--project", ".")
    expect(compiled.returncode == 0, compiled.stdout[-2000:])
    ran = subprocess.run([NODE, "--experimental-strip-types", "--no-warnings", "openapi_client.ts", f"http://127.0.0.1:{front.port}"],
                         cwd=folder, capture_output=True, text=True, timeout=120 * SLOW)
    expect(ran.returncode == 0, ran.stderr[-2000:])
    got = json.loads(ran.stdout)
    expect({"echo", "helpdesk"} <= set(got["agents"]) and got["documents"] == "1", str(got))
    expect("30 days" in got["answer"] and "30 days" in got["quote"], str(got))
    expect(got["stopped"] and got["ascending"] and len(got["ids"]) > 2 and got["run"] in got["listed"], str(got))
    expect(got["missing"] == [404, "NOT_FOUND"] and got["field"] == "question", str(got))


front.stop()
finish()
