#include "analyze/threads/pool.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"

/* --- groups ------------------------------------------------------------------------------ */

#define COMM_BYTES 15 /* of a name the kernel keeps no more */

const char *thread_group_name(enum thread_group group)
{
	static const char *const names[] = {"java", "gc", "compiler", "vm", "native"};

	_Static_assert(sizeof(names) / sizeof(*names) == THREAD_GROUP_COUNT, "a name for each");
	return names[group];
}

/* As JDK 17 calls them. Those that run Java code of others (Finalizer, Reference Handler, cleaners)
 * are Java threads like any. */
static const struct {
	const char *name;
	enum thread_group group;
	bool prefix;
	bool java; /* it may have a Thread object */
} vm_threads[] = {
	{"C1 CompilerThre", THREAD_GROUP_COMPILER, true, true},
	{"C2 CompilerThre", THREAD_GROUP_COMPILER, true, true},
	{"JVMCI CompilerT", THREAD_GROUP_COMPILER, true, true},
	{"GC Thread#", THREAD_GROUP_GC, true, false},
	{"ParGC Thread#", THREAD_GROUP_GC, true, false},
	{"G1 ", THREAD_GROUP_GC, true, false},
	{"ZDirector", THREAD_GROUP_GC, false, false},
	{"ZDriver", THREAD_GROUP_GC, true, false},
	{"ZStat", THREAD_GROUP_GC, false, false},
	{"ZUncommitter", THREAD_GROUP_GC, true, false},
	{"ZUnmapper", THREAD_GROUP_GC, true, false},
	{"ZWorker#", THREAD_GROUP_GC, true, false},
	{"Shenandoah ", THREAD_GROUP_GC, true, false},
	{"StrDedup", THREAD_GROUP_GC, false, false},
	{"VM Thread", THREAD_GROUP_VM, false, false},
	{"VM Periodic Task Thread", THREAD_GROUP_VM, false, false},
	{"JFR Thread Sampler", THREAD_GROUP_VM, false, false},
	{"Service Thread", THREAD_GROUP_VM, false, true},
	{"Monitor Deflation Thread", THREAD_GROUP_VM, false, true},
	{"Notification Thread", THREAD_GROUP_VM, false, true},
	{"Signal Dispatcher", THREAD_GROUP_VM, false, true},
	{"Sweeper thread", THREAD_GROUP_VM, false, true},
	{"Attach Listener", THREAD_GROUP_VM, false, true},
	{"DestroyJavaVM", THREAD_GROUP_VM, false, true},
};

static bool is_named(const char *name, const char *known, bool prefix)
{
	if (prefix)
		return !strncmp(name, known, strlen(known));
	return !strcmp(name, known) ||
	       (strlen(name) == COMM_BYTES && !strncmp(name, known, COMM_BYTES));
}

enum thread_group thread_group_of(const char *name, bool java)
{
	for (size_t i = 0; i < sizeof(vm_threads) / sizeof(*vm_threads); i++) {
		if ((vm_threads[i].java || !java) &&
		    is_named(name, vm_threads[i].name, vm_threads[i].prefix))
			return vm_threads[i].group;
	}
	return java ? THREAD_GROUP_JAVA : THREAD_GROUP_NATIVE;
}

/* --- pools ------------------------------------------------------------------------------- */

#define NUMBERS_MAX 8 /* of a name; those before the last eight do not count */

/* What a thread's pool might be called. */
struct guess {
	char *pattern;
	enum thread_group group;
	uint32_t thread;
	uint32_t rank;  /* 0: its own name; else which number is left open, from the last one on */
	uint32_t count; /* guesses that are the same */
};

struct span {
	size_t begin, end;
};

/* The numbers of a name that may distinguish the threads of a pool, the last one first. */
static unsigned find_numbers(const char *name, struct span ret[NUMBERS_MAX])
{
	size_t end = strlen(name), length = end;
	unsigned count = 0;

	while (end && count < NUMBERS_MAX) {
		size_t begin = end;

		while (begin && isdigit((unsigned char)name[begin - 1]))
			begin--;
		if (begin == end) {
			end--;
			continue;
		}
		/* "CompilerThread0", "pool-1-thread-2"; but not "G1 Conc", "log4j". */
		if (end == length || (!isalnum((unsigned char)name[end]) &&
				      (!begin || !isalnum((unsigned char)name[begin - 1]))))
			ret[count++] = (struct span){begin, end};
		end = begin;
	}
	return count;
}

/* The name with a star for each of these numbers, the last one first. NULL: no memory. */
static char *leave_open(const char *name, const struct span *numbers, unsigned count)
{
	char *pattern = malloc(strlen(name) + count + 1), *to = pattern;
	size_t from = 0;

	if (!pattern)
		return NULL;
	while (count--) {
		memcpy(to, name + from, numbers[count].begin - from);
		to += numbers[count].begin - from;
		*to++ = '*';
		from = numbers[count].end;
	}
	strcpy(to, name + from);
	return pattern;
}

static int compare_guesses(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;
	int names;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	names = strcmp(x->pattern, y->pattern);
	return names ? names : (x->thread > y->thread) - (x->thread < y->thread);
}

static bool is_alike(const struct guess *x, const struct guess *y)
{
	return x->group == y->group && !strcmp(x->pattern, y->pattern);
}

static void count_alike(struct guess *guesses, uint32_t count)
{
	uint32_t end;

	if (!count)
		return;
	qsort(guesses, count, sizeof(*guesses), compare_guesses);
	for (uint32_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && is_alike(&guesses[i], &guesses[end]);)
			end++;
		for (uint32_t k = i; k < end; k++)
			guesses[k].count = end - i;
	}
}

struct guesses {
	struct guess *all;
	uint32_t count, capacity;
};

static void guesses_free(struct guesses *g)
{
	for (uint32_t i = 0; i < g->count; i++)
		free(g->all[i].pattern);
	free(g->all);
}

static int guess_add(struct guesses *g, const struct pool_thread *t, uint32_t thread,
		     const struct span *numbers, unsigned count, uint32_t rank)
{
	int err = array_grow(&g->all, &g->capacity, g->count, sizeof(*g->all));
	char *pattern = err ? NULL : leave_open(t->name, numbers, count);

	if (!pattern)
		return -ENOMEM;
	g->all[g->count++] = (struct guess){pattern, t->group, thread, rank, 0};
	return 0;
}

/* Every thread's own name, and that with each one of its numbers left open. */
static int guess_all(const struct pool_thread *threads, uint32_t count, struct guesses *ret)
{
	struct span numbers[NUMBERS_MAX];
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		unsigned n = find_numbers(threads[i].name, numbers);

		err = guess_add(ret, &threads[i], i, NULL, 0, 0);
		for (unsigned k = 0; k < n && !err; k++)
			err = guess_add(ret, &threads[i], i, &numbers[k], 1, k + 1);
	}
	if (!err)
		count_alike(ret->all, ret->count);
	return err;
}

/* Of a thread's guesses, the one that is shared most. best is by thread. */
static void choose(const struct guesses *g, const struct guess **best)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct guess *new = &g->all[i], *old = best[new->thread];

		if (!old || new->count > old->count ||
		    (new->count == old->count &&new->rank < old->rank))
			best[new->thread] = new;
	}
}

/* The others may have chosen differently: who is alone now tries with all its numbers left open
 * (all), or keeps its own name. The patterns belong to ret. */
static int choose_again(const struct pool_thread *threads, const struct guess *from, uint32_t count,
			bool all, struct guesses *ret)
{
	struct span numbers[NUMBERS_MAX];
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		uint32_t thread = from[i].thread;
		struct pool_thread t = {from[i].pattern, from[i].group};
		unsigned n = 0;

		if (from[i].count == 1) {
			t.name = threads[thread].name;
			n = all ? find_numbers(t.name, numbers) : 0;
		}
		err = guess_add(ret, &t, thread, numbers, n, 0);
	}
	if (!err)
		count_alike(ret->all, ret->count);
	return err;
}

/* guesses: one per thread, in order. */
static int make(const struct guesses *g, struct pools *ret)
{
	uint32_t capacity = 0;

	ret->of = calloc(g->count + 1, sizeof(*ret->of));
	if (!ret->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->count; i += g->all[i].count) {
		struct pool pool = {NULL, g->all[i].group, g->all[i].count};

		if (array_grow(&ret->pools, &capacity, ret->count, sizeof(*ret->pools)))
			return -ENOMEM;
		pool.name = strdup(g->all[i].pattern);
		if (!pool.name)
			return -ENOMEM;
		for (uint32_t k = 0; k < pool.threads; k++)
			ret->of[g->all[i + k].thread] = ret->count;
		ret->pools[ret->count++] = pool;
	}
	return 0;
}

int pools_make(const struct pool_thread *threads, uint32_t count, struct pools *ret)
{
	struct guesses guesses = {0}, first = {0}, second = {0}, last = {0};
	const struct guess **best = calloc(count + 1, sizeof(*best));
	struct pools pools = {0};
	int err = best ? guess_all(threads, count, &guesses) : -ENOMEM;

	if (!err) {
		choose(&guesses, best);
		for (uint32_t i = 0; i < count && !err; i++) {
			struct pool_thread t = {best[i]->pattern, best[i]->group};

			err = guess_add(&first, &t, i, NULL, 0, best[i]->rank);
		}
	}
	if (!err) {
		count_alike(first.all, first.count);
		err = choose_again(threads, first.all, count, true, &second);
	}
	if (!err)
		err = choose_again(threads, second.all, count, false, &last);
	if (!err)
		err = make(&last, &pools);
	free(best);
	guesses_free(&guesses);
	guesses_free(&first);
	guesses_free(&second);
	guesses_free(&last);
	if (err)
		pools_free(&pools);
	else
		*ret = pools;
	return err;
}

void pools_free(struct pools *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		free(p->pools[i].name);
	free(p->pools);
	free(p->of);
	*p = (struct pools){0};
}
