"""Hostile peers before the outer door (deploy/haproxy/haproxy.cfg), each beside a polite client that comes in through the
same door. Attackers come from addresses of their own, as the door's limits are for each source."""

import hashlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

from http2 import (CONTINUATION, END_HEADERS, END_STREAM, HEADERS, PAUSE_S, PING, PREFACE, WAIT_S, Peer, frame, header, hpack_integer,
                   hpack_text, message, request, reset, settings, tls_context, window_update)
from siege import (DOOR, MIB, Polite, Report, Siege, door_environment, in_parallel, make_certificate, need, start_door,
                   start_server)

ECHO, SLEEP, NOTICED = (f"/renga.test.Probe/{name}" for name in ("Echo", "Sleep", "Noticed"))
OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNAVAILABLE, UNAUTHENTICATED = 0, 3, 8, 14, 16
HELLO = message(b"\x0a\x05hello")
SOURCE_CALLS = 1000  # the configuration's defaults
SOURCE_CONNECTIONS = 200
FLOOD_BYTES = 24 * MIB
FLOOD_S = 3
DOOR_HANDSHAKE_S = 10  # timeout http-request of the configuration, which ends who says nothing

# The service behind the door is to notice next to nothing: the calls that the door lets through before it shuts a source out,
# none of which is answered yet on a busy machine. Measured: 7 MiB, up to 39 at load 30; without the door's limits 535.
SERVICE_PEAK_MAX_MIB = 48


# The door keeps up to 16 idle connections to a service for the next calls.
FILES_KEPT_MAX = 20


class Attacker:
    """Opens connections from one address, which no other attack has used."""
    last = 1

    def __init__(self, door, tls):
        Attacker.last += 1
        self.source = f"127.0.1.{Attacker.last}"
        self.port, self.tls = door.port, tls

    def peer(self, **options):
        return Peer(self.port, self.source, self.tls, **options)

    def peers(self, count, **options):
        """All are there before one of them attacks: the door may shut the source out then."""
        return [self.peer(**options) for _ in range(count)]

    def flood(self, begin, piece, connections=2):
        """`begin` and then `piece` again and again on each connection, until the door takes no more."""
        chunk = piece * max(1, 65536 // len(piece))
        peers = self.peers(connections, timeout_s=FLOOD_S)

        def run(i):
            peer = peers[i]
            peer.send(begin)
            sent, until = 0, time.monotonic() + FLOOD_S
            while sent < FLOOD_BYTES and time.monotonic() < until and peer.send(chunk):
                sent += len(chunk)
            ended = peer.wait_for_end(1)
            peer.close()
            return sent, ended

        results = in_parallel(connections, run)
        return f"{sum(sent for sent, _ in results) / MIB:.1f} MiB on {connections} connections, " \
               f"{sum(ended for _, ended in results)} ended by the door"


def from_another_address(attack, door, tls):
    """Each time that it is made: the door remembers who made it before."""
    return lambda: attack(Attacker(door, tls))


def rapid_reset(attacker):
    """HEADERS and RST_STREAM at once; the door is to shut the source out."""
    peers = attacker.peers(2, obey=False)

    def run(i):
        peer, sent = peers[i], 0
        for first in range(0, 30000, 500):
            calls = b"".join(frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, request(ECHO, "https"))
                             + reset(2 * i + 1) for i in range(first, first + 500))
            if not peer.send(calls):
                break
            sent += 500
        peer.wait_for_end(1)
        peer.close()
        return sent
    sent = in_parallel(2, run)
    wrong = "" if shut_out(attacker) else "the source may still come in"
    return wrong, f"{sum(sent)} calls and resets on 2 connections; the source is shut out then"


def shut_out(attacker):
    """The door ends a new connection, or the first call on it; silence is neither."""
    try:
        peer = attacker.peer()
        status = peer.call(ECHO, HELLO)
        peer.close()
        return status is None and peer.eof
    except TimeoutError:
        return False
    except OSError:
        return True


def hpack(attacker, block, calls=200):
    """Calls with the same header block; none may reach a service as a call that is answered OK."""
    peers = attacker.peers(4, timeout_s=3)

    def run(i):
        peer, answered = peers[i], 0
        for _ in range(calls):
            stream = peer.open("", block=block, end=True)
            if peer.eof:
                break
            answered += peer.status(stream, 0.01) == OK
        ended = peer.wait_for_end(1)
        peer.close()
        return answered, ended
    results = in_parallel(4, run)
    answered = sum(count for count, _ in results)
    return ("" if not answered else f"{answered} were answered"), \
        f"4 connections, blocks of {len(block) / 1024:.1f} KiB, {sum(ended for _, ended in results)} ended by the door"


def zero_padding(attacker):
    """Integers whose encoding goes on and on with nothing in it (CVE-2023-33953)."""
    return hpack(attacker, request(ECHO, "https") + b"\x00\x7f" + b"\x80" * 15000 + b"\x00")


def size_thrash(attacker):
    """The dynamic table shrunk and grown again, thousands of times in a block."""
    return hpack(attacker, (b"\x20" + hpack_integer(4096, 5, 0x20)) * 3500 + request(ECHO, "https"))


def repetition(attacker):
    """One large header in the table, then nothing but references to it: 60 MB of header in 15 KB."""
    return hpack(attacker, request(ECHO, "https") + header(b"x", b"v" * 3900, indexed=True) + b"\xbe" * 11000)


def continuation(attacker):
    begin = frame(HEADERS, 0, 1, request(ECHO, "https"))
    return "", attacker.flood(begin, frame(CONTINUATION, 0, 1, header(b"x", b"v" * 1000)))


def empty_continuation(attacker):
    return "", attacker.flood(frame(HEADERS, 0, 1, request(ECHO, "https")), frame(CONTINUATION, 0, 1, b""))


def settings_flood(attacker):
    return "", attacker.flood(b"", settings((4, 65535), (1, 4096), (1, 0)))


def ping_flood(attacker):
    return "", attacker.flood(b"", frame(PING, 0, 0, b"12345678"))


def window_flood(attacker):
    return "", attacker.flood(b"", window_update(0, 1))


def poison(attacker):
    """What makes gRPC core end a whole connection, which at the door carries calls of other clients."""
    blocks = {"base64": header(b"x-bin", b"$$$$"), "base64 of one letter": header(b"x-bin", b"A"),
              "two values": header(b"x-bin", b"AAAA,AAAA"), "a tail with bits": header(b"x-bin", b"//"),
              "the trace": header(b"grpc-trace-bin", b"?"), "the last of many": b"".join(
                  header(b"a%d-bin" % i, b"AAAA" * 100) for i in range(10)) + header(b"z-bin", b"AAA*")}
    wrong = []
    for _ in range(10):
        for name, more in blocks.items():
            peer = attacker.peer()
            status = peer.call(ECHO, HELLO, more)
            if status != INVALID_ARGUMENT:
                wrong.append(f"{name}: status {status}")
            peer.close()
    peer = attacker.peer()
    good = peer.call(ECHO, HELLO, header(b"x-bin", b"AAECAwQFBgcICQ==") + header(b"y-bin", b"AAE") + header(b"z-bin", b""))
    if good != OK:
        wrong.append(f"good base64: status {good}")
    peer.close()
    peer = attacker.peer()
    large = peer.call(ECHO, HELLO, b"".join(header(b"x-%d" % i, b"v" * 1000) for i in range(10)))
    if large != RESOURCE_EXHAUSTED:
        wrong.append(f"10 KB: status {large}")
    peer.close()
    return "; ".join(wrong[:3]), f"{10 * len(blocks)} calls, refused"


def held_calls(attacker):
    """One source opens calls and keeps them: it gets its share and no more."""
    peers = [attacker.peer() for _ in range(12)]
    streams = []
    for peer in peers:
        for _ in range(100):
            stream = peer.open(SLEEP)
            peer.send_body(stream, message(b"\x08\xb0\xea\x01"))  # 30 s
            streams.append((peer, stream))
    expected, refused, until = len(streams) - SOURCE_CALLS, 0, time.monotonic() + WAIT_S
    while refused < expected and time.monotonic() < until:
        refused = taken_in(peers, streams)
    time.sleep(0.2)  # for one too many
    refused = taken_in(peers, streams)
    for peer in peers:
        peer.close()
    wrong = "" if refused == expected else f"{refused} were refused"
    return wrong, f"{len(streams)} calls of 30 s, {refused} refused"


def taken_in(peers, streams):
    """How many of the calls have ended, once all is read that came."""
    for peer in peers:
        while peer.receive(PAUSE_S):
            pass
    return sum(stream in peer.closed for peer, stream in streams)


def held_connections(attacker):
    """Silent connections, not even a handshake."""
    held, count = [], 1000
    for _ in range(count):
        try:
            held.append(socket.create_connection(("127.0.0.1", attacker.port), WAIT_S, (attacker.source, 0)))
        except ConnectionError:
            pass
    until = time.monotonic() + DOOR_HANDSHAKE_S / 2  # later it ends the silent for their silence
    while len(held) > SOURCE_CONNECTIONS and time.monotonic() < until:
        time.sleep(PAUSE_S)
        held = [one for one in held if not ended(one)]
    for one in held:
        one.close()
    wrong = "" if len(held) <= SOURCE_CONNECTIONS else f"{len(held)} are held"
    return wrong, f"{count} connections, {count - len(held)} refused"


def ended(plain):
    plain.setblocking(False)
    try:
        return plain.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def other_protocols(attacker):
    """HTTP/1.1, TLS without ALPN, cleartext HTTP/2, garbage."""
    came_in = []
    for i in range(20):
        for name, data in (("cleartext", PREFACE + settings()), ("garbage", os.urandom(4096))):
            with socket.create_connection(("127.0.0.1", attacker.port), 3, (attacker.source, 0)) as plain:
                plain.sendall(data)
                plain.settimeout(3)
                try:
                    if plain.recv(100)[:1] not in (b"", b"\x15"):
                        came_in.append(name)
                except OSError:
                    pass
        for alpn in (["http/1.1"], []):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if alpn:
                context.set_alpn_protocols(alpn)
            try:
                plain = socket.create_connection(("127.0.0.1", attacker.port), 3, (attacker.source, 0))
                with context.wrap_socket(plain) as secure:
                    secure.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    if secure.recv(100):
                        came_in.append("HTTP/1.1")
            except OSError:
                pass
    return ("" if not came_in else f"answered: {set(came_in)}"), "80 connections, none answered"


def slow_loris(attacker):
    """Calls whose message comes a byte at a time, and HEADERS that do."""
    peers = [attacker.peer() for _ in range(100)]
    streams = [(peer, peer.open(ECHO)) for peer in peers for _ in range(5)]
    body = message(bytes(1000))
    for at in range(20):
        for peer, stream in streams:
            peer.send(frame(0, 0, stream, body[at:at + 1]))
        time.sleep(0.05)
    for peer in peers:
        peer.close()
    return "", "500 calls on 100 connections, 20 bytes each in turn"


def check_configuration(report, certificate):
    def valid(**extra):
        env = door_environment("127.0.0.1:15443", certificate, "127.0.0.1:15001", **extra)
        run = subprocess.run(["haproxy", "-c", "-f", DOOR], env=env, capture_output=True, text=True)
        return run.returncode == 0 and "warning" not in (run.stdout + run.stderr).lower(), run.stdout + run.stderr
    keys = tempfile.NamedTemporaryFile("w")
    for sentence, extra in (
            ("HAProxy takes the configuration without a warning", {}),
            ("with mutual TLS to the services too", {"SERVICE_AUTHORITIES": certificate, "SERVICE_IDENTITY": certificate,
                                                     "SERVICE_NAME": "localhost"}),
            ("with services found by name too", {"SERVICE_COUNT": 3}),
            ("with the HTTP door of the gateway too", {"HTTP_LISTEN": "127.0.0.1:15445", "HTTP_SERVICE": "localhost:15201",
                                                       "HTTP_SERVICE_COUNT": 2, "KEYS": keys.name}),
            ("with keys and a page for operators too", {"KEYS": keys.name, "ADMIN": "127.0.0.1:15444"})):
        ok, said = valid(**extra)
        report.line(ok, sentence)
        if not ok:
            print(said)


def failing_service(report, certificate, both):
    """What a client sees when no service is there, in gRPC's terms."""
    server = start_server()
    door = start_door(server, both)
    tls = tls_context(certificate)
    wait_until_up(door, tls)
    server.process.kill()
    time.sleep(2.5)
    peer = Peer(door.port, tls=tls)
    stream = peer.open(ECHO)
    peer.send_body(stream, HELLO)
    status = peer.status(stream)
    report.line(status == UNAVAILABLE, "Without a service the door answers UNAVAILABLE", peer.text(stream))
    peer.close()
    door.stop()


def cancelled(report, door, tls):
    """A client that resets its call, and one that goes away: the handler hears of both."""
    for i, (sentence, leave) in enumerate((
            ("A call that its client resets is cancelled in the service", lambda peer, call: peer.send(reset(call))),
            ("A call whose client goes away is cancelled in the service", lambda peer, call: peer.close()))):
        peer, key = Peer(door.port, tls=tls), b"door-%d" % i
        asker = Peer(door.port, tls=tls)
        stream = peer.open(SLEEP)
        peer.send_body(stream, message(b"\x08\xb0\xea\x01\x12" + hpack_text(key)))  # 30 s
        began = notices(asker, key, b"\x08\x01")
        leave(peer, stream)
        report.line(began and notices(asker, key, b"\x10\x01"), sentence)
        asker.close()


def notices(asker, key, field):
    """Whether the service says it of the call, soon before the call would end by itself."""
    until, noticed = time.monotonic() + 14, b""
    while field not in noticed and time.monotonic() < until:
        time.sleep(PAUSE_S)
        asked = asker.open(NOTICED)
        asker.send_body(asked, message(b"\x0a" + hpack_text(key)))
        asker.status(asked)
        noticed = asker.data.get(asked, b"")[5:]
    return field in noticed


def with_everything(report, folder, certificate, both):
    """Mutual TLS to a service that is found by name, bearer keys, and the operators' page."""
    with open(os.path.join(folder, "keys"), "w") as keys:
        keys.write(hashlib.sha256(b"open sesame").hexdigest() + "\n")
    server = start_server("--certificate", certificate, "--key", os.path.join(folder, "key.pem"), "--authorities",
                          certificate, "--client-certificate")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        admin = free.getsockname()
    door = start_door(server, both, KEYS=keys.name, ADMIN="%s:%d" % admin, SERVICE=f"localhost:{server.port}",
                      SERVICE_COUNT=2, SERVICE_AUTHORITIES=certificate, SERVICE_IDENTITY=both,
                      SERVICE_NAME="localhost")
    tls = tls_context(certificate)
    good = header(b"authorization", b"Bearer open sesame")
    wait_until_up(door, tls, good)
    statuses = []
    for more in (good, b"", header(b"authorization", b"Bearer open barley")):
        peer = Peer(door.port, tls=tls)
        statuses.append(peer.call(ECHO, HELLO, more))
        peer.close()
    report.line(statuses == [OK, UNAUTHENTICATED, UNAUTHENTICATED],
                "With mutual TLS behind it and keys the door lets in who has a key", f"statuses {statuses}")
    pages = []
    for path in ("/healthz", "/metrics"):
        with urllib.request.urlopen("http://%s:%d%s" % (*admin, path)) as page:
            pages.append(page.status == 200 and (path == "/healthz" or b"haproxy_" in page.read()))
    report.line(all(pages), "The operators' page answers /healthz and /metrics")
    door.stop()
    server.stop()


def refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), WAIT_S).close()
        return False
    except ConnectionRefusedError:
        return True


def drains(report, certificate, both):
    """SIGUSR1, as at the end of a pod: the call under way is answered, nobody new comes in while it lasts."""
    server = start_server()
    door = start_door(server, both)
    tls = tls_context(certificate)
    wait_until_up(door, tls)
    peer = Peer(door.port, tls=tls)
    stream = peer.open(SLEEP)
    peer.send_body(stream, message(b"\x08\xb8\x17"))  # 3 s
    time.sleep(0.3)
    door.process.send_signal(signal.SIGUSR1)
    refused = False
    while not refused and stream not in peer.closed and not peer.eof:
        peer.receive(PAUSE_S)
        refused = refuses(door.port)
    while peer.receive(0):
        pass
    refused = refused and stream not in peer.closed
    status = peer.status(stream)
    peer.close()
    try:
        door.process.wait(WAIT_S)
    except subprocess.TimeoutExpired:
        pass
    report.line(refused and status == OK and not door.alive(), "On SIGUSR1 the door answers what is under way and ends",
                f"status {status}, {'nobody new came in' if refused else 'somebody new came in'}")
    server.stop()


def wait_until_up(door, tls, more=b""):
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        peer = Peer(door.port, tls=tls)
        status = peer.call(ECHO, HELLO, more)
        peer.close()
        if status == OK:
            return
        time.sleep(0.1)
    sys.exit(f"the door does not open: {door.last_words()}")


def main():
    need("haproxy", "openssl")
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        certificate, both = make_certificate(folder)
        check_configuration(report, both)
        server = start_server()
        changes = dict(argument.split("=", 1) for argument in sys.argv[1:])
        door = start_door(server, both, **changes)
        tls = tls_context(certificate)
        wait_until_up(door, tls)
        siege = Siege(report, [server, door], Polite(f"localhost:{door.port}", certificate), FILES_KEPT_MAX)
        for sentence, attack in (
                ("Rapid reset ends at the door", rapid_reset),
                ("HPACK integers that never end are refused", zero_padding),
                ("An HPACK table that shrinks and grows costs nobody", size_thrash),
                ("An HPACK bomb of references is refused", repetition),
                ("A CONTINUATION flood is refused", continuation),
                ("Empty CONTINUATION frames hurt nobody", empty_continuation),
                ("A SETTINGS flood hurts nobody", settings_flood),
                ("A PING flood hurts nobody", ping_flood),
                ("A WINDOW_UPDATE flood hurts nobody", window_flood),
                ("Poisoned metadata ends no calls of others", poison),
                ("A source that holds calls gets its share and no more", held_calls),
                ("A source that holds connections gets its share and no more", held_connections),
                ("What is not gRPC over TLS does not come in", other_protocols),
                ("A slow loris keeps nobody waiting", slow_loris)):
            siege.run(sentence, from_another_address(attack, door, tls), peak_max_mib=SERVICE_PEAK_MAX_MIB)
        cancelled(report, door, tls)
        siege.again(*([from_another_address(attack, door, tls)] for attack in (rapid_reset, zero_padding, held_calls)))
        door.stop()
        server.stop()
        failing_service(report, certificate, both)
        drains(report, certificate, both)
        with_everything(report, folder, certificate, both)
    sys.exit(report.failures > 0)


if __name__ == "__main__":
    main()
