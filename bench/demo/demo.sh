#!/bin/sh
# bench/demo/demo.sh [BUILD]: records the bundled product table for some seconds, and prints the report. LOCK=reentrant: the table's
# lock is a ReentrantLock, not a monitor.
set -eu

build=${1:-build}
here=$(dirname "$0")
java=${JAVA:-java}
javac=${JAVAC:-javac}
seconds=${SECONDS_RECORDED:-5}
out=$build/demo
log=$out/demo${LOCK:+-$LOCK}.spoor
program=

finish()
{
	if [ -n "$program" ]; then
		kill "$program" 2>/dev/null || :
		wait "$program" || :
	fi
	rm -f "$out/output"
}

mkdir -p "$out"
rm -f "$out/output" "$log"
"$javac" -d "$out" "$here/ProductTable.java"

trap finish EXIT
trap 'exit 1' HUP INT TERM
# A named pipe, so that the program's first line can be waited for; 60 s is its end if all else fails.
mkfifo "$out/output"
"$java" -Xmx64m -cp "$out" ProductTable 60 ${LOCK:-monitor} >"$out/output" &
program=$!
exec 3<"$out/output"
if ! read -r line <&3; then
	echo "demo: the product table did not start" >&2
	exit 1
fi
printf '%s\n\n' "$line"

printf '$ spoor record -p %s -d %s -o %s\n' "$program" "$seconds" "$log"
"$build/spoor" record -p "$program" -d "$seconds" -o "$log"
kill "$program"

printf '\n$ spoor report %s\n' "$log"
"$build/spoor" report "$log"

printf '\n'
cat <&3
printf '\nThe log is %s: see also spoor report --help, spoor cat --help.\n' "$log"
