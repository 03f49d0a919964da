/*
 * libbpf (1.1 to 1.5) asks once whether the kernel has bpf_probe_read_kernel(). If that is refused,
 * it takes the kernel for one before 5.5, and makes bpf_probe_read() of bpf_probe_read_user() in
 * all programs (FEAT_PROBE_READ_KERN in bpf_object__sanitize_prog()). But a kernel that is locked
 * down for confidentiality refuses the one and bpf_probe_read(), and has the other. It gives no way
 * to say so; what is to be loaded is seen last by bpf_prog_load(). No program of spoor's has a
 * bpf_probe_read() of its own, and none would load on kernels before 5.5. (The linker's --wrap has
 * whoever calls bpf_prog_load() call prog_load_mended().)
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern int prog_load_real(enum bpf_prog_type type, const char *name, const char *license,
			  const struct bpf_insn *insns, size_t count,
			  const struct bpf_prog_load_opts *opts) __asm__("__real_bpf_prog_load");
extern int prog_load_mended(enum bpf_prog_type type, const char *name, const char *license,
			    const struct bpf_insn *insns, size_t count,
			    const struct bpf_prog_load_opts *opts) __asm__("__wrap_bpf_prog_load");

static enum bpf_func_id as_compiled(const struct bpf_insn *i)
{
	if (i->code != (BPF_JMP | BPF_CALL) || i->src_reg || i->dst_reg)
		return BPF_FUNC_unspec;
	if (i->imm == BPF_FUNC_probe_read)
		return BPF_FUNC_probe_read_user;
	return i->imm == BPF_FUNC_probe_read_str ? BPF_FUNC_probe_read_user_str : BPF_FUNC_unspec;
}

extern int prog_load_mended(enum bpf_prog_type type, const char *name, const char *license,
			    const struct bpf_insn *insns, size_t count,
			    const struct bpf_prog_load_opts *opts)
{
	struct bpf_insn *mended = NULL;
	int fd, err;

	for (size_t i = 0; i < count; i++) {
		enum bpf_func_id func = as_compiled(&insns[i]);

		if (func == BPF_FUNC_unspec)
			continue;
		if (!mended) {
			mended = malloc(count * sizeof(*mended));
			if (!mended)
				return -ENOMEM;
			memcpy(mended, insns, count * sizeof(*mended));
		}
		mended[i].imm = (__s32)func;
	}
	fd = prog_load_real(type, name, license, mended ? mended : insns, count, opts);
	err = errno;
	free(mended);
	errno = err;
	return fd;
}
