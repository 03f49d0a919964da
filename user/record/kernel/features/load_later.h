/* record/kernel/features/load_later.h: a BPF program that is prepared with the others of its
 * object, and given to the kernel when it is needed: most of what an attach costs is the verifier's
 * time. */
#pragma once

struct load_later;

/*
 * To be called before the object is opened; the program is one of its SEC("perf_event"). (libbpf's
 * list of sections is the whole process's: not for two objects at a time.) 0 or negative errno.
 */
int load_later_new(const char *program, struct load_later **ret);
/* The object has been loaded, or could not be: libbpf forgets the section. */
void load_later_prepared(struct load_later *l);
/* The program's file descriptor, lent until load_later_free(); loads it if it is not yet. The
 * object must be there. Negative errno. */
int load_later_fd(struct load_later *l);
/* Accepts NULL. */
void load_later_free(struct load_later *l);
