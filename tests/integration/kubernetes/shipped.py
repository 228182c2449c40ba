"""What a user of deploy/kubernetes has before she starts: the image, certificates, a client's key; and how that client asks.
Needs RENGA_BIN (binaries) and RENGA_PROTO (renga_descriptor_set.bin)."""
import http.client
import json
import os
import random
import secrets
import shutil
import ssl
import subprocess
import tempfile

import grpc

from contract import message
from render import render

HERE = os.path.dirname(os.path.abspath(__file__))
DEPLOY = os.path.realpath(os.path.join(HERE, "..", "..", "..", "deploy"))
OURS = ("llm-gateway", "planner", "tool-runner", "reviewer", "orchestrator")
CALLERS = OURS[1:]  # of other services
folder = tempfile.mkdtemp(prefix="renga-shipped-")
os.chmod(folder, 0o755)
image = os.path.join(folder, "image")


def stage():
    """Fills `image`; what the command says of it."""
    return subprocess.run([f"{DEPLOY}/container/stage", image, os.environ["RENGA_BIN"]], capture_output=True, text=True)


def certificate(name):
    """A certificate and its key, signed by themselves, so that each is its own authority."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", f"{folder}/{name}.key", "-out",
                    f"{folder}/{name}.crt"], check=True, capture_output=True)
    return [open(f"{folder}/{name}.{part}").read() for part in ("crt", "key")]


door_certificate, door_key = certificate("door.test")
inner_certificate, inner_key = certificate("renga.internal")
SECRETS = {"renga-door-tls": {"tls.crt": door_certificate, "tls.key": door_key},
           "renga-tls": {"tls.crt": inner_certificate, "tls.key": inner_key, "ca.crt": inner_certificate},
           "renga-provider": {"openai": "sk-none"},
           "renga-tool-servers": {"tickets": "Bearer none"},
           "renga-redis": {"password": "linked verse", "password.conf": 'requirepass "linked verse"\n'}}


def compose(overlay, components, manifests=os.path.join(DEPLOY, "kubernetes")):
    """An overlay of a user's own: one of ours with components."""
    own = tempfile.mkdtemp(dir=folder)
    with open(os.path.join(own, "kustomization.yaml"), "w") as file:
        json.dump({"resources": [os.path.relpath(f"{manifests}/overlays/{overlay}", os.path.realpath(own))],
                   "components": [os.path.relpath(f"{manifests}/components/{c}", os.path.realpath(own)) for c in components]}, file)
    return render(own)


def with_clients(overlay, components, *clients, services=CALLERS):
    """The same with clients and services let in, as an operator does it, in a copy: the resources, the Secrets and the clients' keys.
    A client is the words that `client` is given: name, tenant and methods."""
    copy = os.path.join(tempfile.mkdtemp(dir=folder), "deploy")
    shutil.copytree(DEPLOY, copy)
    command = [f"{copy}/kubernetes/client", f"{copy}/kubernetes/overlays/{overlay}"]
    keys = [subprocess.run([*command, *who], capture_output=True, text=True, check=True).stdout for who in (
        *clients, *(("--service", service) for service in services))]
    peers = {f"renga-peers-{service}": {"key": one} for service, one in zip(services, keys[len(clients):])}
    if "edge" in services:
        peers["renga-peers-edge"]["session"] = secrets.token_hex(32)
    return compose(overlay, components, f"{copy}/kubernetes"), {**SECRETS, **peers}, [key.strip() for key in keys[:len(clients)]]


def with_client(overlay, *components):
    """The same with one client, and its key."""
    resources, secrets, keys = with_clients(overlay, components, ("backend", "acme"))
    return resources, secrets, keys[0]


def documents():
    """The sample's, as a ConfigMap has them."""
    held = {}
    for name in os.listdir(f"{DEPLOY}/samples/docs/en"):
        with open(f"{DEPLOY}/samples/docs/en/{name}") as document:
            held[name] = document.read()
    return held


def channel_to(cluster, door=None):
    """A client's connection to a door, of any that are ready."""
    return grpc.secure_channel(f"{door or random.choice(cluster.ready('renga-door'))}:8443", grpc.ssl_channel_credentials(door_certificate.encode()),
                               [("grpc.ssl_target_name_override", "door.test"), ("grpc.use_local_subchannel_pool", 1)])


def ask_http(cluster, key, path, body=None):
    """Status and answer of a request through the door to the gateway's HTTP door, a GET without a body."""
    context = ssl.create_default_context(cadata=door_certificate)
    context.check_hostname = False  # it is asked by its address
    connection = http.client.HTTPSConnection(random.choice(cluster.ready("renga-door")), 8444, timeout=20, context=context)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
    with connection.getresponse() as answer:
        return answer.status, json.load(answer)


def ask(cluster, key, text="How long are backups kept?"):
    with channel_to(cluster) as channel:
        stub = channel.unary_unary("/renga.v1.Helpdesk/Ask", lambda m: m.SerializeToString(), message("renga.v1.AskResponse").FromString)
        return stub(message("renga.v1.AskRequest")(question=text), timeout=20, metadata=[("authorization", f"Bearer {key}")])
