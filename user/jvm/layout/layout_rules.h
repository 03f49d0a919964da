/* jvm/layout/layout_rules.h: what vmStructs does not say of objects and monitors. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/jvm_layout.h"

/* One per row of versions/versions.h. Where vmStructs says it, vmStructs is believed. All zero:
 * nothing is known but what vmStructs says. */
struct layout_rules {
	/* What ObjectMonitor::_owner holds if vmStructs gives it no C++ type
	 * (share/runtime/objectMonitor.hpp). */
	enum owner_word owner_word;
	/* Bits, if vmStructs lacks markWord::hash_shift; 0: not known (share/oops/markWord.hpp). */
	uint32_t mark_hash_shift;
	/* Where the elements of an array begin (share/oops/arrayOop.hpp). */
	enum array_data array_data;
	/* JavaThread::_threadObj and ObjectMonitor::_object are oops, and no handles. */
	bool raw_oops;
};
