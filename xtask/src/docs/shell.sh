# What the commands of a page find: they stop at the first that fails, which is told with its place.
set -euo pipefail
at=
server=
trap 'echo "$at: $BASH_COMMAND" >&2' ERR
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT

# The program, on a machine without a GPU. A server runs on beside the commands that follow, until another one starts.
plethora() {
    local argument arguments=()
    for argument in "$@"; do
        [ "$argument" != cuda ] || argument=cpu
        arguments+=("$argument")
    done
    if [ "${1:-}" != serve ]; then
        # The shell is to tell of the command in the page.
        command plethora "${arguments[@]}" || return
        return 0
    fi
    stop
    command plethora "${arguments[@]}" &
    server=$!
    until curl --silent --fail --output /dev/null "http://127.0.0.1:$PLETHORA_PORT/health"; do
        kill -0 "$server"
        sleep 0.1
    done
}

# Ends the server.
stop() {
    [ -n "$server" ] || return 0
    kill "$server"
    wait "$server" || true
    server=
}
