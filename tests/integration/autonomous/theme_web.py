"""A small web about the themes: its pages, and fakes of Tavily and SearXNG that find them. SearXNG writes addresses otherwise.

    web = ThemeWeb(load())
    Suite(tool_runner=web.flags(folder))
    web.searched, web.fetched"""
import html
import json
import os
import sys
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), os.path.join(HERE, "..", "search")]
from themes import Shelf, place  # noqa: E402
from upstream.corpus import CORPUS  # noqa: E402
from upstream.searxng import Searxng  # noqa: E402
from upstream.tavily import Tavily  # noqa: E402
from web import Handler, serve  # noqa: E402

PAGE = """<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>
<meta property="article:published_time" content="{date}"></head><body><nav><a href="/">Home</a> <a href="/all">All</a></nav>
<main><article><h1>{title}</h1>
{paragraphs}
</article></main><footer>Imprint</footer></body></html>"""


class ThemeTavily(Tavily):
    searched, lock = [], threading.Lock()

    def good(self, asked):
        with ThemeTavily.lock:
            ThemeTavily.searched.append(json.loads(asked)["query"])
        return super().good(asked)


class ThemeSearxng(Searxng):
    """Finds each page at another address of it."""

    def good(self, asked):
        answer = super().good(asked)
        for result in answer["results"]:
            result["url"] = result["url"].split("?")[0].rstrip("/") + "/?utm_source=searx"
        return answer


class ThemePages(Handler):
    pages, fetched, lock = {}, [], threading.Lock()

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path.strip("/")
        with ThemePages.lock:
            ThemePages.fetched.append(path)
        found = ThemePages.pages.get(path)
        self.reply(found.encode() if found else b"no such page", 200 if found else 404, "text/html; charset=utf-8")


class ThemeWeb:
    def __init__(self, themes):
        port = serve(ThemePages).server_port
        place(themes, port)
        self.themes, self.host = themes, f"127.0.0.1:{port}"
        for theme in themes:
            for document in theme.documents:
                paragraphs = "\n".join(f"<p>{html.escape(line)}</p>" for line in document.lines)
                ThemePages.pages[document.place] = PAGE.format(lang=theme.language, title=html.escape(document.title), date=document.date,
                                                               paragraphs=paragraphs)
        CORPUS.by_words = Shelf(themes).by_words
        self.tavily, self.searxng = serve(ThemeTavily).server_port, serve(ThemeSearxng).server_port
        self.searched, self.fetched = ThemeTavily.searched, ThemePages.fetched

    def flags(self, folder):
        """Of a tool-runner that searches this web and may read its pages."""
        path = os.path.join(folder, "themes-search.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"sources": {"tavily": {"kind": "tavily", "url": f"http://127.0.0.1:{self.tavily}", "key": Tavily.key},
                                   "searx": {"kind": "searxng", "url": f"http://127.0.0.1:{self.searxng}"}}}, file)
        return [f"--tool_runner.search={path}", f"--tool_runner.private_pages={self.host}"]
