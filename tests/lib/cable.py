"""A TCP port that leads to a socket of this machine, and can be cut: bytes of one direction, or of both, wait until it is
mended, and neither side is told. So a network does it that loses packets for a while.

    cable = Cable("/run/redis.sock")
    … f"redis://127.0.0.1:{cable.port}" …
    cable.cut("to")
    cable.mend()"""
import socket
import threading

DIRECTIONS = ("both", "to", "from")  # to the server, from the server
LOOK_S = 0.002


class Cable:
    def __init__(self, path):
        self.path, self.severed = path, None
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut(self, direction="both"):
        self.severed = direction

    def mend(self):
        self.severed = None

    def accept(self):
        """While it is cut, connections are taken and stay silent."""
        while True:
            client, _ = self.listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.path)
            except OSError:
                client.close()
                continue
            for way in (("to", client, server), ("from", server, client)):
                threading.Thread(target=self.carry, args=way, daemon=True).start()

    def carry(self, direction, source, sink):
        try:
            while True:
                data = source.recv(1 << 16)
                while self.severed in ("both", direction):
                    threading.Event().wait(LOOK_S)
                if not data:
                    break
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other direction has ended
        finally:
            if direction == "from":
                source.close()
                sink.close()
