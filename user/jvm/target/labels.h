/* jvm/target/labels.h: where a process belongs, as its cgroup says it: pod, container, unit. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define LABEL_VALUE_MAX 128

enum label {
	LABEL_POD,       /* uid of the Kubernetes pod, with '-' between its parts */
	LABEL_CONTAINER, /* the runtime's id, as long as the cgroup has it */
	LABEL_RUNTIME,   /* "docker", "containerd", "crio", "podman", ...; as the cgroup calls it */
	LABEL_UNIT,      /* the innermost unit of systemd: a service, else a scope */
	LABEL_COUNT
};

/* "" where the cgroup does not say it. */
struct labels {
	char value[LABEL_COUNT][LABEL_VALUE_MAX];
	char cgroup[1024]; /* the path, as seen from spoor's cgroup namespace */
};

/* "pod", "container", ...: as headers of logs and rules have them. */
const char *label_name(enum label label);
/* LABEL_COUNT: there is none of the first length bytes of name. */
enum label label_find(const char *name, size_t length);

/* From the text of /proc/PID/cgroup, which a container's owner can have made up as far as names of
 * cgroups go: of values only what is printable ASCII is kept. */
void labels_parse(const char *text, struct labels *ret);
/* -ESRCH, -EACCES, ...: all is "". */
int labels_read(pid_t pid, struct labels *ret);
