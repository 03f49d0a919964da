/* analyze/diff/generated_name.h: names of classes that a JVM makes while it runs, which are other
 * ones in each run. */
#pragma once

struct strbuf;

/*
 * Appends name, with the number of a generated class as "*", so that the same class has the same
 * name in two runs: "a.B$$Lambda$14/0x00007f..." becomes "a.B$$Lambda$*", "a.B$$Lambda/0x..."
 * "a.B$$Lambda*", "jdk.proxy2.$Proxy17" "jdk.proxy*.$Proxy*", "GeneratedMethodAccessor3"
 * "GeneratedMethodAccessor*" (Hofer 3.4.2, note 5).
 */
void generated_name_add(struct strbuf *b, const char *name);
