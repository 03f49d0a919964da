/* Loaded into a recorder before libc (LD_PRELOAD): the kernel takes three seconds more to load the program that samples
 * owners of locks, as if its verifier had no CPU; stderr says when that begins. (What libbpf loads in its place with
 * the others has two instructions.) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECONDS 3

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long arg[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf && arg[0] == BPF_PROG_LOAD) {
		const union bpf_attr *attr = (const union bpf_attr *)arg[1];

		if (!strncmp(attr->prog_name, "look_by_", 8) && attr->insn_cnt > 2) {
			dprintf(2, "slow_load: %s\n", attr->prog_name);
			sleep(SECONDS);
		}
	}
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
