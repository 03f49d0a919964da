#include "report/json/json_out.h"

#include <errno.h>

#include "base/text/print.h"

int json_dump_write(const json_t *o, FILE *out)
{
	int err = print_json_value(out, o, JSON_COMPACT);

	fputc('\n', out);
	return err && !ferror(out) ? -ENOMEM : 0;
}

int json_members_write(json_t *o, FILE *out)
{
	int err = o ? print_json_value(out, o, JSON_COMPACT | JSON_EMBED) : -1;

	json_decref(o);
	return err && !ferror(out) ? -ENOMEM : 0;
}
