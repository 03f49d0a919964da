/* report/protobuf/profile_format.h: profiles of call chains in formats of protobuf. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define PROFILE_VALUES 2

struct profile_unit {
	const char *type, *unit; /* such as "delay" and "nanoseconds" */
};

/* All texts are lent until the profile is freed. */
struct profile_head {
	struct profile_unit values[PROFILE_VALUES]; /* of each sample; the last is the main one */
	struct profile_unit period_unit;
	uint64_t period;                    /* 0: all is in it, none of it sampled */
	uint64_t time_ns, duration_ns;      /* since 1970; of the recording */
	const char *process, *spoor, *what; /* the traced program, this one, a sentence */
	uint64_t pid;
};

struct profile_label {
	const char *key, *text;
};

struct profile_sample {
	const uint32_t *frames; /* numbers from 0 on, without holes; the innermost first */
	uint32_t count;
	uint64_t values[PROFILE_VALUES];
	const struct profile_label *labels;
	unsigned label_count;
};

struct profile_frame_text {
	const char *name, *file; /* "": not known */
	uint64_t line;           /* 0: not known, or not wanted */
};

/* A format. First all samples, then all frames in the order of their numbers, then the end. 0 or
 * -ENOMEM; the error flag of out says the rest. */
struct profile_format {
	void *(*open)(const struct profile_head *head, FILE *out); /* NULL: no memory */
	int (*sample)(void *profile, const struct profile_sample *s);
	int (*frame)(void *profile, const struct profile_frame_text *f);
	int (*end)(void *profile);
	void (*free)(void *profile); /* accepts NULL */
};

/* profile.proto of pprof, not compressed; written as the samples come. */
extern const struct profile_format profile_format_pprof;
/* ProfilesData of OTLP, not compressed; written at the end. */
extern const struct profile_format profile_format_otlp;
