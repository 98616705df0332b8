#!/bin/sh
# The official TypeScript clients against STRONGROOM_BIN: v1, and v2 in every era it speaks.
# They are installed into a cache outside the tree. Exit code 77: skipped, with the reason said.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${STRONGROOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/strongroom-tests}
v1=@modelcontextprotocol/sdk@1.32.2
v2=@modelcontextprotocol/client@2.4.0

skip() {
  echo "SKIPPED: official MCP clients: $1"
  exit 77
}

[ -n "${STRONGROOM_BIN:-}" ] || { echo "STRONGROOM_BIN must name the strongroom binary" >&2; exit 2; }
command -v node >/dev/null 2>&1 || skip "node is not installed"

if [ ! -e "$cache/mcp-sdk/complete" ]; then
  command -v npm >/dev/null 2>&1 || skip "npm is not installed"
  mkdir -p "$cache/mcp-sdk"
  echo '{"private": true}' >"$cache/mcp-sdk/package.json"
  (cd "$cache/mcp-sdk" && npm install --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=1 \
    "$v1" "$v2" >install.log 2>&1) || skip "npm could not install $v1 and $v2"
  : >"$cache/mcp-sdk/complete"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/config" "$work/data" "$work/state" "$work/home" "$work/project"
export HOME="$work/home" XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" \
  XDG_STATE_HOME="$work/state" STRONGROOM_VAULT="$work/memory.vault" \
  STRONGROOM_KEYFILE="$work/owner.key"
unset STRONGROOM_BANK STRONGROOM_PASSPHRASE_FILE STRONGROOM_ADMIN_KEYFILE \
  STRONGROOM_ADMIN_PASSPHRASE_FILE
cd "$work/project"
"$STRONGROOM_BIN" init --keyfile "$STRONGROOM_KEYFILE" >/dev/null </dev/null

for client in v1 v2-legacy v2-auto v2-2026-07-28; do
  node "$here/client.mjs" "$cache/mcp-sdk" "$client"
done
