#include "report/chrome/chrome_internal.h"

static void name_track(struct chrome *c, struct chrome_thread *t)
{
	char label[LABEL_MAX];

	if (t->named)
		return;
	t->named = true;
	c->facts.threads++;
	chrome_track(&c->out, t->track, chrome_thread_label(c, t->thread, label), t->sort);
}

static int on_begin(void *context, const struct track_slice *s)
{
	struct chrome *c = context;
	struct chrome_thread *t;
	int err = chrome_thread(c, s->thread, &t);

	if (err || t->hidden)
		return err;
	name_track(c, t);
	chrome_event(&c->out, 'B', t->track, s->shown_begin_ns);
	chrome_slice_begin(c, s);
	chrome_done(&c->out);
	return chrome_flow_begin(c, s);
}

static int on_end(void *context, const struct track_slice *s)
{
	struct chrome *c = context;
	struct chrome_thread *t;
	int err = chrome_thread(c, s->thread, &t);

	if (!err && !t->hidden)
		err = chrome_flow_end(c, s);
	if (err || t->hidden)
		return err;
	err = chrome_thread(c, s->thread, &t);
	if (err)
		return err;
	chrome_event(&c->out, 'E', t->track, s->shown_end_ns);
	chrome_slice_end(c, s);
	chrome_done(&c->out);
	return 0;
}

struct track_sink chrome_thread_sink(struct chrome *c)
{
	return (struct track_sink){.context = c, .begin = on_begin, .end = on_end};
}

int chrome_tracks_add(struct chrome *c, const struct event *e)
{
	return tracks_add(c->tracks, e);
}
