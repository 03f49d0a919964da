/*
 * Compiled code calls some functions as leaves, without a frame anchor: of libjvm, which may call
 * libc (memory is copied) or the kernel's vDSO (the time is read). The vDSO is the same in every
 * process of a kernel but for its address, so its rules are read from our own. Their files are read
 * by the parser process. Up to glibc 2.33 the locks by which libjvm wakes threads are in a library
 * of their own, and the files are named after the release (libc-2.31.so).
 *
 * Who wants to know the native callers of a sample needs the rules of any library.
 */
#include "jvm/native.h"

#include "base/text/units.h"
#include "jvm/elf/parser.h"
#include "jvm/jvm.h"
#include "jvm/target/code_mappings.h"
#include "jvm/target/mapped_file.h"
#include "jvm/target/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBC "libc.so.6"
#define LIBC_OLDER "libc-2.*.so"
#define LIBC_MAX (16u << 20)
#define PTHREAD "libpthread-2.*.so"
#define PTHREAD_MAX (128u << 10) /* with its data: 136 KiB in 2.31, 2 MiB in 2.17 */
#define VDSO_MAX 65536

/* In the order of looking: libc's end is not known. Each is one of the parser's slots, too. */
enum { LIBJVM, VDSO, PTHREAD_SO, LIBC_SO, LIBRARIES };
_Static_assert(LIBRARIES <= PARSER_SLOTS, "a slot for each");

/*
 * The recorder waits for each rule, and drains no ring meanwhile. The parser process has a deadline
 * for each, and a library may have thousands of which none is missed: so all rules of a library
 * take RULES_NS, and one part in RULES_SHARE of the time since the first.
 */
#define RULES_NS (2 * NS_PER_S)
#define RULES_SHARE 50

struct library {
	uint64_t low, high, bias; /* high 0: there is none */
	int file;                 /* -1: not opened yet, or not to be had */
	bool tried;
	uint64_t first_ns, spent_ns; /* when its first rule was asked for; on all of them */
};

struct native {
	const struct jvm *j;
	struct library libraries[PARSER_SLOTS]; /* others than the named ones come behind them */
	struct process_lib libs[PARSER_SLOTS];  /* where they are found by name, or by address */
	int count;
	struct code_mappings mappings;
};

/* The vDSO's address is in the auxiliary vector. */
static uint64_t vdso_base(pid_t pid)
{
	uint64_t pair[2], base = 0;
	char *text;
	size_t len;

	if (process_file(pid, "auxv", &text, &len))
		return 0;
	for (size_t at = 0; at + sizeof(pair) <= len && !base; at += sizeof(pair)) {
		memcpy(pair, text + at, sizeof(pair));
		if (pair[0] == AT_SYSINFO_EHDR)
			base = pair[1];
	}
	free(text);
	return base;
}

/* The end of what our own vDSO's segments and section headers take. */
static size_t vdso_size(const Elf64_Ehdr *head)
{
	const Elf64_Phdr *p = (const void *)((const char *)head + head->e_phoff);
	uint64_t end = head->e_shoff + (uint64_t)head->e_shnum * head->e_shentsize;

	for (int i = 0; i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_offset + p[i].p_filesz > end)
			end = p[i].p_offset + p[i].p_filesz;
	return end < VDSO_MAX ? end : 0;
}

static const Elf64_Ehdr *vdso_own(void)
{
	/* The kernel's own word for where it is. */
	return (const Elf64_Ehdr *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
}

static int vdso_open(void)
{
	const Elf64_Ehdr *own = vdso_own();
	size_t size = vdso_size(own);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, own, size) != (ssize_t)size) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static void library_find(struct native *n, int which, const char *pattern, uint64_t max)
{
	struct process_lib *lib = &n->libs[which];

	if (!n->libraries[which].high && !process_lib(jvm_pid(n->j), pattern, lib))
		n->libraries[which] = (struct library){
			.low = lib->start, .high = lib->start + max, .bias = lib->start};
}

int native_new(const struct jvm *j, struct native **ret)
{
	struct native *n = calloc(1, sizeof(*n));
	struct library *l;

	if (!n)
		return -ENOMEM;
	n->j = j;
	n->count = LIBRARIES;
	n->mappings.pid = jvm_pid(j);
	l = n->libraries;
	jvm_libjvm_text(j, &l[LIBJVM].low, &l[LIBJVM].high, &l[LIBJVM].bias);
	library_find(n, PTHREAD_SO, PTHREAD, PTHREAD_MAX);
	library_find(n, LIBC_SO, LIBC, LIBC_MAX);
	library_find(n, LIBC_SO, LIBC_OLDER, LIBC_MAX);
	for (int i = 0; i < LIBRARIES; i++)
		l[i].file = -1;
	if (vdso_own())
		l[VDSO].low = l[VDSO].bias = vdso_base(jvm_pid(j));
	if (l[VDSO].low)
		l[VDSO].high = l[VDSO].low + vdso_size(vdso_own());
	*ret = n;
	return 0;
}

void native_free(struct native *n)
{
	for (int i = 0; n && i < n->count; i++)
		if (n->libraries[i].file >= 0)
			close(n->libraries[i].file);
	if (n)
		code_mappings_clear(&n->mappings);
	free(n);
}

static void library_open(struct native *n, int which)
{
	struct library *l = &n->libraries[which];

	if (l->tried)
		return;
	l->tried = true;
	if (which == LIBJVM)
		l->file = fcntl(jvm_libjvm_file(n->j), F_DUPFD_CLOEXEC, 0);
	else if (which == VDSO)
		l->file = vdso_open();
	else
		l->file = mapped_file_open(jvm_pid(n->j), &n->libs[which]);
}

static int timed_rule(const struct native *n, int which, struct library *l, uint64_t vaddr,
		      struct unwind_rule *ret)
{
	uint64_t begin_ns = clock_mono_ns(), now_ns;
	int err = parser_rule(jvm_parser(n->j), (unsigned)which, l->file, vaddr, ret);

	now_ns = clock_mono_ns();
	if (!l->first_ns)
		l->first_ns = begin_ns;
	l->spent_ns += now_ns - begin_ns;
	return l->spent_ns > RULES_NS + (now_ns - l->first_ns) / RULES_SHARE ? -ETIME : err;
}

/* What has ended the parser once is not given to the next. */
static int library_rule(struct native *n, int which, uint64_t vaddr, struct unwind_rule *ret)
{
	struct library *l = &n->libraries[which];
	int err = -ENOENT;

	library_open(n, which);
	if (l->file >= 0)
		err = timed_rule(n, which, l, vaddr, ret);
	if (err == -ETIME || err == -ELIBBAD || err == -ECHILD) {
		close(l->file);
		l->file = -1;
	}
	return err;
}

int native_rule(struct native *n, uint64_t pc, bool is_return, struct unwind_rule *ret)
{
	for (int i = 0; i < LIBRARIES; i++) {
		const struct library *l = &n->libraries[i];

		/* A return address may be the first of the next function's. */
		if (pc >= l->low && pc < l->high)
			return library_rule(n, i, pc - l->bias - is_return, ret);
	}
	return -ENOENT;
}

static bool is_same_file(const struct process_lib *a, const struct process_lib *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* The slot of the library; -1: there is none left. */
static int other_find(struct native *n, const struct process_lib *lib)
{
	for (int i = LIBC_SO; i < n->count; i++)
		if (n->libraries[i].bias == lib->base && is_same_file(&n->libs[i], lib))
			return i;
	if (n->count == PARSER_SLOTS)
		return -1;
	n->libs[n->count] = *lib;
	n->libraries[n->count] = (struct library){.bias = lib->base, .file = -1};
	return n->count++;
}

int native_rule_any(struct native *n, uint64_t pc, bool is_return, struct unwind_rule *ret)
{
	const struct process_lib *lib;
	int which;

	for (int i = 0; i < LIBC_SO; i++)
		if (pc >= n->libraries[i].low && pc < n->libraries[i].high)
			return native_rule(n, pc, is_return, ret);
	lib = code_mappings_find(&n->mappings, pc - is_return);
	which = lib && lib->base ? other_find(n, lib) : -1;
	return which < 0 ? -ENXIO
			 : library_rule(n, which, pc - lib->base - is_return, ret);
}
