/* tests/bpf/fakejvm_flood.h: more of a kind than any recorder can remember. */
#pragma once

#include <stdint.h>

/*
 * what: monitors (exits of monitors at invented addresses), classes (exits of monitors of
 * objects, each of another class), names (VM operations, each of another name), threads (each starts and
 * ends under another name, with Java ids from java_id on). How many fired; -1: there is no such
 * kind.
 */
long fake_flood(const char *what, long count, int64_t java_id);
