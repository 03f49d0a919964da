/* A log as tables, in two passes: names can come after their first use, and rows are written as
 * the events come. Of the log only its names are kept. */
#include "cmd/read/export/export_tables.h"

#include <errno.h>
#include <limits.h>
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

struct sink {
	struct event_table *table;
	FILE *out;
	char *path; /* NULL: it is not this one's own file */
};

struct tables {
	const struct tables_options *options;
	struct log_source *source;
	const char *folder; /* NULL: all goes to out */
	const char *output;
	FILE *out;
	const json_t *header;
	struct log_names *names;
	bool ended;
	uint64_t rows;
	struct sink sinks[SCHEMA_ID_MAX + 1];
};

static int read_names(struct log_source *source, struct log_names *names)
{
	struct log_reader *r;
	const struct event *e;
	int err = log_source_open_again(source, &r);

	if (err)
		return err;
	log_reader_definitions(r);
	while ((err = log_reader_next(r, &e)) == 1) {
		err = log_names_add(names, e);
		if (err)
			break;
	}
	log_reader_close(r);
	if (!err || err == -EBADMSG)
		return 0;
	msg_error("%s: cannot read its names: %s", source->name, max_memory_error(err));
	return err;
}

/* The file of a kind in the folder. */
static int sink_open_file(const struct tables *t, struct sink *s, const struct event_desc *desc)
{
	const char *end = t->options->table.csv ? "csv" : "jsonl";

	if (asprintf(&s->path, "%s/%s.%s", t->folder, desc->name, end) < 0) {
		s->path = NULL;
		return -ENOMEM;
	}
	s->out = export_output_open(t->source, s->path, t->options->mode);
	return s->out ? 0 : -EIO;
}

static int sink_open(const struct tables *t, struct sink *s, const struct event_desc *desc)
{
	int err = event_table_new(desc, &t->options->table, t->names, t->header, &s->table);

	if (!err && t->folder)
		err = sink_open_file(t, s, desc);
	else if (!err)
		s->out = t->out;
	if (err == -ENOMEM)
		msg_error("%s: cannot export it: %s", t->source->name, max_memory_error(-ENOMEM));
	if (!err)
		event_table_head(s->table, s->out);
	return err;
}

/* 1: somebody does not want more, or cannot take it. */
static int add_event(struct tables *t, const struct event *e)
{
	struct sink *s = &t->sinks[e->id];
	int err = 0;

	if (e->id == EVENT_END)
		t->ended = true;
	if (!range_has(&t->source->range, e->time_ns))
		return 0;
	if (t->options->filter && !t->options->selected[e->id])
		return 0;
	if (!s->table)
		err = sink_open(t, s, schema_event(e->id));
	if (err)
		return err;
	event_table_row(s->table, e, s->out);
	t->rows++;
	return ferror(s->out) ? 1 : 0;
}

/* One kind of event that was asked for has a table also if there are none of it. */
static int open_selected(struct tables *t)
{
	unsigned count;
	const struct event_desc *events = schema_events(&count);
	int err = 0;

	for (unsigned i = 0; i < count && !err && t->options->filter; i++)
		if (t->options->selected[events[i].id])
			err = sink_open(t, &t->sinks[events[i].id], &events[i]);
	return err;
}

/* 0 or negative errno, and it has been said. */
static int add_events(struct tables *t, struct log_reader *r, struct session_log *ret)
{
	const struct event *e;
	int err = open_selected(t);

	if (err)
		return err;
	while ((err = log_reader_next(r, &e)) == 1) {
		err = add_event(t, e);
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
static int sinks_close(struct tables *t, int err)
{
	int end;

	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++) {
		struct sink *s = &t->sinks[i];

		event_table_free(s->table);
		if (s->out && s->path) {
			end = err < 0 ? 0 : finish_output(s->out);
			end = export_output_close(s->out, s->path, end);
			err = err ? err : end;
		}
		free(s->path);
	}
	if (t->out) {
		end = err < 0 ? 0 : finish_output(t->out);
		end = export_output_close(t->out, t->output, end);
		err = err ? err : end;
	}
	return err;
}

static int run(struct tables *t, struct log_reader *r)
{
	struct session_log in = {.header = log_reader_header(r), .set = t->source->set};
	int err;

	in.to_ns = t->source->range.to ? t->source->range.to_ns : 0;

	t->header = log_reader_header(r);
	if (!t->folder) {
		t->out = export_output_open(t->source, t->output, t->options->mode);
		if (!t->out)
			return -EIO;
	}
	err = sinks_close(t, add_events(t, r, &in));
	if (err)
		return err;
	if (!t->rows)
		msg_warning("%s: there are no such events in it", t->source->name);
	return log_report(t->source->name, &in, t->ended, "exported");
}

static bool is_folder(const char *output)
{
	size_t length = output ? strlen(output) : 0;
	struct stat st;

	return length && (output[length - 1] == '/' || (!stat(output, &st) && S_ISDIR(st.st_mode)));
}

static unsigned count_kinds(const struct tables_options *o)
{
	unsigned count = 0;

	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++)
		count += o->filter && o->selected[i];
	return o->filter ? count : UINT_MAX;
}

/* Where it goes to; 0 or negative errno, and it has been said. */
static int set_output(struct tables *t)
{
	bool many = count_kinds(t->options) > 1;
	int err;

	if (t->options->table.csv && many && !t->output) {
		msg_error("a CSV file has one kind of events: name a folder with -o DIR, or one "
			  "kind with --event NAME");
		return -EINVAL;
	}
	if (!is_folder(t->output) && !(t->options->table.csv && many))
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
	struct log_reader *r;
	int err = set_output(&t);

	if (err)
		return err == -EINVAL ? CMD_USAGE : CMD_FAILED;
	t.names = log_names_new();
	if (!t.names) {
		msg_error("%s: cannot read it: %s", source->name, max_memory_error(-ENOMEM));
		return CMD_FAILED;
	}
	err = read_names(source, t.names);
	err = err ? err : log_source_open_again(source, &r);
	if (!err) {
		err = run(&t, r);
		log_reader_close(r);
	}
	log_names_free(t.names);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
