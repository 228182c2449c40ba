#!/usr/bin/python3
"""Certificates for tests, made by openssl: certificates.py FOLDER makes a whole set there.

    ca.pem        the authority, and server.pem/.key, client.pem/.key that it signed; server2.pem/.key: a later server's
    other-ca.pem  another authority, and stranger.pem/.key that it signed
"""
import os
import subprocess
import sys

DAYS = "2"


def _openssl(*arguments, given=None):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, input=given)


def _key(folder, name):
    path = os.path.join(folder, name + ".key")
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    return path


def make_authority(folder, name):
    _openssl("req", "-x509", "-new", "-key", _key(folder, name), "-out", os.path.join(folder, name + ".pem"),
             "-days", DAYS, "-subj", f"/CN={name} of Renga's tests")


def make_certificate(folder, name, authority):
    request = os.path.join(folder, name + ".csr")
    extensions = os.path.join(folder, name + ".ext")
    with open(extensions, "w", encoding="ascii") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    _openssl("req", "-new", "-key", _key(folder, name), "-out", request, "-subj", f"/CN={name}")
    issuer = os.path.join(folder, authority)
    _openssl("x509", "-req", "-in", request, "-CA", issuer + ".pem", "-CAkey", issuer + ".key", "-CAcreateserial",
             "-out", os.path.join(folder, name + ".pem"), "-days", DAYS, "-extfile", extensions)


def make_set(folder):
    make_authority(folder, "ca")
    make_authority(folder, "other-ca")
    for name in ("server", "server2", "client"):
        make_certificate(folder, name, "ca")
    make_certificate(folder, "stranger", "other-ca")


if __name__ == "__main__":
    make_set(sys.argv[1])
