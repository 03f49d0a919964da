#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steal/sources/recording.h"
#include "steal/sources/sink.h"
#include "steal/sources/source.h"

#define WORD_BYTES 32
#define WHY_BYTES 160
#define RESOLUTION_MAX 1000000000ull

struct recorded {
	struct steal_source source; /* the first member */
	struct steal_sink sink;
	FILE *in;
	char *line;
	size_t line_capacity;
	unsigned long line_number;
	unsigned selected;
	int32_t pid;
	char name[WORD_BYTES], clock[WORD_BYTES], why[WHY_BYTES];
};

static void recorded_free(struct steal_source *s)
{
	struct recorded *r = (struct recorded *)s;

	if (r->in)
		fclose(r->in);
	steal_sink_free(&r->sink);
	free(r->line);
	free(r);
}

static const char *recorded_why(const struct steal_source *s)
{
	return ((const struct recorded *)s)->why;
}

/* 1: r->line is the next, without its end; 0: there is none; or negative errno. */
static int next_line(struct recorded *r)
{
	ssize_t length;

	errno = 0;
	length = getline(&r->line, &r->line_capacity, r->in);
	if (length < 0)
		return ferror(r->in) || errno == ENOMEM ? -(errno ? errno : EIO) : 0;
	r->line_number++;
	if (length && r->line[length - 1] == '\n')
		r->line[--length] = 0;
	/* A 0 in the line would hide what is after it. */
	return strlen(r->line) == (size_t)length ? 1 : -EBADMSG;
}

/* Empty lines are, too. */
static bool is_comment(const struct recorded *r)
{
	return !*r->line || *r->line == '#';
}

static bool is_resolution(uint64_t ns)
{
	return ns && ns <= RESOLUTION_MAX;
}

static int bad(struct recorded *r, const char *what)
{
	snprintf(r->why, sizeof(r->why), "line %lu: %s", r->line_number, what);
	return -EBADMSG;
}

/* The name from the column on, which must be after one blank. */
static bool read_name(const char *text, char ret[STEAL_COMM_MAX])
{
	size_t length = 0;
	unsigned code;
	int used;

	if (*text++ != ' ')
		return false;
	memset(ret, 0, STEAL_COMM_MAX);
	while (*text && length < STEAL_COMM_MAX - 1) {
		if (*text != '\\') {
			ret[length++] = *text++;
			continue;
		}
		used = 0;
		if (sscanf(text, "\\x%2x%n", &code, &used) != 1 || !code || used != 4)
			return false;
		ret[length++] = (char)code;
		text += used;
	}
	return !*text;
}

static bool is_selected(const struct recorded *r, int32_t pid)
{
	return !r->pid || r->pid == pid;
}

/* One function for each first word; args is what follows it. False: it is not as it must be. */
static bool read_cpu(struct recorded *r, const char *args)
{
	struct steal_cpu c;
	int used = 0;

	if (sscanf(args, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &c.cpu, &c.steal_ns,
		   &c.busy_ns, &c.idle_ns, &used) != 4 ||
	    args[used])
		return false;
	steal_push_cpu(&r->sink, &c);
	return true;
}

static bool read_process(struct recorded *r, const char *args)
{
	struct steal_process p = {0};
	int used = 0, fresh;

	if (sscanf(args, "%" SCNd32 " %" SCNu64 " %" SCNu64 " %d%n", &p.pid, &p.start_ticks,
		   &p.cpu_ns, &fresh, &used) != 4 ||
	    !read_name(args + used, p.comm))
		return false;
	p.fresh = fresh;
	if (is_selected(r, p.pid))
		steal_push_process(&r->sink, &p);
	return true;
}

static bool read_thread(struct recorded *r, const char *args)
{
	struct steal_thread t = {0};
	int used = 0, fresh, ended;

	if (sscanf(args, "%" SCNd32 " %" SCNd32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %d %d%n",
		   &t.tid, &t.pid, &t.start_ticks, &t.cpu_ns, &t.stolen_ns, &fresh, &ended,
		   &used) != 7 ||
	    !read_name(args + used, t.comm))
		return false;
	t.fresh = fresh;
	t.ended = ended;
	if (is_selected(r, t.pid))
		steal_push_thread(&r->sink, &t);
	return true;
}

static bool read_theft(struct recorded *r, const char *args)
{
	struct steal_theft t = {0};
	int used = 0;

	if (sscanf(args, "%" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNd32 " %" SCNd32 "%n",
		   &t.time_ns, &t.ns, &t.cpu, &t.tid, &t.pid, &used) != 5 ||
	    !read_name(args + used, t.comm))
		return false;
	steal_push_theft(&r->sink, &t);
	return true;
}

static bool read_idle_stolen(struct recorded *r, const char *args)
{
	return sscanf(args, "%" SCNu64, &r->sink.sample.idle_stolen_ns) == 1;
}

static bool read_lost(struct recorded *r, const char *args)
{
	return sscanf(args, "%" SCNu64 " %" SCNu64, &r->sink.sample.thefts_lost,
		      &r->sink.sample.threads_lost) == 2;
}

static bool read_slot(struct recorded *r, const char *args)
{
	uint64_t count;
	unsigned slot;

	if (sscanf(args, "%u %" SCNu64, &slot, &count) != 2 || slot >= STEAL_SLOTS)
		return false;
	r->sink.sample.histogram[slot] = count;
	return true;
}

static const struct {
	const char *word;
	bool (*read)(struct recorded *r, const char *args);
} words[] = {
	{"cpu ", read_cpu},     {"process ", read_process}, {"thread ", read_thread},
	{"theft ", read_theft}, {"slot ", read_slot},       {"idle_stolen ", read_idle_stolen},
	{"lost ", read_lost},
};

static bool read_word(struct recorded *r)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i].word);

		if (!strncmp(r->line, words[i].word, length))
			return words[i].read(r, r->line + length);
	}
	return false;
}

/* The lines of a sample, to its "end"; those of another source are skipped. */
static int read_sample(struct recorded *r, bool selected)
{
	int more;

	while ((more = next_line(r)) == 1) {
		if (!strcmp(r->line, "end"))
			return 1;
		if (selected && !is_comment(r) && !read_word(r))
			return bad(r, "not a line of a sample");
	}
	return more ? more : bad(r, "the file is cut short: the last sample has no end");
}

static int recorded_sample(struct steal_source *s, const struct steal_sample **ret)
{
	struct recorded *r = (struct recorded *)s;
	uint64_t time_ns, end_ns, boot_ns;
	unsigned source;
	int more, err;

	while ((more = next_line(r)) == 1) {
		if (is_comment(r) || !strncmp(r->line, "source ", 7))
			continue;
		if (sscanf(r->line, "sample %u %" SCNu64 " %" SCNu64 " %" SCNu64, &source, &time_ns,
			   &end_ns, &boot_ns) != 4)
			return bad(r, "a sample begins with: sample SOURCE TIME END BOOT-TIME");
		steal_sink_begin(&r->sink);
		r->sink.sample.time_ns = time_ns;
		r->sink.sample.end_ns = end_ns;
		r->sink.sample.boot_ns = boot_ns;
		more = read_sample(r, source == r->selected);
		if (more != 1)
			break;
		if (source != r->selected)
			continue;
		err = steal_sink_end(&r->sink, ret);
		return err ? err : 1;
	}
	return more == -EBADMSG && !*r->why ? bad(r, "it has a byte 0 in it") : more;
}

/* The line of the selected source, which is one of the first. */
static int read_source(struct recorded *r)
{
	int exact, has_steal, more, used;
	unsigned number;

	while ((more = next_line(r)) == 1) {
		if (is_comment(r))
			continue;
		if (strncmp(r->line, "source ", 7))
			break;
		used = 0;
		if (sscanf(r->line,
			   "source %u %31s %31s %" SCNu64 " %" SCNu64 " %d %d %" SCNu64 "%n",
			   &number, r->name, r->clock, &r->source.resolution_ns,
			   &r->source.cpu_resolution_ns, &exact, &has_steal, &r->source.wall_ns,
			   &used) != 8 ||
		    r->line[used] || !is_resolution(r->source.resolution_ns) ||
		    !is_resolution(r->source.cpu_resolution_ns))
			return -EPROTO;
		r->source.exact = exact;
		r->source.cpu_has_steal = has_steal;
		if (number == r->selected)
			return 0;
	}
	return more < 0 ? more : -ENODEV;
}

static int read_head(struct recorded *r)
{
	int more = next_line(r);
	unsigned version;

	if (more != 1 || sscanf(r->line, "spoor-steal %u", &version) != 1 ||
	    version != RECORDING_VERSION)
		return more < 0 && more != -EBADMSG ? more : -EPROTO;
	return read_source(r);
}

int steal_source_recorded_file(FILE *in, unsigned n, pid_t pid, struct steal_source **ret)
{
	static const struct steal_source_ops ops = {recorded_sample, recorded_free, recorded_why};
	struct recorded *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r) {
		fclose(in);
		return -ENOMEM;
	}
	r->in = in;
	r->selected = n;
	r->pid = (int32_t)pid;
	r->source.name = r->name;
	r->source.clock = r->clock;
	r->source.ops = &ops;
	err = read_head(r);
	if (err) {
		recorded_free(&r->source);
		return err == -EBADMSG ? -EPROTO : err;
	}
	*ret = &r->source;
	return 0;
}

int steal_source_recorded(const char *path, unsigned n, pid_t pid, struct steal_source **ret)
{
	FILE *in = fopen(path, "re");

	return in ? steal_source_recorded_file(in, n, pid, ret) : -errno;
}
