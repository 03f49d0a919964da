/*
 * A dump has no sizes: it has fields. What an object takes in the heap depends on the length of
 * headers (compressed class pointers, JDK 24's compact headers), on compressed references, on the
 * alignment, and on the order in which the JVM places fields, which is another one since JDK 15
 * (JDK-8237767). The dump says none of that, but object ids are addresses: between two objects
 * there is at least room for the first. So all that a JVM may be are tried, and the one is taken
 * with which most types end exactly where their neighbour begins, and none beyond.
 *
 * A few classes of the JDK have fields that no dump shows: the JVM's own ("injected", of
 * javaClasses.hpp), which a table has, or padding (@Contended): for those the least distance is
 * the size.
 */
#include "heap/state/heap_layout.h"

#include <stddef.h>
#include <string.h>

#include "heap/state/heap_types.h"

#define GAPS_MAX 16
#define SUPERS_MAX 64
#define ALIGNMENT_MAX 256
#define PADDING_MAX 320 /* of @Contended: twice 128, and alignment */
#define TOO_LARGE 16    /* one distance too short weighs as much as so many that fit */

struct field_layout {
	uint32_t end;
	unsigned gap_count;
	struct {
		uint32_t at, bytes;
	} gaps[GAPS_MAX];
};

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void gap_add(struct field_layout *p, uint32_t at, uint32_t end)
{
	if (end > at && p->gap_count < GAPS_MAX) {
		p->gaps[p->gap_count].at = at;
		p->gaps[p->gap_count++].bytes = end - at;
	}
}

/* The smallest gap that has room; GAPS_MAX: none has. */
static unsigned gap_for(const struct field_layout *p, uint32_t bytes)
{
	unsigned best = GAPS_MAX;

	for (unsigned i = 0; i < p->gap_count; i++) {
		uint32_t waste = (uint32_t)align(p->gaps[i].at, bytes) - p->gaps[i].at;

		if (p->gaps[i].bytes >= waste + bytes &&
		    (best == GAPS_MAX || p->gaps[i].bytes < p->gaps[best].bytes))
			best = i;
	}
	return best;
}

static void layout_field(struct field_layout *p, uint32_t bytes)
{
	unsigned gap = gap_for(p, bytes);
	uint32_t from, to, at;

	if (gap == GAPS_MAX) {
		at = (uint32_t)align(p->end, bytes);
		gap_add(p, p->end, at);
		p->end = at + bytes;
		return;
	}
	from = p->gaps[gap].at;
	to = from + p->gaps[gap].bytes;
	at = (uint32_t)align(from, bytes);
	p->gaps[gap] = p->gaps[--p->gap_count];
	gap_add(p, from, at);
	gap_add(p, at + bytes, to);
}

struct field_counts {
	uint32_t bytes[9]; /* by size, of primitives */
	uint32_t references;
};

static void count_fields(const struct heap_types *t, uint32_t first, uint32_t count,
			 struct field_counts *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = first; i < first + count; i++) {
		if (*heap_types_text(t, t->fields[i].name) == '<')
			continue; /* <resolved_references> is no field, though a dump has it */
		if (t->fields[i].value == HEAP_REFERENCE)
			ret->references++;
		else
			ret->bytes[heap_value_bytes(t->fields[i].value, 0)]++;
	}
}

/* JDK 15's FieldLayoutBuilder: primitives, the largest first, then references, each in the smallest
 * gap that fits. */
static void layout_new(struct field_layout *p, const struct field_counts *n, unsigned reference)
{
	for (unsigned bytes = 8; bytes; bytes /= 2)
		for (uint32_t i = 0; i < n->bytes[bytes]; i++)
			layout_field(p, bytes);
	for (uint32_t i = 0; i < n->references; i++)
		layout_field(p, reference);
}

/* JDK 8 to 14: only the gap before the first long is filled, and a class begins after whole
 * references. */
static void layout_old(struct field_layout *p, const struct field_counts *n, unsigned reference)
{
	struct field_counts left = *n;
	uint32_t at = (uint32_t)align(p->end, reference);

	if (left.bytes[8] && at % 8) {
		uint32_t gap = 8 - at % 8;

		for (unsigned bytes = 4; bytes; bytes /= 2)
			for (; gap >= bytes && left.bytes[bytes]; left.bytes[bytes]--)
				gap -= bytes;
		if (gap >= reference && left.references)
			left.references--;
		at = (uint32_t)align(at, 8);
	}
	for (unsigned bytes = 8; bytes; bytes /= 2)
		at += left.bytes[bytes] * bytes;
	if (left.references)
		at = (uint32_t)align(at, reference) + left.references * reference;
	p->end = (uint32_t)align(at, reference);
}

/* Fields that the JVM adds to a class. */
static void add_injected(const struct heap_types *t, uint32_t type, struct field_counts *n)
{
	static const struct {
		const char *name;
		uint8_t longs, ints, references;
	} all[] = {
		{"java.lang.Class", 2, 2, 3},
		{"java.lang.ClassLoader", 1, 0, 0},
		{"java.lang.Module", 1, 0, 0},
		{"java.lang.invoke.MemberName", 1, 0, 0},
		{"java.lang.invoke.ResolvedMethodName", 1, 0, 1},
		{"java.lang.invoke.MethodHandleNatives$CallSiteContext", 2, 0, 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(heap_type_name(t, type), all[i].name)) {
			n->bytes[8] += all[i].longs;
			n->bytes[4] += all[i].ints;
			n->references += all[i].references;
		}
}

/* Bytes that a type's instances have; extra: what superclasses have that no dump shows. */
static uint64_t instance_bytes(const struct heap_layout *l, const struct heap_types *t,
			       uint32_t type, bool extra)
{
	struct field_layout p = {.end = l->header_bytes};
	uint32_t chain[SUPERS_MAX];
	unsigned depth = 0;

	for (uint32_t c = type; c != HEAP_NONE && depth < SUPERS_MAX; c = t->all[c].super)
		chain[depth++] = c;
	while (depth--) {
		const struct heap_type *c = &t->all[chain[depth]];
		struct field_counts n;

		count_fields(t, c->fields, c->field_count, &n);
		add_injected(t, chain[depth], &n);
		if (l->packs_supers)
			layout_new(&p, &n, l->reference_bytes);
		else
			layout_old(&p, &n, l->reference_bytes);
		/* Of a superclass whose size is known already. */
		if (extra && depth && c->bytes > align(p.end, l->alignment)) {
			p.gap_count = 0;
			p.end = (uint32_t)c->bytes;
		}
	}
	return align(p.end, l->alignment);
}

static bool is_measured(const struct heap_type *t)
{
	return t->kind == HEAP_INSTANCE && t->defined && t->gap.least != HEAP_NO_GAP;
}

/* JDK 23 lets elements begin in the header's last word (JDK-8139457). */
static unsigned array_header(const struct heap_layout *l, const struct heap_types *t)
{
	int64_t least = HEAP_NO_GAP;

	if (l->header_bytes < 16)
		return l->header_bytes + 4;
	for (unsigned v = HEAP_BOOLEAN; v < HEAP_VALUE_COUNT; v++)
		if (heap_value_bytes(v, 0) < 8 && t->all[heap_types_array(v)].gap.least < least)
			least = t->all[heap_types_array(v)].gap.least;
	return least < 24 ? 20 : 24;
}

/* Of arrays without elements: JDK 8 to 14 may round instances so that their headers do not show. */
static int64_t array_score(const struct heap_layout *l, const struct heap_types *t)
{
	int64_t sum = 0;

	for (unsigned v = HEAP_BOOLEAN; v < HEAP_VALUE_COUNT; v++) {
		int64_t least = t->all[heap_types_array(v)].gap.least;
		int64_t bytes = (int64_t)align(array_header(l, t), heap_value_bytes(v, 0));

		if (least != HEAP_NO_GAP)
			sum += bytes == least ? 1 : bytes > least ? -TOO_LARGE : 0;
	}
	return sum;
}

static int64_t score(struct heap_layout *l, const struct heap_types *t)
{
	int64_t sum = array_score(l, t);

	l->compared = l->agree = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		uint64_t bytes;

		if (!is_measured(&t->all[i]))
			continue;
		bytes = instance_bytes(l, t, i, false);
		l->compared++;
		if (bytes == (uint64_t)t->all[i].gap.least) {
			l->agree++;
			sum++;
		} else if (bytes > (uint64_t)t->all[i].gap.least) {
			sum -= TOO_LARGE;
		}
	}
	return sum;
}

/* References have 4 bytes if one array would not have had room for those of 8. */
static unsigned reference_bytes(const struct heap_types *t)
{
	bool any = false;

	if (t->id_bytes == 4)
		return 4;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct heap_type *type = &t->all[i];

		if (type->kind != HEAP_OBJECT_ARRAY || type->gap.least == HEAP_NO_GAP)
			continue;
		if (type->gap.wide < 12)
			return 4;
		any = true;
	}
	return any ? 8 : 4;
}

/* Padded by @Contended in some of JDK 8 to 25, or with fields of the JVM that depend on it. */
static bool is_opaque(const struct heap_types *t, uint32_t type)
{
	static const char *const names[] = {
		"java.lang.Thread",
		"java.util.concurrent.ConcurrentHashMap$CounterCell",
		"java.util.concurrent.Exchanger$Node",
		"java.util.concurrent.ForkJoinPool",
		"java.util.concurrent.ForkJoinPool$WorkQueue",
		"java.util.concurrent.atomic.Striped64$Cell",
		"jdk.internal.vm.StackChunk",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(heap_type_name(t, type), names[i]))
			return true;
	return false;
}

/* Superclasses first, as subclasses begin where they end; depth of the recursion is bounded. */
static void set_instance(struct heap_layout *l, struct heap_types *t, uint32_t type, unsigned depth)
{
	struct heap_type *own = &t->all[type];
	uint64_t bytes;

	if (own->bytes)
		return;
	if (own->super != HEAP_NONE && depth < SUPERS_MAX)
		set_instance(l, t, own->super, depth + 1);
	bytes = instance_bytes(l, t, type, true);
	if (is_measured(own)) {
		uint64_t least = (uint64_t)own->gap.least;

		if (least < bytes && least >= l->alignment)
			l->taken++;
		if (least < bytes ? least >= l->alignment
				  : least <= bytes + PADDING_MAX && is_opaque(t, type))
			bytes = least;
	}
	own->bytes = bytes;
}

static uint64_t statics_bytes(const struct heap_layout *l, const struct heap_types *t,
			      const struct heap_type *type)
{
	struct field_counts n;
	uint64_t sum;

	count_fields(t, type->statics, type->static_count, &n);
	sum = (uint64_t)n.references * l->reference_bytes;
	for (unsigned bytes = 8; bytes; bytes /= 2)
		sum += (uint64_t)n.bytes[bytes] * bytes;
	return sum;
}

/* Of a java.lang.Class without static fields: as distances say, if objects lie close together, else
 * as its fields do. */
static uint64_t class_base(const struct heap_layout *l, struct heap_types *t)
{
	struct heap_type *own = NULL;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct heap_type *c = &t->all[i];
		uint64_t statics = align(statics_bytes(l, t, c), l->alignment);

		if (!strcmp(heap_type_name(t, i), "java.lang.Class"))
			own = &t->all[i];
		if (c->class_gap.least != HEAP_NO_GAP && (uint64_t)c->class_gap.least > statics &&
		    (uint64_t)c->class_gap.least - statics < least)
			least = (uint64_t)c->class_gap.least - statics;
	}
	if (!own || !own->bytes)
		return least == UINT64_MAX ? l->header_bytes : least;
	if (least < own->bytes || (least != UINT64_MAX && l->agree > l->compared / 4 * 3))
		own->bytes = least;
	return own->bytes;
}

/* A java.lang.Class has the class's static fields after its own. */
static void set_classes(const struct heap_layout *l, struct heap_types *t)
{
	uint64_t base = class_base(l, t);

	for (uint32_t i = 0; i < t->count; i++) {
		struct heap_type *c = &t->all[i];

		c->class_bytes = align(base + statics_bytes(l, t, c), l->alignment);
		if (c->class_gap.least != HEAP_NO_GAP &&
		    (uint64_t)c->class_gap.least < c->class_bytes)
			c->class_bytes = (uint64_t)c->class_gap.least;
	}
}

static void set_sizes(struct heap_layout *l, struct heap_types *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct heap_type *type = &t->all[i];

		if (type->kind == HEAP_INSTANCE)
			set_instance(l, t, i, 0);
		else
			type->bytes = l->array_header_bytes;
	}
	set_classes(l, t);
}

void heap_layout_infer(struct heap_layout *ret, struct heap_types *types, uint64_t address_bits)
{
	static const unsigned headers[] = {12, 16, 8};
	bool narrow = types->id_bytes == 4;
	struct heap_layout l = {.reference_bytes = reference_bytes(types), .alignment = 8};
	int64_t best = INT64_MIN;

	while (address_bits && !(address_bits & l.alignment) && l.alignment < ALIGNMENT_MAX)
		l.alignment *= 2;
	for (unsigned i = narrow ? 2 : 0; i < sizeof(headers) / sizeof(*headers); i++)
		for (int packs = 1; packs >= 0; packs--) {
			int64_t s;

			l.header_bytes = headers[i];
			l.packs_supers = packs;
			s = score(&l, types);
			if (s > best)
				*ret = l;
			if (s > best)
				best = s;
		}
	ret->array_header_bytes = array_header(ret, types);
	set_sizes(ret, types);
}

uint64_t heap_layout_bytes(const struct heap_layout *l, const struct heap_type *t, uint32_t length)
{
	unsigned element;

	if (t->kind == HEAP_INSTANCE)
		return t->bytes;
	element = heap_value_bytes(t->element, l->reference_bytes);
	if (!element)
		element = l->reference_bytes;
	return align(align(l->array_header_bytes, element) + (uint64_t)element * length,
		     l->alignment);
}
