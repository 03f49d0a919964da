#!/bin/sh
# bench/demo/objects.sh BUILD JDK: switches the object events of the bundled warehouse on for some seconds, and names
# what makes its collector work and what its heap keeps.
set -eu

build=${1:-build}
jdk=$2
here=$(dirname "$0")
seconds=${SECONDS_RECORDED:-5}
out=$build/demo
log=$out/objects.spoor
program=

finish()
{
	if [ -n "$program" ]; then
		kill "$program" 2>/dev/null || :
		wait "$program" || :
	fi
	rm -f "$out/warehouse"
}

mkdir -p "$out"
rm -f "$out/warehouse" "$log"
"$jdk/bin/javac" -d "$out" "$here/Warehouse.java"

trap finish EXIT
trap 'exit 1' HUP INT TERM
# A named pipe, so that the program's first line can be waited for; 120 s is its end if all else fails.
mkfifo "$out/warehouse"
"$jdk/bin/java" -Xmx256m -Xmn16m -XX:+UseSerialGC -cp "$out" Warehouse 120 >"$out/warehouse" &
program=$!
exec 3<"$out/warehouse"
if ! read -r line <&3; then
	echo "demo: the warehouse did not start" >&2
	exit 1
fi
printf '%s\n\n' "$line"

printf '$ spoor record --objects -p %s -d %s -o %s\n' "$program" "$seconds" "$log"
"$build/spoor" record --objects -p "$program" -d "$seconds" -o "$log"
kill "$program"

printf '\n$ spoor objects --by site --top 5 %s\n' "$log"
"$build/spoor" objects --by site --top 5 "$log" | tee "$out/objects.txt"

printf '\nThe churn and the leak:\n'
sed -n 1,2p "$out/objects.txt"
