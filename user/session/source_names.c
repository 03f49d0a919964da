#include "session/source_names.h"

#include <errno.h>

#include "base/text/msg.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "session/log_source.h"
#include "session/max_memory.h"

int source_names_read(struct log_source *source, struct log_names **ret)
{
	struct log_names *names;
	struct log_reader *r = NULL;
	const struct event *e;
	int err = log_source_open_again(source, &r);

	if (err)
		return err;
	log_reader_definitions(r);
	names = log_names_new();
	err = names ? 0 : -ENOMEM;
	while (!err && (err = log_reader_next(r, &e)) == 1)
		err = log_names_add(names, e);
	log_reader_close(r);
	if (err && err != -EBADMSG) {
		msg_error("%s: cannot read its names: %s", source->name, max_memory_error(err));
		log_names_free(names);
		return err;
	}
	*ret = names;
	return 0;
}
