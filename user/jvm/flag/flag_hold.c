#include "jvm/flag/flag_hold.h"

#include "jvm/jvm_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct flag_hold {
	struct flag_guard *guard;
	/* Its open file is the guardian's too: should that be killed, its work is done here. */
	struct flag_byte byte;
	enum flag_kind kind;
};

/* /proc/PID/mem for writing; certainly that of the JVM that j has open. */
static int memory_open_rw(const struct jvm *j, int *ret)
{
	struct process_lib again;
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)j->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (process_lib(j->pid, "libjvm.so", &again) || again.start != j->lib.start ||
	    again.inode != j->lib.inode || !jvm_alive(j))
		err = -ESRCH;
	if (err)
		close(fd);
	else
		*ret = fd;
	return err;
}

/* As it can be looked at; refuses what is no bool. */
static int byte_find(const struct jvm *j, const char *name, struct flag_byte *ret)
{
	const struct flag *f = flag_find(&j->flags, name);
	bool on;
	int err = jvm_flag_read(j, name, &on);

	if (!err)
		*ret = (struct flag_byte){.mem = j->mem.fd, .addr = f->addr, .origin = f->origin};
	return err;
}

/* ret->mem is the caller's to close. */
static int byte_open(const struct jvm *j, const char *name, struct flag_byte *ret)
{
	struct flag_byte b;
	int err = byte_find(j, name, &b);

	if (!err)
		err = memory_open_rw(j, &b.mem);
	if (!err)
		*ret = b;
	return err;
}

int flag_hold_possible(const struct jvm *j, const char *name)
{
	struct flag_byte b;
	int err = byte_open(j, name, &b);

	if (!err)
		close(b.mem);
	return err;
}

int flag_hold_state(const struct jvm *j, const char *name, enum flag_state *ret)
{
	struct flag_byte b;
	int err = byte_find(j, name, &b);

	return err ? err : flag_byte_look(&b, ret);
}

int flag_hold(const struct jvm *j, const char *name, struct flag_guard *g, struct flag_hold **ret,
	      enum flag_kind *ret_found)
{
	struct flag_hold *h = malloc(sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	*h = (struct flag_hold){.guard = g, .byte = {.mem = -1}};
	err = byte_open(j, name, &h->byte);
	if (!err)
		err = flag_guard_give(g, &h->byte, jvm_pidfd(j), &h->kind);
	if (err) {
		if (h->byte.mem >= 0)
			close(h->byte.mem);
		free(h);
		return err;
	}
	*ret = h;
	*ret_found = h->kind;
	return 0;
}

/* The guardian is no more. What it may have learned meanwhile, the byte still says. */
static int give_back_alone(const struct flag_hold *h)
{
	int err;

	if (h->kind != FLAG_WAS_ON)
		return flag_byte_give_back(&h->byte, h->kind);
	err = flag_byte_repair(&h->byte);
	return err == -ENODATA || err == -EBUSY || err == -ESRCH ? 0 : err;
}

int flag_hold_release(struct flag_hold *h, struct flag_hold_end *ret)
{
	struct flag_guard_end end = {0};
	struct flag_hold_end shown = {0};
	enum flag_state now = FLAG_OFF;
	enum flag_kind kind;
	int err = 0;

	if (!h)
		goto out;
	err = flag_guard_return(h->guard, &end);
	/* The guardian may have learned that what was on was not the user's. */
	kind = err == -ECHILD ? h->kind : end.kind;
	if (err == -ECHILD)
		err = give_back_alone(h);
	if (!err && kind != FLAG_WAS_ON)
		flag_byte_look(&h->byte, &now);
	if (now == FLAG_LEFT)
		err = -EBUSY;
	shown = (struct flag_hold_end){.found_off = end.found_off, .others = now == FLAG_HELD};
	close(h->byte.mem);
	free(h);
out:
	if (ret)
		*ret = shown;
	return err;
}

int flag_hold_repair(const struct jvm *j, const char *name)
{
	struct flag_byte b;
	int err = byte_open(j, name, &b);

	if (err)
		return err;
	err = flag_byte_repair(&b);
	close(b.mem);
	return err;
}
