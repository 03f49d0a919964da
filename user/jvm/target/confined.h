/* jvm/target/confined.h: by which profile or context AppArmor or SELinux confines a process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONFINED_MAX 128

/* The label, printable, of what the kernel says in attr/current: "NAME (enforce)\n" of AppArmor, a
 * context of SELinux. "unconfined" is a label, too. */
void confined_parse(const char *text, size_t len, char ret[CONFINED_MAX]);
/* Whether a security module may keep this process away from that one, as the two have other labels;
 * both are filled: "": there is none, or it cannot be read. */
bool confined_apart(pid_t pid, char ret_own[CONFINED_MAX], char ret_its[CONFINED_MAX]);
