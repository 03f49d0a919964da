#include <errno.h>
#include <string.h>

#include "report/csv/findings_csv.h"
#include "report/model/sections/by_section.h"

struct paths {
	const struct by_section *by;
	struct findings *row; /* for one group after the other: there may be a million */
	FILE *out;
	const struct group *path[ASPECT_COUNT];
};

/* level groups of the path are there. */
static int paths_write(struct paths *p, const struct group *parent, unsigned level)
{
	int err = 0;

	if (level == p->by->depth) {
		findings_clear(p->row);
		by_section_path(p->by, p->path, p->row);
		return findings_to_csv(p->row, false, p->out);
	}
	for (uint32_t i = 0; i < parent->group_count && !err && !ferror(p->out); i++) {
		p->path[level] = &parent->groups[i];
		err = paths_write(p, p->path[level], level + 1);
	}
	return err;
}

static int contention_csv(const struct report_input *in, const enum aspect_id *by, unsigned depth,
			  FILE *out)
{
	struct by_section b;
	struct paths p = {.by = &b, .out = out};
	int err = depth ? by_section_open(in, by, depth, &b)
			: by_section_open(in, by_default, BY_DEFAULT_DEPTH, &b);

	if (err)
		return err;
	p.row = by_section_paths(&b);
	err = findings_to_csv(p.row, true, out);
	if (!err)
		err = paths_write(&p, &b.root, 0);
	findings_free(p.row);
	by_section_close(&b);
	return err;
}

int report_csv(const struct report_input *in, const char *name, const enum aspect_id *by,
	       unsigned depth, FILE *out)
{
	section_make *make = section_by_name(name);
	struct section_input section;
	struct findings *f;
	int err;

	if (!strcmp(name, SECTION_CONTENTION))
		return contention_csv(in, by, depth, out);
	err = make ? section_open(in, &section) : -ENOENT;
	if (err)
		return err;
	f = make(&section);
	err = findings_to_csv(f, true, out);
	findings_free(f);
	section_close(&section);
	return err;
}
