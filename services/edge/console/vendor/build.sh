#!/usr/bin/env bash
# Bundles the libraries of the console into vendor.js, with their style and licences. Run it to change a version:
# the pinned versions are in package.json and package-lock.json, and the results are committed.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --loglevel=error
node_modules/.bin/esbuild entry.js --bundle --minify --format=esm --target=es2022 --legal-comments=none --outfile=vendor.js
cp node_modules/uplot/dist/uPlot.min.css vendor.css
{
  echo "vendor.js and vendor.css hold these libraries, each under its own licence."
  for name in preact @preact/signals @preact/signals-core htm marked dompurify uplot; do
    version=$(node -p "require('./node_modules/$name/package.json').version")
    license=$(node -p "require('./node_modules/$name/package.json').license")
    printf '\n======== %s %s (%s)\n\n' "$name" "$version" "$license"
    find "node_modules/$name" -maxdepth 1 -iname 'licen[sc]e*' -type f | sort | head -1 | xargs -r cat
  done
} >LICENSES.txt
ls -l vendor.js vendor.css LICENSES.txt
