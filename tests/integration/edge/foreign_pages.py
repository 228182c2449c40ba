#!/usr/bin/env python3
"""Whether pages of other sites reach anything through the browser of someone who is signed in, or whose machine runs an edge without
keys: every route, every way that a page has, and a stand-in behind the edge that tells what arrived. Needs RENGA_BIN, RENGA_PROTO."""
import hashlib
import http.client
import json

from front import BIN, SLOW, Front, expect
from stand_in import METHODS, StandIn
from checks import check, finish
from contract import message

behind = StandIn()
for name, method in METHODS.items():
    kind = message(method.output_type.full_name)
    behind.answers[name] = (lambda kind: lambda request, context: iter([kind()]))(kind) if method.server_streaming else \
        (lambda kind: lambda request, context: kind())(kind)
keys = [{"name": "anna", "tenant": "north", "sha256": hashlib.sha256(b"secret").hexdigest(), "methods": ["*"]}]
keyed = Front(*behind.options, "--rpc.keys=" + json.dumps(keys), command=[f"{BIN}/renga-edge"])
keyless = Front(*behind.options, command=[f"{BIN}/renga-edge"])
document = keyed.ask("GET", "/openapi.json")[2]
ROUTES = {operation["operationId"]: (verb.upper(), "/".join("one" + part[part.index("}") + 1:] if "{" in part else part for part in path.split("/")))
          for path, item in document["paths"].items() for verb, operation in item.items() if operation["operationId"] in METHODS}
CHANGES = {name for name, (verb, _) in ROUTES.items() if verb != "GET"}


def ask(front, verb, path, body=None, **headers):
    """With exactly these headers, but for Host, which is the port's unless it is given."""
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=20 * SLOW)
    connection.putrequest(verb, path, skip_host=True, skip_accept_encoding=True)
    headers = {"host": f"127.0.0.1:{front.port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body is not None:
        headers.setdefault("content-type", "application/json")
        headers["content-length"] = str(len(body))
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    told = {name.lower(): value for name, value in response.getheaders()}
    data = response.read()
    connection.close()
    return response.status, told, data


def own(front):
    return f"http://127.0.0.1:{front.port}"


def arrived(front, name, **headers):
    """The status of a route's request, and whether it came to the stand-in."""
    verb, path = ROUTES[name]
    behind.requests.pop(name, None)
    status, told, _ = ask(front, verb, path, b"{}" if verb in ("POST", "PUT") else None, **headers)
    return status, told, name in behind.requests


def sign_in(**headers):
    status, told, _ = ask(keyed, "POST", "/v1/session", b'{"key": "secret"}', **{"origin": own(keyed), **headers})
    expect(status == 200, f"{status}")
    return told["set-cookie"]


COOKIE = sign_in().split(";")[0]


def foreign(front):
    """What a browser says of pages that are not the edge's own."""
    port = front.port
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{port + 1}", "http://127.0.0.1", f"http://localhost:{port}",
                   f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port}.evil.example", f"http://evil.example/127.0.0.1:{port}",
                   f"http://127.0.0.1:{port}@evil.example", f"http://[::1]:{port}", "file://", ""):
        yield {"origin": origin}
        yield {"origin": origin, "sec_fetch_site": "same-origin"}
    for site in ("cross-site", "same-site", "SAME-SITE", "cross-origin", ""):
        yield {"sec_fetch_site": site}


@check("the session's cookie is of this port, out of reach for scripts and for requests of other sites")
def _():
    parts = [part.strip() for part in sign_in().split(";")]
    expect(str(keyed.port) in parts[0].split("=")[0] and len(parts[0].split("=")[1]) >= 22, str(parts))
    expect({"HttpOnly", "SameSite=Strict", "Path=/"} <= set(parts) and not any(part.startswith("Domain") for part in parts), str(parts))


@check("a page of the edge itself, signed in, reaches every route")
def _():
    for name in ROUTES:
        status, _, came = arrived(keyed, name, cookie=COOKIE, origin=own(keyed))
        expect(status == 200 and came, f"{name}: {status}")
        status, _, came = arrived(keyed, name, cookie=COOKIE, sec_fetch_site="same-origin")
        expect(status == 200 and came, f"{name} without an Origin: {status}")
    return f"{len(ROUTES)} routes"


@check("a page of another site reaches no route with the session of its visitor, and cannot read the refusal")
def _():
    count = 0
    for name in ROUTES:
        for headers in foreign(keyed):
            status, told, came = arrived(keyed, name, cookie=COOKIE, **headers)
            expect(not came and status in (400, 403), f"{name} {headers}: {status}, arrived: {came}")
            expect("access-control-allow-origin" not in told, f"{name} {headers}: {told}")
            count += 1
    return f"{count} requests"


@check("a change under a session that does not say where it comes from is refused")
def _():
    for name in CHANGES:
        status, _, came = arrived(keyed, name, cookie=COOKIE)
        expect(status == 403 and not came, f"{name}: {status}")
        status, _, came = arrived(keyed, name, cookie=COOKIE, sec_fetch_site="none")
        expect(status == 403 and not came, f"{name}, typed into the address bar: {status}")


@check("forms are no calls, whatever type they say, also from the edge's own origin")
def _():
    for name in CHANGES:
        verb, path = ROUTES[name]
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json"):
            behind.requests.pop(name, None)
            body = b"{}" if verb != "DELETE" else None
            if body:
                status = ask(keyed, verb, path, body, cookie=COOKIE, origin=own(keyed), content_type=kind)[0]
                expect(status == 415 and name not in behind.requests, f"{name} as {kind}: {status}")


@check("no header and no parameter turns a GET into a change")
def _():
    for name in CHANGES:
        verb, path = ROUTES[name]
        behind.requests.pop(name, None)
        for more in ({"x_http_method_override": verb}, {"x_method_override": verb}, {"x_http_method": verb}):
            ask(keyed, "GET", path, cookie=COOKIE, origin=own(keyed), **more)
        ask(keyed, "GET", f"{path}?_method={verb}", cookie=COOKIE, origin=own(keyed))
        expect(name not in behind.requests, f"{name} was called by GET")


@check("a page of another site can neither sign its visitor in nor out, and a preflight allows it nothing")
def _():
    for headers in foreign(keyed):
        status, told, _ = ask(keyed, "POST", "/v1/session", b'{"key": "secret"}', **headers)
        expect(status in (400, 403) and "set-cookie" not in told, f"signed in by {headers}: {status}")
        status, told, _ = ask(keyed, "DELETE", "/v1/session", cookie=COOKIE, **headers)
        expect(status in (400, 403), f"signed out by {headers}: {status}")
    status, told, data = ask(keyed, "GET", "/v1/session", cookie=COOKIE)
    expect(status == 200 and json.loads(data)["signedIn"], f"{status} {data}")
    for _, path in ROUTES.values():
        status, told, _ = ask(keyed, "OPTIONS", path, origin="http://evil.example", access_control_request_method="POST",
                              access_control_request_headers="authorization, content-type")
        expect("access-control-allow-origin" not in told and "access-control-allow-methods" not in told, f"{path}: {told}")


@check("signing in gives a new session each time, and signing out ends it at once")
def _():
    first = sign_in().split(";")[0]
    second = sign_in(cookie=first).split(";")[0]
    forged = first.split("=")[0] + "=" + "A" * len(first.split("=")[1])
    expect(first != second and second != forged, f"{first} {second}")
    expect(arrived(keyed, "Orchestrator_ListAgents", cookie=forged, origin=own(keyed))[0] == 401, "a made-up session is taken")
    ask(keyed, "DELETE", "/v1/session", cookie=second, origin=own(keyed))
    expect(arrived(keyed, "Orchestrator_ListAgents", cookie=second, origin=own(keyed))[0] == 401, "an ended session is taken")


@check("without keys, pages of other sites reach no route of the edge of their visitor's machine")
def _():
    for name in ROUTES:
        status, _, came = arrived(keyless, name, origin=own(keyless))
        expect(status == 200 and came, f"{name}: {status}")
        for headers in foreign(keyless):
            status, told, came = arrived(keyless, name, **headers)
            expect(not came and status in (400, 403) and "access-control-allow-origin" not in told, f"{name} {headers}: {status}, arrived: {came}")
            status, _, came = arrived(keyless, name, authorization="Basic YTpi", **headers)
            expect(not came and status in (400, 403), f"{name} {headers} with a name and a password: {status}, arrived: {came}")


@check("a cookie that a page of another port has put beside the session's signs nobody in")
def _():
    name = COOKIE.split("=")[0]
    for cookies in (f"{name}=other; {COOKIE}", f"{COOKIE}; {name}=other", f"{COOKIE}; {COOKIE}"):
        status, _, came = arrived(keyed, "Orchestrator_ListAgents", cookie=cookies, origin=own(keyed))
        expect(status == 401 and not came, f"{cookies}: {status}")
    status, _, came = arrived(keyed, "Orchestrator_ListAgents", cookie=f"{name}_more=other; {COOKIE}", origin=own(keyed))
    expect(status == 200 and came, f"beside one of another name: {status}")


@check("a name of another site that leads to this machine is refused, as a Host and as a target")
def _():
    port = keyless.port
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", f"localhost.evil.example:{port}", "169.254.169.254",
                 f"127.0.0.1@evil.example:{port}", "", "localhost, evil.example"):
        for name in ROUTES:
            status, _, came = arrived(keyless, name, host=host, origin=f"http://{host}")
            expect(status in (400, 403, 421) and not came, f"{name} of {host}: {status}, arrived: {came}")
    behind.requests.clear()
    status = ask(keyless, "GET", f"http://evil.example:{port}/v1/agents")[0]
    expect(status in (400, 403, 421) and not behind.requests, f"{status} for a target in absolute form")


keyed.stop()
keyless.stop()
behind.server.stop(0)
finish()
