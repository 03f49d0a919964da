/* analyze/diff/rank_sum.h: could two sets of figures be the same, and differ by chance? */
#pragma once

#define RANK_SUM_MAX 40 /* of both sets together; more are not looked at */

/*
 * The two-sided test of Mann and Whitney, exact, also with ties: how probable it is that the ranks
 * of first_count figures, drawn from all of them by chance, are as far from the mean as those of
 * first are. 1: no difference at all, or no figures. Counts together are at most RANK_SUM_MAX.
 */
double rank_sum_chance(const double *first, unsigned first_count, const double *second,
		       unsigned second_count);
