#include "heap/image/hprof_parser.h"

#include <errno.h>
#include <stdio.h>

int hprof_damage(struct hprof_parser *p, const char *what)
{
	if (!*p->result->what) {
		p->result->offset = dump_offset(p->in);
		snprintf(p->result->what, sizeof(p->result->what), "%s", what);
	}
	return -EBADMSG;
}

const uint8_t *hprof_need(struct hprof_parser *p, size_t count, int *err)
{
	const uint8_t *bytes = NULL;

	if (count <= p->left)
		bytes = dump_need(p->in, count);
	if (bytes)
		return bytes;
	*err = dump_error(p->in);
	if (count > p->left && !*err)
		*err = hprof_damage(p, "a record is shorter than what is in it");
	else if (*err == -ENODATA)
		*err = hprof_damage(p, "the file ends in the middle of a record");
	else if (*err == -EBADMSG)
		*err = hprof_damage(p, "the compressed bytes are damaged, or end too early");
	return NULL;
}

int hprof_skip(struct hprof_parser *p, uint64_t count)
{
	int err = 0;

	if (count > p->left)
		return hprof_damage(p, "a record is shorter than what is in it");
	p->left -= count;
	if (!dump_skip(p->in, count))
		return 0;
	p->left = UINT64_MAX;
	hprof_need(p, 1, &err);
	return err;
}

uint64_t hprof_id(const struct hprof_parser *p, const uint8_t *bytes)
{
	return p->id_bytes == 8 ? dump_u8(bytes) : dump_u4(bytes);
}
