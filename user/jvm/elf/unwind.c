#include "jvm/elf/unwind.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#include <dwarf.h>

#include "base/arch/arch.h"

/*
 * libdw gives a rule as DWARF expressions, however the file says it: the CFA as one operation
 * "register + N", a saved register's address as "CFA" or as "CFA, plus N". What is longer, or of
 * other registers, a walker in BPF does not follow: of 358,856 addresses in Debian's libjvm.so
 * 17.0.15 (the first and last address of each row of its table; all rules as readelf has them)
 * these are 2, both in its PLT. In glibc it is also where threads begin, and signal trampolines.
 */

struct unwind {
	const struct arch *arch;
	Elf *elf;
	Dwarf_CFI *cfi;
};

/* libelf and libdw have private codes for their errors. */
static int error(int otherwise)
{
	return errno == ENOMEM ? -ENOMEM : otherwise;
}

static int elf_read(int fd, struct unwind *u)
{
	GElf_Ehdr head;

	/* Read, not mapped: a file that is overwritten must not end the recorder by SIGBUS. */
	u->elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (!u->elf || elf_kind(u->elf) != ELF_K_ELF || !gelf_getehdr(u->elf, &head) ||
	    gelf_getclass(u->elf) != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    head.e_machine != u->arch->elf_machine)
		return error(-EPROTO);
	u->cfi = dwarf_getcfi_elf(u->elf);
	if (!u->cfi)
		return error(-ENOENT);
	/* All that is needed has been read. */
	return elf_cntl(u->elf, ELF_C_FDDONE) ? error(-EPROTO) : 0;
}

int unwind_open_of(const struct arch *a, int fd, struct unwind **ret)
{
	struct unwind *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->arch = a;
	errno = 0;
	err = elf_read(fd, u);
	if (err)
		unwind_close(u);
	else
		*ret = u;
	return err;
}

int unwind_open(int fd, struct unwind **ret)
{
	return unwind_open_of(&ARCH_JVM, fd, ret);
}

void unwind_close(struct unwind *u)
{
	if (!u)
		return;
	dwarf_cfi_end(u->cfi);
	elf_end(u->elf);
	free(u);
}

static int cfa_read(const struct arch *a, Dwarf_Frame *frame, struct unwind_rule *r)
{
	Dwarf_Op *ops;
	size_t n;
	int64_t offset;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1 || ops->atom != DW_OP_bregx ||
	    (ops->number != a->dwarf_sp && ops->number != a->dwarf_fp))
		return -ENOTSUP;
	offset = (int64_t)ops->number2;
	if (offset != (int32_t)offset)
		return -ENOTSUP;
	r->cfa_from_fp = ops->number == a->dwarf_fp;
	r->cfa_offset = (int32_t)offset;
	return 0;
}

/* Where a register is saved: 1 and its distance from the CFA. 0: it was not changed. A value that
 * is lost (n = 0, but ops is not NULL) is none of both. */
static int saved_read(Dwarf_Frame *frame, int number, int32_t *ret)
{
	Dwarf_Op memory[3], *ops;
	int64_t offset = 0;
	size_t n;

	if (dwarf_frame_register(frame, number, memory, &ops, &n))
		return -ENOTSUP;
	if (!n && !ops)
		return 0;
	if (!n || n > 2 || ops[0].atom != DW_OP_call_frame_cfa ||
	    (n == 2 && ops[1].atom != DW_OP_plus_uconst))
		return -ENOTSUP;
	if (n == 2)
		offset = (int64_t)ops[1].number;
	if (offset != (int32_t)offset)
		return -ENOTSUP;
	*ret = (int32_t)offset;
	return 1;
}

static bool sp_is_cfa(const struct arch *a, Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	return !dwarf_frame_register(frame, a->dwarf_sp, memory, &ops, &n) && n == 2 &&
	       ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_stack_value;
}

static int frame_read(const struct arch *a, Dwarf_Frame *frame, struct unwind_rule *ret)
{
	struct unwind_rule r = {0};
	int err = cfa_read(a, frame, &r), saved;

	if (err)
		return err;
	saved = saved_read(frame, a->dwarf_fp, &r.fp_offset);
	if (saved < 0)
		return saved;
	r.fp_saved = saved;
	saved = saved_read(frame, a->dwarf_return, &r.return_offset);
	if (saved < 0 || !sp_is_cfa(a, frame))
		return -ENOTSUP;
	if (a->call_return_at && (!saved || r.return_offset != a->call_return_at))
		return -ENOTSUP;
	r.return_kept = !saved;
	*ret = r;
	return 0;
}

int unwind_rule(struct unwind *u, uint64_t vaddr, struct unwind_rule *ret)
{
	Dwarf_Frame *frame = NULL;
	int err;

	errno = 0;
	err = dwarf_cfi_addrframe(u->cfi, vaddr, &frame) ? -ENOENT : 0;
	/* It goes on without the ABI's defaults if memory lacks only for these. */
	err = error(err);
	if (!err)
		err = frame_read(u->arch, frame, ret);
	free(frame);
	return err;
}
