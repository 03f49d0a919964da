/* cmd/read/export/export_anonymize.h: `spoor export --anonymize`. */
#pragma once

struct log_source;

struct anonymize_options {
	const char *output;
	const char *key; /* a file that has it; NULL: one that nobody knows */
};

/* Says what goes wrong; returns an exit status. */
int export_anonymize(const struct log_source *source, const struct anonymize_options *o);
