/* report/jfr/jfr_types.h: the types of a chunk, and the event that describes them. */
#pragma once

#include <stdint.h>

#include "base/text/strbuf.h"

/* Numbers of types; 0 and 1 are those of the two events below. */
enum jfr_type {
	JFR_METADATA,
	JFR_CONSTANTS,
	JFR_BOOLEAN,
	JFR_INT,
	JFR_LONG,
	JFR_STRING,
	JFR_CLASS,
	JFR_THREAD,
	JFR_METHOD,
	JFR_FRAME_TYPE,
	JFR_STACK_FRAME,
	JFR_STACK_TRACE,
	JFR_LABEL,
	JFR_CONTENT_TYPE,
	JFR_TIMESTAMP,
	JFR_TIMESPAN,
	JFR_MEMORY_ADDRESS,
	JFR_MONITOR_ENTER,
	JFR_THREAD_PARK,
	JFR_LOCK_HELD,
	JFR_TYPE_COUNT,
};

/* The metadata event. ticks: its time. */
void jfr_metadata(struct strbuf *b, uint64_t ticks);
