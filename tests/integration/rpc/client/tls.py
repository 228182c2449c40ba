"""TLS and mutual TLS, and certificates that change while the server serves."""
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time

import grpc

from certificates import make_set
from checks import check, expect, wait_until
from probe import WAIT_SECONDS, PROBE, Echo, Server, Sleep, Stub, expect_code, refusal, wait_begun

RELOAD_SECONDS = 2


def run():
    with tempfile.TemporaryDirectory() as folder:
        make_set(folder)
        files = Files(folder)
        plain_tls(files)
        mutual_tls(files)
        reload(files)


class Files:
    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def flags(self, name):
        return "--certificate", self.path(name + ".pem"), "--key", self.path(name + ".key")

    def credentials(self, authority="ca", identity=None):
        key, certificate = (self.read(identity + ".key"), self.read(identity + ".pem")) if identity else (None, None)
        return grpc.ssl_channel_credentials(self.read(authority + ".pem"), key, certificate)


def served_name(server, versions=None):
    """The common name in the certificate that a new connection is shown."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    if versions:
        context.minimum_version, context.maximum_version = versions
    with socket.create_connection(("127.0.0.1", server.port), 5) as plain, context.wrap_socket(plain) as tls:
        expect(tls.selected_alpn_protocol() == "h2", f"the protocol is {tls.selected_alpn_protocol()}")
        certificate = ssl.DER_cert_to_PEM_cert(tls.getpeercert(True))
    shown = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=certificate, capture_output=True, text=True)
    return shown.stdout.strip().rpartition(" ")[2]


def answered(server, credentials, *options):
    with server.channel(*options, credentials=credentials) as channel:
        return Stub(channel, PROBE).Echo(Echo(text="tls"), timeout=WAIT_SECONDS).text == "tls"


def refused(server, credentials=None, *options):
    with server.channel(*options, credentials=credentials) as channel:
        error = refusal(Stub(channel, PROBE).Echo, Echo(), timeout=WAIT_SECONDS)
    expect_code(error, grpc.StatusCode.UNAVAILABLE)


def plain_tls(files):
    with Server(*files.flags("server"), name="the server with TLS") as server:
        @check("a call goes over TLS")
        def _():
            expect(answered(server, files.credentials()), "it is not answered")

        @check("a megabyte goes over TLS both ways")
        def _():
            with server.channel(credentials=files.credentials()) as channel:
                payload = os.urandom(1 << 20)
                expect(Stub(channel, PROBE).Echo(Echo(payload=payload), timeout=WAIT_SECONDS).payload == payload, "it changed")

        @check("a client that trusts another authority does not connect")
        def _():
            refused(server, files.credentials("other-ca"))

        @check("a client that expects another name does not connect")
        def _():
            refused(server, files.credentials(), ("grpc.ssl_target_name_override", "elsewhere"))

        @check("a client without TLS gets nothing")
        def _():
            refused(server)

        @check("TLS 1.2 and 1.3 are spoken, TLS 1.1 is not")
        def _():
            version = ssl.TLSVersion
            served_name(server, (version.TLSv1_2, version.TLSv1_2))
            served_name(server, (version.TLSv1_3, version.TLSv1_3))
            try:
                served_name(server, (version.TLSv1, version.TLSv1_1))
            except (ssl.SSLError, OSError):
                return
            expect(False, "it is")

        @check("20 connections that never finish their handshake do not keep others waiting")
        def _():
            silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            began = time.monotonic()
            expect(answered(server, files.credentials()), "it is not answered")
            took = time.monotonic() - began
            for end in silent:
                end.close()
            expect(took < 5, f"it took {took:.1f} s")


def mutual_tls(files):
    flags = (*files.flags("server"), "--authorities", files.path("ca.pem"), "--client-certificate")
    with Server(*flags, name="the server with mutual TLS") as server:
        @check("mTLS: a client with a certificate of the authority is answered")
        def _():
            expect(answered(server, files.credentials(identity="client")), "it is not answered")

        @check("mTLS: a client without a certificate is refused")
        def _():
            refused(server, files.credentials())

        @check("mTLS: a client with a certificate of another authority is refused")
        def _():
            refused(server, files.credentials(identity="stranger"))

        @check("mTLS: a client without TLS is refused")
        def _():
            refused(server)

        @check("mTLS: those who are refused do not hurt those who are not")
        def _():
            with server.channel(credentials=files.credentials(identity="client")) as channel:
                probe = Stub(channel, PROBE)
                sleeping = probe.Sleep.future(Sleep(delay_ms=500, key="mtls"), timeout=WAIT_SECONDS)
                for _ in range(5):
                    refused(server, files.credentials(identity="stranger"))
                expect(sleeping.result().key == "mtls", "its call failed")


def replace(files, name, by):
    """As an operator or Kubernetes does it: the new file takes the old one's name at once."""
    for ending in (".pem", ".key"):
        shutil.copyfile(files.path(by + ending), files.path("new"))
        os.replace(files.path("new"), files.path(name + ending))


def reload(files):
    for name in ("served.pem", "served.key"):
        shutil.copyfile(files.path(name.replace("served", "server")), files.path(name))
    with Server(*files.flags("served"), name="the server whose certificate changes") as server:
        old_channel = server.channel(credentials=files.credentials())
        old = Stub(old_channel, PROBE)
        old.Echo(Echo(), timeout=WAIT_SECONDS)
        sleeping = old.Sleep.future(Sleep(delay_ms=2500, key="across"), timeout=WAIT_SECONDS)
        wait_begun(old, "across")

        @check(f"a new certificate is shown to new connections within {RELOAD_SECONDS} s")
        def _():
            expect(served_name(server) == "server", f"at first it shows {served_name(server)}")
            replaced = time.monotonic()
            replace(files, "served", "server2")
            wait_until(lambda: served_name(server) == "server2", "the new one is not shown", RELOAD_SECONDS)
            return f"after {(time.monotonic() - replaced) * 1000:.0f} ms"

        @check("a call that was under way when the certificate changed is answered, and its connection goes on")
        def _():
            expect(sleeping.result().key == "across", "it was not")
            expect(old.Echo(Echo(text="on"), timeout=WAIT_SECONDS).text == "on", "the connection is gone")

        @check("clients connect with the new certificate")
        def _():
            expect(answered(server, files.credentials()), "they do not")

        @check("half a certificate, and a key of another one, are not taken: the last good one stays")
        def _():
            with open(files.path("served.pem"), "w", encoding="ascii") as file:
                file.write(files.read("server.pem").decode()[:200])
            time.sleep(0.5)
            expect(served_name(server) == "server2", f"it shows {served_name(server)}")
            shutil.copyfile(files.path("server.pem"), files.path("served.pem"))  # its key is still server2's
            time.sleep(0.5)
            expect(served_name(server) == "server2", f"it shows {served_name(server)}")

        @check("files that are whole again are taken")
        def _():
            replace(files, "served", "server")
            wait_until(lambda: served_name(server) == "server", "they are not", RELOAD_SECONDS)

        old_channel.close()
