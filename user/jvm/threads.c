#include "jvm/jvm.h"
#include "jvm/jvm_state.h"
#include "jvm/oop.h"
#include "jvm/target/mem_ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The VM publishes its Java threads as an immutable array, ThreadsList, that is replaced when a
 * thread comes or goes (JDK 10, Thread-SMR). A reader inside announces which list it uses; spoor,
 * outside, cannot: the list or a thread may be freed while it is read. So the list is read until
 * its address is the same before and after, each thread is believed only if what leads to its
 * object is the same before and after, and a thread that is not in the list any more at the end is
 * left out. Objects move under a collector: the handle is read again afterwards, and the name must
 * be of class String both times.
 *
 * A list may be forged: what its reading costs is bounded by what the process really has. A list is
 * not longer than twice the threads that the kernel counts, and some; and what changes while it is
 * read is read again NAME_TRIES times in each thread, but RETRIES_MAX times in all.
 */

/*
 * vmStructs of JDK 11 has no ThreadsList, only the chain of JavaThreads, newest first: it is
 * followed twice, and has to be the same chain both times.
 */

#define THREADS_SLACK 256 /* threads that come while the list is read */
#define LIST_TRIES 64
#define NAME_TRIES 16
#define RETRIES_MAX 4096
#define JAVA_THREAD_MAX 16384

static int chain_once(const struct jvm *j, size_t max, uint64_t **ret, size_t *ret_count)
{
	uint32_t next = (uint32_t)j->layout.java_thread_next;
	uint64_t *threads = malloc((max + 1) * sizeof(*threads)), thread;
	size_t count = 0, again = 0;
	int err = threads ? mem_u64(&j->mem, j->layout.java_thread_list, &thread) : -ENOMEM;

	while (!err && thread && count < max) {
		threads[count++] = thread;
		err = mem_u64(&j->mem, thread + next, &thread);
	}
	if (!err && (thread || !count))
		err = -EAGAIN;
	if (!err)
		err = mem_u64(&j->mem, j->layout.java_thread_list, &thread);
	while (!err && again < count && thread == threads[again]) {
		again++;
		err = mem_u64(&j->mem, thread + next, &thread);
	}
	if (!err && (thread || again < count))
		err = -EAGAIN;
	if (err) {
		free(threads);
		return err;
	}
	*ret = threads;
	*ret_count = count;
	return 0;
}

static int list_once(const struct jvm *j, size_t max, uint64_t **ret, size_t *ret_count)
{
	const struct jvm_layout *l = &j->layout;
	uint64_t list, array, again, *threads;
	uint32_t length;
	int err = mem_u64(&j->mem, l->java_thread_list, &list);

	if (!err && !list)
		err = -EAGAIN;
	if (!err)
		err = mem_u32(&j->mem, list + l->threads_list_length, &length);
	if (!err)
		err = mem_u64(&j->mem, list + l->threads_list_threads, &array);
	if (!err && (length > max || !array))
		err = -EAGAIN;
	if (err)
		return err;
	threads = malloc((length + 1) * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	err = length ? jvm_read(j, array, threads, length * sizeof(*threads)) : 0;
	if (!err)
		err = mem_u64(&j->mem, l->java_thread_list, &again);
	if (!err && again != list)
		err = -EAGAIN;
	if (err) {
		free(threads);
		return err;
	}
	*ret = threads;
	*ret_count = length;
	return 0;
}

static int list_read(const struct jvm *j, size_t max, uint64_t **ret, size_t *ret_count)
{
	int err = -EAGAIN;

	for (int i = 0; i < LIST_TRIES && (err == -EAGAIN || err == -EFAULT); i++)
		err = j->layout.java_thread_next < 0 ? list_once(j, max, ret, ret_count)
						     : chain_once(j, max, ret, ret_count);
	return err;
}

static int addr_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct reader {
	const struct jvm *j;
	unsigned retries; /* that are left */
	uint32_t size;    /* of a JavaThread, or as much of it as is needed */
	uint64_t string_klass;
	struct mem_ahead ahead; /* of one attempt to read what objects say */
};

static uint64_t word(const char *bytes, uint32_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static int daemon_read(const struct reader *r, uint64_t oop, bool *ret)
{
	const struct jvm *j = r->j;
	const struct jvm_layout *l = &j->layout;
	const struct mem *m = &r->ahead.mem;
	int32_t at = l->thread_daemon;
	uint8_t byte;
	int err = 0;

	if (at < 0 && l->thread_holder >= 0 && j->source.holder_daemon >= 0) {
		at = j->source.holder_daemon;
		err = oop_field(m, l, oop + (uint32_t)l->thread_holder, &oop);
	}
	if (at < 0 || err || !oop)
		return err;
	err = m->read(m, oop + (uint32_t)at, &byte, 1);
	if (!err)
		*ret = byte == 1;
	return err;
}

/* Where there is none it stays 0. */
static int status_read(const struct reader *r, uint64_t oop, uint32_t *ret)
{
	const struct jvm_layout *l = &r->j->layout;
	const struct mem *m = &r->ahead.mem;
	int32_t at = l->thread_status;
	int err = 0;

	if (at < 0 && l->thread_holder >= 0 && l->holder_status >= 0) {
		at = l->holder_status;
		err = oop_field(m, l, oop + (uint32_t)l->thread_holder, &oop);
	}
	if (at < 0 || err || !oop)
		return err;
	return mem_u32(m, oop + (uint32_t)at, ret);
}

/* The Java side of a thread, through its handle. */
static int java_side_once(struct reader *r, uint64_t handle, struct jvm_thread *ret)
{
	const struct jvm_layout *l = &r->j->layout;
	const struct mem *m = &r->j->mem, *ahead = &r->ahead.mem;
	struct jvm_thread t = *ret;
	uint64_t oop, name, again, eetop;
	int err = oop_handle(m, l, handle, &oop);

	mem_ahead_forget(&r->ahead);
	if (!err && !oop)
		return -ENOENT;
	if (!err)
		err = mem_u64(ahead, oop + (uint32_t)l->thread_tid, &t.java_id);
	if (!err)
		err = daemon_read(r, oop, &t.daemon);
	if (!err)
		err = status_read(r, oop, &t.status);
	if (!err)
		err = oop_field(ahead, l, oop + (uint32_t)l->thread_name, &name);
	if (!err && !name)
		err = -EPROTO;
	if (!err)
		err = oop_string(ahead, l, r->string_klass, name, t.name, sizeof(t.name));
	if (!err)
		err = oop_handle(m, l, handle, &again);
	if (!err && again != oop)
		err = -EPROTO;
	/* A concurrent collector may have moved it long ago. */
	if (!err && l->colored_oops && l->thread_eetop >= 0 &&
	    (mem_u64(m, oop + (uint32_t)l->thread_eetop, &eetop) || eetop != t.java_thread))
		err = -EPROTO;
	if (!err)
		*ret = t;
	return err;
}

static int thread_read(struct reader *r, uint64_t addr, struct jvm_thread *ret)
{
	const struct jvm_layout *l = &r->j->layout;
	struct jvm_thread t = {.java_thread = addr};
	char bytes[JAVA_THREAD_MAX];
	uint64_t osthread, handle;
	uint32_t state;
	int err = jvm_read(r->j, addr, bytes, r->size);

	if (err)
		return err;
	osthread = word(bytes, l->java_thread_osthread);
	handle = word(bytes, l->java_thread_thread_obj);
	if (l->raw_oops && handle)
		handle = addr + l->java_thread_thread_obj;
	t.stack_base = word(bytes, l->java_thread_stack_base);
	t.stack_size = word(bytes, l->java_thread_stack_size);
	if (!osthread)
		return -ENOENT;
	if (l->java_thread_state >= 0) {
		memcpy(&state, bytes + l->java_thread_state, sizeof(state));
		t.in_native = state == l->thread_in_native;
	}
	err = mem_u32(&r->j->mem, osthread + l->osthread_thread_id, &t.ns_tid);
	if (!err && !t.ns_tid)
		err = -ENOENT;
	for (int i = 0; !err && l->ready && handle && i < NAME_TRIES; i++) {
		if (!java_side_once(r, handle, &t) || !r->retries)
			break;
		r->retries--;
	}
	*ret = t;
	return err;
}

static int reader_open(const struct jvm *j, struct reader *ret)
{
	const struct jvm_layout *l = &j->layout;
	const uint32_t ends[] = {l->java_thread_osthread, l->java_thread_thread_obj,
				 l->java_thread_stack_base, l->java_thread_stack_size,
				 l->java_thread_state < 0 ? 0 : (uint32_t)l->java_thread_state};

	*ret = (struct reader){.j = j, .retries = RETRIES_MAX};
	mem_ahead_open(&ret->ahead, &j->mem);
	if (!j->vms)
		return -EAGAIN;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends[i] + 8 > ret->size)
			ret->size = ends[i] + 8;
	if (ret->size > JAVA_THREAD_MAX)
		return -ENOTSUP;
	if (!l->ready)
		return 0;
	return mem_u64(&j->mem, j->source.shape.string, &ret->string_klass);
}

int jvm_threads(const struct jvm *j, struct jvm_thread **ret, size_t *ret_count)
{
	uint64_t *before = NULL, *after = NULL;
	struct jvm_thread *threads = NULL;
	size_t count, after_count, max = 0, n = 0;
	struct process_stat stat;
	struct reader r;
	int err = reader_open(j, &r);

	if (!err)
		err = process_stat(j->pid, &stat);
	if (!err) {
		max = 2ul * stat.threads + THREADS_SLACK;
		err = list_read(j, max, &before, &count);
	}
	if (err)
		goto out;
	threads = calloc(count + 1, sizeof(*threads));
	if (!threads)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		int failed = thread_read(&r, before[i], &threads[n]);

		if (failed == -ESRCH)
			err = failed;
		n += !failed;
	}
	if (!err)
		err = list_read(j, max, &after, &after_count);
	if (err)
		goto out;
	qsort(after, after_count, sizeof(*after), addr_order);
	count = n;
	n = 0;
	for (size_t i = 0; i < count; i++)
		if (bsearch(&threads[i].java_thread, after, after_count, sizeof(*after),
			    addr_order))
			threads[n++] = threads[i];
	*ret = threads;
	*ret_count = n;
	threads = NULL;
out:
	free(before);
	free(after);
	free(threads);
	return err;
}
