"""Bearer keys: who is known, what each may call, and what the handler learns of the caller."""
import hashlib

import grpc

from checks import check, expect
from probe import WAIT_SECONDS, HEALTH, MESSAGES, PROBE, Count, Echo, Server, Stub, Sum, expect_code, refusal

ECHO_ONLY, ALL_OF_PROBE, EVERYTHING = "key-of-ana", "key-of-ben", "key of cem, with spaces"


def flag(name, tenant, key, methods):
    return "--bearer", ",".join((name, tenant, hashlib.sha256(key.encode()).hexdigest(), methods))


def bearer(key, scheme="Bearer"):
    return (("authorization", f"{scheme} {key}".encode()),)


def run():
    flags = (*flag("ana", "north", ECHO_ONLY, "renga.test.Probe/Echo"),
             *flag("ben", "south", ALL_OF_PROBE, "renga.test.Probe/*"), *flag("cem", "east", EVERYTHING, "*"))
    with Server(*flags, name="the server with keys") as server, server.channel() as channel:
        keys(Stub(channel, PROBE), channel)


def keys(probe, channel):
    @check("the handler sees the name and the tenant of the key's owner")
    def _():
        for key, name, tenant in ((ECHO_ONLY, "ana", "north"), (ALL_OF_PROBE, "ben", "south")):
            answer = probe.Echo(Echo(), metadata=bearer(key), timeout=WAIT_SECONDS)
            expect((answer.principal, answer.tenant) == (name, tenant), f"it sees {answer}")

    @check("the scheme is read in any case")
    def _():
        expect(probe.Echo(Echo(), metadata=bearer(ECHO_ONLY, "bearer"), timeout=WAIT_SECONDS).tenant == "north", "it is not")

    @check("a call without a key is UNAUTHENTICATED, with a text that says what to send")
    def _():
        expect_code(refusal(probe.Echo, Echo(), timeout=WAIT_SECONDS), grpc.StatusCode.UNAUTHENTICATED, "authorization: Bearer")

    for what, metadata in (("wrong", bearer("key-of-nobody")), ("empty", bearer("")),
                           ("almost right", bearer(ECHO_ONLY[:-1])), ("too long", bearer(ECHO_ONLY + "x" * 3000)),
                           ("its own hash", bearer(hashlib.sha256(ECHO_ONLY.encode()).hexdigest())),
                           ("of another scheme", bearer(ECHO_ONLY, "Basic")),
                           ("second after a wrong one", bearer("key-of-nobody") + bearer(ECHO_ONLY)),
                           ("first before a wrong one", bearer(ECHO_ONLY) + bearer("key-of-nobody")),
                           ("sent twice", bearer(ECHO_ONLY) + bearer(ECHO_ONLY))):
        @check(f"a key that is {what} is UNAUTHENTICATED")
        def _():
            error = refusal(probe.Echo, Echo(), metadata=metadata, timeout=WAIT_SECONDS)
            expect_code(error, grpc.StatusCode.UNAUTHENTICATED)
            expect(ECHO_ONLY not in error.details(), "the text gives the key away")

    @check("two trace contexts are INVALID_ARGUMENT")
    def _():
        trace = (("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),)
        probe.Echo(Echo(), metadata=bearer(ECHO_ONLY) + trace, timeout=WAIT_SECONDS)
        error = refusal(probe.Echo, Echo(), metadata=bearer(ECHO_ONLY) + trace + trace, timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.INVALID_ARGUMENT, "'traceparent' twice")

    @check("a method that the key may not call is PERMISSION_DENIED, with a text that names both")
    def _():
        error = refusal(probe.Sum, iter([Sum(value=1)]), metadata=bearer(ECHO_ONLY), timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.PERMISSION_DENIED, "'ana' may not call renga.test.Probe/Sum")

    @check("a key for all methods of a service calls streams too, and no other service")
    def _():
        allowed = bearer(ALL_OF_PROBE)
        expect(probe.Sum(iter([Sum(value=2)]), metadata=allowed, timeout=WAIT_SECONDS).sum == 2, "the sum is wrong")
        expect(len(list(probe.Count(Count(messages=3), metadata=allowed, timeout=WAIT_SECONDS))) == 3, "the count is wrong")
        error = refusal(Stub(channel, "grpc.testing.TestService").EmptyCall, b"", metadata=allowed, timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.PERMISSION_DENIED)

    @check("streams without a key are UNAUTHENTICATED before their handler hears of them")
    def _():
        for call in (lambda: refusal(probe.Count, Count(messages=3), timeout=WAIT_SECONDS),
                     lambda: refusal(probe.Sum, iter([Sum(value=1)] * 100), timeout=WAIT_SECONDS),
                     lambda: refusal(probe.Chat, iter([Echo()]), timeout=WAIT_SECONDS)):
            expect_code(call(), grpc.StatusCode.UNAUTHENTICATED)

    @check("health is open to all, reflection is not")
    def _():
        request = MESSAGES["grpc.health.v1.HealthCheckRequest"]()
        health = Stub(channel, HEALTH)
        expect(health.Check(request, timeout=WAIT_SECONDS).status == 1, "Check is not open")
        watch = health.Watch(request, timeout=WAIT_SECONDS)
        expect(next(watch).status == 1, "Watch is not open")
        watch.cancel()
        reflection = Stub(channel, "grpc.reflection.v1.ServerReflection").ServerReflectionInfo
        expect_code(refusal(reflection, iter([b"\x3a\x00"]), timeout=WAIT_SECONDS), grpc.StatusCode.UNAUTHENTICATED)
        answers = reflection(iter([b"\x3a\x00"]), metadata=bearer(EVERYTHING), timeout=WAIT_SECONDS)
        expect(len(next(answers).list_services_response.service) == 5, "reflection does not answer the one who may")
