#include "jvm/elf/usdt.h"

#include "jvm/elf/elf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch/arch.h"
#include "base/tables/array.h"

/*
 * <sys/sdt.h> leaves a note per location of a probe: its address, the address that .stapsdt.base
 * had when the note was assembled (prelinking moves both: the difference corrects the location),
 * its semaphore's address or 0, then provider, name and arguments as C strings.
 *
 * Reading them and using them are two steps, in two processes: usdt_flat_read() runs in the parser
 * process, which has no rights, usdt_list_decode() in the recorder. What goes from one to the other
 * is flat: numbers, and offsets into one text. A parser that has been taken over can hand over
 * anything, so the second step takes nothing for granted.
 */

#define NOTE_TYPE 3
#define NOTE_OWNER "stapsdt"
#define LOCATIONS_MAX 16384
#define TEXT_MAX (4u << 20)

struct flat_head {
	uint32_t locations, text_len;
};

struct flat_location {
	uint64_t file_offset, semaphore_offset;
	uint32_t provider, name, args; /* where in the text */
	uint16_t site;                 /* enum usdt_site */
	uint16_t semaphore;
};

struct reader {
	struct elf_file *elf;
	struct flat_location *locations;
	char *text;
	uint32_t count, capacity;
	size_t text_len, text_capacity;
	uint64_t base; /* address of .stapsdt.base; 0: none */
};

int usdt_note_parse(const char *desc, size_t len, struct usdt_note *ret)
{
	struct usdt_note n;
	const char *strings[3], *at = desc + 24, *end = desc + len;

	if (len < 24 + 3)
		return -EPROTO;
	memcpy(&n.location, desc, 8);
	memcpy(&n.base, desc + 8, 8);
	memcpy(&n.semaphore, desc + 16, 8);
	for (int i = 0; i < 3; i++) {
		const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

		if (!stop)
			return -EPROTO;
		strings[i] = at;
		at = stop + 1;
	}
	n.provider = strings[0];
	n.name = strings[1];
	n.args = strings[2];
	*ret = n;
	return 0;
}

static int probe_order(const void *a, const void *b)
{
	const struct usdt_probe *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	return order ? order : strcmp(x->name, y->name);
}

/* The locations of a probe stay in the order of the notes, which is that of the text. */
static int location_order(const void *a, const void *b)
{
	const struct usdt_probe *x = a, *y = b;
	int order = probe_order(x, y);

	return order ? order : x->args < y->args ? -1 : x->args > y->args;
}

struct site_bytes {
	uint8_t bytes[ARCH_NOPS_MAX];
	size_t count;
};

static bool begin_with(const struct site_bytes *s, const uint8_t *bytes, size_t n)
{
	return n && n <= s->count && !memcmp(s->bytes, bytes, n);
}

static void site_bytes_read(const struct elf_file *f, uint64_t at, struct site_bytes *ret)
{
	uint64_t left = at && at < f->size ? f->size - at : 0;

	ret->count = left < ARCH_NOPS_MAX ? left : ARCH_NOPS_MAX;
	if (elf_file_read(f, at, ret->bytes, ret->count))
		ret->count = 0;
}

/* Which instructions stand there. */
static enum usdt_site site_read(const struct elf_file *f, uint64_t at)
{
	const struct arch *a = &ARCH_JVM;
	struct site_bytes s;

	site_bytes_read(f, at, &s);
	if (begin_with(&s, a->nops, a->nops_bytes))
		return USDT_SITE_NOPS;
	if (begin_with(&s, a->nop, a->nop_bytes))
		return USDT_SITE_NOP;
	return begin_with(&s, a->nop_call, a->nop_call_bytes) ? USDT_SITE_NOP_CALL
							      : USDT_SITE_OTHER;
}

static int text_add(struct reader *r, const char *text, uint32_t *ret_offset)
{
	size_t len = strlen(text) + 1;

	if (len > TEXT_MAX - r->text_len)
		return -E2BIG;
	if (r->text_len + len > r->text_capacity &&
	    bytes_reserve(&r->text, &r->text_capacity, (r->text_capacity + len) * 2))
		return -ENOMEM;
	memcpy(r->text + r->text_len, text, len);
	*ret_offset = (uint32_t)r->text_len;
	r->text_len += len;
	return 0;
}

static int note_add(struct reader *r, const struct usdt_note *n)
{
	uint64_t moved = r->base ? r->base - n->base : 0;
	uint64_t offset = elf_file_offset(r->elf, n->location + moved);
	uint64_t semaphore = n->semaphore ? elf_file_offset(r->elf, n->semaphore + moved) : 0;
	struct flat_location *p;
	int err;

	if (r->count >= LOCATIONS_MAX)
		return -E2BIG;
	err = array_grow(&r->locations, &r->capacity, r->count, sizeof(*r->locations));
	if (err)
		return err;
	p = &r->locations[r->count];
	*p = (struct flat_location){
		.semaphore = n->semaphore != 0,
		.semaphore_offset = semaphore,
		.site = site_read(r->elf, offset),
		/* Without its semaphore it would never fire. */
		.file_offset = n->semaphore && !semaphore ? 0 : offset,
	};
	err = text_add(r, n->provider, &p->provider);
	if (!err)
		err = text_add(r, n->name, &p->name);
	if (!err)
		err = text_add(r, n->args, &p->args);
	r->count += !err;
	return err;
}

static int notes_read(struct reader *r, const Elf64_Shdr *section)
{
	struct usdt_note note;
	struct elf_note n;
	uint64_t at = 0;
	char *bytes;
	size_t len;
	int err = elf_file_section(r->elf, section, &bytes, &len);

	if (err)
		return err;
	while (!err && elf_note_next(bytes, len, section->sh_addralign, &at, &n)) {
		if (n.type != NOTE_TYPE || n.name_len != sizeof(NOTE_OWNER) ||
		    memcmp(n.name, NOTE_OWNER, sizeof(NOTE_OWNER)))
			continue;
		/* A note that is cut short is no probe; the others are still good. */
		if (!usdt_note_parse(n.desc, n.desc_len, &note))
			err = note_add(r, &note);
	}
	free(bytes);
	return err;
}

static int locations_read(struct reader *r)
{
	const struct elf_file *f = r->elf;
	int err = 0;

	for (size_t i = 0; i < f->section_count; i++)
		if (!strcmp(elf_file_section_name(f, &f->sections[i]), ".stapsdt.base"))
			r->base = f->sections[i].sh_addr;
	for (size_t i = 0; !err && i < f->section_count; i++)
		if (f->sections[i].sh_type == SHT_NOTE)
			err = notes_read(r, &f->sections[i]);
	return err;
}

/* Frees what the reader has. */
static int flatten(struct reader *r, int err, char **ret, size_t *ret_len)
{
	size_t locations_len = r->count * sizeof(*r->locations);
	struct flat_head head;
	char *flat = NULL;

	if (!err) {
		flat = malloc(sizeof(head) + locations_len + r->text_len);
		err = flat ? 0 : -ENOMEM;
	}
	if (!err) {
		head = (struct flat_head){r->count, (uint32_t)r->text_len};
		memcpy(flat, &head, sizeof(head));
		if (r->count) {
			memcpy(flat + sizeof(head), r->locations, locations_len);
			memcpy(flat + sizeof(head) + locations_len, r->text, r->text_len);
		}
		*ret = flat;
		*ret_len = sizeof(head) + locations_len + r->text_len;
	}
	free(r->locations);
	free(r->text);
	return err;
}

int usdt_flat_read(struct elf_file *f, char **ret, size_t *ret_len)
{
	struct reader r = {.elf = f};

	return flatten(&r, locations_read(&r), ret, ret_len);
}

/* --- functions --------------------------------------------------------------------------- */

#define OBJECT_MONITOR "_ZN13ObjectMonitor"

/*
 * As (JavaThread *, ObjectWaiter *) of ObjectMonitor, share/runtime/objectMonitor.hpp since JDK 24
 * (JEP 491): a virtual thread that had unmounted has got its monitor; one has tried to get it, and
 * true: has got it, or else unmounts.
 *
 * Of share/runtime/continuationFreezeThaw.cpp since JDK 21 (JEP 444): a virtual thread is about to
 * leave its carrier, and is on one again (or, with true, only gets more of its frames). freeze() is
 * a template: there is one for each kind of heap.
 */
static const struct {
	const char *symbol, *end; /* what it begins with, and, if it may go on, what it ends with */
	const char *name;
	bool returns;
} functions[] = {
	{OBJECT_MONITOR "14vthread_epilogEP10JavaThreadP12ObjectWaiter", NULL, "vthread_epilog",
	 false},
	{OBJECT_MONITOR "21vthread_monitor_enterEP10JavaThreadP12ObjectWaiter", NULL,
	 "vthread_monitor_enter" USDT_RETURN, true},
	{"_Z6freezeI6ConfigI", "EEiP10JavaThreadPl", "freeze", false},
	{"_ZN12Continuation12prepare_thawEP10JavaThreadb", NULL, "prepare_thaw", false},
};

/* In these a thread spins for a monitor before it goes to sleep: TrySpin() of JDK 11 to 21,
 * try_spin() since 23, with whatever argument; gcc makes a second function of a part of them. */
static const char *const spins[] = {OBJECT_MONITOR "7TrySpinE", OBJECT_MONITOR "8try_spinE"};

static int spin_add(struct reader *r, const Elf64_Sym *s)
{
	char range[2 * 16 + 2];
	struct usdt_note n = {.location = s->st_value,
			      .provider = USDT_FUNCTIONS,
			      .name = USDT_SPIN,
			      .args = range};

	snprintf(range, sizeof(range), "%" PRIx64 "-%" PRIx64, s->st_value,
		 s->st_value + s->st_size);
	return s->st_size ? note_add(r, &n) : 0;
}

static bool function_is(const char *name, const char *symbol, const char *end)
{
	size_t len = strlen(name), begin = strlen(symbol), tail = end ? strlen(end) : 0;

	if (!end)
		return !strcmp(name, symbol);
	return len >= begin + tail && !strncmp(name, symbol, begin) &&
	       !strcmp(name + len - tail, end);
}

/* Where a probe at the entry of a function costs least. */
static uint64_t entry_of(const struct reader *r, uint64_t address)
{
	const struct arch *a = &ARCH_JVM;
	struct site_bytes s;

	site_bytes_read(r->elf, elf_file_offset(r->elf, address), &s);
	return begin_with(&s, a->landing, a->landing_bytes) ? address + a->landing_bytes : address;
}

static int function_add(struct reader *r, const char *name, const Elf64_Sym *s)
{
	struct usdt_note n = {.provider = USDT_FUNCTIONS};
	int err = 0;

	if (strncmp(name, "_Z", 2))
		return 0;
	for (size_t i = 0; i < sizeof(spins) / sizeof(*spins); i++)
		if (!strncmp(name, spins[i], strlen(spins[i])))
			return spin_add(r, s);
	for (size_t i = 0; !err && i < sizeof(functions) / sizeof(*functions); i++) {
		if (!function_is(name, functions[i].symbol, functions[i].end))
			continue;
		n.name = functions[i].name;
		n.args = functions[i].returns ? ARCH_JVM.call_bool : ARCH_JVM.call_arguments;
		n.location = functions[i].returns ? s->st_value : entry_of(r, s->st_value);
		err = note_add(r, &n);
	}
	return err;
}

static int symbols_read(struct reader *r, const Elf64_Shdr *section)
{
	struct elf_file *f = r->elf;
	char *symbols = NULL, *names = NULL;
	size_t symbols_len, names_len;
	Elf64_Sym s;
	int err = section->sh_link < f->section_count ? 0 : -ENOEXEC;

	if (!err)
		err = elf_file_section(f, section, &symbols, &symbols_len);
	if (!err)
		err = elf_file_section(f, &f->sections[section->sh_link], &names, &names_len);
	for (size_t at = 0; !err && at + sizeof(s) <= symbols_len; at += sizeof(s)) {
		memcpy(&s, symbols + at, sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_value && s.st_name < names_len)
			err = function_add(r, names + s.st_name, &s);
	}
	free(symbols);
	free(names);
	return err;
}

int usdt_flat_functions(struct elf_file *f, char **ret, size_t *ret_len)
{
	struct reader r = {.elf = f};
	int err = 0;

	for (size_t i = 0; !err && i < f->section_count; i++)
		if (f->sections[i].sh_type == SHT_SYMTAB)
			err = symbols_read(&r, &f->sections[i]);
	return flatten(&r, err, ret, ret_len);
}

/* --- the recorder's side ----------------------------------------------------------------- */

/* Puts the locations of a probe together. */
static void list_finish(struct usdt_list *l)
{
	size_t n = 0;

	if (l->count)
		qsort(l->probes, l->count, sizeof(*l->probes), location_order);
	for (size_t i = 0; i < l->count; i++) {
		l->locations[i] =
			(struct usdt_location){l->probes[i].args, l->probes[i].file_offset,
					       l->probes[i].semaphore_offset, l->probes[i].site};
		l->probes[i].at = &l->locations[i];
		if (n && !probe_order(&l->probes[n - 1], &l->probes[i])) {
			l->probes[n - 1].locations++;
			l->probes[n - 1].semaphore |= l->probes[i].semaphore;
		} else {
			l->probes[n++] = l->probes[i];
		}
	}
	l->count = n;
}

/*
 * Each text is where the one before has ended, as text_add() puts them: a byte belongs to one. Else
 * thousands of locations could share megabytes of text, and sorting them would compare it all.
 */
static int text_take(const char *text, uint32_t len, uint32_t offset, uint32_t *at,
		     const char **ret)
{
	if (offset != *at || offset >= len)
		return -EPROTO;
	*ret = text + offset;
	*at += (uint32_t)strlen(*ret) + 1;
	return 0;
}

static int location_decode(const struct flat_location *p, const char *text, uint32_t len,
			   uint32_t *at, struct usdt_probe *ret)
{
	int err = p->site > USDT_SITE_OTHER ? -EPROTO : 0;

	*ret = (struct usdt_probe){.locations = 1,
				   .semaphore = p->semaphore != 0,
				   .site = p->site,
				   .file_offset = p->file_offset,
				   .semaphore_offset = p->semaphore_offset};
	if (!err)
		err = text_take(text, len, p->provider, at, &ret->provider);
	if (!err)
		err = text_take(text, len, p->name, at, &ret->name);
	if (!err)
		err = text_take(text, len, p->args, at, &ret->args);
	return err;
}

int usdt_list_decode(const char *flat, size_t len, struct usdt_list *ret)
{
	struct usdt_list l = {0};
	struct flat_location location;
	struct flat_head head;
	size_t locations_len;
	uint32_t at = 0;
	int err = 0;

	if (len < sizeof(head))
		return -EPROTO;
	memcpy(&head, flat, sizeof(head));
	locations_len = head.locations * sizeof(location);
	if (head.locations > LOCATIONS_MAX || head.text_len > TEXT_MAX ||
	    len != sizeof(head) + locations_len + head.text_len || (head.text_len && flat[len - 1]))
		return -EPROTO;
	l.probes = calloc(head.locations + 1ul, sizeof(*l.probes));
	l.locations = calloc(head.locations + 1ul, sizeof(*l.locations));
	l.text = malloc(head.text_len + 1ul);
	if (!l.probes || !l.locations || !l.text)
		err = -ENOMEM;
	else
		memcpy(l.text, flat + sizeof(head) + locations_len, head.text_len);
	for (; !err && l.count < head.locations; l.count += !err) {
		memcpy(&location, flat + sizeof(head) + l.count * sizeof(location),
		       sizeof(location));
		err = location_decode(&location, l.text, head.text_len, &at, &l.probes[l.count]);
	}
	if (!err && at != head.text_len)
		err = -EPROTO;
	if (err) {
		usdt_list_free(&l);
		return err;
	}
	list_finish(&l);
	*ret = l;
	return 0;
}

int usdt_list_parse(const void *image, size_t size, struct usdt_list *ret)
{
	struct elf_file f;
	char *flat = NULL;
	size_t len;
	int err = elf_file_open_image(image, size, &f);

	if (err)
		return err;
	err = usdt_flat_read(&f, &flat, &len);
	if (!err)
		err = usdt_list_decode(flat, len, ret);
	free(flat);
	elf_file_close(&f);
	return err;
}

void usdt_list_free(struct usdt_list *l)
{
	free(l->probes);
	free(l->locations);
	free(l->text);
	*l = (struct usdt_list){0};
}

const struct usdt_probe *usdt_find(const struct usdt_list *l, const char *provider,
				   const char *name)
{
	struct usdt_probe key = {.provider = provider, .name = name};

	return l->count ? bsearch(&key, l->probes, l->count, sizeof(key), probe_order) : NULL;
}
