#include "jvm/layout/code_vtables.h"

#include "base/arch/arch.h"
#include "jvm/layout/code_blocks.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Vtables are not exported. That of nmethod is the first word of the first blob of that name (from
 * JDK 25 on blobs have a kind in its place, and the heap's vtable is the one to search around).
 * Methods have up to two: those in the archive of shared classes point to a copy that lies in the
 * archive and has, of JDK 13 or later, the same words as libjvm's (CppVtableCloner). A few
 * well-known classes show one or both. If they show one, the other is looked for in libjvm, around
 * the vtables of code blobs: it is the run of words, ended by a zero (the next vtable's head), that
 * the known one begins with. Measured on 17.0.15: subclasses of Method begin with its 14 words too,
 * but have a 15th. If that finds nothing, Methods of nmethods are looked at until one has another
 * vtable: with one of two, half of all frames would be refused.
 */

#define VTABLE_WORDS_MIN 4
#define VTABLE_WORDS_MAX 64
#define SEARCH_PAGES 256 /* each way; .data.rel.ro has 184 pages in 17.0.15 */
#define AT_ONCE_PAGES 16

#define VMCLASS(name)                                                                              \
	{                                                                                          \
		"_klasses[static_cast<int>(vmClassID::" name "_klass_knum)]",                      \
			"_well_known_klasses[SystemDictionary::" name "_klass_knum]"               \
	}

/* Classes with methods that are there early. An agent may have redefined some: not all of them. */
static const struct {
	const char *name, *name_11;
} classes[] = {VMCLASS("Object"),      VMCLASS("String"), VMCLASS("Class"),
	       VMCLASS("ClassLoader"), VMCLASS("System"), VMCLASS("Thread")};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static void method_vtable_note(struct code_layout *l, uint64_t vtable)
{
	if (!l->method_vtable)
		l->method_vtable = vtable;
	else if (!l->method_vtable_too && vtable != l->method_vtable)
		l->method_vtable_too = vtable;
}

/* What the first method of a well-known class shows. */
static void class_look(const struct mem *m, const struct code_source *s, uint64_t addr,
		       struct code_layout *l)
{
	uint64_t klass, methods, method, vtable;
	uint32_t count;

	if (mem_u64(m, addr, &klass) || !klass || mem_u64(m, klass + s->klass_methods, &methods) ||
	    !methods || mem_u32(m, methods + s->methods_length, &count) || !count ||
	    mem_u64(m, methods + s->methods_data, &method) || !method ||
	    mem_u64(m, method, &vtable))
		return;
	method_vtable_note(l, vtable);
}

/* What may be a vtable of Method begins as one that is known to be. */
static bool vtables_agree(const struct mem *m, uint64_t a, uint64_t b)
{
	uint64_t x[VTABLE_WORDS_MIN], y[VTABLE_WORDS_MIN];

	return !m->read(m, a, x, sizeof(x)) && !m->read(m, b, y, sizeof(y)) &&
	       !memcmp(x, y, sizeof(x));
}

struct blob_walk {
	const struct mem *m;
	struct code_layout *l;
	bool all;            /* go on until there are two vtables of Method */
	uint64_t any_vtable; /* of the first blob: it lies in libjvm, as all of them do */
	uint64_t other_name; /* the last name that was not an nmethod's */
};

static void blob_look(struct blob_walk *w, const char *blob)
{
	const struct mem *m = w->m;
	struct code_layout *l = w->l;
	uint64_t vtable = l->nmethod_vtable, name_at, method, method_vtable;
	char name[32];

	if (!l->blob_kind) {
		memcpy(&vtable, blob, sizeof(vtable));
		if (!w->any_vtable)
			w->any_vtable = vtable;
	} else if ((uint8_t)blob[l->blob_kind] != l->nmethod_vtable) {
		return;
	}
	memcpy(&name_at, blob + l->blob_name, sizeof(name_at));
	if (!vtable || !name_at || name_at == w->other_name)
		return;
	if (mem_string(m, name_at, name, sizeof(name)) ||
	    (strcmp(name, "nmethod") && strcmp(name, "native nmethod"))) {
		w->other_name = name_at;
		return;
	}
	memcpy(&method, blob + l->nmethod_method, sizeof(method));
	/* Unloaded: it has no method any more. */
	if (!method || mem_u64(m, method, &method_vtable))
		return;
	if (!l->method_vtable || !vtables_agree(m, l->method_vtable, method_vtable))
		return;
	l->nmethod_vtable = vtable;
	method_vtable_note(l, method_vtable);
}

static bool walk_ends(const struct blob_walk *w)
{
	return w->l->nmethod_vtable && (!w->all || w->l->method_vtable_too);
}

static bool blob_visit(void *ctx, uint64_t blob, const char *bytes)
{
	struct blob_walk *w = ctx;

	(void)blob;
	blob_look(w, bytes);
	return walk_ends(w);
}

static size_t more(size_t bytes, size_t needed)
{
	return needed > bytes ? needed : bytes;
}

/* Goes through the blobs until it has what it looks for. */
static void blobs_walk(struct blob_walk *w, const struct code_source *s,
		       const uint64_t heaps[CODE_HEAPS_MAX])
{
	const struct code_layout *l = w->l;
	size_t head = more(more(l->nmethod_method, l->blob_name) + 8, l->blob_kind + 1);

	if (!walk_ends(w))
		code_blocks_each(&(struct code_blocks){w->m, s, l, head, blob_visit, w}, heaps);
}

/* Words of the run at words[at] that is ended by a zero, if known begins with it; else 0. */
static size_t run_length(const uint64_t *words, size_t at, size_t count, const uint64_t *known)
{
	size_t n = 0;

	while (at + n < count && n < VTABLE_WORDS_MAX && words[at + n] == known[n] && known[n])
		n++;
	return at + n < count && !words[at + n] && n >= VTABLE_WORDS_MIN ? n : 0;
}

/* What has been read around an anchor: the pages from low up to high, of 2 * SEARCH_PAGES. */
struct around {
	const struct mem *m;
	uint64_t base; /* of page 0 */
	char *bytes;
	size_t low, high;
	bool ends_below, ends_above; /* no more can be read, or no more is asked for */
};

static bool pages_read(const struct around *a, size_t first, size_t count)
{
	return !a->m->read(a->m, a->base + first * ARCH_PAGE_MIN, a->bytes + first * ARCH_PAGE_MIN,
			   count * ARCH_PAGE_MIN);
}

/* Many at once as long as all of them can be read, then one by one. */
static void read_above(struct around *a)
{
	size_t left = 2 * SEARCH_PAGES - a->high, n = left < AT_ONCE_PAGES ? left : AT_ONCE_PAGES;

	if (n && pages_read(a, a->high, n)) {
		a->high += n;
		return;
	}
	while (a->high < 2 * SEARCH_PAGES && pages_read(a, a->high, 1))
		a->high++;
	a->ends_above = true;
}

static void read_below(struct around *a)
{
	size_t n = a->low < AT_ONCE_PAGES ? a->low : AT_ONCE_PAGES;

	if (n && pages_read(a, a->low - n, n)) {
		a->low -= n;
		return;
	}
	while (a->low && pages_read(a, a->low - 1, 1))
		a->low--;
	a->ends_below = true;
}

struct vtable_search {
	uint64_t known[VTABLE_WORDS_MAX], address; /* what is looked for, and where that one is */
	size_t length;                             /* of it, as its archive says; 0: it does not */
	size_t best;
	uint64_t found; /* the best so far */
	bool own;       /* the known one is among what has been read */
};

/* The runs that begin at pages from to. Those that end beyond what has been read are not seen. */
static void search_in(struct vtable_search *v, const struct around *a, size_t from, size_t to)
{
	const uint64_t *words = (const uint64_t *)(const void *)a->bytes;
	size_t per_page = ARCH_PAGE_MIN / sizeof(uint64_t);

	for (size_t at = from * per_page; at < to * per_page; at++) {
		uint64_t address = a->base + at * sizeof(uint64_t);
		size_t n = run_length(words, at, a->high * per_page, v->known);

		if (address == v->address)
			v->own = true;
		else if (n > v->best) {
			v->best = n;
			v->found = address;
		}
	}
}

static bool search_ends(const struct vtable_search *v, const struct around *a)
{
	return v->own || (v->length && v->best == v->length) || (a->ends_below && a->ends_above);
}

/* CppVtableInfo of 11 to 25: the number of words stands before a copy. Only a match of so many ends
 * the search early, so that it does no harm if it is another number. */
static size_t length_in_archive(const struct mem *m, uint64_t vtable)
{
	uint64_t n;

	return mem_u64(m, vtable - sizeof(n), &n) || n > VTABLE_WORDS_MAX ? 0 : (size_t)n;
}

/*
 * Looks for libjvm's vtable of Method, in both directions. 1: found, or the one that is known is
 * libjvm's, so that there is no other; 0: not found.
 */
static int method_vtable_search(const struct mem *m, uint64_t anchor, struct code_layout *l)
{
	struct around a = {.m = m,
			   .base = (anchor & ~(ARCH_PAGE_MIN - 1)) - SEARCH_PAGES * ARCH_PAGE_MIN,
			   .low = SEARCH_PAGES,
			   .high = SEARCH_PAGES};
	struct vtable_search v = {.address = l->method_vtable};
	size_t words = VTABLE_WORDS_MAX;

	/* The archive's copy may be the last thing in its mapping. */
	while (words >= VTABLE_WORDS_MIN &&
	       m->read(m, l->method_vtable, v.known, words * sizeof(*v.known)))
		words /= 2;
	if (words < VTABLE_WORDS_MIN)
		return 0;
	v.length = length_in_archive(m, l->method_vtable);
	a.bytes = malloc(2 * SEARCH_PAGES * ARCH_PAGE_MIN);
	if (!a.bytes)
		return -ENOMEM;
	while (!search_ends(&v, &a)) {
		size_t low = a.low, high = a.high;

		if (!a.ends_above)
			read_above(&a);
		if (!a.ends_below)
			read_below(&a);
		/* A run is shorter than a page. */
		search_in(&v, &a, high > low ? high - 1 : high, a.high);
		search_in(&v, &a, a.low, low < a.high ? low + 1 : low);
	}
	free(a.bytes);
	if (v.found)
		method_vtable_note(l, v.found);
	return v.found || v.own;
}

/* A vtable of libjvm's, if blobs have none: that of the heap. */
static uint64_t heap_vtable(const struct mem *m, const struct vmstructs *v)
{
	uint64_t at, heap, vtable;

	return !vmstructs_address(v, "Universe", "_collectedHeap", &at) && !mem_u64(m, at, &heap) &&
			       !mem_u64(m, heap, &vtable)
		       ? vtable
		       : 0;
}

static bool class_address(const struct vmstructs *v, size_t i, uint64_t *ret)
{
	return !vmstructs_address(v, "vmClasses", classes[i].name, ret) ||
	       !vmstructs_address(v, "SystemDictionary", classes[i].name_11, ret);
}

bool code_vtables_possible(const struct vmstructs *v)
{
	uint64_t addr;

	return class_address(v, 0, &addr);
}

int code_vtables_find(const struct mem *m, const struct vmstructs *v, const struct code_source *s,
		      const uint64_t heaps[CODE_HEAPS_MAX], struct code_layout *l)
{
	struct blob_walk w = {.m = m, .l = l};
	uint64_t addr;
	int known;

	for (size_t i = 0; i < COUNT(classes); i++)
		if (class_address(v, i, &addr))
			class_look(m, s, addr, l);
	blobs_walk(&w, s, heaps);
	if (!l->method_vtable || l->method_vtable_too)
		return 0;
	if (!w.any_vtable)
		w.any_vtable = heap_vtable(m, v);
	known = w.any_vtable ? method_vtable_search(m, w.any_vtable, l) : 0;
	if (known)
		return known < 0 ? known : 0;
	/* A library that is laid out otherwise: some nmethod's Method shows it, sooner or later. */
	w.all = true;
	blobs_walk(&w, s, heaps);
	return l->method_vtable_too ? 0 : -EAGAIN;
}
