/*
 * Reads the memory of a JVM that says anything of itself: vmStructs, flags, layouts, Java threads, their names. The
 * input is a sparse image (tests/fuzz/image_record.py makes one of a process): the addresses of the vmStructs symbols,
 * then stretches of memory: address, length, bytes. What is in no stretch faults.
 */
#include <errno.h>
#include <unistd.h>

#include "fuzz.h"
#include "jvm/jvm_state.h"
#include "jvm/layout/klass.h"
#include "jvm/layout/versions/versions.h"

#define STRETCHES_MAX 512
#define HEAD_BYTES (VMSYM_COUNT * sizeof(uint64_t))
#define STRETCH_BYTES 12

struct stretch {
	uint64_t addr;
	uint32_t size;
	const uint8_t *bytes;
};

struct sparse {
	uint64_t symbols[VMSYM_COUNT];
	struct stretch at[STRETCHES_MAX];
	unsigned count;
	uint64_t reads;
};

static void sparse_parse(const uint8_t *data, size_t size, struct sparse *ret)
{
	ret->count = 0;
	ret->reads = 0;
	memset(ret->symbols, 0, sizeof(ret->symbols));
	if (size < HEAD_BYTES)
		return;
	memcpy(ret->symbols, data, HEAD_BYTES);
	data += HEAD_BYTES;
	size -= HEAD_BYTES;
	while (size > STRETCH_BYTES && ret->count < STRETCHES_MAX) {
		struct stretch *s = &ret->at[ret->count++];

		memcpy(&s->addr, data, sizeof(s->addr));
		memcpy(&s->size, data + 8, sizeof(s->size));
		s->bytes = data += STRETCH_BYTES;
		size -= STRETCH_BYTES;
		if (s->size > size)
			s->size = (uint32_t)size;
		data += s->size;
		size -= s->size;
	}
}

/* Stretches that lie next to each other are read across; as a process's memory, byte by byte. */
static int sparse_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	struct sparse *p = (struct sparse *)m->image;
	uint8_t *to = ret;

	p->reads++;
	while (len) {
		size_t n = 0;

		for (unsigned i = 0; i < p->count && !n; i++) {
			const struct stretch *s = &p->at[i];

			if (addr < s->addr || addr - s->addr >= s->size)
				continue;
			n = s->size - (addr - s->addr) < len ? s->size - (addr - s->addr) : len;
			memcpy(to, s->bytes + (addr - s->addr), n);
		}
		if (!n)
			return -EFAULT;
		addr += n;
		to += n;
		len -= n;
	}
	return 0;
}

static void flags_check(const struct jvm *j, const struct flag_table *t)
{
	bool on;

	for (size_t i = 0; i < t->count; i++)
		ENSURE(flag_find(t, t->flags[i].name) && memchr(t->flags[i].name, 0, 1024));
	flag_bool(&j->mem, t, "UseCompressedOops", &on);
	flag_bool(&j->mem, t, "DTraceMonitorProbes", &on);
}

static void threads_check(const struct jvm *j)
{
	struct jvm_thread *threads;
	size_t count;

	if (jvm_threads(j, &threads, &count))
		return;
	for (size_t i = 0; i < count; i++)
		ENSURE(memchr(threads[i].name, 0, sizeof(threads[i].name)));
	free(threads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sparse image; /* large */
	static struct jvm j;
	struct flag_table flags;
	const struct jdk_version *version = data[0] & 4 ? &jdk_25 : &jdk_17;
	const char *missing = NULL;
	int err = 0;

	sparse_parse(data, size, &image);
	j = (struct jvm){.pid = getpid(), .mem = {.read = sparse_read, .fd = -1, .image = &image}};
	if (vmstructs_load(&j.mem, image.symbols, &j.vms))
		return 0;
	if (!flag_table_load(&j.mem, j.vms, &flags)) {
		flags_check(&j, &flags);
		flag_table_free(&flags);
	}
	if (code_layout_load(j.vms, jdk_17.code, &j.code, &missing))
		ENSURE(missing);
	else
		code_layout_refresh(&j.mem, j.vms, &j.code);
	missing = NULL;
	if (layout_load(j.vms, &version->layout, &j.layout, &j.source, &missing)) {
		ENSURE(missing);
	} else {
		for (int i = 0; i < 2 && err >= 0; i++)
			err = layout_refresh(&j.mem, &j.source, data[0] & 1, data[0] & 2,
					     &j.layout);
		threads_check(&j);
	}
	vmstructs_free(j.vms);
	return 0;
}

/* Words are changed, as a process would change them: the shape of the image stays. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static const uint64_t liked[] = {0,
					 1,
					 7,
					 8,
					 0xff,
					 0xfff8,
					 0x7fffffff,
					 0xffffffff,
					 1ull << 40,
					 1ull << 47,
					 1ull << 63,
					 UINT64_MAX,
					 UINT64_MAX - 7};
	uint64_t dice = (seed + 1) * 0x9e3779b97f4a7c15ull, word, other;
	unsigned changes = 1u << (dice >> 60 & 3);

	if (seed % 8 == 0 || size < HEAD_BYTES + STRETCH_BYTES + 8)
		return LLVMFuzzerMutate(data, size, max);
	while (changes--) {
		size_t at = (dice >> 8) % (size - 8), from = (dice >> 24) % (size - 8);

		/* Most words of an image are aligned in it, as its stretches are. */
		at -= dice >> 50 & 3 ? at % 4 : 0;
		from -= dice >> 52 & 3 ? from % 4 : 0;
		memcpy(&word, data + at, 8);
		memcpy(&other, data + from, 8);
		if ((dice >> 40) % 5 == 0)
			word = liked[(dice >> 44) % (sizeof(liked) / sizeof(*liked))];
		else if ((dice >> 40) % 5 == 1)
			word ^= 1ull << (dice >> 44 & 63);
		else if ((dice >> 40) % 5 == 2)
			word = other;
		else
			word += (uint64_t)((int)(dice >> 44 & 31) - 16) *
				((dice >> 40) % 5 == 3 ? 1 : 8);
		memcpy(data + at, &word, dice >> 54 & 1 ? 8 : 4);
		dice = dice * 6364136223846793005ull + 1442695040888963407ull;
	}
	return size;
}
