/* report/flame/profile_flame.h: a profile in the formats that flame graph tools read. */
#pragma once

#include <stdio.h>

struct profile_format;
struct profile_input;

/*
 * As export_collapsed() and export_speedscope(), with the frames of the profile's tree: the sum of
 * all weights is the root's. 0 or -ENOMEM; out's error flag says the rest.
 */
int profile_collapsed(const struct profile_input *in, FILE *out);
int profile_speedscope(const struct profile_input *in, const char *title, FILE *out);
/* The same in a format of user/report/protobuf. */
int profile_messages(const struct profile_input *in, const struct profile_format *format,
		     FILE *out);
