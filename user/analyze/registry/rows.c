#include "analyze/registry/rows.h"

#include "log/read/names.h"

/* The engine has made the names, for all analyses; the room of the names knows no analysis. */
static void *names_row_new(struct log_names *names)
{
	return names;
}

static int names_row_add(void *self, const struct analysis_input *in)
{
	return log_names_add(self, in->event);
}

static void names_row_free(void *self)
{
	(void)self;
}

static const struct analysis_row names_analysis = {
	.events = ROW_EVENTS(EVENT_THREAD, EVENT_CLASS, EVENT_LOCK, EVENT_STRING, EVENT_METHOD,
			     EVENT_STACK),
	.new = names_row_new,
	.add = names_row_add,
	.free = names_row_free,
};

#define ANALYSIS(id, name) extern const struct analysis_row name##_analysis;
#define OTHER(id, name) ANALYSIS(id, name)
#include "analyze/registry/rows.def"

const struct analysis_row *const analysis_rows[ANALYSIS_ID_COUNT] = {
#define ANALYSIS(id, name) [ANALYSIS_##id] = &name##_analysis,
#define OTHER(id, name) ANALYSIS(id, name)
#include "analyze/registry/rows.def"
};
