#!/usr/bin/env python3
"""fetch_page before a real web server: what is read of pages, and what a stranger or a model cannot make of it.
RENGA_BIN, RENGA_PROTO; one line a check, exit 1 when one fails."""
import gzip
import http.server
import json
import os
import resource
import threading
import time
import urllib.parse

from runner import Runner, SLOW, check, checks, expect

OK, INVALID, LATE, NOT_FOUND, DENIED, EXHAUSTED, FAILED, UNAVAILABLE = 0, 3, 4, 5, 7, 8, 9, 14
JAPANESE = "夜間バックアップの開始時刻は毎日午前2時です。カタカナとｶﾅ。"
HTML = f"""<!doctype html>
<html><head><title>手引き</title></head><body><nav>menu</nav><h1>バックアップ</h1>
<h2>実行時刻</h2>
<p>{JAPANESE}</p><script>evil()</script>
<p>Port &lt;9090&gt; is used.</p></body></html>"""
NEWS_PARAGRAPHS = [
    "The bridge over the Lauter opens on Friday, two years later than planned, and at twice the price.",
    "It carries bicycles and people on foot, but no cars, which the council had fought over for ten years."]
NEWS = ("""<!doctype html><html lang="en"><head><title>Bridge opens - Daily Lauter</title><meta property="og:title" content="Bridge opens">
<meta property="article:published_time" content="2031-05-02T08:00:00Z"><meta name="author" content="Ada Lund"></head><body>
<ul class="menu"><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul><div class="article"><h1>Bridge opens</h1>
<p class="byline">By Ada Lund</p>""" + "".join(f"<p>{text}</p>\n" for text in NEWS_PARAGRAPHS) + """</div>
<div class="comments"><p>I have lived here for thirty years, and I think that it is far too expensive for what it is.</p></div>
</body></html>""")
LONG = "# Long\n\n" + "\n\n".join(f"Paragraph number {i} says that the answer is {i * i}." for i in range(1, 301))
BOMB = gzip.compress(b"<p>zero</p>" * 3_000_000, 1)
HTML_TYPE, TEXT_TYPE = "text/html; charset=utf-8", "text/plain"


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked, headers_seen, leads, gone = [], [], {}, threading.Event()
    robots = None  # the file, or a status
    pages = {
        "/news": (HTML_TYPE, NEWS.encode()),
        "/guide": (HTML_TYPE, HTML.encode()),
        "/guide?lang=ja": (HTML_TYPE, HTML.encode()),
        "/sjis": ("text/html; charset=Shift_JIS", HTML.encode("cp932")),
        "/euc": ("text/html", f'<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">{HTML}'.encode("euc_jp")),
        "/jis": ('text/html; charset="iso-2022-jp"', HTML.replace("ｶﾅ", "").encode("iso2022_jp")),
        "/untold": ("text/html", HTML.encode("cp932")),
        "/unknown": ("text/html; charset=x-klingon", HTML.encode()),
        "/broken": (HTML_TYPE, b"<p>before \xff\xfe after</p><p>a\0b</p>"),
        "/README.md": (TEXT_TYPE, LONG.encode()),
        "/data.json": ("application/json", b'{"port": 9090}'),
        "/picture": ("image/png", b"\x89PNG\r\n\x1a\n" + bytes(100)),
        "/liar": (TEXT_TYPE, bytes(range(256)) * 8),
        "/empty": (HTML_TYPE, b""),
        "/日本語": (HTML_TYPE, b"<p>encoded</p>"),
    }

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        Site.asked.append(path)
        Site.headers_seen.append(dict(self.headers))
        if path == "/robots.txt" and Site.robots:
            found = isinstance(Site.robots, bytes)
            self.answer(200 if found else Site.robots, TEXT_TYPE, Site.robots if found else b"no")
        elif path in Site.pages:
            self.answer(200, *Site.pages[path])
        elif path in Site.leads:
            self.answer(302, TEXT_TYPE, b"elsewhere", Location=Site.leads[path])
        elif path == "/bomb":
            self.answer(200, HTML_TYPE, BOMB, **{"Content-Encoding": "gzip"})
        elif path.startswith("/status/"):
            self.answer(int(path[8:]), TEXT_TYPE, b"no")
        elif path in ("/endless", "/drip", "/cut"):
            self.pour(path)
        else:
            self.answer(404, TEXT_TYPE, b"no")

    def answer(self, code, kind, body, **headers):
        self.send_response(code)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def pour(self, path):
        """Without an end: as fast as it goes, a byte at a time, or cut in the middle."""
        self.send_response(200)
        self.send_header("Content-Type", HTML_TYPE)
        self.send_header("Content-Length" if path == "/cut" else "Transfer-Encoding", "1000" if path == "/cut" else "chunked")
        self.end_headers()
        try:
            while path != "/cut":
                piece = b"<p>more</p>" * 1000 if path == "/endless" else b"x"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                if path == "/drip":
                    time.sleep(0.05)
            self.wfile.write(b"<p>half")
        except OSError:
            Site.gone.set()
        self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, *_):
        pass  # whoever asked has left


def serve():
    server = Server(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


port, other, silent = serve(), serve(), serve()
site, elsewhere = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{other}"
Site.leads = {
    "/moved": "guide?lang=ja", "/loop": "/loop", "/to-other": f"{elsewhere}/guide", "/to-name": f"http://localhost:{port}/guide",
    "/to-metadata": "http://169.254.169.254/latest/meta-data/", "/to-file": "file:///etc/passwd", "/to-user": f"http://a:b@127.0.0.1:{port}/guide",
    "/to-nowhere": "http://[", "/to-gopher": f"gopher://127.0.0.1:{port}/guide"}
for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"):
    os.environ[name] = "http://127.0.0.1:1"

with Runner({}) as runner:
    @check("without a list of hosts the tool is not there")
    def _():
        names = [tool.definition.name for tool in runner.list().tools]
        expect("clock" in names and "fetch_page" not in names, names)
        result = runner.one("fetch_page", {"url": f"{site}/guide"})
        expect(result.status_code == NOT_FOUND and not Site.asked, result)

with Runner({}, f"--tool_runner.private_pages=127.0.0.1:{port}", f"--tool_runner.pages=localhost:{port},[::1]:{port}") as runner:
    def fetch(path, fields=None, **arguments):
        return runner.one("fetch_page", {"url": path if "://" in path else site + path, **arguments}, fields)

    def refused(path, code, part):
        result = fetch(path)
        expect(result.status_code == code and part in result.message, f"{result.status_code} {result.message} {result.text[:80]}")
        expect("/guide" not in result.message and "secret" not in result.message, f"more than an origin: {result.message}")
        expect("hit" not in result.text and not result.hits, result.text[:80])

    @check("a page is its paragraphs, each with URL, lines and headings")
    def _():
        result = fetch("/guide")
        url = f"{site}/guide"
        expect(result.text == f"Title: 手引き\n\n[1] {url}:4-4 | バックアップ > 実行時刻\n{JAPANESE}\n\n[2] {url}:5-5 | バックアップ > 実行時刻\n"
                              "Port <9090> is used.", result)
        hit = result.hits[0]
        expect((hit.source, hit.uri, hit.title, hit.line_from, hit.snippet) == ("page", url, "手引き", 4, JAPANESE), hit)
        told = {name.lower() for name in Site.headers_seen[-1]}
        expect(told <= {"host", "user-agent", "accept", "accept-encoding"}, told)

    @check("a page's main content begins with its title, byline, date and language, and menus and comments are left out")
    def _():
        result = fetch("/news")
        expect(result.text.startswith("Title: Bridge opens\nBy: Ada Lund\nPublished: 2031-05-02T08:00:00Z\nLanguage: en\n\n[1] "), result.text)
        expect([hit.snippet for hit in result.hits] == NEWS_PARAGRAPHS, result.hits)
        expect({hit.published_date for hit in result.hits} == {"2031-05-02T08:00:00Z"}, result.hits[0])

    @check("Shift_JIS, EUC-JP and ISO-2022-JP are read, told by the server, by the page, or by nobody")
    def _():
        for path in ("/sjis", "/euc", "/untold", "/unknown"):
            result = fetch(path)
            expect(JAPANESE in result.text, f"{path}: {result.message} {result.text}")
        expect(JAPANESE.replace("ｶﾅ", "") in fetch("/jis").text, fetch("/jis"))

    @check("a byte that is wrong costs itself alone, and none is NUL")
    def _():
        result = fetch("/broken")
        expect("before \ufffd\ufffd after" in result.text and "a b" in result.text and "\0" not in result.text, result)

    @check("a redirect is followed, and what is cited is where it led")
    def _():
        result = fetch("/moved")
        expect(result.hits[0].uri == f"{site}/guide?lang=ja", result)

    @check("a long page comes in parts that join without a gap")
    def _():
        said, start = [], 1
        while True:
            result = fetch("/README.md", {"output_max_bytes": 20000}, **{"from": start})
            expect(len(result.text) <= 20000 and not result.truncated and result.hits, result.message)
            said += [hit.snippet for hit in result.hits]
            if "go on with" not in result.text:
                break
            start += len(result.hits)
        expect(said == LONG.split("\n\n")[1:], f"{len(said)} paragraphs")
        expect("has 300" in fetch("/README.md", **{"from": 1000}).text, "it does not say how many there are")
        return f"{start} is the last part's first"

    @check("JSON is text, and names of other scripts are encoded")
    def _():
        expect('{"port": 9090}' in fetch("/data.json").text, fetch("/data.json"))
        expect("encoded" in fetch("/日本語").text, fetch("/日本語"))

    @check("a host that is not listed is not asked, by whatever name or port")
    def _():
        before = len(Site.asked)
        for url in (f"{elsewhere}/guide", "http://example.com/", f"http://2130706433:{other}/", "http://169.254.169.254/"):
            refused(url, DENIED, "may not be read")
        expect(len(Site.asked) == before, Site.asked[before:])

    @check("a name that leads into the house is refused when it is resolved, and so is an address")
    def _():
        before = len(Site.asked)
        refused(f"http://localhost:{port}/guide", DENIED, "not public")
        refused(f"http://[::1]:{port}/guide", DENIED, "not public")
        expect(len(Site.asked) == before, Site.asked[before:])

    @check("redirects to loopback, metadata, files and other protocols go nowhere")
    def _():
        before = len(Site.asked)
        for path, code, part in (("/to-other", DENIED, "may not be read"), ("/to-name", DENIED, "not public"),
                                 ("/to-metadata", DENIED, "may not be read"), ("/to-file", FAILED, "leads to"),
                                 ("/to-gopher", FAILED, "leads to"), ("/to-nowhere", FAILED, "leads to"),
                                 ("/to-user", INVALID, "password"), ("/loop", FAILED, "5 redirects")):
            refused(path, code, part)
        expect("/guide" not in Site.asked[before:], Site.asked[before:])

    @check("what is no URL of the web is refused")
    def _():
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/", "javascript:1", "127.0.0.1/guide", "http://", "http://a b/", "http://x\n/"):
            result = fetch(url if "://" in url else "://" + url)
            expect(result.status_code == INVALID, f"{url}: {result}")
        refused(f"http://user:secret@127.0.0.1:{port}/guide", INVALID, "password")

    @check("what is no text is told by its type, or by its bytes")
    def _():
        refused("/picture", INVALID, "no page of text")
        refused("/liar", INVALID, "binary")
        expect("Nothing to read" in fetch("/empty").text, fetch("/empty"))

    @check("a page without end, one that unpacks to 33 MB and one that is cut are errors")
    def _():
        refused("/endless", EXHAUSTED, "larger than the 2097152 bytes")
        expect(Site.gone.wait(5 * SLOW), "it was read on")
        refused("/bomb", EXHAUSTED, "larger than the 2097152 bytes")
        refused("/cut", UNAVAILABLE, "cut its answer short")

    @check("a page that drips is given up in time, and its server left")
    def _():
        Site.gone.clear()
        result = fetch("/drip", {"timeout_ms": 400})
        expect(result.status_code == LATE and "400 ms" in result.message, result)
        expect(Site.gone.wait(5 * SLOW), "it was read on")

    @check("an HTTP status is told with a code that says whether to come back")
    def _():
        for status, code in ((404, NOT_FOUND), (403, DENIED), (429, UNAVAILABLE), (500, UNAVAILABLE), (418, 2)):
            refused(f"/status/{status}", code, f"HTTP {status}")

    @check("many at once, slow ones among them, each have their own end")
    def _():
        paths = ["/guide", "/drip", "/status/404", "/moved", "/to-other"] * 8
        results = runner.run(*[("fetch_page", {"url": site + path}, {"timeout_ms": 2000 * SLOW if path != "/drip" else 300})
                               for path in paths])
        codes = [result.status_code for result in results]
        expect(codes == [OK, LATE, NOT_FOUND, OK, DENIED] * 8, codes)

    @check("no query and no page reaches the log")
    def _():
        expect(not any("lang=ja" in line or "バックアップ" in line for line in runner.log), "it does")

with Runner({}, f"--tool_runner.private_pages=127.0.0.1:{port},127.0.0.1:{other},127.0.0.1:{silent}", "--tool_runner.robots=true") as runner:
    def fetch(url):
        return runner.one("fetch_page", {"url": url})

    @check("robots.txt is asked for once, and a page that it forbids is not asked for")
    def _():
        Site.robots = b"User-agent: *\nDisallow: /\n\nUser-agent: Renga/1.0\nAllow: /\nDisallow: /data\n"
        before = len(Site.asked)
        results = [fetch(site + path) for path in ("/guide", "/data.json", "/moved", "/data.json")]
        expect([result.status_code for result in results] == [OK, DENIED, OK, DENIED], [result.message for result in results])
        expect("robots.txt" in results[1].message, results[1].message)
        expect(Site.asked[before:] == ["/robots.txt", "/guide", "/moved", "/guide?lang=ja"], Site.asked[before:])

    @check("a redirect to another host asks that host; without a robots.txt all pages are allowed")
    def _():
        Site.robots = None
        before = len(Site.asked)
        expect(fetch(f"{site}/to-other").status_code == OK, "it was not read")
        expect(Site.asked[before:] == ["/to-other", "/robots.txt", "/guide"], Site.asked[before:])

    @check("a host that does not say is not read")
    def _():
        Site.robots = 503
        before = len(Site.asked)
        result = fetch(f"http://127.0.0.1:{silent}/guide")
        expect(result.status_code == UNAVAILABLE and "robots.txt" in result.message, result)
        expect(fetch(f"http://127.0.0.1:{silent}/guide").status_code == UNAVAILABLE, "it was read the second time")
        expect(Site.asked[before:] == ["/robots.txt"], Site.asked[before:])

with Runner({}, f"--tool_runner.private_pages=127.0.0.1:{port}") as runner:
    @check("a process without a free file descriptor fails its first fetch, and reads pages again when it has some")
    def _():
        pid, url = runner.process.pid, {"url": f"{site}/guide"}
        runner.one("calculate", {"expression": "1 + 1"})
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, before[1]))
        expect(runner.one("fetch_page", url).status_code == UNAVAILABLE, "it was read without a socket")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        expect(JAPANESE in runner.one("fetch_page", url).text, "it was not read afterwards")

with Runner({}, f"--tool_runner.private_pages=169.254.169.254,localhost:{port}", "--tool_runner.pages=*") as runner:
    @check("not even an operator opens the link-local addresses; a name may be opened wherever it leads")
    def _():
        result = runner.one("fetch_page", {"url": "http://169.254.169.254/latest/meta-data/"})
        expect(result.status_code == DENIED and "not public" in result.message, result)
        expect(JAPANESE in runner.one("fetch_page", {"url": f"http://localhost:{port}/guide"}).text, "not read")
        expect(runner.one("fetch_page", {"url": f"{site}/guide"}).status_code == DENIED, "another name for it was read")

    @check("any host means any that is public, on the ports of the web")
    def _():
        results = runner.run(*[("fetch_page", {"url": url}) for url in ("http://127.0.0.1/", "http://10.0.0.1/", "http://[::ffff:127.0.0.1]/",
                                                                        "http://0x7f.1/", "https://192.168.0.1/", "http://0/")])
        expect([result.status_code for result in results] == [DENIED] * 6, json.dumps([r.message for r in results]))
        expect(all("not public" in result.message for result in results), results)
        expect("may not be read" in runner.one("fetch_page", {"url": "http://8.8.8.8:22/"}).message, "port 22 was tried")

checks.finish()
