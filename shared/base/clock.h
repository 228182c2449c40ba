/* Time. All waits use the monotonic clock, so jumps of the wall clock do not affect them. The wall clock is for people
 * and for other systems. Tests may stop the clock and step it. */
#ifndef RENGA_BASE_CLOCK_H
#define RENGA_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_MS  INT64_C(1000000)
#define NS_PER_SEC INT64_C(1000000000)
#define TIME_NEVER INT64_MAX

/* Nanoseconds of CLOCK_MONOTONIC, or of the stepped clock. */
int64_t clock_now_ns(void);

/* Of CLOCK_BOOTTIME, which also counts while the machine is suspended: for times that others measure, as of a lease. Or
 * of the stepped clock. */
int64_t clock_boot_ns(void);

/* Nanoseconds since 1970, UTC; clock_step does not move it. */
int64_t clock_wall_ns(void);
/* Advances the wall clock, for tests of retention by date. */
void clock_wall_step(int64_t ns);

/* Stops the monotonic clock at its present reading; from then on only clock_step moves it. For tests: there is no way
 * back to real time within the process. */
void clock_stop(void);
void clock_step(int64_t ns);

#endif
