"""10,000 streams that say nothing: what each costs a server of ours, and what of that is ours rather than gRPC core's.

The same streams (Probe.Count: one message at once, the next in an hour) are held by probe-server and by raw-streams, the
same written directly on gRPC core. `idle_streams.py [STREAMS]`; RENGA_BIN is the folder of both."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from http2 import Peer, message  # noqa: E402
from siege import BIN, Report, Subject  # noqa: E402

COUNT = "/renga.test.Probe/Count"
REQUEST = message(b"\x08\x02\x18\x80\xdd\xdb\x01")  # 2 messages, 3,600,000 ms apart
STREAMS = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
ON_A_CONNECTION = 500
OURS_MAX_KIB = 12
IDLE_MAX_MIB = 16
SETTLE_S = 3


def start(program, *arguments):
    server = Subject(program, [os.path.join(BIN, program), *arguments])
    line = server.process.stdout.readline().split()
    if line[:1] != ["listening"]:
        sys.exit(f"{program} did not start: {server.last_words()}")
    server.port = int(line[1])
    time.sleep(SETTLE_S)
    return server


def idle(server):
    """MiB resident: in all, and of that private to the process (the rest is libraries' code, shared with others)."""
    private = 0
    with open(f"/proc/{server.pid}/smaps_rollup") as lines:
        for line in lines:
            if line.startswith(("Private_Clean", "Private_Dirty")):
                private += int(line.split()[1])
    return server.rss(), private / 1024


def hold(server):
    """Opens the streams; every one has had its first message when this returns."""
    peers = []
    for first in range(0, STREAMS, ON_A_CONNECTION):
        peer = Peer(server.port)
        streams = []
        for _ in range(min(ON_A_CONNECTION, STREAMS - first)):
            stream = peer.open(COUNT)
            peer.send_body(stream, REQUEST)
            streams.append(stream)
        until = time.monotonic() + 10
        while not all(stream in peer.data for stream in streams) and time.monotonic() < until:
            peer.receive(0.5)
        if not all(stream in peer.data for stream in streams) or peer.closed:
            sys.exit("streams were refused")
        peers.append(peer)
    return peers


def measure(program, *arguments):
    server = start(program, *arguments)
    before, private = idle(server)
    peers = hold(server)
    time.sleep(SETTLE_S)
    held = server.rss()
    for peer in peers:
        peer.close()
    time.sleep(SETTLE_S + 2)
    after = server.rss()
    server.process.kill()
    each = (held - before) * 1024 / STREAMS
    print(f"# {program}: idle {before:.1f} MiB ({private:.1f} private), {STREAMS} streams {held:.1f}, after {after:.1f}; "
          f"{each:.1f} KiB a stream", flush=True)
    return before, each


def main():
    report = Report()
    raw_idle, raw_each = measure("raw-streams", "0")
    our_idle, our_each = measure("probe-server", "--listen", "127.0.0.1:0")
    ours = our_each - raw_each
    report.line(ours <= OURS_MAX_KIB, f"An idle stream costs at most {OURS_MAX_KIB} KiB on our side of gRPC",
                f"{ours:.1f} KiB of {our_each:.1f}; on gRPC core alone {raw_each:.1f}")
    report.line(our_idle <= IDLE_MAX_MIB, f"An idle server holds at most {IDLE_MAX_MIB} MiB",
                f"{our_idle:.1f} MiB; on gRPC core alone {raw_idle:.1f}")
    sys.exit(report.failures > 0)


main()
