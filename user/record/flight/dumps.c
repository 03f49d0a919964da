/*
 * What is in memory is taken hold of in the recorder's thread, which takes no time to speak of, and
 * written by another one: a slow disk delays the file, not the recording. There is one at a time;
 * one that is asked for meanwhile comes next, with what is in memory then.
 */
#include "record/flight/dumps.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/privilege.h"
#include "log/format/event.h"
#include "log/write/flight.h"
#include "log/write/writer.h"

struct dump_report {
	struct dump_report *next;
	struct dump dump;
	char why[TRIGGER_TEXT_MAX];
};

struct dumps {
	struct dumps_options o;
	struct triggers *triggers;
	int err; /* of looking at events */
	uint64_t start_ns, triggered_ns;
	uint64_t due_ns; /* 0: nothing is due */
	char due_why[TRIGGER_TEXT_MAX];
	uint32_t count;
	uint64_t passed_over;
	bool queued; /* when the one that is being written is done */
	char queued_why[TRIGGER_TEXT_MAX];
	/* The one that is being written. */
	pthread_t thread;
	bool running;
	_Atomic bool done;
	struct flight_take *take;
	struct flight_file file;
	struct dump_report *now;
	struct dump_report *first, *last; /* written, and not reported yet */
	struct dump_report *lent;
};

int dumps_new(const struct dumps_options *o, struct dumps **ret, struct log_output **ret_output)
{
	struct dumps *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->o = *o;
	d->triggers = triggers_new(o->triggers, o->trigger_count);
	err = d->triggers ? output_flight_open(o->keep_ns, o->max_bytes, ret_output) : -ENOMEM;
	if (err) {
		dumps_free(d);
		return err;
	}
	*ret = d;
	return 0;
}

static void report_free(struct dump_report *t)
{
	if (t)
		free(t->dump.path);
	free(t);
}

static void written(struct dumps *d)
{
	flight_take_free(d->take);
	d->take = NULL;
	if (d->last)
		d->last->next = d->now;
	else
		d->first = d->now;
	d->last = d->now;
	d->now = NULL;
}

void dumps_wait(struct dumps *d)
{
	if (!d->running)
		return;
	pthread_join(d->thread, NULL);
	d->running = false;
	written(d);
}

void dumps_free(struct dumps *d)
{
	if (!d)
		return;
	dumps_wait(d);
	triggers_free(d->triggers);
	for (struct dump_report *t = d->first, *next; t; t = next) {
		next = t->next;
		report_free(t);
	}
	report_free(d->lent);
	free(d);
}

void dumps_watch(void *ctx, const struct event *e)
{
	struct dumps *d = ctx;
	int err = d->o.trigger_count ? triggers_add(d->triggers, e) : 0;

	if (err)
		d->err = err;
}

static void *write_file(void *arg)
{
	struct dumps *d = arg;
	struct dump *dump = &d->now->dump;

	privilege_writer_thread();
	dump->err = flight_take_write(d->take, d->o.path, &d->file, &dump->path, &dump->bytes);
	atomic_store(&d->done, true);
	return NULL;
}

static int take(struct log_output *o, void *ctx)
{
	return flight_take(o, ctx);
}

static void describe(const struct dumps *d, const char *why, struct dump_report *ret)
{
	struct dump *dump = &ret->dump;

	snprintf(ret->why, sizeof(ret->why), "%s", why);
	dump->why = ret->why;
	flight_take_range(d->take, &dump->from_ns, &dump->to_ns);
	dump->short_of = dump->from_ns > d->start_ns && dump->to_ns > dump->from_ns &&
			 dump->to_ns - dump->from_ns < d->o.keep_ns;
}

int dumps_write(struct dumps *d, struct log_writer *w, const char *why, bool ended)
{
	struct dump_report *t;
	int err;

	if (d->running) {
		d->queued = true;
		snprintf(d->queued_why, sizeof(d->queued_why), "%s", why);
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	err = log_writer_call(w, take, &d->take);
	if (err) {
		free(t);
		return err;
	}
	describe(d, why, t);
	d->now = t;
	d->file = (struct flight_file){.why = t->why, .number = ++d->count, .ended = ended};
	atomic_store(&d->done, false);
	err = -pthread_create(&d->thread, NULL, write_file, d);
	d->running = !err;
	if (err) { /* else what the thread says of it counts */
		t->dump.err = err;
		written(d);
	}
	return 0;
}

/* The note is in the log where it happened, also for who reads it later. */
static void note(struct log_writer *w, const char *text, uint64_t now_ns)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = now_ns};
	char full[TRIGGER_TEXT_MAX + 32];

	snprintf(full, sizeof(full), "flight recorder: %s", text);
	e.v[NOTE_LEVEL].u = NOTE_LEVEL_INFO;
	e.v[NOTE_TEXT].s = full;
	log_write(w, &e);
}

static void on_trigger(struct dumps *d, struct log_writer *w, const char *text, uint64_t now_ns)
{
	if (d->due_ns || (d->triggered_ns && now_ns - d->triggered_ns < d->o.keep_ns)) {
		d->passed_over++;
		return;
	}
	note(w, text, now_ns);
	snprintf(d->due_why, sizeof(d->due_why), "%s", text);
	d->triggered_ns = now_ns;
	d->due_ns = now_ns + d->o.after_ns;
}

static bool find_name(void *ctx, uint16_t event, uint64_t number, struct event *ret)
{
	return log_definition(ctx, event, number, ret);
}

int dumps_pass(struct dumps *d, struct log_writer *w, uint64_t now_ns)
{
	const struct trigger_names names = {find_name, w};
	char text[TRIGGER_TEXT_MAX];
	int err = d->err;

	if (!d->start_ns)
		d->start_ns = now_ns;
	if (d->running && atomic_load(&d->done))
		dumps_wait(d);
	if (!err && triggers_fired(d->triggers, &names, now_ns, text))
		on_trigger(d, w, text, now_ns);
	if (!err && d->due_ns && now_ns >= d->due_ns) {
		d->due_ns = 0;
		err = dumps_write(d, w, d->due_why, false);
	}
	if (!err && d->queued && !d->running) {
		d->queued = false;
		memcpy(text, d->queued_why, sizeof(text));
		err = dumps_write(d, w, text, false);
	}
	return err;
}

bool dumps_next(struct dumps *d, struct dump *ret)
{
	if (d->running && atomic_load(&d->done))
		dumps_wait(d);
	report_free(d->lent);
	d->lent = d->first;
	if (!d->lent)
		return false;
	d->first = d->lent->next;
	if (!d->first)
		d->last = NULL;
	*ret = d->lent->dump;
	return true;
}

uint64_t dumps_passed_over(const struct dumps *d)
{
	return d->passed_over;
}
