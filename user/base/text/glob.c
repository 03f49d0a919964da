#include "base/text/glob.h"

#include <stdint.h>

/* Where a byte differs, the last * takes one more; those before it need not be looked at again. */
bool glob_holds(const char *glob, size_t glob_length, const char *text, size_t length)
{
	size_t g = 0, t = 0, star = SIZE_MAX, mark = 0;

	while (t < length) {
		if (g < glob_length && glob[g] == '*') {
			star = g++;
			mark = t;
		} else if (g < glob_length && (glob[g] == '?' || glob[g] == text[t])) {
			g++;
			t++;
		} else if (star != SIZE_MAX) {
			g = star + 1;
			t = ++mark;
		} else {
			return false;
		}
	}
	while (g < glob_length && glob[g] == '*')
		g++;
	return g == glob_length;
}
