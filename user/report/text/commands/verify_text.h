/* report/text/commands/verify_text.h: what a check of a log has found, as text or JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "log/check/check.h"

#define VERIFY_FINDINGS_MAX 100 /* are listed; all are counted */

struct verify_input {
	const char *path;
	const struct log_check *check;
	const struct check_finding *findings;
	unsigned finding_count;
	bool strict; /* doubts are as bad as damage */
};

bool verify_is_sound(const struct verify_input *in);
/* The error flag of out says the rest. */
void verify_text(const struct verify_input *in, FILE *out);
/* NULL: no memory. */
json_t *verify_json(const struct verify_input *in);

struct verify_say {
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

/* Of the parts of recordings among count files: which are there twice, and which are missing
 * between others. Says nothing if there are none. 0 or -ENOMEM. */
int verify_parts(const struct log_check *files, char *const *paths, unsigned count,
		 const struct verify_say *s);
