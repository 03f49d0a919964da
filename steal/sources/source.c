#include "steal/sources/source.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text/units.h"
#include "steal/sources/sink.h"

int steal_source_sample(struct steal_source *s, const struct steal_sample **ret)
{
	return s->ops->sample(s, ret);
}

void steal_source_free(struct steal_source *s)
{
	if (s)
		s->ops->free(s);
}

const char *steal_source_why(const struct steal_source *s)
{
	return s->ops->why ? s->ops->why(s) : "";
}

struct fed {
	struct steal_source source; /* the first member: a source is cast to its owner */
	struct steal_feed feed;
	struct steal_sink sink;
};

static int fed_sample(struct steal_source *s, const struct steal_sample **ret)
{
	struct fed *f = (struct fed *)s;
	int more, err;

	steal_sink_begin(&f->sink);
	more = f->feed.collect(f->feed.ctx, &f->sink);
	if (more <= 0)
		return more;
	err = steal_sink_end(&f->sink, ret);
	return err ? err : 1;
}

static void fed_free(struct steal_source *s)
{
	struct fed *f = (struct fed *)s;

	if (f->feed.free)
		f->feed.free(f->feed.ctx);
	steal_sink_free(&f->sink);
	free(f);
}

int steal_source_sched(const struct steal_source *what, const struct steal_feed *feed,
		       struct steal_source **ret)
{
	static const struct steal_source_ops ops = {.sample = fed_sample, .free = fed_free};
	struct fed *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->source = *what;
	f->source.ops = &ops;
	f->source.wall_ns = clock_wall_ns() - clock_mono_ns();
	f->feed = *feed;
	*ret = &f->source;
	return 0;
}
