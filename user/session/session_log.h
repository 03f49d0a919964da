/* session/session_log.h: what has been read of a log: what reports are about. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "log/read/reader.h"

struct analysis;
struct log_set;

/* Pointers are lent by who has read the log. */
struct session_log {
	const struct analysis *analysis; /* finished; NULL: the log was only read */
	const json_t *header;
	const struct log_set *set; /* the log's files; NULL: unknown */
	struct log_reader_stats stats;
	uint64_t from_ns,
		to_ns; /* limits of the time that was asked for, in the events' clock; 0: none */
	bool damaged;  /* the reader has met damage */
	uint64_t late; /* events that came too late to be sorted */
};

/* The recording's begin by the header, else the first event, in the events' clock. */
uint64_t session_log_start(const struct session_log *l);
/* From the begin in the header, else from the first event, to the last event. */
uint64_t session_log_duration(const struct session_log *l);
/* What a damaged log lacks, as a sentence for a person. */
void session_log_damage(const struct session_log *l, char *buf, size_t size);
