#!/usr/bin/env python3
"""Writes what a staged root is made of, as CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/), and copies the licences
of the packages of Debian that its files come from:   sbom.py ROOT VERSION"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys


def packages_of(paths):
    """Which packages of Debian have brought these files, by its shared libraries' names with and without /usr."""
    wanted = [candidate for path in paths for candidate in (path, re.sub("^/usr", "", path))]
    found = subprocess.run(["dpkg-query", "--search", *wanted], capture_output=True, text=True)
    owners = dict(line.rsplit(": ", 1)[::-1] for line in found.stdout.splitlines())
    for path in paths:
        owner = owners.get(path) or owners.get(re.sub("^/usr", "", path))
        if not owner:
            raise SystemExit(f"sbom: no package has {path}")
        yield owner.split(",")[0]


def describe(package):
    form = "${Package}\t${Version}\t${Architecture}\t${source:Package}"
    return subprocess.run(["dpkg-query", "--show", "--showformat", form, package], capture_output=True, text=True,
                          check=True).stdout.split("\t")


def main():
    root, version = sys.argv[1:]
    ours, debians = [], []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            inside = "/" + os.path.relpath(path, root)
            if inside.startswith("/usr/bin/renga"):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                ours.append({"type": "file", "name": inside, "hashes": [{"alg": "SHA-256", "content": digest}]})
            elif inside.startswith(("/usr/lib", "/usr/bin")):
                debians.append(inside)
    components = []
    for package in sorted({"ca-certificates", "poppler-data", *packages_of(debians)}):
        name, its_version, architecture, source = describe(package)
        components.append({
            "type": "library", "name": name, "version": its_version,
            "purl": f"pkg:deb/debian/{name}@{its_version.replace('+', '%2B').replace(':', '%3A')}"
                    f"?arch={architecture}&distro=debian-12&upstream={source}"})
        copyright_file = f"/usr/share/doc/{name}/copyright"
        if os.path.exists(copyright_file):
            os.makedirs(f"{root}/usr/share/doc/{name}", exist_ok=True)
            shutil.copyfile(copyright_file, f"{root}{copyright_file}")
    with open(f"{root}/usr/share/doc/sbom.cdx.json", "w") as out:
        json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
                   "metadata": {"component": {"type": "container", "name": "renga", "version": version,
                                              "licenses": [{"license": {"id": "Apache-2.0"}}]}},
                   "components": sorted(ours, key=lambda file: file["name"]) + components}, out, indent=1)
        out.write("\n")


main()
