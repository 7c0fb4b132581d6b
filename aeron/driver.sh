#!/usr/bin/env bash
# Runs Aeron's Java media driver, for the examples and tests of this crate.
#
#   driver.sh run DIR [OPTION ...]     in the foreground, until it gets a signal
#   driver.sh start DIR [OPTION ...]   in the background; returns once clients can connect
#   driver.sh stop DIR                 ends a driver that was started, and deletes DIR
#
# DIR is the folder that driver and clients share, best below /dev/shm. An OPTION is one of Java, such as
# -Daeron.image.liveness.timeout=2s. The jar is AERON_JAR, else io.aeron:aeron-all from the local Maven repository,
# where Maven puts it if it is absent. Exits with 77 if there is no Java, or no way to the jar.
set -euo pipefail

version=1.51.0
command=${1:-}
dir=${2:-}
shift $(($# < 2 ? $# : 2))

cannot_run() {
    echo "driver.sh: $1" >&2
    exit 77
}

find_jar() {
    local jar=${AERON_JAR:-$HOME/.m2/repository/io/aeron/aeron-all/$version/aeron-all-$version.jar}
    if [[ ! -f $jar && -z ${AERON_JAR:-} ]] && command -v mvn >/dev/null; then
        timeout 120 mvn -q dependency:get -Dartifact="io.aeron:aeron-all:$version" -Dtransitive=false >&2 || true
    fi
    [[ -f $jar ]] || cannot_run "no Aeron jar: set AERON_JAR, or install Maven"
    echo "$jar"
}

# Replaces this shell by the driver. Where setpriv is installed, the driver ends with the process that started it.
run_driver() {
    local jar die_with_parent=()
    command -v java >/dev/null || cannot_run "no Java"
    jar=$(find_jar)
    if [[ $command == run ]] && command -v setpriv >/dev/null; then die_with_parent=(setpriv --pdeathsig KILL); fi
    exec ${die_with_parent[@]+"${die_with_parent[@]}"} java -Xmx256m -XX:+UseSerialGC \
        --add-opens java.base/jdk.internal.misc=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
        --add-opens java.base/java.util.zip=ALL-UNNAMED \
        -Daeron.dir="$dir" -Daeron.dir.delete.on.start=true -Daeron.threading.mode=SHARED \
        "$@" -cp "$jar" io.aeron.driver.MediaDriver
}

start_driver() {
    local pid
    rm -rf "$dir" # a file of an earlier driver must not look like this one
    (run_driver "$@") >"$dir.log" 2>&1 </dev/null &
    pid=$!
    echo "$pid" >"$dir.pid"
    for _ in {1..150}; do
        if [[ -s $dir/cnc.dat ]]; then return 0; fi
        if ! kill -0 "$pid" 2>/dev/null; then
            cat "$dir.log" >&2
            wait "$pid"
            return 1
        fi
        sleep 0.1
    done
    echo "driver.sh: the driver does not answer: see $dir.log" >&2
    stop_driver
    return 1
}

stop_driver() {
    local pid
    pid=$(cat "$dir.pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || true
    for _ in {1..50}; do
        if ! kill -0 "$pid" 2>/dev/null; then break; fi
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    rm -rf "$dir" "$dir.pid" "$dir.log"
}

case $command in
    run) [[ -n $dir ]] && run_driver "$@" ;;
    start) [[ -n $dir ]] && start_driver "$@" ;;
    stop) [[ -n $dir ]] && stop_driver ;;
    *)
        sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
        exit 2
        ;;
esac
