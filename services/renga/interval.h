/* How sure a figure is: 95 % intervals, and the exact test of a change between two runs over the same questions. The
 * bootstrap draws whole questions with a fixed seed, so that the same values give the same interval. */
#ifndef RENGA_INTERVAL_H
#define RENGA_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

struct interval {
    double value, low, high;
};

/* The score interval (E. B. Wilson, JASA 22, 1927); 0 of 0 is 0, with the bounds 0 and 0. */
struct interval interval_of_share(int64_t part, int64_t all);

/* Sum of `over` divided by the sum of `under`, by the bootstrap over `count` questions. With `under` of 1 each it is a
 * mean. */
struct interval interval_of_ratio(const double *over, const double *under, size_t count);

/* The same ratio after minus before, over the same questions. */
struct interval interval_of_change(const double *over[2], const double *under[2], size_t count);

/* A quantile (0.95), with bounds that are values of the sample too. Sorts the values. */
struct interval interval_of_quantile(double *values, size_t count, double share);

/* The exact test of McNemar, two-sided: how probable so uneven a change is if better and worse are equally likely. */
double interval_mcnemar(int64_t better, int64_t worse);

#endif
