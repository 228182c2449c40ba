"""Server reflection, v1 and v1alpha: every service with its files, as they stand in the descriptor set."""
import grpc
from google.protobuf import descriptor_pb2

from checks import check, expect
from probe import WAIT_SECONDS, MESSAGES, PROBE, SERVICES, Echo, Messages, Server, Stub, descriptor_set, expect_code, refusal

NOT_FOUND, INVALID_ARGUMENT = 5, 3


class Reflection:
    def __init__(self, channel, version):
        package = "grpc.reflection." + version
        self.request = MESSAGES[package + ".ServerReflectionRequest"]
        self.stub = Stub(channel, package + ".ServerReflection")

    def ask(self, **question):
        return self.ask_all([question])[0]

    def ask_all(self, questions):
        requests = [self.request(host="probe", **question) for question in questions]
        answers = list(self.stub.ServerReflectionInfo(iter(requests), timeout=WAIT_SECONDS))
        expect(len(answers) == len(requests), f"{len(answers)} answers came to {len(requests)} questions")
        expect([answer.original_request for answer in answers] == requests, "an answer repeats another question")
        return answers

    def files(self, **question):
        answer = self.ask(**question)
        expect(answer.HasField("file_descriptor_response"), f"the answer is {answer}")
        return [descriptor_pb2.FileDescriptorProto.FromString(file)
                for file in answer.file_descriptor_response.file_descriptor_proto]


def run():
    known = {file.name: file for file in descriptor_set().file}
    with Server(name="the server of reflection") as server, server.channel() as channel:
        for version in ("v1", "v1alpha"):
            versioned(channel, version, known)


def versioned(channel, version, known):
    reflection = Reflection(channel, version)

    def same_and_whole(files):
        for file in files:
            expect(file == known[file.name], f"{file.name} is not as in the descriptor set")
        names = {file.name for file in files}
        missing = {name for file in files for name in file.dependency} - names
        expect(not missing, f"imports are missing: {missing}")

    @check(f"{version} lists every service, and no other")
    def _():
        listed = [service.name for service in reflection.ask(list_services="").list_services_response.service]
        expect(sorted(listed) == sorted(SERVICES), f"it lists {listed}")

    @check(f"{version} gives each service's file and all that it imports, as in the descriptor set")
    def _():
        for service in SERVICES:
            files = reflection.files(file_containing_symbol=service)
            package, _, name = service.rpartition(".")
            first = files[0]
            expect(first.package == package and name in [s.name for s in first.service], f"{service}: {first.name}")
            same_and_whole(files)

    @check(f"{version} finds messages, fields, enums, values and methods by name")
    def _():
        for symbol, file in (("renga.test.EchoRequest", "probe.proto"), ("renga.test.EchoRequest.parts", "probe.proto"),
                             ("renga.test.Probe.Echo", "probe.proto"),
                             ("grpc.testing.PayloadType", "grpc/testing/messages.proto"),
                             ("grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto")):
            found = reflection.files(file_containing_symbol=symbol)[0].name
            expect(found == file, f"{symbol} is in {found}")

    @check(f"{version} gives each file by its name")
    def _():
        for name in known:
            files = reflection.files(file_by_filename=name)
            expect(files[0].name == name, f"{name} is answered with {files[0].name}")
            same_and_whole(files)

    @check(f"{version} answers what is not there with NOT_FOUND in the stream")
    def _():
        for question in ({"file_containing_symbol": "renga.test.Nobody"}, {"file_by_filename": "nothing.proto"},
                         {"file_containing_extension": {"containing_type": "renga.test.Nobody", "extension_number": 1}},
                         {"all_extension_numbers_of_type": "renga.test.Nobody"}):
            error = reflection.ask(**question).error_response
            expect(error.error_code == NOT_FOUND and error.error_message, f"{question}: {error}")

    @check(f"{version} answers a question without a question with an error in the stream")
    def _():
        error = reflection.ask().error_response
        expect(error.error_code == INVALID_ARGUMENT and error.error_message, f"the answer is {error}")

    @check(f"{version} answers a hundred questions on one stream in their order")
    def _():
        questions = [{"file_by_filename": name} for name in known] * (100 // len(known) + 1)
        for question, answer in zip(questions, reflection.ask_all(questions)):
            file = descriptor_pb2.FileDescriptorProto.FromString(
                answer.file_descriptor_response.file_descriptor_proto[0])
            expect(file.name == question["file_by_filename"], f"{question} is answered with {file.name}")

    @check(f"a client that knows only what {version} told it can call")
    def _():
        learnt = Messages(reversed(reflection.files(file_containing_symbol=PROBE)))
        request = learnt["renga.test.EchoRequest"](text="learnt")
        expect(Stub(channel, PROBE, learnt).Echo(request, timeout=WAIT_SECONDS).text == "learnt", "the answer is another")

    @check(f"a malformed question ends the {version} stream with INVALID_ARGUMENT")
    def _():
        expect_code(refusal(reflection.stub.ServerReflectionInfo, iter([b"\x0a\x05ab"]), timeout=WAIT_SECONDS),
                    grpc.StatusCode.INVALID_ARGUMENT)

    @check(f"clients that leave a {version} stream open do no harm")
    def _():
        for _ in range(20):
            call = reflection.stub.ServerReflectionInfo(forever(reflection.request(list_services="")))
            next(call)
            call.cancel()
        expect(Stub(channel, PROBE).Echo(Echo(text="on"), timeout=WAIT_SECONDS).text == "on", "the server is hurt")


def forever(request):
    while True:
        yield request
