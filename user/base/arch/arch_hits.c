#include "base/arch/arch_hits.h"

/*
 * A call that the kernel makes of a nop pushes below the stack pointer, so that the functions are
 * no C: the compiler may keep something there. They do not cross a page, where the kernel replaces
 * nothing.
 */
/* clang-format off */
#define HIT(name, nop)                                                                             \
	".balign 16\n.type " name ", %function\n" name ": " nop "\nret\n"                         \
	".size " name ", . - " name "\n"

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	HIT("hit_nop", "nop")
	HIT("hit_nop5", ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
	HIT("hit_nop10", ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00")
	".popsection\n");
void hit_nop(void);
void hit_nop5(void);
void hit_nop10(void);
const struct arch_hits arch_hits = {.nop = hit_nop, .nop5 = hit_nop5, .nop10 = hit_nop10};
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	HIT("hit_nop", "nop")
	".popsection\n");
void hit_nop(void);
const struct arch_hits arch_hits = {.nop = hit_nop};
#endif
/* clang-format on */
