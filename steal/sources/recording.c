#include "steal/sources/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct recording {
	FILE *out;
	int err;
};

static void note_error(struct recording *r)
{
	if (!r->err && ferror(r->out))
		r->err = errno ? -errno : -EIO;
}

int recording_begin(FILE *out, const struct steal_source *const *of, unsigned count,
		    struct recording **ret)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->out = out;
	fprintf(out, "spoor-steal %d\n", RECORDING_VERSION);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "source %u %s %s %" PRIu64 " %" PRIu64 " %d %d %" PRIu64 "\n", i,
			of[i]->name, of[i]->clock, of[i]->resolution_ns, of[i]->cpu_resolution_ns,
			of[i]->exact, of[i]->cpu_has_steal, of[i]->wall_ns);
	note_error(r);
	*ret = r;
	return 0;
}

/* A name, at the end of its line; what would end that, and the backslash, as \xNN. */
static void write_name(FILE *out, const char *name)
{
	fputc(' ', out);
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c < ' ' || c == '\\' || c == 127)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('\n', out);
}

static void write_threads(FILE *out, const struct steal_sample *s)
{
	for (size_t i = 0; i < s->process_count; i++) {
		const struct steal_process *p = &s->processes[i];

		fprintf(out, "process %" PRId32 " %" PRIu64 " %" PRIu64 " %d", p->pid,
			p->start_ticks, p->cpu_ns, p->fresh);
		write_name(out, p->comm);
	}
	for (size_t i = 0; i < s->thread_count; i++) {
		const struct steal_thread *t = &s->threads[i];

		fprintf(out,
			"thread %" PRId32 " %" PRId32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d",
			t->tid, t->pid, t->start_ticks, t->cpu_ns, t->stolen_ns, t->fresh,
			t->ended);
		write_name(out, t->comm);
	}
}

static void write_thefts(FILE *out, const struct steal_sample *s)
{
	fprintf(out, "idle_stolen %" PRIu64 "\nlost %" PRIu64 " %" PRIu64 "\n", s->idle_stolen_ns,
		s->thefts_lost, s->threads_lost);
	for (int i = 0; i < STEAL_SLOTS; i++)
		if (s->histogram[i])
			fprintf(out, "slot %d %" PRIu64 "\n", i, s->histogram[i]);
	for (size_t i = 0; i < s->theft_count; i++) {
		const struct steal_theft *t = &s->thefts[i];

		fprintf(out, "theft %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRId32 " %" PRId32,
			t->time_ns, t->ns, t->cpu, t->tid, t->pid);
		write_name(out, t->comm);
	}
}

void recording_add(struct recording *r, unsigned source, const struct steal_sample *s)
{
	FILE *out = r->out;

	fprintf(out, "sample %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", source, s->time_ns,
		s->end_ns, s->boot_ns);
	for (size_t i = 0; i < s->cpu_count; i++)
		fprintf(out, "cpu %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			s->cpus[i].cpu, s->cpus[i].steal_ns, s->cpus[i].busy_ns,
			s->cpus[i].idle_ns);
	write_threads(out, s);
	write_thefts(out, s);
	fprintf(out, "end\n");
	note_error(r);
}

int recording_end(struct recording *r)
{
	int err;

	if (!r)
		return 0;
	if (fflush(r->out) && !r->err)
		r->err = -errno;
	note_error(r);
	err = r->err;
	free(r);
	return err;
}
