/* bpf/wire/wire_records.h: the records of all families, for whoever needs each kind's size. */
#pragma once

#include "bpf/wire/wire_cpu.h"
#include "bpf/wire/wire_gc.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_stack.h"
#include "bpf/wire/wire_states.h"
#include "bpf/wire/wire_thread.h"
