/* report/live/top_keys.h: what a terminal sends when a key is pressed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum top_key { /* beyond all bytes */
	       TOP_KEY_UP = 256,
	       TOP_KEY_DOWN,
	       TOP_KEY_PAGE_UP,
	       TOP_KEY_PAGE_DOWN,
	       TOP_KEY_HOME,
	       TOP_KEY_END,
	       TOP_KEY_HELP,    /* F1 */
	       TOP_KEY_FILTER,  /* F4 */
	       TOP_KEY_ASPECTS, /* F5 */
	       TOP_KEY_SORT,    /* F6 */
	       TOP_KEY_QUIT,    /* F10 */
	       TOP_KEY_BACK,    /* Escape */
	       TOP_KEY_NONE,    /* a key without a meaning */
};

/* The first key of count bytes (1 or more): a byte or one of the above. *ret_used: of how many
 * bytes, 1 at least. */
int top_key(const uint8_t *bytes, size_t count, size_t *ret_used);
