/* record/kernel/features/load_later.h: a BPF program that is prepared with the others of its
 * object, and given to the kernel when it is needed: most of what an attach costs is the verifier's
 * time. */
#pragma once

#include <bpf/bpf.h>
#include <stdbool.h>

struct load_later;

/* section: as libbpf_register_prog_handler() takes it. The strings are lent. */
struct load_later_kind {
	const char *program, *section;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
};

/*
 * To be called before the object is opened. (libbpf's list of sections is the whole process's: not
 * for two objects at a time.) 0 or negative errno.
 */
int load_later_new(const struct load_later_kind *kind, struct load_later **ret);
/* The object has been loaded, or could not be: libbpf forgets the section. */
void load_later_prepared(struct load_later *l);
/* Has a thread load it; does nothing if one has done so, or does. The object must be there until
 * load_later_fd() or load_later_free() has returned. */
void load_later_begin(struct load_later *l);
/* Whether that has been begun, and load_later_fd() does not wait. */
bool load_later_is_done(struct load_later *l);
/* The program's file descriptor, lent until load_later_free(); loads it if it is not yet, and waits
 * for a thread that does. The object must be there. Negative errno. */
int load_later_fd(struct load_later *l);
/* Accepts NULL. */
void load_later_free(struct load_later *l);
