"""The probe server (tests/lib) as a process, its messages, and a client of it.

RENGA_BIN is the folder of `probe-server`, RENGA_DESC that of `probe.desc`; RENGA_SANITIZE is set where the server was
built with a sanitizer, whose memory says nothing about ours.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

for _name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "GRPC_PROXY"):
    os.environ.pop(_name, None)
os.environ.setdefault("TSAN_OPTIONS", "ignore_noninstrumented_modules=1")  # libgrpc is none of ours
os.environ.setdefault("LSAN_OPTIONS", "print_suppressions=0:suppressions=" +
                      os.path.join(os.path.dirname(os.path.abspath(__file__)), "lsan.supp"))

import grpc  # noqa: E402 - after the proxies are gone
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from checks import expect, record, wait_until, watch  # noqa: E402

SANITIZED = bool(os.environ.get("RENGA_SANITIZE"))
START_SECONDS = 60
WAIT_SECONDS = 60  # for what takes milliseconds, however busy the machine is
REPORTS = ("Sanitizer", "runtime error:", "Assertion", "assertion failed", "rpc.leaked")  # what no server may say

# ---- messages --------------------------------------------------------------------------------------------------------


def descriptor_set():
    with open(os.path.join(os.environ["RENGA_DESC"], "probe.desc"), "rb") as file:
        return descriptor_pb2.FileDescriptorSet.FromString(file.read())


class Messages:
    """The classes of a set of files: messages["renga.test.EchoRequest"], or by the last part of the name."""

    def __init__(self, files):
        self.pool = descriptor_pool.DescriptorPool()
        for file in files:
            self.pool.Add(file)
        self._factory = message_factory.MessageFactory(self.pool)

    def __getitem__(self, name):
        return self._factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def service(self, name):
        return self.pool.FindServiceByName(name)


MESSAGES = Messages(descriptor_set().file)
PROBE, INTEROP = "renga.test.Probe", "grpc.testing.TestService"
HEALTH = "grpc.health.v1.Health"
SERVICES = {PROBE, INTEROP, HEALTH, "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}


def message(name):
    package = "grpc.testing." if name in INTEROP_NAMES else "renga.test."
    return MESSAGES[package + name]


INTEROP_NAMES = {m.name for f in descriptor_set().file if f.package == "grpc.testing" for m in f.message_type}
Echo, Sleep, Noticed = message("EchoRequest"), message("SleepRequest"), message("NoticedRequest")
Fail, Count, Sum = message("FailRequest"), message("CountRequest"), message("SumRequest")

# ---- clients ---------------------------------------------------------------------------------------------------------


class Stub:
    """A service's methods as attributes. Requests may be bytes, which are sent as they are."""

    def __init__(self, channel, service, messages=MESSAGES):
        kinds = {(m.name): m for m in self._methods(messages, service)}
        for method in messages.service(service).methods:
            proto = kinds[method.name]
            kind = ("stream" if proto.client_streaming else "unary") + "_" + (
                "stream" if proto.server_streaming else "unary")
            setattr(self, method.name, getattr(channel, kind)(
                f"/{service}/{method.name}",
                request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
                response_deserializer=messages[method.output_type.full_name].FromString))

    @staticmethod
    def _methods(messages, service):
        proto = descriptor_pb2.ServiceDescriptorProto()
        messages.service(service).CopyToProto(proto)
        return proto.method


OWN_CONNECTION = ("grpc.use_local_subchannel_pool", 1)  # channels to one address share connections otherwise


def refusal(call, *arguments, **named):
    """The error that a call ends in."""
    try:
        answer = call(*arguments, **named)
        if hasattr(answer, "__next__"):
            list(answer)
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call was answered")


def expect_code(error, code, text=""):
    expect(error.code() == code, f"{error.code().name}, not {code.name}: {error.details()}")
    expect(text in error.details(), f"the text is '{error.details()}', without '{text}'")


# ---- the process -----------------------------------------------------------------------------------------------------


class Server:
    """`with Server("--age-ms", "2000") as server:` serves on a free port of 127.0.0.1 and is drained at the end, which
    is a check of its own: the process says "drained", ends with 0, has lost no call, and no sanitizer has said a word.
    `cuts`: calls may still run when the drain's limit is over."""

    def __init__(self, *flags, listen="127.0.0.1:0", drain_ms=3000, name="the server", cuts=False):
        self.name = name
        self._reports = REPORTS if cuts else (*REPORTS, "rpc.drain_cut")
        self._log = tempfile.TemporaryFile()
        binary = os.path.join(os.environ["RENGA_BIN"], "probe-server")
        self.process = subprocess.Popen([binary, "--listen", listen, "--drain-ms", str(drain_ms), *flags],
                                        stdout=subprocess.PIPE, stderr=self._log, text=True)
        watch(name, self.log, self.process)
        line = self.process.stdout.readline()
        self.listening_at = time.monotonic()
        if not line.startswith("listening "):
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{name} does not start: {self.log()}")
        self.port = int(line.split()[1])
        self.address = f"127.0.0.1:{self.port}"

    def log(self):
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def channel(self, *options, credentials=None):
        options = [OWN_CONNECTION, *options]
        if credentials:
            return grpc.secure_channel(self.address, credentials, options)
        return grpc.insecure_channel(self.address, options)

    def allow(self, report):
        """The server may say this for once."""
        self._reports = [word for word in self._reports if word != report]

    def memory_kb(self, which="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(which + ":"))

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def ask_to_stop(self):
        self.process.send_signal(signal.SIGTERM)

    def wait_for_end(self, seconds):
        """What the process printed after its port; raises where it does not end as it should."""
        try:
            printed = self.process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"{self.name} still runs after {seconds} s: {self.log()[-600:]}") from None
        reports = [line for line in self.log().splitlines() if any(word in line for word in self._reports)]
        expect(self.process.returncode == 0 and "drained" in printed and not reports,
               f"it ended with {self.process.returncode} and said '{printed.strip()}': "
               f"{self.log()[-3000:] if reports else self.log()[-600:]}")
        return printed

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is not None and self.process.returncode in (0, -signal.SIGKILL):
            return
        sentence = f"{self.name} drains and ends with 0"
        self.ask_to_stop()
        try:
            self.wait_for_end(START_SECONDS)
        except Exception as error:
            record(sentence, str(error))
        else:
            record(sentence)


# ---- what a handler noticed ------------------------------------------------------------------------------------------


def wait_begun(probe, key):
    """The moment at which the handler of `key` is known to have begun: not before it did."""
    def begun():
        asked = time.monotonic()
        return asked if probe.Noticed(Noticed(key=key)).began else None

    wait_until(begun, f"the handler of '{key}' does not begin", every=0.001)
    return time.monotonic()


def notice_delay_ms(probe, key, begun_at, gone_at):
    """How long after `gone_at` the handler noticed at most, given that it had begun at `begun_at`."""
    note = wait_until(lambda: (lambda n: n if n.cancelled else None)(probe.Noticed(Noticed(key=key))),
                      f"the handler of '{key}' notices nothing")
    return (note.after_us / 1e6 - (gone_at - begun_at)) * 1000
