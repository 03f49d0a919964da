/* report/protobuf/perfetto_name.h: slices' names that the lock contention tables of Perfetto's
 * standard library (android/monitor_contention.sql) take apart. */
#pragma once

#include <stdint.h>

struct log_method;
struct strbuf;

/* A location in a program; method NULL: not known. */
struct perfetto_location {
	const struct log_method *method;
	uint64_t line; /* 0: not known */
};

struct perfetto_contention {
	const char *owner;
	uint64_t tid;    /* of the owner */
	uint32_t others; /* that were waiting already */
	struct perfetto_location at, from;
};

/*
 * "monitor contention with owner NAME (TID) at TYPE CLASS.METHOD(TYPES)(FILE:LINE) waiters=N
 * blocking from ...", as ART writes it. The tables split it at words and parentheses: what of a
 * name would be one of these is written in another way.
 */
void perfetto_contention_name(struct strbuf *b, const struct perfetto_contention *c);
