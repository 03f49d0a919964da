#include "cmd/log_source.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/msg.h"
#include "cmd/analyze_log.h"
#include "log/reader.h"

void log_source_add(struct log_source *s, const char *arg, struct argp_state *state)
{
	const char **args = realloc(s->args, (s->count + 1) * sizeof(*args));

	if (!args) {
		argp_failure(state, 1, ENOMEM, "%s", arg);
		return;
	}
	s->args = args;
	s->args[s->count++] = arg;
	snprintf(s->name, sizeof(s->name), "%.200s%s", s->args[0],
		 s->count > 1 ? " and others" : "");
}

static void tell(const struct log_set_error *error, int err)
{
	if (error->why[0])
		msg_error("%s: %s", error->path, error->why);
	else
		log_tell_open(error->path, err);
}

static int find_files(struct log_source *s)
{
	struct log_set_error error;
	int err = s->set ? 0 : log_set_open(s->args, s->count, &s->set, &error);

	if (err)
		tell(&error, err);
	return err;
}

static int limit(struct log_source *s, struct log_reader *r)
{
	int err = 0;

	if (!range_is_given(&s->range))
		return 0;
	err = range_resolve(&s->range, log_reader_header(r));
	if (err)
		return err;
	err = log_reader_limit(r, s->range.from_ns, s->range.to_ns);
	if (err)
		msg_error("%s: cannot read it: %s", s->name, strerror(-err));
	return err;
}

int log_source_open(struct log_source *s, struct log_reader **ret)
{
	int err = find_files(s);

	if (err)
		return err;
	err = log_reader_open_with(log_set_paths(s->set), log_set_count(s->set), NULL, ret);
	if (err) {
		log_tell_open(log_set_paths(s->set)[0], err);
		return err;
	}
	err = limit(s, *ret);
	if (err) {
		log_reader_close(*ret);
		*ret = NULL;
	}
	return err;
}

int log_source_open_again(struct log_source *s, const char *what, struct log_reader **ret)
{
	struct stat st;

	for (unsigned i = 0; i < s->count; i++) {
		if (strcmp(s->args[i], "-") &&
		    (stat(s->args[i], &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
			continue;
		msg_error("%s: %s passes over the log: it must be a file; put what comes out of a "
			  "pipe into one",
			  s->args[i], what);
		return -EINVAL;
	}
	return log_source_open(s, ret);
}

void log_source_free(struct log_source *s)
{
	log_set_free(s->set);
	free(s->args);
	*s = (struct log_source){0};
}

const char *log_source_title(const struct log_source *s)
{
	const char *slash = strrchr(s->name, '/');

	return slash && slash[1] ? slash + 1 : s->name;
}
