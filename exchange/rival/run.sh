#!/usr/bin/env bash
# Measures exchange-core 0.5.3 with the last COMMANDS of FILE, which `exchange bench --commands COMMANDS --dump FILE`
# writes. `compare.py` beside this file runs it in turns with our exchange.
#
# Usage: exchange/rival/run.sh FILE COMMANDS RATE [WARM-UPS [WAIT]]
#        exchange/rival/run.sh --build
#
# RATE is in commands per second, 0 is as fast as accepted. WAIT is YIELDING (the default), BLOCKING or BUSY_SPIN.
#
# Needs Java 17 and Maven. Exits with 77 without them.
set -euo pipefail
rival="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build="${CARGO_TARGET_DIR:-$rival/../../target}/exchange-rival"

for program in java javac mvn; do
    if ! command -v "$program" >/dev/null; then
        echo "exchange-core: skipped: $program is not installed" >&2
        exit 77
    fi
done
mkdir -p "$build"
if [[ ! -s $build/classpath ]]; then
    mvn --quiet --file "$rival/pom.xml" dependency:build-classpath -Dmdep.outputFile="$build/classpath.new" || exit 77
    mv "$build/classpath.new" "$build/classpath"
fi
if [[ ! $build/ExchangeCoreRival.class -nt $rival/ExchangeCoreRival.java ]]; then
    javac -cp "$(<"$build/classpath")" -d "$build" "$rival/ExchangeCoreRival.java"
fi
if [[ ${1:-} == --build ]]; then
    exit
fi
opens=()
for package in java.lang java.lang.reflect java.io java.util java.nio sun.nio.ch jdk.internal.ref; do
    opens+=(--add-opens "java.base/$package=ALL-UNNAMED")
done
exec java "${opens[@]}" -Dwait="${5:-YIELDING}" -Xms2g -Xmx2g -cp "$build:$(<"$build/classpath")" ExchangeCoreRival "$@"
