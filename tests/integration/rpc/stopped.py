"""A client that stands still while an answer waits for it: stopped, swapped out, on a machine that is asleep. Reads nothing for
longer than a busy machine takes, with all buffers on the way full, and then reads on."""
import os
import socket
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), os.path.join(HERE, "..", "..", "fault")]
from checks import check, expect, finish  # noqa: E402
from http2 import Peer, message, varint, window_update  # noqa: E402
from siege import start_server  # noqa: E402

COUNT = "/renga.test.Probe/Count"
STILL_S = 14
WINDOW = 1 << 30
PIECES, BYTES = 400, 60000
INITIAL_WINDOW_SIZE = 4

server = start_server()


@check(f"a client that reads nothing for {STILL_S} s, with an answer in full buffers, gets the whole of it")
def _():
    peer = Peer(server.port, mine=[(INITIAL_WINDOW_SIZE, WINDOW)])
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    peer.send(window_update(0, WINDOW))
    stream = peer.open(COUNT)
    peer.send_body(stream, message(b"\x08" + varint(PIECES) + b"\x10" + varint(BYTES)))
    time.sleep(STILL_S)
    status = peer.status(stream, 180)
    came = len(peer.data.get(stream, b""))
    expect(status == 0 and came > PIECES * BYTES, f"status {status}, {came} bytes, the connection has {'ended' if peer.eof else 'not ended'}")
    peer.close()


server.stop()
finish()
