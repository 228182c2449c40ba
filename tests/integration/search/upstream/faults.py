"""How an upstream misbehaves. A request's query says it: "fault-503 backups" is answered with 503, "fault-503x2 backups"
twice and then well, "delay-300 backups" well after 300 ms. Where a query cannot say it, POST /script does (upstreams.py).

    401 403 404 408 500 502 503     the engine's own error of that status
    echo echo-cut                   an error whose text repeats the key that came; behind 230 other characters
    429 429-after 429-date 429-long without Retry-After, with seconds, with a date, with an hour
    503-after                       with Retry-After
    206                             a partial answer in the engine's own manner; partial: another one, with status 200
    quota                           what is paid for is used up
    not-json truncated cut          a page of HTML; half the JSON; less than the announced length
    huge endless bomb               50 MB; JSON that does not end; 100 MB of blanks, zipped
    slow drip late                  not a byte; a byte each 200 ms; the head, and then no body
    reset closes redirect           the connection breaks; another address
    deep wide hostile shapes        JSON of 200,000 levels; 1,000 hits; hits with odd addresses; values of other types
    surrogate                       half a character, escaped, in the first hit
    repeated                        each hit four times, under addresses of one page
    empty                           no hits"""
import email.utils
import gzip
import json
import re
import select
import socket
import struct
import time
from http.server import BaseHTTPRequestHandler

BLOCK = 65536
RETRY_AFTER_S = 1
WORD = re.compile(r"\bfault-([a-z0-9-]+?)(?:x(\d+))?(?![\w-])")
DELAY = re.compile(r"\bdelay-(\d+)\b")


class Refused(Exception):
    """A request that the engine refuses: status, JSON value or bytes, headers."""

    def __init__(self, status, value, kind="application/json", **headers):
        super().__init__(status)
        self.status, self.value, self.kind, self.headers = status, value, kind, headers


class Upstream(BaseHTTPRequestHandler):
    """One engine is a class: `key`, `refusal`, `good` and the parts below that differ."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    engine = ""
    scripts = []  # of POST /script: dictionaries with query, fault, times
    seen = {}

    def log_message(self, *_):
        pass

    # ---- of each engine ----

    def query_of(self, asked):
        """Checks the request as the engine does, or raises Refused; the query that it has."""
        raise NotImplementedError

    def good(self, asked):
        """The answer's JSON value."""
        raise NotImplementedError

    def refusal(self, status):
        """(value, kind, headers) of an error."""
        raise NotImplementedError

    def partial(self, value, status):
        """(status, value) of an answer that is not whole."""
        return status, value

    def quota(self):
        return self.refuse(429)

    def hits_of(self, value):
        """The list of hits within the answer, to be changed in place."""
        raise NotImplementedError

    def headers_of(self):
        """Of each good answer."""
        return {}

    # ---- answering ----

    def reply(self, value, status=200, kind="application/json", **headers):
        body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        zipped = "gzip" in self.headers.get("accept-encoding", "") and len(body) > 200
        self.head(status, kind, content_length=str(len(gzip.compress(body) if zipped else body)),
                  **({"content_encoding": "gzip"} if zipped else {}), **headers)
        self.wfile.write(gzip.compress(body) if zipped else body)

    def head(self, status, kind, **headers):
        self.send_response(status)
        for name, text in {"content-type": kind, **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()

    def refuse(self, status, **headers):
        value, kind, own = self.refusal(status)
        self.reply(value, status, kind, **own, **headers)

    def piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
        self.note["sent"] += len(data)

    def wait_left(self, seconds=30.0):
        """Until the client has closed its side; true when it has."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN | select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        left = bool(poll.poll(seconds * 1000))
        if left:
            self.note["left_ns"] = time.monotonic_ns()
        self.close_connection = True
        return left

    # ---- HTTP ----

    def do_POST(self):
        self.serve()

    def do_GET(self):
        self.serve()

    def serve(self):
        self.note = {"sent": 0}
        try:
            length = self.headers.get("content-length")
            asked = self.rfile.read(int(length)) if length else b""
            query = self.query_of(asked)
        except Refused as refused:
            self.remember("", {"refused": refused.status, "told": str(refused.value)[:300], "path": self.path})
            self.reply(refused.value, refused.status, refused.kind, **refused.headers)
            return
        self.note = self.remember(query, {"path": self.path, "body": asked.decode(), "headers": dict(self.headers.items()),
                                          "begun_ns": time.monotonic_ns(), "left_ns": 0, "sent": 0})
        delay = DELAY.search(query)
        if delay:
            time.sleep(int(delay.group(1)) / 1000)
        fault = self.fault_of(query)
        try:
            self.misbehave(fault, asked) if fault else self.reply(self.good(asked), **self.headers_of())
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.note["left_ns"] = time.monotonic_ns()
            self.close_connection = True

    def remember(self, query, note):
        self.seen.setdefault((self.engine, query), []).append(note)
        return note

    def fault_of(self, query):
        found = WORD.search(query)
        if found:
            times = int(found.group(2) or 0)
            return found.group(1) if not times or len(self.seen[self.engine, query]) <= times else None
        for script in self.scripts:
            if script["engine"] in ("", self.engine) and script["query"] in query and script["times"] != 0:
                script["times"] -= 1
                return script["fault"]
        return None

    def misbehave(self, fault, asked):
        if fault in ("206", "partial"):
            status, value = self.partial(self.good(asked), int(fault) if fault.isdigit() else 200)
            self.reply(value, status, **self.headers_of())
        elif fault.isdigit():
            self.refuse(int(fault))
        else:
            getattr(self, "fault_" + fault.replace("-", "_"))(asked)

    # ---- refusals ----

    def fault_429_after(self, _):
        self.refuse(429, retry_after=str(RETRY_AFTER_S))

    def fault_429_long(self, _):
        self.refuse(429, retry_after="3600")

    def fault_429_date(self, _):
        self.refuse(429, retry_after=email.utils.formatdate(time.time() + 30, usegmt=True))

    def fault_503_after(self, _):
        self.refuse(503, retry_after=str(RETRY_AFTER_S))

    def fault_quota(self, _):
        self.quota()

    def fault_echo_cut(self, asked):
        self.fault_echo(asked, "x" * 230 + " ")

    def fault_echo(self, _, before=""):
        """The engine's own 403, with all secrets that it got in each text of it."""
        value, kind, own = self.refusal(403)
        given = before + " ".join(text for name, text in self.headers.items() if name.lower() in ("authorization", "api-key", "x-subscription-token"))

        def told(inner):
            if isinstance(inner, dict):
                return {name: told(one) for name, one in inner.items()}
            return [told(one) for one in inner] if isinstance(inner, list) else f"{given} {inner}" if isinstance(inner, str) else inner
        self.reply(given.encode() + value if isinstance(value, bytes) else told(value), 403, kind, **own)

    def fault_redirect(self, _):
        self.reply(b"", 302, "text/html", location="http://127.0.0.1:9/elsewhere")

    # ---- what is no answer ----

    def fault_not_json(self, _):
        self.reply(b"<html><body>Sign in to the hotel's network</body></html>", kind="text/html; charset=utf-8")

    def fault_truncated(self, asked):
        body = json.dumps(self.good(asked), ensure_ascii=False).encode()
        self.reply(body[:len(body) * 2 // 3])

    def fault_cut(self, asked):
        body = json.dumps(self.good(asked), ensure_ascii=False).encode()
        self.head(200, "application/json", content_length=str(len(body)))
        self.wfile.write(body[:len(body) // 2])
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def fault_reset(self, _):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def fault_closes(self, _):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def fault_huge(self, asked):
        """50 MB of good JSON: the first hit's texts are long."""
        value = self.good(asked)
        for hit in self.hits_of(value)[:1]:
            texts = hit.get("_source", hit)
            for name in [name for name, text in texts.items() if isinstance(text, str) and name not in ("id", "url")]:
                texts[name] += " " + "long " * 2_500_000
        body = json.dumps(value, ensure_ascii=False).encode()
        body += b" " * max(0, 50_000_000 - len(body))
        self.head(200, "application/json", content_length=str(len(body)))
        for at in range(0, len(body), BLOCK):
            self.wfile.write(body[at:at + BLOCK])
            self.note["sent"] += len(body[at:at + BLOCK])

    def fault_endless(self, asked):
        """The list of hits begins and does not end."""
        value = self.good(asked)
        hits = self.hits_of(value)
        hit = json.dumps(hits[0] if hits else {}, ensure_ascii=False).encode()
        hits[:] = ["HITS"]
        self.head(200, "application/json", transfer_encoding="chunked")
        self.piece(json.dumps(value, ensure_ascii=False).encode().split(b'"HITS"')[0] + hit)
        block = (b"," + hit) * (BLOCK // (len(hit) + 1) + 1)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            self.piece(block)

    def fault_bomb(self, _):
        self.head(200, "application/json", content_encoding="gzip", transfer_encoding="chunked")
        packed = gzip.compress(b" " * (100 << 20), compresslevel=9)
        for at in range(0, len(packed), BLOCK):
            self.piece(packed[at:at + BLOCK])
        self.wfile.write(b"0\r\n\r\n")

    # ---- time ----

    def fault_slow(self, _):
        self.wait_left()

    def fault_late(self, _):
        self.head(200, "application/json", content_length="1000")
        self.wait_left()

    def fault_drip(self, asked):
        body = json.dumps(self.good(asked), ensure_ascii=False).encode()
        self.head(200, "application/json", content_length=str(len(body)))
        for byte in body:
            self.wfile.write(bytes([byte]))
            if self.wait_left(0.2):
                return

    # ---- odd contents ----

    def fault_empty(self, asked):
        value = self.good(asked)
        self.hits_of(value)[:] = []
        self.reply(value, **self.headers_of())

    def fault_deep(self, _):
        self.reply(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}")

    def fault_wide(self, asked):
        """More hits than were asked for, each with an address of its own."""
        value = self.good(asked)
        hits = self.hits_of(value)
        first = json.dumps(hits[0], ensure_ascii=False)
        addresses = re.findall(r'"(https://[^"?#]+)', first)
        hits[:] = [json.loads(first.replace(addresses[0], f"{addresses[0]}/{i}")) for i in range(1000)] if addresses else hits
        self.reply(value)

    def fault_hostile(self, asked):
        """The first hit stays; behind it are hits that cannot be used."""
        value = self.good(asked)
        hits = self.hits_of(value)
        first = json.dumps(hits[0], ensure_ascii=False)
        address = re.findall(r'"(https://[^"]+)"', first)[0]
        odd = [first.replace(address, other) for other in ("javascript:alert(1)", "", "file:///etc/passwd", "http://", "//a.example/b",
                                                           "https://user:pass@a.example/", "https://a.example/ b", "x" * 10_000)]
        hits += [json.loads(text) for text in odd] + [{}]
        self.reply(value)

    def fault_repeated(self, asked):
        """Other ways to write the address of each hit, behind it."""
        value = self.good(asked)
        hits = self.hits_of(value)
        texts = [json.dumps(hit, ensure_ascii=False) for hit in hits]
        hits[:] = [json.loads(re.sub(r'"(https)://([^"/]+)([^"?#]*)[^"]*"', shape, text, count=1)) for text in texts
                   for shape in (r'"\1://\2\3"', r'"http://www.\2\3/"', r'"\1://\2\3?utm_source=feed&utm_medium=rss"', r'"HTTPS://\2:443\3#top"')]
        self.reply(value, **self.headers_of())

    def fault_surrogate(self, asked):
        value = self.good(asked)
        first = self.hits_of(value)[0]
        first = first.get("_source", first)
        first["title"] += chr(0xD83D)
        self.reply(json.dumps(value).encode())

    def fault_shapes(self, asked):
        """Each value is of another type."""
        def turned(value):
            if isinstance(value, dict):
                return {name: turned(inner) for name, inner in value.items()}
            return [turned(inner) for inner in value] if isinstance(value, list) else {"was": str(value)} if isinstance(value, str) else "7"
        self.reply(turned(self.good(asked)))
