#!/usr/bin/env bash
# Bundles the console into dist/, which is embedded in the binary: console.js of our modules, console.css, and vendor.js
# as it is. It needs the esbuild of vendor/package.json or that of the tests. The test console_dist fails when dist/ is
# older than its sources.
#   services/edge/console/build.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")"
to=${1:-dist}
esbuild=${ESBUILD:-}
for one in vendor/node_modules/.bin/esbuild ../../../tests/integration/node_modules/.bin/esbuild; do
  [ -n "$esbuild" ] || [ ! -x "$one" ] || esbuild=$one
done
[ -n "$esbuild" ] || { echo "There is no esbuild: run vendor/build.sh, or deploy/install-deps --tests." >&2; exit 2; }
mkdir -p "$to/assets"
"$esbuild" src/main.js --bundle --minify --format=esm --target=es2022 --charset=utf8 --log-level=warning --legal-comments=none \
  --external:./vendor.js --outfile="$to/assets/console.js"
"$esbuild" console.css --bundle --minify --target=chrome123,firefox120,safari17.5 --log-level=warning --outfile="$to/assets/console.css"
cp vendor/vendor.js vendor/LICENSES.txt "$to/assets/"
cp index.html "$to/index.html"
