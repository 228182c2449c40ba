#!/usr/bin/python3
"""Documents of offices, books and PDFs: indexed from a folder, fetched from a web server, and hostile ones.
RENGA_BIN, RENGA_PROTO; one line a check, exit 1 when one fails."""
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

import made_files as made
from runner import BIN, SLOW, Runner, check, checks, expect, wait_until

top = tempfile.mkdtemp(prefix="renga-files-")
GUIDE = made.docx([("h1", "運用手引き"), ("h2", "バックアップ"), "夜間バックアップの開始時刻は毎日午前2時です。", ("h2", "Ports"),
                   "The gateway listens on port 9191.", [["code", "meaning"], ["XQ-7001", "the disk is full"]]], "運用ガイド")
PRICES = made.xlsx({"価格表": [["article", "price", "valid from"], [], ["ZW-340", 1234.5, ("date", 45296)], ["ZW-341", 10, None]], "Empty": []})
ANSWERS = made.xlsx({"FAQ": [["質問", "回答"], ["年末年始の営業時間は?", "12月29日から1月3日まで休業します。"]]})
TALK = made.pptx([("Plan", ["We begin in May."], None), ("Rollout", ["Two stages", "Each is watched"], "Stage LX-9 has a rollout window of four hours.")], "The plan")
CHAPTERS = ["<h1>First chapter</h1><p>A storm came&#160;up.</p><p>All slept.</p>", "<h1>Second chapter</h1><p>The lantern QF-88 was found below the mill.</p>"]
BOOK = made.epub(CHAPTERS, "The lantern")
PROTECTED = '<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/text/c%201.xhtml"/></CipherData></EncryptedData></encryption>'
MANUAL = made.pdf([["The first page tells of nothing."], [], ["The retention code KB-2201 means ten days, and", "it is written in the second part of the manual", "& <its> annex."]], "Manual")
JAPANESE = made.pdf([["これは表紙です。"], ["点検は、機械の安全のために毎月行うものとし、定期点検の記録の", "保存期間は十日間です。"]], "点検の手引き")
ENCRYPTED = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >> /ID [<%s> <%s>]" % (b"11" * 32, b"22" * 32, b"33" * 16, b"33" * 16)
# name: (bytes, query, line, heading path, words of the paragraph)
GOOD = {
    "guide.docx": (GUIDE, "What does XQ-7001 mean?", (6, 7), ["運用手引き", "Ports"], "XQ-7001 | the disk is full"),
    "prices.xlsx": (PRICES, "What is the unit price of the article ZW-340?", (3, 3), ["価格表", "article | price | valid from"], "ZW-340 | 1234.5 | 2024-01-05"),
    "questions.xlsx": (ANSWERS, "年末年始の営業時間を教えてください。", (2, 2), ["FAQ", "年末年始の営業時間は?"], "12月29日から1月3日まで休業します。"),
    "talk.pptx": (TALK, "How long is the rollout window of stage LX-9?", (2, 2), ["Rollout"], "Stage LX-9 has a rollout window of four hours."),
    "book.epub": (BOOK, "Where was the lantern QF-88 found?", (3, 3), ["Second chapter"], "The lantern QF-88 was found below the mill."),
    "manual.pdf": (MANUAL, "What is the retention code KB-2201?", (3, 3), [], "The retention code KB-2201 means ten days, and it is written in the second part of the manual & <its> annex."),
    "日本語.pdf": (JAPANESE, "定期点検の保存期間は何日間ですか", (2, 2), [], "定期点検の記録の保存期間は十日間です。"),
}
# name: (bytes, a part of the reason)
BAD = {
    "bomb.docx": (made.bomb(), "unpacks to more than 128 MiB"),
    "cut.docx": (GUIDE[:len(GUIDE) // 2], "its end is missing"),
    "many.docx": (made.archive({f"f{i}": "" for i in range(100_000)}), "at most 10000 are read"),
    "deep.docx": (made.office("word/document.xml", "", {"word/document.xml": "<a>" * 1_000_000}), "elements within each other"),
    "entities.docx": (made.office("word/document.xml", "", {"word/document.xml": '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'}), "declares entities"),
    "old.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is encrypted with a password, or an old document of Office"),
    "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is an old document of Office (DOC, XLS, PPT)"),
    "protected.epub": (made.epub(CHAPTERS, "", **{"META-INF/encryption.xml": PROTECTED}), "is encrypted ('OEBPS/text/c 1.xhtml')"),
    "strings.xlsx": (made.office("xl/workbook.xml", "", {
                        "xl/workbook.xml": '<workbook><sheets><sheet name="s" r:id="a"/></sheets></workbook>',
                        "xl/_rels/workbook.xml.rels": made.relations({"a": ("worksheet", "s.xml"), "b": ("sharedStrings", "t.xml")}),
                        "xl/t.xml": f"<sst><si><t>{'x' * 30_000}</t></si></sst>",
                        "xl/s.xml": "<sheetData>" + ("<row>" + '<c t="s"><v>0</v></c>' * 250 + "</row>") * 2000 + "</sheetData>"}),
                     "takes too much memory"),
    "locked.pdf": (made.pdf([["x"]], trailer=ENCRYPTED), "is encrypted with a password; save it without"),
    "broken.pdf": (b"%PDF-1.4 and no more", "is a PDF document that is damaged: Syntax Error"),
    "scan.pdf": (made.pdf([[], []]), "is a PDF document without text"),
    "no.pdf": (b"text", "is no PDF document"),
    "other.zip": (made.archive({"a.txt": "a"}), "is a zip archive, which is not read"),
    "photo.jpg": (b"\xff\xd8\xff\xe0" + bytes(100), "is a JPEG image, which is not read"),
}


def write(folder, files):
    os.makedirs(f"{top}/{folder}", exist_ok=True)
    for name, (content, *_) in files.items():
        with open(f"{top}/{folder}/{name}", "wb") as file:
            file.write(content)
    return f"{top}/{folder}"


with Runner(roots=[top]) as runner:
    @check("each kind of file is indexed, and a search points to the place in it")
    def _():
        last, skipped = runner.index("good", write("good", GOOD))
        expect(last.done and not skipped, f"{last} {skipped}")
        for name, (_, query, lines, headings, words) in GOOD.items():
            hit = runner.search(query, collections=["good"]).hits[0]
            expect(hit.uri == name and (hit.line_from, hit.line_to) == lines, f"{query}: {hit.uri}:{hit.line_from}-{hit.line_to}")
            expect(list(hit.heading_path) == headings and words in hit.snippet, f"{query}: {hit}")
        again, _ = runner.index("good", f"{top}/good")
        expect(again.files_unchanged == len(GOOD), f"again: {again}")

    @check("hostile and unread files are told by name and why, and the rest is indexed")
    def _():
        write("bad", {"fine.docx": (GUIDE,)})
        began = time.monotonic()
        last, skipped = runner.index("bad", write("bad", BAD))
        reasons = {one.part: one.reason for one in skipped}
        for name, (_, part) in BAD.items():
            expect(part in reasons.get(name, ""), f"{name}: {reasons.get(name)}")
        expect(last.done and len(reasons) == len(BAD), f"{last} {sorted(reasons)}")
        expect(runner.search("XQ-7001", collections=["bad"]).hits[0].uri == "fine.docx", "the good one is not found")
        return f"{len(BAD)} files in {time.monotonic() - began:.1f} s"


@check("an answer cites the place in each kind of file")
def _():
    folder = write("good", GOOD)
    for name, (_, query, lines, _, _) in GOOD.items():
        done = subprocess.run([f"{BIN}/renga", "ask", "--docs", folder, "--json", f"--tool_runner.store={top}/ask.db", query],
                              capture_output=True, text=True, timeout=120, cwd=top)
        cited = [(one["uri"], one["line_from"]) for one in json.loads(done.stdout)["citations"]]
        expect(any(uri == name and lines[0] <= line <= lines[1] for uri, line in cited), f"{query}: {cited} {done.stderr}")


@check("renga index prints the kind of a file that is not read")
def _():
    done = subprocess.run([f"{BIN}/renga", "index", write("cli", BAD), f"--tool_runner.store={top}/cli.db"], capture_output=True, text=True, timeout=300, cwd=top)
    for name, (_, part) in BAD.items():
        expect(any(line.startswith(f"skipped {name}: ") and part in line for line in done.stdout.splitlines()), f"{name}: {done.stdout}")


class Site(http.server.BaseHTTPRequestHandler):
    OFFICE = "application/vnd.openxmlformats-officedocument."
    types = {"docx": OFFICE + "wordprocessingml.document", "xlsx": OFFICE + "spreadsheetml.sheet", "pptx": OFFICE + "presentationml.presentation",
             "epub": "application/epub+zip", "pdf": "application/pdf"}

    def do_GET(self):
        name = urllib.parse.unquote(self.path.split("?")[0].strip("/"))
        content = (GOOD | BAD)[name][0] + (b" " * 20_000_000 if "?long" in self.path else b"")
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream" if "?bytes" in self.path else self.types.get(name.split(".")[-1], "image/jpeg"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:
            pass

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
port = server.server_address[1]
with Runner({}, f"--tool_runner.private_pages=127.0.0.1:{port}") as runner:
    def fetch(path):
        return runner.one("fetch_page", {"url": f"http://127.0.0.1:{port}/{urllib.parse.quote(path, safe='?')}"}, {"timeout_ms": 20000 * SLOW})

    @check("fetch_page reads each kind of file, also one that its server calls only bytes")
    def _():
        for name, (_, _, lines, headings, words) in GOOD.items():
            for path in (name, f"{name}?bytes"):
                result = fetch(path)
                hits = [hit for hit in result.hits if words in hit.snippet]
                expect(result.status_code == 0 and len(hits) == 1, f"{path}: {result}")
                expect((hits[0].line_from, hits[0].line_to) == lines and list(hits[0].heading_path) == headings, f"{path}: {hits}")

    @check("what a file says of itself stands before its text")
    def _():
        for name, about in (("guide.docx", "Title: 運用ガイド\nBy: 山田\nPublished: 2024-01-05T00:00:00Z\nLanguage: ja\n\n["), ("book.epub", "Title: The lantern\nBy: A. Writer\n\n["),
                            ("manual.pdf", "Title: Manual\nBy: A. & B.\n\n[")):
            expect(fetch(name).text.startswith(about), fetch(name).text[:200])

    @check("fetch_page says why a file is not read")
    def _():
        for name, (_, part) in BAD.items():
            result = fetch(f"{name}?bytes")
            expect(result.status_code in (3, 8) and part in result.message, f"{name}: {result}")
        result = fetch("guide.docx?long")
        expect(result.status_code == 8, f"20 MB are {result.status_code} {result.message}")

# ---- programs in place of pdftotext ----------------------------------------------------------------------------------

os.chmod(top, 0o755)
SPY = f"""
import os, socket, sys
def tried(name, act):
    try:
        act()
        print(name, "passed")
    except OSError as error:
        print(name, "refused")
print("<head></head><pre>")
tried("socket", lambda: socket.socket())
tried("fork", os.fork)
tried("system file", lambda: open("/etc/passwd").read())
tried("file of ours", lambda: open("{top}/good/guide.docx").read())
tried("folder of ours", lambda: os.listdir("{top}"))
tried("writing", lambda: open("{top}/written", "w"))
tried("temporary file", lambda: open("/tmp/renga-spy", "w"))
tried("signal", lambda: os.kill(os.getppid(), 15))
tried("its program", lambda: open(sys.argv[0]).read())
print(sorted(os.environ), len(sys.stdin.buffer.read()))
print("</pre>")
"""
PROGRAMS = {"spy": SPY, "hang": "import time\ntime.sleep(1000)", "spin": "while True: pass", "hungry": "x = bytearray(2 << 30)",
            "flood": "import os\nwhile True: os.write(1, b'x' * 65536)", "noise": "import os\nwhile True: os.write(2, b'x' * 65536)",
            "deaf": "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(1000)"}
for name, text in PROGRAMS.items():
    with open(f"{top}/{name}", "w") as file:
        file.write(f"#!/usr/bin/python3 -IS\n{text}")
    os.chmod(f"{top}/{name}", 0o755)
ONE = write("one", {"manual.pdf": (MANUAL,)})


def children():
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if line.startswith(f"/usr/bin/python3 -IS {top}/")]


def why(program, time_limit="800ms"):
    with Runner(None, f"--tool_runner.pdf_program={program}", f"--tool_runner.pdf_time={time_limit}", roots=[top]) as runner:
        began = time.monotonic()
        last, skipped = runner.index("one", ONE)
        expect(last.done and not children(), f"{last} {children()}")
        return skipped[0].reason if skipped else runner.search("passed refused", collections=["one"]).hits[0].snippet, time.monotonic() - began


@check("without the program that reads PDF a file is told by name and why")
def _():
    expect("'pdftotext-7' is not installed" in why("pdftotext-7")[0], why("pdftotext-7"))


@check("a reader of PDF that is taken over reaches neither the network, nor files, nor processes")
def _():
    said = why(f"{top}/spy", "60s")[0]
    expect([line for line in said.splitlines() if line.endswith("passed")] == ["its program passed"], said)
    expect("['LANG', 'LC_CTYPE', 'PATH']" in said or "['LANG', 'PATH']" in said, said)
    expect(f"] {len(MANUAL)}" in said and said.count(" refused") == 8, said)


@check("a reader of PDF that hangs, spins, floods or eats memory is ended within its time")
def _():
    for name, part in (("hang", "takes more than 800 ms"), ("spin", "takes more than 800 ms"), ("flood", "more than 16 MiB of text"),
                       ("noise", "takes more than 800 ms"), ("deaf", "more than 800 ms"), ("hungry", "is a PDF document that is damaged: MemoryError")):
        reason, took = why(f"{top}/{name}")
        expect(part in reason, f"{name}: {reason}")
        expect(took < 30, f"{name}: {took:.1f} s")


@check("a reader of PDF ends soon after its caller has left")
def _():
    with Runner(None, f"--tool_runner.pdf_program={top}/hang", "--tool_runner.pdf_time=10m", roots=[top]) as runner:
        stream = runner.index_stream("one", ONE)
        wait_until(children, "it was not started", 20)
        stream.cancel()
        wait_until(lambda: not children(), "it goes on", 20)


@check("a page that is fetched with a tool's time limit takes the reader of PDF with it")
def _():
    with Runner({}, f"--tool_runner.private_pages=127.0.0.1:{port}", f"--tool_runner.pdf_program={top}/hang") as runner:
        result = runner.one("fetch_page", {"url": f"http://127.0.0.1:{port}/manual.pdf"}, {"timeout_ms": 700})
        expect(result.status_code == 4, result)
        wait_until(lambda: not children(), "it goes on", 20)


shutil.rmtree(top)
checks.finish()
