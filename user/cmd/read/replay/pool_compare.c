#include "cmd/read/replay/pool_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/read/replay/heap_log_facts.h"
#include "heap/replay/object_replay.h"
#include "log/read/names.h"
#include "log/read/reader.h"

static int read_pools(struct log_reader *reader, struct gc_pools *pools)
{
	struct log_names *names = log_names_new();
	const struct event *e;
	int err = names ? 0 : -ENOMEM;

	while (!err && (err = log_reader_next(reader, &e)) == 1) {
		err = log_names_add(names, e);
		if (!err)
			err = gc_pools_add(pools, names, e);
	}
	log_names_free(names);
	return err;
}

/* What the log's events say of pools. 0; 1: parts are missing. */
static int read_events(const char *log, struct gc_pools *pools)
{
	struct log_reader *reader;
	int err = log_reader_open(log, &reader);

	if (!err) {
		err = read_pools(reader, pools);
		log_reader_close(reader);
	}
	return err == -EBADMSG ? 1 : err;
}

int pool_compare_begin(struct pool_compare *c, const char *log, bool thrifty,
		       struct object_replay *r)
{
	struct pool_check_options options = {.thrifty = thrifty};
	struct heap_log_facts facts;
	int err = heap_log_facts_read(log, false, &facts);

	*c = (struct pool_compare){0};
	options.spaces = facts.spaces;
	heap_log_facts_free(&facts);
	c->has_layout = options.spaces.collector != HEAP_OTHER;
	if (!err && c->has_layout)
		err = read_events(log, &c->pools);
	c->missing = err > 0;
	if (err >= 0 && c->has_layout)
		pool_check_begin(&c->check, &options, r);
	return err < 0 ? err : 0;
}

/* Rows of which no pool is lost. */
static int samples_of(const struct gc_pools *pools, struct pool_sample **ret, uint32_t *ret_count)
{
	struct pool_sample *s = calloc(pools->count + 1ul, sizeof(*s));
	uint32_t count = 0;

	if (!s)
		return -ENOMEM;
	for (uint32_t i = 0; i < pools->count; i++)
		if (pools->rows[i].pools == pools->pools_most)
			s[count++] = (struct pool_sample){pools->rows[i].time_ns,
							  gc_pools_used(&pools->rows[i])};
	*ret = s;
	*ret_count = count;
	return 0;
}

int pool_compare_finish(struct pool_compare *c)
{
	struct pool_sample *samples = NULL;
	uint32_t count = 0;
	int err;

	if (!c->has_layout)
		return 0;
	/* Of a JVM that ran for long before, the walk of the heap has reported the archive, too. */
	c->check.options.archive = c->check.options.spaces.collector == HEAP_G1 &&
				   !object_replay_sums(c->check.replay)->found;
	err = samples_of(&c->pools, &samples, &count);
	if (!err)
		err = pool_check_finish(&c->check, samples, count);
	free(samples);
	return err;
}

void pool_compare_free(struct pool_compare *c)
{
	pool_check_free(&c->check);
	gc_pools_free(&c->pools);
}

struct pool_agreement pool_compare_agreement(const struct pool_compare *c)
{
	struct pool_agreement a = {.has_layout = c->has_layout};

	memcpy(a.verdicts, c->check.verdicts, sizeof(a.verdicts));
	return a;
}
