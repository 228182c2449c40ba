#!/usr/bin/python3
"""What python3-grpcio sees of our runtime: python_client.py [PART...], all parts of client/ where none is named.

RENGA_BIN=<folder of probe-server> RENGA_DESC=<folder of probe.desc>. One line a check, exit 1 when one fails.
"""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]

from checks import finish  # noqa: E402

PARTS = ["calls", "limits", "health", "reflection", "tls", "keys", "forward"]

for part in sys.argv[1:] or PARTS:
    importlib.import_module("client." + part).run()
finish()
