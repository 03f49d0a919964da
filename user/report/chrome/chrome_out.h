/* report/chrome/chrome_out.h: the Trace Event format, one event after the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * An event is chrome_event(), then members, then chrome_args() and its arguments, if it has any,
 * then chrome_done(). Text may be any: what is no UTF-8 is replaced. The error flag of out tells
 * the rest.
 */
struct chrome_out {
	FILE *out;
	uint64_t base_ns; /* time 0 of the timeline */
	uint64_t pid;
	uint64_t events;
	bool first;   /* no member yet */
	bool args;    /* what follows are arguments */
	bool in_args; /* and there are some */
};

void chrome_begin(struct chrome_out *o);
/* After the last event: members of the file as a whole follow. */
void chrome_events_done(struct chrome_out *o);
void chrome_end(struct chrome_out *o);

void chrome_event(struct chrome_out *o, char phase, uint64_t track, uint64_t time_ns);
/* Metadata of a track: its name, its position among the others. */
void chrome_track(struct chrome_out *o, uint64_t track, const char *name, uint64_t sort);
void chrome_args(struct chrome_out *o);
void chrome_done(struct chrome_out *o);

void chrome_text(struct chrome_out *o, const char *key, const char *text);
void chrome_format(struct chrome_out *o, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void chrome_number(struct chrome_out *o, const char *key, uint64_t number);
/* ns as ms, without loss. */
void chrome_ms(struct chrome_out *o, const char *key, uint64_t ns);
/* Thousandths. */
void chrome_milli(struct chrome_out *o, const char *key, uint64_t thousandths);
/* JSON as it is. */
void chrome_raw(struct chrome_out *o, const char *key, const char *json);
/* Text in quotes. */
void chrome_quote(const char *text, FILE *out);
