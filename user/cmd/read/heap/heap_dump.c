#include "cmd/read/heap/heap_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "cmd/read/replay/heap_log.h"
#include "cmd/read/replay/heap_log_facts.h"
#include "heap/replay/object_replay.h"
#include "heap/snapshot/graph_state.h"
#include "heap/snapshot/replay_state.h"
#include "session/owner.h"

static ssize_t read_file(void *ctx, void *to, size_t room)
{
	const int *fd = ctx;
	ssize_t n = read(*fd, to, room);

	return n < 0 ? -errno : n;
}

static void say_damage(const struct heap_dump *d)
{
	msg_warning("%s is damaged at byte %" PRIu64 ": %s. What is before that byte is reported. "
		    "Had the JVM's disk room for all of the dump, and was the dump finished? Take "
		    "another one: jcmd PID GC.heap_dump FILE",
		    d->name, d->result.offset, d->result.what);
}

const char *heap_dump_error(int err)
{
	if (err == -EOVERFLOW)
		return "more objects or references than spoor can number (2^32); --by type needs "
		       "no numbers";
	if (err == -ENOMEM)
		return "out of memory; --max-memory allows more, and --by type, package, loader, "
		       "kind, size and length need little";
	return strerror(-err);
}

static int say_error(const struct heap_dump *d, int err)
{
	switch (err) {
	case -EPROTO:
		msg_error("%s is no heap dump: %s. jcmd PID GC.heap_dump FILE makes one", d->name,
			  d->result.what);
		break;
	case -ENOTSUP:
		msg_error("%s: %s", d->name, d->result.what);
		break;
	case -EBADMSG:
		msg_error("%s is damaged at byte %" PRIu64 ", before its first object: %s. Take "
			  "another dump: jcmd PID GC.heap_dump FILE",
			  d->name, d->result.offset, d->result.what);
		break;
	case -EOVERFLOW:
	case -ENOMEM:
		msg_error("%s: %s", d->name, heap_dump_error(err));
		break;
	default:
		msg_error("cannot read %s: %s", d->name, strerror(-err));
	}
	return err;
}

int heap_dump_open(const char *name, bool objects, bool force, struct heap_dump *ret)
{
	bool is_stdin = !strcmp(name, "-");
	int fd = STDIN_FILENO, err;

	if (!is_stdin && !force && owner_check(name))
		return -EPERM;
	if (!is_stdin)
		fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		msg_error("cannot open %s: %s", name, strerror(errno));
		return err;
	}
	*ret = (struct heap_dump){.name = name};
	err = hprof_read(read_file, &fd, objects, &ret->state, &ret->result);
	if (!is_stdin)
		close(fd);
	if (err) {
		say_error(ret, err);
		heap_dump_close(ret);
		return err;
	}
	if (!*ret->result.what)
		return 0;
	say_damage(ret);
	return 1;
}

bool heap_dump_is_log(const char *name)
{
	static const char magic[8] = {'\x89', 'S', 'P', 'O', 'O', 'R', '\r', '\n'};
	char bytes[sizeof(magic)];
	int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool is = fd >= 0 && pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
		  !memcmp(bytes, magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

static int state_of_log(const char *log, const struct heap_dump_log *o, const struct heap_log *l,
			struct heap_state *ret)
{
	struct heap_log_facts facts;
	int err = heap_log_facts_read(log, o->threads, &facts);
	const struct replay_state_options options = {.objects = o->objects,
						     .spaces = facts.spaces,
						     .thread_name = heap_log_thread,
						     .ctx = &facts};

	if (!err)
		err = l->graph ? graph_state_make(l->replay, &options, ret)
			       : replay_state_make(l->replay, &options, ret);
	heap_log_facts_free(&facts);
	return err;
}

int heap_dump_open_log(const char *log, const struct heap_dump_log *o, struct heap_dump *ret)
{
	const struct heap_log_options options = {.at = o->at,
						 .threads = o->threads,
						 .graph = o->graph,
						 .graph_if_any = o->graph_if_any,
						 .jobs = o->jobs,
						 .class_path = o->class_path};
	struct heap_log l;
	int damaged, err;

	*ret = (struct heap_dump){.name = log, .is_log = true};
	if (!o->force && owner_check(log))
		return -EPERM;
	damaged = heap_log_open(log, &options, &l);
	if (damaged < 0)
		return damaged;
	if (damaged)
		msg_warning("%s: parts of it are missing; what could be read is reported", log);
	heap_log_say_incomplete(log, &l);
	err = state_of_log(log, o, &l, &ret->state);
	if (l.stop.has_collection) {
		uint32_t count;

		ret->state.at_gc = true;
		ret->state.before_gc = l.stop.before;
		ret->state.at_ns = l.stop.at_ns;
		ret->state.early_ns = l.stop.early_ns;
		ret->state.gc = object_replay_collections(l.replay, &count)[l.stop.collection].id;
	}
	ret->agreement = l.agreement;
	ret->callers = l.callers;
	l.callers = NULL;
	heap_log_close(&l);
	if (err) {
		msg_error("%s: %s", log,
			  err == -EBADMSG ? "its pointers make no sense" : heap_dump_error(err));
		heap_dump_close(ret);
	}
	return err ? err : damaged;
}

void heap_dump_close(struct heap_dump *d)
{
	heap_state_free(&d->state);
	free(d->callers);
	d->callers = NULL;
}

struct heap_source heap_dump_source(const struct heap_dump *d)
{
	return (struct heap_source){d->name, &d->state, &d->result,
				    d->is_log ? &d->agreement : NULL, d->callers};
}

bool heap_dump_differs(const struct heap_dump *d)
{
	return d->is_log && d->agreement.verdicts[POOL_DIFFERS];
}
