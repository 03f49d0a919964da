/*
 * Reads the ring of object events of a running JVM (jvm-hooks/objects.h) until that ends, rebuilds the heap, and
 * prints what was allocated and what did not fit together. Usage: objects PID [MAX_SLOTS], the slots taken in 1 ms.
 *
 * Births are applied as they come. Within a collection, all moves are looked up in the heap as it was before, and are
 * applied together at its end, when the whole phase is there: collectors' threads move in no order.
 */
#include "../../../jvm-hooks/objects.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
/* Where an object goes that is moved after one of unknown size. */
#define NOWHERE UINT64_MAX
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct class
{
	uint32_t key;
	int32_t layout;
	char *name;
	uint64_t count, bytes;
};

struct object {
	uint32_t class, units;
};

struct move {
	uint64_t to;
	struct object object;
};

struct chunk {
	uint64_t sequence, phase;
	uint32_t *words;
	uint32_t n, at;
	bool full;
};

struct stream {
	struct chunk *chunks;
	size_t n, first;
	uint64_t next_sequence, phase;
	int64_t java_tid;
	uint32_t tid;
	uint64_t bytes, vm_bytes, tlab, tlab_end, last_from, next_to[4], at;
	uint32_t next_site; /* of an array's birth that has none itself */
	bool has_tlab, has_at, has_vm_bytes, has_gap, moved;
	uint32_t moved_class;
};

static struct {
	uint64_t objects, outside, unknown_class, no_address, retired, retired_wrong, tops,
		tops_wrong, moves, runs, kept;
	uint64_t unknown_moves, right, wrong, collections, gaps, lost, bad_words, untraced,
		overwritten, slots, words;
} sum;

static struct spoor_objects_head *head;
static char *ring;
static struct class *classes;
static uint32_t *by_key, *site_class;
static size_t classes_n, by_key_n, sites_n;
static uint64_t names_read;
static struct object *heap;
static uint64_t heap_units;
static struct stream *streams;
static size_t streams_n;
static struct move *moves, *spaces;
static size_t moves_n, moves_size, spaces_n, spaces_size;
static bool collect_all, collect_untraced;

static void die(const char *what)
{
	fprintf(stderr, "objects: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *grow(void *p, size_t *size, size_t wanted, size_t each)
{
	if (wanted <= *size)
		return p;
	size_t larger = wanted * 2 + 64;
	p = realloc(p, larger * each);
	if (!p)
		die("realloc");
	memset((char *)p + *size * each, 0, (larger - *size) * each);
	*size = larger;
	return p;
}

static int open_ring(int pid)
{
	char path[300], link[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *folder = opendir(path);
	if (!folder)
		return -1;
	int fd = -1;
	for (struct dirent *e; fd < 0 && (e = readdir(folder));) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, e->d_name);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = 0;
		if (strstr(link, "memfd:" SPOOR_OBJECTS_NAME))
			fd = open(path, O_RDWR | O_CLOEXEC);
	}
	closedir(folder);
	return fd;
}

/* Names */

static uint32_t *key_slot(uint32_t key)
{
	uint32_t i = key * 2654435761u >> 8;
	while (by_key[i % by_key_n] && classes[by_key[i % by_key_n]].key != key)
		i++;
	return &by_key[i % by_key_n];
}

static void read_name(const uint32_t *w)
{
	uint32_t id = w[1];
	static size_t sites_size;
	switch (w[0] >> 24) {
	case SPOOR_NAME_CLASS:
		classes = grow(classes, &classes_n, id + 1, sizeof(*classes));
		classes[id].key = w[2];
		classes[id].layout = (int32_t)w[3];
		classes[id].name = strdup((const char *)(w + 4));
		*key_slot(w[2]) = id; /* the newer one, if its address was used before */
		break;
	case SPOOR_NAME_SITE:
		site_class = grow(site_class, &sites_size, id + 1, sizeof(*site_class));
		site_class[id] = w[2];
		sites_n = id + 1 > sites_n ? id + 1 : sites_n;
		break;
	}
}

static void read_names(void)
{
	uint64_t used = LOAD(head->names_used);
	while (names_read < used) {
		const uint32_t *w = (const uint32_t *)(ring + head->names + names_read);
		read_name(w);
		names_read += w[0] & 0xffffff;
	}
}

/* The heap */

static uint64_t units_of(uint64_t bytes)
{
	uint64_t unit = 1ull << head->heap_shift;
	return (bytes + unit - 1) >> head->heap_shift;
}

static uint64_t size_of(const struct class *class, uint64_t length)
{
	if (class->layout > 0)
		return units_of((uint32_t) class->layout & ~7u);
	uint32_t header = (uint32_t) class->layout >> 16 & 0xff,
		 shift = (uint32_t) class->layout & 0xff;
	return units_of(header + (length << shift));
}

static void put_object(uint64_t at, struct object object)
{
	if (at + object.units > heap_units) {
		sum.bad_words++;
		return;
	}
	if (heap[at].class)
		sum.overwritten++;
	heap[at] = object;
}

static void forget(uint64_t at, uint64_t units)
{
	const uintptr_t page = 4096;
	if (at > heap_units || units > heap_units - at)
		return;
	uintptr_t begin = (uintptr_t)&heap[at], end = (uintptr_t)&heap[at + units];
	uintptr_t first = (begin + page - 1) & -page, last = end & -page;
	if (first >= last) {
		memset((void *)begin, 0, end - begin);
		return;
	}
	memset((void *)begin, 0, first - begin);
	memset((void *)last, 0, end - last);
	madvise((void *)first, last - first, MADV_DONTNEED);
}

static void born(struct stream *s, uint32_t class, uint64_t units)
{
	sum.objects++;
	if (class) {
		classes[class].count++;
		classes[class].bytes += units << head->heap_shift;
	} else {
		sum.unknown_class++;
	}
	s->bytes += units << head->heap_shift;
	uint64_t at = s->at;
	if (s->has_at) {
		sum.outside++;
	} else if (s->has_tlab) {
		at = s->tlab;
		s->tlab += units;
	} else {
		sum.no_address++;
		return;
	}
	s->has_at = false;
	put_object(at, (struct object){class, (uint32_t)units});
}

static void moved(struct stream *s, uint64_t from, uint64_t to, int destination)
{
	struct object object = from < heap_units ? heap[from] : (struct object){0, 0};
	s->moved = object.class != 0;
	s->moved_class = object.class;
	if (!s->moved || to == NOWHERE) {
		s->moved = false;
		sum.unknown_moves++;
	} else {
		moves = grow(moves, &moves_size, moves_n + 1, sizeof(*moves));
		moves[moves_n++] = (struct move){to, object};
	}
	if (destination >= 0) {
		s->last_from = from;
		s->next_to[destination] = s->moved ? to + object.units : NOWHERE;
	}
}

static void slid(struct stream *s, uint64_t from, uint64_t to, uint64_t units)
{
	for (uint64_t i = 0; i < units;) {
		moved(s, from + i, to + i, -1);
		i += s->moved ? heap[from + i].units : 1;
	}
}

static void end_collection(void)
{
	if (collect_all || collect_untraced)
		forget(0, heap_units);
	for (size_t i = 0; i < spaces_n; i++)
		forget(spaces[i].to, spaces[i].object.units);
	for (size_t i = 0; i < moves_n; i++)
		put_object(moves[i].to, moves[i].object);
	moves_n = spaces_n = 0;
	collect_all = collect_untraced = false;
}

/* Words */

static void gc_words(struct stream *s, const uint32_t *w, uint32_t *ret_n)
{
	switch (w[0] >> 24 & 15) {
	case SPOOR_GC_MARK:
		s->phase = (s->phase & ~0xffffffull) | (w[0] & 0xffffff);
		return;
	case SPOOR_GC_BEGIN:
		sum.collections++;
		collect_all |= (w[0] >> 8 & SPOOR_GC_ALL) != 0;
		collect_untraced |= (w[0] >> 8 & SPOOR_GC_UNTRACED) != 0;
		sum.untraced += (w[0] >> 8 & SPOOR_GC_UNTRACED) != 0;
		*ret_n = w[0] & 0xff;
		return;
	case SPOOR_GC_END:
		*ret_n = w[0] & 0xff;
		return;
	default:
		spaces = grow(spaces, &spaces_size, spaces_n + 1, sizeof(*spaces));
		spaces[spaces_n++] = (struct move){(uint64_t)w[1] << 32 | w[2], {0, w[3]}};
		*ret_n = 4;
	}
}

static void ext_words(struct stream *s, const uint32_t *w, uint32_t *ret_n)
{
	uint64_t value = (uint64_t)w[2] << 32 | w[1];
	*ret_n = w[0] >> 12 & 0xff;
	switch (w[0] >> 20 & 0xff) {
	case SPOOR_EXT_GAP:
		sum.gaps++;
		sum.lost += value;
		s->has_gap = true;
		s->has_tlab = false;
		break;
	case SPOOR_EXT_SITE:
		s->next_site = w[1];
		break;
	case SPOOR_EXT_CHECK:
		if (!s->moved)
			break;
		if (classes[s->moved_class].key == w[1])
			sum.right++;
		else
			sum.wrong++;
		break;
	case SPOOR_EXT_BYTES:
		s->has_vm_bytes = true;
		s->vm_bytes = value;
		break;
	case SPOOR_EXT_TOP:
		sum.tops++;
		sum.tops_wrong += s->has_tlab && s->tlab != ((uint64_t)w[1] << 32 | w[2]);
		break;
	}
}

static void birth_words(struct stream *s, const uint32_t *w, uint32_t *ret_n)
{
	uint32_t kind = w[0] >> 28, n = 1, class;
	bool array = kind == SPOOR_OBJ_ARR || kind == SPOOR_OBJ_ARRK;
	uint32_t site = array ? w[0] >> 8 & 0xfffff : w[0] & 0xfffffff;
	if (array && !site)
		site = s->next_site;
	s->next_site = 0;
	if (kind == SPOOR_OBJ_NEWK || kind == SPOOR_OBJ_ARRK)
		class = *key_slot(w[n++]);
	else
		class = site < sites_n ? site_class[site] : 0;
	uint64_t length = w[0] & 0xff;
	if (array && length == 255)
		length = w[n++];
	uint64_t units = class ? size_of(&classes[class], length) : 0;
	if (kind == SPOOR_OBJ_NEWSZ)
		units = w[n++];
	born(s, class, units);
	*ret_n = n;
}

static void retire(struct stream *s, const uint32_t *w)
{
	sum.retired++;
	if (s->has_tlab)
		sum.retired_wrong +=
			(uint32_t)s->tlab != w[1] || s->tlab + (w[0] & 0xfffffff) != s->tlab_end;
	else if (!s->has_gap)
		sum.retired_wrong++;
	s->has_tlab = false;
}

/* How many words the event has; 0: nothing more. */
static uint32_t event(struct stream *s, const uint32_t *w)
{
	uint32_t n = 2;
	uint64_t high = (uint64_t)(w[0] & 0xfffffff) << 32;
	switch (w[0] >> 28) {
	case SPOOR_OBJ_NEW:
	case SPOOR_OBJ_ARR:
	case SPOOR_OBJ_NEWK:
	case SPOOR_OBJ_ARRK:
	case SPOOR_OBJ_NEWSZ:
		birth_words(s, w, &n);
		return n;
	case SPOOR_OBJ_AT:
		s->has_at = true;
		s->at = high | w[1];
		return 2;
	case SPOOR_OBJ_TLAB:
		s->has_tlab = true;
		s->tlab = high | w[1];
		s->tlab_end = s->tlab + w[2];
		return 5;
	case SPOOR_OBJ_RETIRE:
		retire(s, w);
		return 2;
	case SPOOR_OBJ_MOVE:
		sum.moves++;
		n = w[0] >> 26 & 3;
		moved(s, s->last_from + (uint64_t)((int32_t)(w[0] << 6) >> 6), s->next_to[n],
		      (int)n);
		return 1;
	case SPOOR_OBJ_MOVEX:
		sum.moves++;
		moved(s, (uint64_t)(w[0] & 0x3ffffff) << 32 | w[1], (uint64_t)w[2] << 32 | w[3],
		      w[0] >> 26 & 3);
		return 4;
	case SPOOR_OBJ_RUN:
		sum.runs++;
		slid(s, high | w[1], (uint64_t)w[2] << 32 | w[3], w[4]);
		return 5;
	case SPOOR_OBJ_KEEP:
		sum.kept++;
		moved(s, high | w[1], high | w[1], -1);
		return 2;
	case SPOOR_OBJ_GC:
		n = 1;
		gc_words(s, w, &n);
		return n;
	case SPOOR_OBJ_EXT:
		ext_words(s, w, &n);
		return n;
	case SPOOR_OBJ_END: /* only of a JVM that was killed, whose slots were still OWNED */
		return 0;
	default:
		sum.bad_words++;
		return 0;
	}
}

/* Streams */

static struct chunk *chunk_of(const struct spoor_objects_slot *slot)
{
	static size_t size;
	streams = grow(streams, &size, slot->stream + 1, sizeof(*streams));
	streams_n = slot->stream + 1 > streams_n ? slot->stream + 1 : streams_n;
	struct stream *s = &streams[slot->stream];
	s->java_tid = slot->java_tid ? slot->java_tid : s->java_tid;
	s->tid = slot->tid;
	for (size_t i = s->first; i < s->n; i++) {
		if (s->chunks[i].sequence == slot->sequence)
			return &s->chunks[i];
	}
	s->chunks = realloc(s->chunks, (s->n + 1) * sizeof(*s->chunks));
	struct chunk *c = &s->chunks[s->n++];
	*c = (struct chunk){.sequence = slot->sequence, .phase = slot->phase};
	c->words = calloc(1, head->slot_bytes + 64);
	while (c > s->chunks + s->first && c[-1].sequence > c->sequence) {
		struct chunk other = c[-1];
		c[-1] = *c;
		*c-- = other;
	}
	return c;
}

static void take_slot(struct spoor_objects_slot *slot, uint32_t *words, uint32_t used, bool full)
{
	struct chunk *c = chunk_of(slot);
	if (used > head->slot_bytes)
		used = head->slot_bytes;
	if (used / 4 > c->n) {
		sum.words += used / 4 - c->n;
		memcpy(c->words + c->n, words + c->n, used - c->n * 4);
		c->n = used / 4;
	}
	c->full |= full;
}

static void decode(struct stream *s, uint64_t last_phase)
{
	while (s->first < s->n) {
		struct chunk *c = &s->chunks[s->first];
		if (c->sequence != s->next_sequence || c->phase > last_phase)
			return;
		if (c->at == 0 && c->n > 0 && s->phase < c->phase)
			s->phase = c->phase;
		if (c->at == 0)
			memset(s->next_to, 0, sizeof(s->next_to)), s->last_from = 0;
		while (c->at < c->n && s->phase <= last_phase) {
			uint32_t n = event(s, c->words + c->at);
			c->at = n ? c->at + n : c->n;
		}
		if (c->at < c->n || !c->full)
			return;
		free(c->words);
		s->first++;
		s->next_sequence++;
		if (s->first > 64 && s->first * 2 > s->n) {
			memmove(s->chunks, s->chunks + s->first,
				(s->n - s->first) * sizeof(*s->chunks));
			s->n -= s->first;
			s->first = 0;
		}
	}
}

/* What was there when head->phase was read. */
static void take_slots(bool killed, size_t most)
{
	struct spoor_objects_slot *slots = (void *)(ring + head->slot_table);
	for (uint32_t i = 0; i < head->slots && most > 0; i++) {
		uint32_t *words =
			(uint32_t *)(ring + head->slot_area + (uint64_t)i * head->slot_bytes);
		uint32_t state = LOAD(slots[i].state), marked = LOAD(slots[i].marked);
		if (state == SPOOR_SLOT_FULL) {
			take_slot(&slots[i], words, slots[i].used, true);
			memset(words, 0, head->slot_bytes);
			__atomic_store_n(&slots[i].state, SPOOR_SLOT_FREE, __ATOMIC_RELEASE);
			sum.slots++;
			most--;
		} else if (state == SPOOR_SLOT_OWNED && killed) {
			take_slot(&slots[i], words, head->slot_bytes, true);
		} else if (state == SPOOR_SLOT_OWNED && marked) {
			take_slot(&slots[i], words, marked, false);
		}
	}
}

/* Collections have odd numbers, but for the last phase. */
static void decode_all(uint64_t complete, uint64_t now)
{
	static uint64_t done;
	for (; done < complete; done++) {
		for (size_t i = 1; i < streams_n; i++)
			decode(&streams[i], done);
		if (done % 2)
			end_collection();
	}
	for (size_t i = 1; now % 2 == 0 && i < streams_n; i++)
		decode(&streams[i], now);
}

static void print_sums(const char *end)
{
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {{"objects", sum.objects},
		   {"outside", sum.outside},
		   {"unknown_class", sum.unknown_class},
		   {"no_address", sum.no_address},
		   {"retired", sum.retired},
		   {"retired_wrong", sum.retired_wrong},
		   {"tops", sum.tops},
		   {"tops_wrong", sum.tops_wrong},
		   {"collections", sum.collections},
		   {"untraced", sum.untraced},
		   {"moves", sum.moves},
		   {"runs", sum.runs},
		   {"kept", sum.kept},
		   {"unknown_moves", sum.unknown_moves},
		   {"right", sum.right},
		   {"wrong", sum.wrong},
		   {"overwritten", sum.overwritten},
		   {"gaps", sum.gaps},
		   {"lost", sum.lost},
		   {"bad_words", sum.bad_words},
		   {"slots", sum.slots},
		   {"words", sum.words},
		   {"waits", head->waits},
		   {"wait_ns", head->wait_ns},
		   {"ring_lost_bytes", head->lost_bytes},
		   {"lost_names", head->lost_names},
		   {"names_bytes", head->names_used},
		   {"sites", sites_n}};
	for (size_t i = 0; i < COUNT(all); i++)
		printf("sum\t%s\t%" PRIu64 "\n", all[i].name, all[i].value);
	printf("end\t%s\n", end);
}

static void print_all(const char *end)
{
	for (size_t i = 1; i < classes_n; i++) {
		if (classes[i].count)
			printf("class\t%s\t%" PRIu64 "\t%" PRIu64 "\n", classes[i].name,
			       classes[i].count, classes[i].bytes);
	}
	for (size_t i = 1; i < streams_n; i++) {
		const struct stream *s = &streams[i];
		if (s->has_vm_bytes)
			printf("thread\t%" PRId64 "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%d\n",
			       s->java_tid, s->tid, s->bytes, s->vm_bytes, s->has_gap);
	}
	print_sums(end);
}

static void map_ring(int pid)
{
	struct stat st;
	int fd = -1;
	while ((fd = open_ring(pid)) < 0) {
		if (kill(pid, 0))
			die("the JVM ended, and had no ring");
		usleep(1000);
	}
	if (fstat(fd, &st))
		die("fstat");
	while (st.st_size == 0 && !kill(pid, 0) && !fstat(fd, &st))
		usleep(1000);
	ring = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	head = (void *)ring;
	while (LOAD(head->magic) != SPOOR_OBJECTS_MAGIC && !kill(pid, 0))
		usleep(1000);
	heap_units = head->heap_bytes >> head->heap_shift;
	heap = mmap(NULL, heap_units * sizeof(*heap), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (heap == MAP_FAILED)
		die("mmap of the heap");
}

static bool gone(int pid)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	if (!f)
		return true;
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	const char *state = strrchr(text, ')');
	return !state || state[2] == 'Z' || state[2] == 'X';
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	int pid = atoi(argv[1]);
	size_t most = argc > 2 ? (size_t)atol(argv[2]) : SIZE_MAX;
	by_key_n = 1 << 20;
	by_key = calloc(by_key_n, sizeof(*by_key));
	map_ring(pid);
	printf("attached\n");
	fflush(stdout);
	for (;;) {
		bool killed = gone(pid), ended = LOAD(head->ended);
		uint64_t phase = LOAD(head->phase), slots = sum.slots;
		take_slots(killed && !ended, ended || killed ? SIZE_MAX : most);
		read_names();
		decode_all(phase, ended ? 1 : phase);
		if (ended || killed) {
			print_all(ended ? "ended" : "killed");
			return 0;
		}
		if (sum.slots == slots || most != SIZE_MAX)
			usleep(1000);
	}
}
