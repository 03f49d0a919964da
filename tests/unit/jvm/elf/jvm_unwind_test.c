#include "jvm/elf/unwind.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arch/arch.h"
#include "tests/unit/alloc_fail.h"

/* A library by hand: header, three sections, their names; last its .eh_frame: one CIE, one FDE. */
#define FRAMES_OFFSET 0x200
#define FRAMES_VADDR 0x8000u
#define CODE_VADDR 0x1000u
#define CODE_SIZE 0x100
#define PROGRAM_MAX 64
#define LIBRARY_MAX 0x300

struct library {
	_Alignas(8) uint8_t bytes[LIBRARY_MAX];
	size_t size;
};

/* The machine that a library is for, and what its calls leave: the CIE's program. */
static const struct target {
	const struct arch *arch;
	uint16_t elf_machine;
	uint8_t link, state[5];
} x86_64 = {&arch_x86_64, EM_X86_64, 16, {DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 1}},
  arm64 = {&arch_arm64, EM_AARCH64, 30, {DW_CFA_def_cfa, 31, 0}};
static const struct target *target = &x86_64;

static void put(struct library *l, const void *bytes, size_t size)
{
	memcpy(l->bytes + l->size, bytes, size);
	l->size += size;
}

static void put_u32(struct library *l, uint32_t value)
{
	put(l, &value, sizeof(value));
}

/* A CIE or an FDE begins with its length, and ends with DW_CFA_nops up to a word's end. */
static size_t entry_begin(struct library *l)
{
	put_u32(l, 0);
	return l->size;
}

static void entry_end(struct library *l, size_t begin)
{
	uint32_t length;

	l->size += -l->size & 3;
	length = (uint32_t)(l->size - begin);
	memcpy(l->bytes + begin - 4, &length, sizeof(length));
}

/* The FDE's program goes on from the CIE's: on x86-64 CFA = rsp + 8, return address at CFA - 8. */
static void frames_put(struct library *l, const uint8_t *program, size_t size)
{
	const uint8_t head[] = {1, 'z', 'R', 0, 1, 0x78, target->link, 1, DW_EH_PE_pcrel | 0x0b};
	size_t begin = entry_begin(l);

	put_u32(l, 0);
	put(l, head, sizeof(head)); /* version, words of -8 bytes, addresses are relative */
	put(l, target->state, sizeof(target->state));
	entry_end(l, begin);
	begin = entry_begin(l);
	put_u32(l, (uint32_t)(begin - FRAMES_OFFSET)); /* back to the CIE */
	put_u32(l, CODE_VADDR - (FRAMES_VADDR + (uint32_t)l->size - FRAMES_OFFSET));
	put_u32(l, CODE_SIZE);
	put(l, "", 1); /* no augmentation data */
	put(l, program, size);
	entry_end(l, begin);
	put_u32(l, 0);
}

static void library_make(struct library *l, const uint8_t *program, size_t size)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = target->elf_machine,
		.e_version = EV_CURRENT,
		.e_shoff = 0x100,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Shdr sections[3] = {
		[1] = {.sh_name = 1,
		       .sh_type = SHT_PROGBITS,
		       .sh_flags = SHF_ALLOC,
		       .sh_addr = FRAMES_VADDR,
		       .sh_offset = FRAMES_OFFSET,
		       .sh_addralign = 8},
		[2] = {.sh_name = 11,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = 0x80,
		       .sh_size = sizeof(names)},
	};

	assert_true(size <= PROGRAM_MAX);
	memset(l, 0, sizeof(*l));
	l->size = FRAMES_OFFSET;
	frames_put(l, program, size);
	sections[1].sh_size = l->size - FRAMES_OFFSET;
	memcpy(l->bytes, &head, sizeof(head));
	memcpy(l->bytes + 0x80, names, sizeof(names));
	memcpy(l->bytes + 0x100, sections, sizeof(sections));
}

/* As unwind_open of a file that holds these bytes. */
static int open_bytes(const void *bytes, size_t size, struct unwind **ret)
{
	int fd = memfd_create("library", MFD_CLOEXEC), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	err = unwind_open_of(target->arch, fd, ret);
	close(fd);
	return err;
}

static int open_path(const char *path, struct unwind **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = unwind_open_of(&arch_x86_64, fd, ret);
	close(fd);
	return err;
}

#define AT(n) (DW_CFA_advance_loc + (n))
#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define RBP_AT(words) DW_CFA_offset + 6, words

/* What the rule is at CODE_VADDR + 8, after this program. */
static const struct row {
	const uint8_t *program;
	size_t size;
	int err;
	struct unwind_rule rule;
} rules[] = {
	/* on entry, then push rbp; what comes at 9 does not count yet */
	{PROGRAM(DW_CFA_nop), 0, {false, false, 8, 0, false, -8}},
	{PROGRAM(AT(8), DW_CFA_def_cfa_offset, 16, RBP_AT(2)),
	 0,
	 {false, true, 16, -16, false, -8}},
	{PROGRAM(AT(9), DW_CFA_def_cfa_offset, 16, RBP_AT(2)), 0, {false, false, 8, 0, false, -8}},
	/* mov rsp, rbp; the epilogue's state, and back */
	{PROGRAM(DW_CFA_def_cfa_offset, 16, RBP_AT(2), DW_CFA_def_cfa_register, 6),
	 0,
	 {true, true, 16, -16, false, -8}},
	{PROGRAM(DW_CFA_def_cfa, 6, 16, RBP_AT(2), AT(1), DW_CFA_remember_state, DW_CFA_def_cfa, 7,
		 8, DW_CFA_restore + 6, AT(1)),
	 0,
	 {false, false, 8, 0, false, -8}},
	{PROGRAM(DW_CFA_def_cfa, 6, 16, RBP_AT(2), AT(1), DW_CFA_remember_state, DW_CFA_def_cfa, 7,
		 8, DW_CFA_restore + 6, AT(1), DW_CFA_restore_state),
	 0,
	 {true, true, 16, -16, false, -8}},
	/* a large frame; rbp at the CFA itself, and above it */
	{PROGRAM(DW_CFA_def_cfa_offset, 0x90, 0x80, 0x40),
	 0,
	 {false, false, 0x100010, 0, false, -8}},
	{PROGRAM(RBP_AT(0)), 0, {false, true, 8, 0, false, -8}},
	{PROGRAM(DW_CFA_offset_extended_sf, 6, 0x7f), 0, {false, true, 8, 8, false, -8}},
	{PROGRAM(DW_CFA_def_cfa_offset_sf, 0x7e), 0, {false, false, 16, 0, false, -8}},
	/* said to be unchanged; as an expression that is the same as an offset */
	{PROGRAM(RBP_AT(2), DW_CFA_same_value, 6), 0, {false, false, 8, 0, false, -8}},
	{PROGRAM(DW_CFA_expression, 6, 2, DW_OP_plus_uconst, 24),
	 0,
	 {false, true, 8, 24, false, -8}},
	/* lost; a value, not an address; in a register; anywhere */
	{PROGRAM(DW_CFA_undefined, 6), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_val_offset, 6, 2), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_register, 6, 3), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_expression, 6, 2, DW_OP_breg7, 8), -ENOTSUP, {0}},
	/* the CFA from another register, from an expression, or beyond 2 GiB */
	{PROGRAM(DW_CFA_def_cfa, 10, 0), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_deref), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x08), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_offset_extended, 6, 0x80, 0x80, 0x80, 0x80, 0x04), -ENOTSUP, {0}},
	/* where execution begins; the return address elsewhere; the caller's rsp not the CFA */
	{PROGRAM(DW_CFA_undefined, 16), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_offset + 16, 2), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_offset + 7, 3), -ENOTSUP, {0}},
	/* no such instruction */
	{PROGRAM(0x3f), -ENOENT, {0}},
};

#define FP_AND_LINK_AT(fp, link) DW_CFA_offset + 29, fp, DW_CFA_offset + 30, link

static const struct row rules_arm64[] = {
	/* a leaf; stp x29, x30, [sp, -32]!; then mov x29, sp; at the frame's other end; both restored */
	{PROGRAM(DW_CFA_nop), 0, {false, false, 0, 0, true, 0}},
	{PROGRAM(DW_CFA_def_cfa_offset, 32, FP_AND_LINK_AT(4, 3)),
	 0,
	 {false, true, 32, -32, false, -24}},
	{PROGRAM(DW_CFA_def_cfa_offset, 32, FP_AND_LINK_AT(4, 3), DW_CFA_def_cfa_register, 29),
	 0,
	 {true, true, 32, -32, false, -24}},
	{PROGRAM(DW_CFA_def_cfa_offset, 48, FP_AND_LINK_AT(2, 1)),
	 0,
	 {false, true, 48, -16, false, -8}},
	{PROGRAM(DW_CFA_def_cfa_offset, 32, FP_AND_LINK_AT(4, 3), AT(4), DW_CFA_restore + 30,
		 DW_CFA_restore + 29, DW_CFA_def_cfa_offset, 0),
	 0,
	 {false, false, 0, 0, true, 0}},
	/* str x30, [sp, -16]! alone; sub sp, sp, 64 in a leaf */
	{PROGRAM(DW_CFA_def_cfa_offset, 16, DW_CFA_offset + 30, 2),
	 0,
	 {false, false, 16, 0, false, -16}},
	{PROGRAM(DW_CFA_def_cfa_offset, 64), 0, {false, false, 64, 0, true, 0}},
	/* where a thread begins; in another register */
	{PROGRAM(DW_CFA_undefined, 30), -ENOTSUP, {0}},
	{PROGRAM(DW_CFA_register, 30, 16), -ENOTSUP, {0}},
};

static void rules_check(const struct row *rules, size_t count)
{
	struct unwind_rule rule, untouched;
	struct library l;
	struct unwind *u;

	for (size_t i = 0; i < count; i++) {
		memset(&rule, 0x55, sizeof(rule));
		untouched = rule;
		library_make(&l, rules[i].program, rules[i].size);
		assert_int_equal(open_bytes(l.bytes, l.size, &u), 0);
		if (unwind_rule(u, CODE_VADDR + 8, &rule) != rules[i].err)
			fail_msg("rule %zu", i);
		if (rules[i].err) {
			assert_memory_equal(&rule, &untouched, sizeof(rule));
		} else if (rule.cfa_from_fp != rules[i].rule.cfa_from_fp ||
			   rule.fp_saved != rules[i].rule.fp_saved ||
			   rule.cfa_offset != rules[i].rule.cfa_offset ||
			   rule.fp_offset != rules[i].rule.fp_offset ||
			   rule.return_kept != rules[i].rule.return_kept ||
			   rule.return_offset != rules[i].rule.return_offset) {
			fail_msg("rule %zu: fp %d %d, CFA %d, fp at %d, return %d at %d", i,
				 rule.cfa_from_fp, rule.fp_saved, rule.cfa_offset, rule.fp_offset,
				 rule.return_kept, rule.return_offset);
		}
		assert_int_equal(unwind_rule(u, CODE_VADDR - 1, &rule), -ENOENT);
		assert_int_equal(unwind_rule(u, CODE_VADDR + CODE_SIZE, &rule), -ENOENT);
		assert_int_equal(unwind_rule(u, UINT64_MAX, &rule), -ENOENT);
		unwind_close(u);
	}
}

static void rules_are_read(void **state)
{
	(void)state;
	rules_check(rules, sizeof(rules) / sizeof(rules[0]));
}

static void return_addresses_may_be_in_a_register(void **state)
{
	(void)state;
	target = &arm64;
	rules_check(rules_arm64, sizeof(rules_arm64) / sizeof(rules_arm64[0]));
	target = &x86_64;
}

static void what_is_no_library_is_refused(void **state)
{
	static const char text[] = "#!/bin/sh\n", archive[] = "!<arch>\n";
	struct unwind *u = (struct unwind *)&u;
	struct library l, other;

	(void)state;
	unwind_close(NULL);
	assert_int_equal(open_path("/proc/self", &u), -EPROTO); /* a directory */
	assert_int_equal(open_bytes(text, sizeof(text) - 1, &u), -EPROTO);
	assert_int_equal(open_bytes(archive, sizeof(archive) - 1, &u), -EPROTO);
	assert_int_equal(open_bytes(text, 0, &u), -EPROTO);
	library_make(&l, PROGRAM(DW_CFA_nop));
	other = l;
	other.bytes[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_bytes(other.bytes, other.size, &u), -EPROTO);
	other = l;
	other.bytes[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_bytes(other.bytes, other.size, &u), -EPROTO);
	other = l;
	other.bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_AARCH64;
	assert_int_equal(open_bytes(other.bytes, other.size, &u), -EPROTO);
	other = l;
	memset(other.bytes + 0x80, 'x', 8); /* its section is named otherwise */
	assert_int_equal(open_bytes(other.bytes, other.size, &u), -ENOENT);
	assert_ptr_equal(u, &u);
}

static void try(const void *bytes, size_t size)
{
	struct unwind_rule rule;
	struct unwind *u;

	if (open_bytes(bytes, size, &u))
		return;
	for (uint64_t at = CODE_VADDR; at < CODE_VADDR + 24; at += 4)
		(void)unwind_rule(u, at, &rule);
	(void)unwind_rule(u, UINT64_MAX, &rule);
	unwind_close(u);
}

static void damage_is_survived(void **state)
{
	static const uint8_t to[] = {0, 1, 0x7f, 0x80, 0xff};
	struct library l, damaged;

	(void)state;
	library_make(&l, PROGRAM(AT(4), DW_CFA_def_cfa_offset, 16, RBP_AT(2), AT(4),
				 DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, AT(4),
				 DW_CFA_remember_state, DW_CFA_def_cfa, 6, 16, AT(4),
				 DW_CFA_restore_state));
	for (size_t size = 0; size < l.size; size++)
		try(l.bytes, size);
	for (size_t at = 0; at < l.size; at++)
		for (size_t k = 0; k < sizeof(to); k++) {
			damaged = l;
			damaged.bytes[at] = to[k];
			try(damaged.bytes, damaged.size);
		}
}

static void allocations_may_fail(void **state)
{
	struct unwind_rule rule = {0};
	struct unwind *u = NULL;
	unsigned long n = 0;
	struct library l;
	int err;

	(void)state;
	library_make(&l, PROGRAM(DW_CFA_def_cfa_offset, 16, RBP_AT(2)));
	do {
		rule = (struct unwind_rule){0};
		alloc_fail_at(n++);
		err = open_bytes(l.bytes, l.size, &u);
		if (!err) {
			err = unwind_rule(u, CODE_VADDR, &rule);
			unwind_close(u);
		}
		assert_true(err == 0 || err == -ENOMEM);
		/* A rule that was made without memory would be a wrong one. */
		if (!err)
			assert_true(!rule.cfa_from_fp && rule.fp_saved && rule.cfa_offset == 16 &&
				    rule.fp_offset == -16);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_true(n > 3);
}

#if defined(__x86_64__)
/*
 * The rules of real code: a child is stepped through the functions below one instruction at a time,
 * and at each, wherever it is, the rules lead through all callers. What is right is known from the
 * steps: a call is a step after which rsp is 8 less and what it points to is the address behind the
 * call; where the caller's rbp was then is where it must be after unwinding.
 */

#define DEPTH_MAX 64
#define STEPS_MAX 200000
#define OBJECTS_MAX 16

struct caller {
	uint64_t slot, rbp; /* where the return address is; the register at the call */
};

struct object {
	uint64_t low, high, bias;
	char path[256];
	struct unwind *unwind;
};

static struct {
	pid_t child;
	struct object objects[OBJECTS_MAX];
	size_t object_count;
	struct caller callers[DEPTH_MAX];
	size_t depth, deepest;
	unsigned long checked, frames, unsupported, libraries;
} steps;

#define PLAIN                                                                                      \
	__attribute__((noinline, noipa, optimize("omit-frame-pointer"),                            \
		       no_sanitize("address", "undefined")))

int clobbers_rbp(int (*next)(int), int n);

/* rbp is a register like all others here, as in code of C2. */
__asm__(".text\n"
	".type clobbers_rbp, @function\n"
	"clobbers_rbp:\n"
	".cfi_startproc\n"
	"push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset rbx, -16\n"
	"push %rbp\n.cfi_def_cfa_offset 24\n.cfi_offset rbp, -24\n"
	"sub $40, %rsp\n.cfi_def_cfa_offset 64\n"
	"mov $0x1234567, %rbp\n"
	"mov %rdi, %rbx\n"
	"mov %esi, %edi\n"
	"call *%rbx\n"
	"add %ebp, %eax\n"
	"add $40, %rsp\n.cfi_def_cfa_offset 24\n"
	"pop %rbp\n.cfi_restore rbp\n.cfi_def_cfa_offset 16\n"
	"pop %rbx\n.cfi_restore rbx\n.cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size clobbers_rbp, .-clobbers_rbp\n");

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Back from a library: its functions are unwound too. */
PLAIN static int sorts(int n)
{
	int values[5] = {n, 3, 9, 1, 4};

	qsort(values, 5, sizeof(values[0]), order);
	return values[0];
}

PLAIN static int has_large_frame(int n)
{
	volatile int values[5000];

	values[n] = sorts(n);
	return values[n] + n;
}

/* Its frame's size is known only when it runs: CFA = rbp + 16, whatever the options. */
PLAIN static int has_variable_frame(int n)
{
	volatile int *values = __builtin_alloca((size_t)n * 16);

	values[n] = clobbers_rbp(has_large_frame, n);
	return values[n];
}

PLAIN static int recurses(int n)
{
	return n > 4 ? recurses(n - 1) * 3 + has_variable_frame(n) : has_variable_frame(n);
}

/* With a frame pointer: the unit tests are built with one. */
__attribute__((noinline, noipa)) static int work(int n)
{
	return clobbers_rbp(recurses, n) + 1;
}

static uint64_t read_u64(uint64_t addr)
{
	uint64_t value = 0;
	struct iovec to = {&value, 8}, from = {(void *)addr, 8};

	assert_int_equal(process_vm_readv(steps.child, &to, 1, &from, 1, 0), 8);
	return value;
}

static int object_add(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum && steps.object_count < OBJECTS_MAX; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct object *o = &steps.objects[steps.object_count];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		o->bias = info->dlpi_addr;
		o->low = o->bias + p->p_vaddr;
		o->high = o->low + p->p_memsz;
		snprintf(o->path, sizeof(o->path), "%s",
			 info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
		/* The vDSO is no file. */
		if (!open_path(o->path, &o->unwind))
			steps.object_count++;
	}
	return 0;
}

static struct object *object_at(uint64_t pc)
{
	for (size_t i = 0; i < steps.object_count; i++)
		if (pc >= steps.objects[i].low && pc < steps.objects[i].high)
			return &steps.objects[i];
	return NULL;
}

static void callers_check(const struct user_regs_struct *regs)
{
	uint64_t rsp = regs->rsp, rbp = regs->rbp, pc = regs->rip;

	for (size_t i = steps.depth; i-- > 0;) {
		struct object *o = object_at(pc);
		struct unwind_rule r;
		uint64_t cfa;
		int err;

		assert_non_null(o);
		err = unwind_rule(o->unwind, pc - o->bias, &r);
		/* The dynamic linker's own, and its way there through the PLT. */
		if (err == -ENOTSUP && (o != &steps.objects[0] || pc == regs->rip)) {
			steps.unsupported++;
			return;
		}
		if (err)
			fail_msg("no rule at %s+%#" PRIx64 ": %d", o->path, pc - o->bias, err);
		cfa = (r.cfa_from_fp ? rbp : rsp) + (uint64_t)(int64_t)r.cfa_offset;
		if (cfa - 8 != steps.callers[i].slot)
			fail_msg("caller %zu of %s+%#" PRIx64 ": at %#" PRIx64 ", not %#" PRIx64, i,
				 o->path, pc - o->bias, cfa - 8, steps.callers[i].slot);
		if (r.fp_saved)
			rbp = read_u64(cfa + (uint64_t)(int64_t)r.fp_offset);
		assert_int_equal(rbp, steps.callers[i].rbp);
		rsp = cfa;
		pc = read_u64(cfa - 8) - 1;
		steps.frames++;
		steps.libraries += o != &steps.objects[0];
	}
	steps.checked++;
}

static void step(struct user_regs_struct *regs)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, steps.child, NULL, NULL), 0);
	assert_int_equal(waitpid(steps.child, &status, 0), steps.child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_int_equal(ptrace(PTRACE_GETREGS, steps.child, NULL, regs), 0);
}

static void call_or_return(const struct user_regs_struct *before,
			   const struct user_regs_struct *now)
{
	while (steps.depth && now->rsp > steps.callers[steps.depth - 1].slot)
		steps.depth--;
	if (now->rsp == before->rsp - 8) {
		uint64_t back = read_u64(now->rsp);

		if (back - before->rip >= 2 && back - before->rip <= 8 && now->rip != back) {
			assert_true(steps.depth < DEPTH_MAX);
			steps.callers[steps.depth++] = (struct caller){now->rsp, before->rbp};
		}
	}
	if (steps.depth > steps.deepest)
		steps.deepest = steps.depth;
}

static void child_run(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	_exit(work(7) & 1);
}

static void each_instruction_has_its_rule(void **state)
{
	struct user_regs_struct before, now;
	unsigned long n = 0;
	int status;

	(void)state;
	dl_iterate_phdr(object_add, NULL);
	steps.child = fork();
	assert_true(steps.child >= 0);
	if (!steps.child)
		child_run();
	assert_int_equal(waitpid(steps.child, &status, 0), steps.child);
	if (!WIFSTOPPED(status))
		fail_msg("no ptrace here: status %#x", status);
	do {
		assert_true(n++ < STEPS_MAX);
		step(&now);
	} while (now.rip != (uint64_t)work);
	steps.callers[steps.depth++] = (struct caller){now.rsp, now.rbp};
	for (n = 0; n < STEPS_MAX && steps.depth; n++) {
		callers_check(&now);
		before = now;
		step(&now);
		call_or_return(&before, &now);
	}
	kill(steps.child, SIGKILL);
	waitpid(steps.child, &status, 0);
	for (size_t i = 0; i < steps.object_count; i++)
		unwind_close(steps.objects[i].unwind);
	assert_int_equal(steps.depth, 0);
	printf("%lu instructions, %lu frames, %lu of them in libraries, depth %zu, %lu left out\n",
	       steps.checked, steps.frames, steps.libraries, steps.deepest, steps.unsupported);
	assert_true(steps.checked > 500 && steps.deepest >= 12 && steps.libraries > 100);
	assert_true(steps.unsupported * 10 < steps.checked);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(return_addresses_may_be_in_a_register),
		cmocka_unit_test(what_is_no_library_is_refused),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(allocations_may_fail),
#if defined(__x86_64__)
		cmocka_unit_test(each_instruction_has_its_rule),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
