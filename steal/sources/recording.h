/* steal/sources/recording.h: samples as text, to be replayed by steal_source_recorded;
 * docs/steal.md has the format. */
#pragma once

#include <stdio.h>

#include "steal/sources/source.h"

#define RECORDING_VERSION 1

/* As steal_source_recorded; in is closed with the source, and when this fails. */
int steal_source_recorded_file(FILE *in, unsigned n, pid_t pid, struct steal_source **ret);

struct recording;

/* Writes to out, which stays the caller's; samples carry the number of their source in of. */
int recording_begin(FILE *out, const struct steal_source *const *of, unsigned count,
		    struct recording **ret);
void recording_add(struct recording *r, unsigned source, const struct steal_sample *s);
/* 0, or negative errno: something could not be written, then or before. NULL is accepted. */
int recording_end(struct recording *r);
