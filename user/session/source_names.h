/* session/source_names.h: the names that a log defines, in a pass of their own. */
#pragma once

struct log_names;
struct log_source;

/*
 * The definition of a number may come after its first use. Of a damaged log, the names that can be
 * read. *ret is the caller's. Says on stderr what went wrong. 0 or negative errno.
 */
int source_names_read(struct log_source *source, struct log_names **ret);
