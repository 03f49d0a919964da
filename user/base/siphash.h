/* base/siphash.h: SipHash-2-4: who does not know the key can neither foresee nor undo it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_BYTES 16

uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], const void *bytes, size_t count);
