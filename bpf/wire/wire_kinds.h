/* bpf/wire/wire_kinds.h: the kinds of records that cross the ring, of all families. */
#pragma once

/*
 * The header of a family lists the kinds of its records: KIND(name, least size in bytes, event of
 * the log or 0). Who reads a record finds its least size there, and what was lost of a kind is
 * counted as that event. The Makefile writes wire_families.h, which includes each wire_*.h that has
 * a WIRE_FAMILY_KINDS(KIND), and puts these lists together as WIRE_KINDS(KIND). A kind's number is
 * its index in that list: it is of one build, and in no log.
 */
#include "bpf/wire/wire_families.h"

#define WIRE_KIND(name, size, event) WIRE_##name,
enum wire_kind { WIRE_NONE, WIRE_KINDS(WIRE_KIND) WIRE_KIND_COUNT };
#undef WIRE_KIND
