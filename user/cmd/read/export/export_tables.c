/* A log as tables, in two passes: names can come after their first use, and rows are written as
 * the events come. Of the log only its names are kept. */
#include "cmd/read/export/export_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/create.h"
#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"
#include "session/source_names.h"

struct tables {
	const struct tables_options *options;
	struct event_tables_options events;
	struct log_source *source;
	const char *folder; /* NULL: all goes to outs[0] */
	const char *output;
	struct event_tables *tables;
	/* By event id, and what is not the folder's by 0, which no event has. */
	FILE *outs[SCHEMA_ID_MAX + 1];
	char *paths[SCHEMA_ID_MAX + 1]; /* of the folder's files */
};

/* The file of a kind in the folder. */
static int open_table(const struct event_desc *desc, FILE **ret, void *arg)
{
	struct tables *t = arg;
	const char *end = t->options->events.table.csv ? "csv" : "jsonl";
	char **path = &t->paths[desc->id];

	if (!t->folder) {
		*ret = t->outs[0];
		return 0;
	}
	if (asprintf(path, "%s/%s.%s", t->folder, desc->name, end) < 0) {
		*path = NULL;
		return -ENOMEM;
	}
	t->outs[desc->id] = *ret = export_output_open(t->source, *path, t->options->mode);
	return *ret ? 0 : -EIO;
}

/* 0 or negative errno, and it has been said. */
static int add_events(struct tables *t, struct log_reader *r, struct session_log *ret,
		      bool *ret_ended)
{
	const struct event *e;
	int err;

	while ((err = log_reader_next(r, &e)) == 1) {
		*ret_ended |= e->id == EVENT_END;
		if (!range_has(&t->source->range, e->time_ns))
			continue;
		err = event_tables_add(t->tables, e);
		if (err == -ENOMEM)
			msg_error("%s: cannot export it: %s", t->source->name,
				  max_memory_error(err));
		if (err)
			return err < 0 ? err : 0; /* what ferror() saw is said at the end */
	}
	log_reader_stats(r, &ret->stats);
	ret->damaged = err == -EBADMSG;
	if (!err || ret->damaged)
		return 0;
	msg_error("%s: cannot read it: %s", t->source->name, max_memory_error(err));
	return err;
}

/* Closes all; err is known already. 0; 1: the reader of a pipe has seen enough; or negative. */
static int outs_close(struct tables *t, int err)
{
	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++) {
		int end = err < 0 || !t->outs[i] ? 0 : finish_output(t->outs[i]);

		if (t->outs[i])
			end = export_output_close(t->outs[i], i ? t->paths[i] : t->output, end);
		err = err ? err : end;
		free(t->paths[i]);
	}
	return err;
}

static int run(struct tables *t, struct log_reader *r, const struct log_names *names)
{
	struct session_log in = {.header = log_reader_header(r), .set = t->source->set};
	bool ended = false;
	int err;

	in.to_ns = t->source->range.to ? t->source->range.to_ns : 0;
	t->events = t->options->events;
	t->events.open = open_table;
	t->events.arg = t;
	if (!t->folder) {
		t->outs[0] = export_output_open(t->source, t->output, t->options->mode);
		if (!t->outs[0])
			return -EIO;
	}
	err = event_tables_new(&t->events, names, in.header, &t->tables);
	if (err == -ENOMEM)
		msg_error("%s: cannot export it: %s", t->source->name, max_memory_error(err));
	err = outs_close(t, err ? err : add_events(t, r, &in, &ended));
	if (err)
		return err;
	if (!event_tables_rows(t->tables))
		msg_warning("%s: there are no such events in it", t->source->name);
	return log_report(t->source->name, &in, ended, "exported");
}

static bool is_folder(const char *output)
{
	size_t length = output ? strlen(output) : 0;
	struct stat st;

	return length && (output[length - 1] == '/' || (!stat(output, &st) && S_ISDIR(st.st_mode)));
}

/* Where it goes to; 0 or negative errno, and it has been said. */
static int set_output(struct tables *t)
{
	const struct event_tables_options *events = &t->options->events;
	bool many = event_tables_kinds(events) > 1;
	int err;

	if (events->table.csv && many && !t->output) {
		msg_error("a CSV file has one kind of events: name a folder with -o DIR, or one "
			  "kind with --event NAME");
		return -EINVAL;
	}
	if (!is_folder(t->output) && !(events->table.csv && many))
		return 0;
	t->folder = t->output;
	err = folder_create(t->folder, t->options->mode ? t->options->mode : CREATE_MODE);
	if (!err)
		return 0;
	msg_error("%s: cannot make this folder: %s", t->folder, file_create_error(err));
	return -EIO;
}

int export_tables(struct log_source *source, const char *output, const struct tables_options *o)
{
	struct tables t = {.options = o, .source = source, .output = output};
	struct log_names *names = NULL;
	struct log_reader *r;
	int err = set_output(&t);

	if (err)
		return err == -EINVAL ? CMD_USAGE : CMD_FAILED;
	err = source_names_read(source, &names);
	err = err ? err : log_source_open_again(source, &r);
	if (!err) {
		err = run(&t, r, names);
		event_tables_free(t.tables);
		log_reader_close(r);
	}
	log_names_free(names);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
