"""HTTP/2 by hand: a peer that keeps the rules only where the test wants it to. Needs nothing beyond Python."""

import re
import select
import socket
import ssl
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 0x1
END_HEADERS = 0x4
INITIAL_WINDOW = 65535
FRAME_MAX = 16384
PAUSE_S = 0.05  # between two looks
WAIT_S = 30  # for what will come, on a busy machine too


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(*pairs):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", key, value) for key, value in pairs))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def reset(stream, code=8):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def varint(value):
    """As messages have their tags and sizes."""
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def hpack_integer(value, bits, pattern=0):
    most = (1 << bits) - 1
    if value < most:
        return bytes([pattern | value])
    out = [pattern | most]
    value -= most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + [value])


def hpack_text(text):
    return hpack_integer(len(text), 7) + text


def header(name, value, indexed=False):
    """A literal, which stays out of the peer's table unless `indexed`."""
    return (b"\x40" if indexed else b"\x00") + hpack_text(name) + hpack_text(value)


def request(path, scheme="http", more=b"", authority=b"localhost"):
    """The header block of a gRPC call; `more` is header block too."""
    return (b"\x83" + (b"\x87" if scheme == "https" else b"\x86") + b"\x04" + hpack_text(path.encode())
            + b"\x01" + hpack_text(authority) + header(b"te", b"trailers")
            + header(b"content-type", b"application/grpc") + more)


def message(payload, compressed=False, size=None):
    """A gRPC message; `size` where its header is to lie."""
    return struct.pack(">BI", compressed, len(payload) if size is None else size) + payload


class Peer:
    """A connection. Bytes go out as they are given; what comes in is taken note of, and obeyed by `send_body` alone."""

    def __init__(self, port, source="127.0.0.1", tls=None, start=True, obey=True, mine=(), timeout_s=5):
        """Without `obey` the peer's SETTINGS are never acknowledged, and gRPC core applies no limit before they are. A send that
        does not go on for `timeout_s` has ended the connection."""
        self.obey = obey
        self.scheme = "https" if tls else "http"
        self.socket = socket.create_connection(("127.0.0.1", port), WAIT_S, (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.socket.settimeout(timeout_s)
        self.buffer = b""
        self.next_stream = 1
        self.window = INITIAL_WINDOW  # of the connection, for what we send
        self.stream_window = INITIAL_WINDOW  # of a new stream
        self.windows = {}
        self.streams_max = None
        self.blocks = {}  # stream: header blocks that came
        self.data = {}  # stream: bytes that came
        self.resets = {}
        self.closed = set()
        self.goaway = None
        self.eof = False
        if start:
            self.send(PREFACE + settings(*mine))
            until = time.monotonic() + WAIT_S
            while obey and self.streams_max is None and not self.eof and time.monotonic() < until:
                self.receive(0.2)

    def close(self):
        self.socket.close()

    def send(self, data):
        """False once the peer takes no more."""
        try:
            self.socket.sendall(data)
            return True
        except (OSError, ssl.SSLError):
            self.eof = True
            return False

    def open(self, path, more=b"", end=False, block=None, flags=END_HEADERS):
        stream = self.next_stream
        self.next_stream += 2
        self.windows[stream] = self.stream_window
        self.send(frame(HEADERS, flags | (END_STREAM if end else 0), stream,
                        request(path, self.scheme, more) if block is None else block))
        return stream

    def call(self, path, body, more=b"", wait_s=WAIT_S):
        """A unary call; returns its grpc-status, or None where there was none."""
        stream = self.open(path, more)
        self.send_body(stream, body, wait_s)
        return self.status(stream, wait_s)

    def send_body(self, stream, body, wait_s=WAIT_S, end=True):
        """Sends within the peer's windows; returns how many bytes it took."""
        sent = 0
        until = time.monotonic() + wait_s
        while sent < len(body) and not self.eof and stream not in self.closed and time.monotonic() < until:
            room = min(self.window, self.windows[stream], FRAME_MAX, len(body) - sent)
            if room <= 0:
                self.receive(0.2)
                continue
            last = end and sent + room == len(body)
            self.send(frame(DATA, END_STREAM if last else 0, stream, body[sent:sent + room]))
            sent += room
            self.window -= room
            self.windows[stream] -= room
            if sent % (32 * FRAME_MAX) == 0:
                self.receive(0)
        return sent

    def receive(self, wait_s):
        """Takes in what comes within `wait_s`, at least once what is there."""
        pending = self.socket.pending() if isinstance(self.socket, ssl.SSLSocket) else 0
        if not pending and not select.select([self.socket], [], [], wait_s)[0]:
            return False
        try:
            got = self.socket.recv(1 << 16)
        except (OSError, ssl.SSLError):
            got = b""
        if not got:
            self.eof = True
            return False
        self.buffer += got
        while len(self.buffer) >= 9:
            size = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + size:
                break
            kind, flags = self.buffer[3], self.buffer[4]
            stream = int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
            payload, self.buffer = self.buffer[9:9 + size], self.buffer[9 + size:]
            self._note(kind, flags, stream, payload)
        return True

    def _note(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                key, value = struct.unpack_from(">HI", payload, at)
                if key == 4:
                    for known in self.windows:
                        self.windows[known] += value - self.stream_window
                    self.stream_window = value
                elif key == 3:
                    self.streams_max = value
            self.streams_max = self.streams_max or 1 << 31
            if self.obey:
                self.send(frame(SETTINGS, ACK))
        elif kind == WINDOW_UPDATE:
            increment = struct.unpack(">I", payload)[0]
            if stream:
                self.windows[stream] = self.windows.get(stream, self.stream_window) + increment
            else:
                self.window += increment
        elif kind == HEADERS:
            self.blocks.setdefault(stream, []).append(payload)
        elif kind == DATA:
            self.data[stream] = self.data.get(stream, b"") + payload
        elif kind == RST_STREAM:
            self.resets[stream] = struct.unpack(">I", payload)[0]
            self.closed.add(stream)
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == GOAWAY:
            self.goaway = (struct.unpack(">I", payload[4:8])[0], payload[8:].decode("latin1"))
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            self.closed.add(stream)

    def status(self, stream, wait_s=WAIT_S):
        """The stream's grpc-status. Read without an HPACK decoder: neither gRPC core nor HAProxy compresses these, and
        on a connection's first failing stream nothing is in the table yet."""
        until = time.monotonic() + wait_s
        while stream not in self.closed and not self.eof and time.monotonic() < until:
            self.receive(0.2)
        found = re.search(rb"grpc-status[\x01\x02](\d+)", b"".join(self.blocks.get(stream, [])))
        return int(found.group(1)) if found else None

    def text(self, stream):
        found = re.search(rb"grpc-message(.)", b"".join(self.blocks.get(stream, [])), re.S)
        if not found:
            return ""
        block = b"".join(self.blocks[stream])
        return block[found.end():found.end() + (found.group(1)[0] & 127)].decode("latin1")

    def wait_for_end(self, wait_s):
        """True once the peer has closed the connection."""
        until = time.monotonic() + wait_s
        while not self.eof and time.monotonic() < until:
            self.receive(max(0, min(0.2, until - time.monotonic())))
        return self.eof


def tls_context(authority=None):
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    return context
