"""A collector of a test's own: what is started with FLAG sends its spans here.

    from collector import FLAG, spans   # spans: all that came, in OTLP's JSON, each with the `service` that sent it
"""
from web import Handler, serve

spans = []


class _Collector(Handler):
    def do_POST(self):
        for resource in self.asked()["resourceSpans"]:
            service = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "service.name")
            for scope in resource["scopeSpans"]:
                spans.extend({**span, "service": service} for span in scope["spans"])
        self.reply({})


FLAG = f"--trace.endpoint=http://127.0.0.1:{serve(_Collector).server_port}"
