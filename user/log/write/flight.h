/* log/write/flight.h: the last minutes of a log in memory, and files made of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_output;
struct flight_take;

/*
 * An output that keeps whole parts: the oldest goes when those after it go back keep_ns, or when
 * there is no room for it in max_bytes.
 */
int output_flight_open(uint64_t keep_ns, uint64_t max_bytes, struct log_output **ret);

/* What is there now, to be written while more comes: for log_writer_call(). -ENODATA: nothing. */
int flight_take(struct log_output *o, struct flight_take **ret);
/* From when to when it goes. */
void flight_take_range(const struct flight_take *t, uint64_t *ret_from_ns, uint64_t *ret_to_ns);
void flight_take_free(struct flight_take *t); /* accepts NULL */

struct flight_file {
	const char *why; /* for the header */
	uint32_t number; /* likewise */
	bool ended;      /* the log has its end; else the file gets one: dumped */
};

/*
 * Writes a whole log with one name after another until there is no such file: "app.spoor" makes
 * app-000001.spoor, app-000002.spoor, ... It has its name only when it is complete. *ret_path is
 * the caller's; *ret_bytes its size.
 */
int flight_take_write(const struct flight_take *t, const char *path, const struct flight_file *f,
		      char **ret_path, uint64_t *ret_bytes);
