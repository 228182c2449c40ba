"""A relay between a client and a server that counts the bytes of both ways: what compression did shows nowhere else."""
import socket
import threading


class Relay:
    def __init__(self, port):
        self._server = ("127.0.0.1", port)
        self._bytes = [0, 0]
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def forget(self):
        self._bytes = [0, 0]

    def counts(self):
        """Bytes to the server and to the client."""
        return tuple(self._bytes)

    def _accept(self):
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(self._server)
            self._sockets += [client, server]
            for way, (source, sink) in enumerate(((client, server), (server, client))):
                threading.Thread(target=self._pass_on, args=(way, source, sink), daemon=True).start()

    def _pass_on(self, way, source, sink):
        try:
            while True:
                data = source.recv(1 << 16)
                if not data:
                    break
                self._bytes[way] += len(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
        for end in self._sockets:
            end.close()
