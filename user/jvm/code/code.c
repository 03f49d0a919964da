/*
 * From a pc to Java frames.
 *
 * The code heap's segment map leads from the pc to the block that holds it: each byte says how
 * many segments the block's beginning is before (254 at most, then the way goes on from there), 255
 * is free. The compile id that came with the pc says whether this is still the code that was
 * walked: ids are never used again. The target runs on while it is read, so that vtable, compile id
 * and state are looked at again afterwards; each length that is read is bounded.
 *
 * A native method's wrapper has no debug information: it is one frame. Else a return address has a
 * PcDesc of its own. An interrupted thread's pc most often has not: the next PcDesc is taken, as
 * AsyncGetCallTrace does; for the release of a lock there is a better way (unlock.c). After the
 * last there is none but a guard: what is known then is the method alone, and its frame has no
 * line.
 *
 * Measured on 17.0.15: of 13,303 PcDescs in 1,565 nmethods of a busy javac, methods, bytecode
 * indices, lines and inlined callers were each as the JVM's own -XX:+PrintNMethods prints them.
 */
#include "jvm/code/code.h"

#include "base/tables/store.h"
#include "jvm/code/method.h"
#include "jvm/code/scopes.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_FREE 0xff
#define SEGMENT_STEPS_MAX 16384 /* a block of 254 segments each: 500 MB */
#define SCOPES_MAX (64u << 20)  /* of one method: a hundred times as much as what is usual */
#define STATE_MAX 2             /* in use, not used any more for new calls: 11 to 25 */
#define LEVEL_C1_MAX 3
#define LEVEL_C2 4
#define BYTES_MAX (256ull << 20) /* unless code_bound() says otherwise */
#define OVERHEAD 16              /* of malloc */

struct named {
	uint64_t digest[2];
	struct code_method method;
	char *text; /* class, name, signature, source */
	size_t size;
};

struct known_method {
	uint64_t addr;
	const struct code_method *method;
	struct method read; /* without the names */
};

#define LOCATION_UNLOCK (1ull << 32) /* beside the compile id */

struct location {
	uint64_t pc;
	uint64_t id;
};

struct known_location {
	struct location location;
	uint64_t count;
	struct code_frame *frames;
};

struct code {
	const struct mem *m;
	const struct code_layout *l;
	struct store *named, *methods, *locations;
	struct budget own, *budget;
	uint32_t named_count; /* numbers that were given */
	uint64_t forgotten;
};

/* --- keeping ----------------------------------------------------------------------------- */

/*
 * When there is no room, everything is forgotten at the beginning of the next call: what is needed
 * still comes again. (Numbers of methods are the log's: they are not given twice.) Within a call
 * nothing goes, since its frames point to methods.
 */
#define ROOM_MIN 8 /* that much of the budget, as a part of it, is free when a call begins */

static void frames_free(struct code *c, struct known_location *k)
{
	if (k->frames)
		budget_give(c->budget, k->count * sizeof(*k->frames) + OVERHEAD);
	free(k->frames);
}

static void method_drop(struct code *c, struct known_method *k)
{
	budget_give(c->budget, k->read.lines_size);
	method_clear(&k->read);
}

void code_forget(struct code *c)
{
	struct known_method *k = NULL;

	while (c->methods && (k = store_next(c->methods, k))) {
		method_drop(c, k);
		store_remove(c->methods, k);
	}
}

static void stores_free(struct code *c)
{
	struct known_method *m = NULL;
	struct known_location *p = NULL;
	struct named *n = NULL;

	while (c->methods && (m = store_next(c->methods, m)))
		method_drop(c, m);
	while (c->locations && (p = store_next(c->locations, p)))
		frames_free(c, p);
	while (c->named && (n = store_next(c->named, n))) {
		budget_give(c->budget, n->size + OVERHEAD);
		free(n->text);
	}
	store_free(c->methods);
	store_free(c->locations);
	store_free(c->named);
	c->methods = c->locations = c->named = NULL;
}

static int stores_new(struct code *c)
{
	struct store_options o = {.key_bytes = sizeof(uint64_t),
				  .entry_bytes = sizeof(struct known_method),
				  .budget = c->budget};
	int err = store_new(&o, &c->methods);

	o.key_bytes = sizeof(struct location);
	o.entry_bytes = sizeof(struct known_location);
	if (!err)
		err = store_new(&o, &c->locations);
	o.key_bytes = 2 * sizeof(uint64_t);
	o.entry_bytes = sizeof(struct named);
	return err ? err : store_new(&o, &c->named);
}

int code_new(const struct mem *m, const struct code_layout *l, struct code **ret)
{
	struct code *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->m = m;
	c->l = l;
	c->own.max = BYTES_MAX;
	c->budget = &c->own;
	err = stores_new(c);
	if (err) {
		code_free(c);
		return err;
	}
	*ret = c;
	return 0;
}

/* 0, or -ENOMEM: nothing is there any more. */
static int make_room(struct code *c)
{
	const struct budget *b = c->budget;

	if (c->named && b->max - b->used >= b->max / ROOM_MIN)
		return 0;
	if (c->named)
		c->forgotten += store_count(c->named);
	stores_free(c);
	return stores_new(c);
}

void code_bound(struct code *c, struct budget *budget)
{
	stores_free(c); /* made anew by the next call */
	c->budget = budget;
}

uint64_t code_forgotten(const struct code *c)
{
	return c->forgotten;
}

void code_free(struct code *c)
{
	if (!c)
		return;
	stores_free(c);
	free(c);
}

/* --- methods ----------------------------------------------------------------------------- */

static char *text_add(char *at, const char *text)
{
	return stpcpy(at, text) + 1;
}

static char *text_join(const struct method *m, size_t size)
{
	char *text = malloc(size), *at = text;

	if (!text)
		return NULL;
	at = text_add(at, m->class_name);
	at = text_add(at, m->name);
	at = text_add(at, m->signature);
	at = text_add(at, m->source);
	*at = m->hidden ? 'h' : '-';
	return text;
}

/* Its text is the entry's own from here on. */
static void named_fill(struct code *c, struct named *n, char *text, size_t size)
{
	n->text = text;
	n->size = size;
	n->method.class_name = text;
	n->method.name = n->method.class_name + strlen(n->method.class_name) + 1;
	n->method.signature = n->method.name + strlen(n->method.name) + 1;
	n->method.source = n->method.signature + strlen(n->method.signature) + 1;
	n->method.hidden = text[size - 1] == 'h';
	n->method.number = c->named_count++;
}

/* The one with these names; it is made if there is none. -ENOSPC, -ENOMEM. */
static int method_named(struct code *c, const struct method *m, const struct code_method **ret)
{
	size_t size = strlen(m->class_name) + strlen(m->name) + strlen(m->signature) +
		      strlen(m->source) + 5;
	char *text = text_join(m, size);
	uint64_t digest[2];
	struct named *known;
	void *entry;
	int err = 0;

	if (!text)
		return -ENOMEM;
	store_digest(c->named, text, size, digest);
	known = store_find(c->named, digest);
	if (known) {
		free(text);
		*ret = &known->method;
		return 0;
	}
	if (!budget_take(c->budget, size + OVERHEAD))
		err = -ENOSPC;
	else if ((err = store_add(c->named, digest, &entry)))
		budget_give(c->budget, size + OVERHEAD);
	if (err) {
		free(text);
		return err;
	}
	known = entry;
	named_fill(c, known, text, size);
	*ret = &known->method;
	return 0;
}

static void names_drop(struct method *m)
{
	free(m->class_name);
	free(m->name);
	free(m->signature);
	free(m->source);
	m->class_name = m->name = m->signature = m->source = NULL;
}

static int method_find(struct code *c, uint64_t addr, const struct known_method **ret)
{
	struct known_method *k = store_find(c->methods, &addr);
	const struct code_method *method;
	struct method read;
	void *entry;
	int err;

	if (k) {
		*ret = k;
		return 0;
	}
	err = method_read(c->m, c->l, addr, &read);
	if (err)
		return err;
	err = method_named(c, &read, &method);
	names_drop(&read);
	if (!err && !budget_take(c->budget, read.lines_size))
		err = -ENOSPC;
	else if (!err && (err = store_add(c->methods, &addr, &entry)))
		budget_give(c->budget, read.lines_size);
	if (err) {
		method_clear(&read);
		return err;
	}
	k = entry;
	k->method = method;
	k->read = read;
	*ret = k;
	return 0;
}

static int frame_fill(struct code *c, uint64_t method, uint32_t bci, enum code_frame_type type,
		      struct code_frame *ret)
{
	const struct known_method *k;
	int err = method_find(c, method, &k);

	if (err)
		return err;
	*ret = (struct code_frame){.method = k->method, .type = type};
	if (k->read.native) {
		ret->type = CODE_FRAME_NATIVE;
		return 0;
	}
	if (bci >= k->read.code_size)
		return -EPROTO;
	ret->bci = bci;
	ret->line = method_line(&k->read, bci);
	return 0;
}

int code_interpreted(struct code *c, uint64_t method, uint32_t bci, struct code_frame *ret)
{
	struct code_frame frame;
	int err = make_room(c);

	if (!err)
		err = frame_fill(c, method, bci, CODE_FRAME_INTERPRETED, &frame);
	if (!err)
		*ret = frame;
	return err;
}

/* --- compiled code ----------------------------------------------------------------------- */

static int segment_read(const struct code *c, const struct code_heap *h, uint64_t segment,
			uint8_t *ret)
{
	int err = c->m->read(c->m, h->segmap + segment, ret, 1);

	return err == -EFAULT || (!err && *ret == SEGMENT_FREE) ? -ESTALE : err;
}

/* The address of the blob that pc lies in, and the end of its heap. */
static int blob_find(const struct code *c, uint64_t pc, uint64_t *ret, uint64_t *ret_end)
{
	const struct code_heap *h = c->l->heaps, *end = h + c->l->heap_count;
	uint64_t segment;
	uint8_t back;
	int err;

	while (h < end && (pc < h->low || pc >= h->high))
		h++;
	if (h == end)
		return -EPROTO;
	segment = (pc - h->low) >> h->segment_shift;
	for (int i = 0; i < SEGMENT_STEPS_MAX; i++) {
		err = segment_read(c, h, segment, &back);
		if (err)
			return err;
		if (!back) {
			*ret = h->low + (segment << h->segment_shift) + c->l->heap_block_size;
			*ret_end = h->high;
			return 0;
		}
		if (back > segment)
			return -ESTALE;
		segment -= back;
	}
	return -ESTALE;
}

struct nmethod {
	uint64_t addr;
	uint64_t method;
	uint32_t offset; /* of the pc in its code */
	int32_t level;
	struct scopes scopes;
};

/* That what is there is the nmethod with this id, and alive. */
static int nmethod_check(const struct code *c, uint64_t addr, uint32_t id)
{
	const struct code_layout *l = c->l;
	uint32_t compile_id, entry_bci;
	uint64_t is;
	int8_t state;
	int err = mem_number(c->m, addr + l->blob_kind, l->blob_kind ? 1 : sizeof(is), &is);

	if (!err && (!is || is != l->nmethod_vtable))
		err = -ESTALE;
	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_compile_id, &compile_id);
	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_entry_bci, &entry_bci);
	if (!err)
		err = c->m->read(c->m, addr + l->nmethod_state, &state, 1);
	if (err)
		return err == -EFAULT ? -ESTALE : err;
	if (entry_bci != UINT32_MAX) /* InvocationEntryBci, -1 */
		compile_id |= CODE_ID_OSR;
	return compile_id != id || state < 0 || state > STATE_MAX ? -ESTALE : 0;
}

/* From JDK 25 on they are in memory of their own, which is freed with the nmethod. How many
 * addresses there are is unknown: not more than the bytes after them. */
static int scopes_locate_apart(const struct code *c, uint64_t addr, struct scopes *ret)
{
	const struct code_layout *l = c->l;
	uint32_t pcs, data, size, mutable_size, relocation;
	uint64_t immutable, changing;
	int err = mem_u64(c->m, addr + l->nmethod_immutable, &immutable);

	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_immutable_size, &size);
	if (!err)
		err = mem_u64(c->m, addr + l->blob_mutable, &changing);
	if (!err)
		err = mem_u32(c->m, addr + l->blob_mutable_size, &mutable_size);
	if (!err)
		err = mem_u32(c->m, addr + l->blob_relocation, &relocation);
	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_scopes_pcs, &pcs);
	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_scopes_data, &data);
	if (err)
		return err;
	if (pcs > data || data > size || size > SCOPES_MAX || relocation > mutable_size)
		return -EPROTO;
	*ret = (struct scopes){
		.data = immutable + data,
		.data_size = size - data,
		.pcs = immutable + pcs,
		.pc_count = (data - pcs) / l->pc_desc_size,
		.metadata = changing + relocation,
		.metadata_count = (mutable_size - relocation) / 8,
		.number_excluded = l->number_excluded,
	};
	return 0;
}

/* Its parts follow each other in this order; all lie within the blob, and this in its heap. */
static int scopes_locate(const struct code *c, uint64_t addr, uint64_t end, struct scopes *ret)
{
	const struct code_layout *l = c->l;
	uint32_t size, metadata, pcs, pcs_end;
	uint64_t data;
	int err = mem_u32(c->m, addr + l->blob_size, &size);

	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_metadata, &metadata);
	if (!err)
		err = mem_u64(c->m, addr + l->nmethod_scopes_data, &data);
	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_scopes_pcs, &pcs);
	if (!err)
		err = mem_u32(c->m, addr + l->nmethod_dependencies, &pcs_end);
	if (err)
		return err;
	if (size > end - addr || pcs_end > size || pcs > pcs_end || data > addr + pcs ||
	    data < addr + metadata)
		return -EPROTO;
	*ret = (struct scopes){
		.data = data,
		.data_size = (uint32_t)(addr + pcs - data),
		.pcs = addr + pcs,
		.pc_count = (pcs_end - pcs) / l->pc_desc_size,
		.metadata = addr + metadata,
		.metadata_count = (uint32_t)((data - addr - metadata) / 8),
		.number_excluded = l->number_excluded,
	};
	return 0;
}

/* An address in the blob's code: see address_spare. */
static int code_address(const struct code *c, uint64_t blob, uint32_t at, uint64_t *ret)
{
	uint32_t offset;
	int err;

	if (!c->l->address_spare)
		return mem_u64(c->m, blob + at, ret);
	err = mem_u32(c->m, blob + at, &offset);
	if (!err)
		*ret = blob + offset;
	return err;
}

static int nmethod_read(const struct code *c, uint64_t addr, uint64_t end, uint64_t pc,
			struct nmethod *ret)
{
	const struct code_layout *l = c->l;
	uint64_t begin, code_end, level;
	int err = mem_u64(c->m, addr + l->nmethod_method, &ret->method);

	if (!err)
		err = mem_number(c->m, addr + l->nmethod_comp_level, l->comp_level_bytes, &level);
	if (!err)
		err = code_address(c, addr, l->blob_code_begin, &begin);
	if (!err)
		err = code_address(c, addr, l->blob_code_end, &code_end);
	if (!err)
		err = l->scopes_apart ? scopes_locate_apart(c, addr, &ret->scopes)
				      : scopes_locate(c, addr, end, &ret->scopes);
	if (err)
		return err;
	if (pc < begin || pc >= code_end || begin < addr || code_end > end)
		return -EPROTO;
	ret->addr = addr;
	ret->offset = (uint32_t)(pc - begin);
	ret->level = (int32_t)level;
	return 0;
}

static int physical_type(const struct nmethod *n, enum code_frame_type *ret)
{
	if (n->level < 1 || n->level > LEVEL_C2)
		return -EPROTO;
	*ret = n->level <= LEVEL_C1_MAX ? CODE_FRAME_C1 : CODE_FRAME_C2;
	return 0;
}

/* No scope: the method is all that is known. */
static int bare_frame(struct code *c, const struct nmethod *n, struct code_frame *ret)
{
	enum code_frame_type type;
	int err = physical_type(n, &type);

	if (!err)
		err = frame_fill(c, n->method, 0, type, ret);
	ret->line = 0;
	ret->inferred = true;
	return err ? err : 1;
}

static int scope_frames(struct code *c, const struct nmethod *n, enum code_at at,
			struct code_frame ret[CODE_FRAMES_MAX])
{
	struct scope scopes[CODE_FRAMES_MAX];
	enum code_frame_type type;
	uint32_t scope, offset;
	bool inferred, only = false;
	int count, err;

	err = scopes_pc_find(c->m, c->l, &n->scopes, n->offset, at == CODE_AT_RETURN, &scope,
			     &offset);
	inferred = !err && offset != n->offset;
	if (at == CODE_AT_UNLOCK && (err || inferred) &&
	    !scopes_unlock(c->m, c->l, &n->scopes, n->offset, &scope, &only)) {
		inferred = true;
		err = 0;
	}
	if (!err && !scope)
		return at == CODE_AT_RETURN ? -EPROTO : bare_frame(c, n, ret);
	if (!err)
		err = physical_type(n, &type);
	if (err)
		return err;
	count = scopes_read(c->m, &n->scopes, scope, scopes, CODE_FRAMES_MAX);
	for (int i = 0; i < count; i++) {
		err = frame_fill(c, scopes[i].method, scopes[i].bci,
				 i < count - 1 ? CODE_FRAME_INLINED : type, &ret[i]);
		if (err)
			return err;
		ret[i].inferred = inferred && !(only && i);
	}
	/* The outermost scope is the compiled method's own. */
	if (count > 0 && scopes[count - 1].method != n->method)
		return -EPROTO;
	return count;
}

static int nmethod_frames(struct code *c, const struct nmethod *n, enum code_at at,
			  struct code_frame ret[CODE_FRAMES_MAX])
{
	const struct known_method *k;
	int err;

	if (!n->method)
		return -ESTALE;
	err = method_find(c, n->method, &k);
	if (err)
		return err;
	if (!k->read.native)
		return scope_frames(c, n, at, ret);
	ret[0] = (struct code_frame){.method = k->method, .type = CODE_FRAME_NATIVE};
	return 1;
}

/* Reads what is there now; the number of frames. */
static int location_read(struct code *c, const struct location *p, enum code_at at,
			 struct code_frame ret[CODE_FRAMES_MAX])
{
	struct nmethod n;
	uint64_t addr, end;
	int count, err = blob_find(c, p->pc, &addr, &end);

	if (!err)
		err = nmethod_check(c, addr, (uint32_t)p->id);
	if (err)
		return err;
	count = nmethod_read(c, addr, end, p->pc, &n);
	if (!count)
		count = nmethod_frames(c, &n, at, ret);
	if (count == -ENOMEM || count == -ENOSPC || count == -ESRCH)
		return count;
	err = nmethod_check(c, addr, (uint32_t)p->id);
	if (err)
		return err;
	return count == -EFAULT ? -EPROTO : count;
}

/* Without memory or room for it, it is read again next time. */
static void location_keep(struct code *c, const struct location *p, const struct code_frame *frames,
			  int count)
{
	size_t size = (size_t)count * sizeof(*frames);
	struct code_frame *copy;
	struct known_location *k;
	void *entry;

	if (!budget_take(c->budget, size + OVERHEAD))
		return;
	copy = malloc(size);
	if (!copy || store_add(c->locations, p, &entry)) {
		budget_give(c->budget, size + OVERHEAD);
		free(copy);
		return;
	}
	memcpy(copy, frames, size);
	k = entry;
	k->count = (uint64_t)count;
	k->frames = copy;
}

int code_compiled(struct code *c, uint64_t pc, uint32_t id, enum code_at at,
		  struct code_frame ret[CODE_FRAMES_MAX])
{
	struct location location = {pc, id | (at == CODE_AT_UNLOCK ? LOCATION_UNLOCK : 0)};
	struct code_frame frames[CODE_FRAMES_MAX];
	const struct known_location *k;
	int count = make_room(c);

	if (count)
		return count;
	k = store_find(c->locations, &location);
	if (k && at == CODE_AT_RETURN && k->frames[0].inferred)
		return -EPROTO;
	if (k) {
		memcpy(ret, k->frames, k->count * sizeof(*ret));
		return (int)k->count;
	}
	count = location_read(c, &location, at, frames);
	if (count <= 0)
		return count;
	location_keep(c, &location, frames, count);
	memcpy(ret, frames, (size_t)count * sizeof(*ret));
	return count;
}
