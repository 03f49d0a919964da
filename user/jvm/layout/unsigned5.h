/* jvm/layout/unsigned5.h: the numbers of HotSpot's compressed streams. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a number of one to five bytes; moves *at. excluded: how many byte values, from 0 on, no
 * number has: 0 up to JDK 19, 1 from JDK 20 on (JDK-8292758). False: cut short, or a byte is an
 * excluded one.
 */
bool unsigned5_read(const uint8_t *bytes, size_t len, size_t *at, uint32_t excluded, uint32_t *ret);
