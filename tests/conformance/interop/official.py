#!/usr/bin/python3
"""The official interop client (Debian's ruby-grpc ships it) against the probe server: official.py.

What its cases do: https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md. The others of its cases
ask for Google's authentication.
"""
import os
import re
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [f"{TESTS}/integration/rpc", f"{TESTS}/lib"]

from checks import check, expect, finish  # noqa: E402
from probe import Server  # noqa: E402

CASES = ["empty_unary", "large_unary", "client_compressed_unary", "client_streaming", "client_compressed_streaming",
         "server_streaming", "ping_pong", "empty_stream", "timeout_on_sleeping_server", "cancel_after_begin",
         "cancel_after_first_response", "custom_metadata", "status_code_and_message", "unimplemented_method",
         "unimplemented_service"]
ELSEWHERE = {"service_account_creds", "jwt_token_creds", "compute_engine_creds", "oauth2_auth_token", "per_rpc_creds"}
CASE_SECONDS = 60


def client_path():
    folder = subprocess.run(["ruby", "-e", "puts Gem::Specification.find_by_name('grpc').gem_dir"],
                            capture_output=True, text=True, check=True).stdout.strip()
    return os.path.join(folder, "src/ruby/pb/test/client.rb")


def run_case(path, port, case):
    return subprocess.run(["ruby", path, "--server_host=127.0.0.1", f"--server_port={port}", f"--test_case={case}"],
                          capture_output=True, text=True, timeout=CASE_SECONDS)


def main():
    path = client_path()

    @check("every case of the official client is either run here or needs Google's authentication")
    def _():
        with open(path, encoding="utf-8") as file:
            named = file.read().partition("class NamedTests")[2].partition("  private")[0]
        cases = set(re.findall(r"^  def (\w+)$", named, re.M)) - {"all"}
        expect(cases == set(CASES) | ELSEWHERE, f"it has {sorted(cases ^ (set(CASES) | ELSEWHERE))} besides")

    with Server(name="the server of the official client") as server:
        for case in CASES:
            @check(f"the official client passes {case}")
            def _():
                done = run_case(path, server.port, case)
                expect(done.returncode == 0, f"it ended with {done.returncode}: {done.stderr[-600:]}")
                expect("NOT RUN" not in done.stdout, done.stdout[-300:])
    finish()


main()
