/* What drill-load is to do: its arguments, and for each kind of call what is asked, ready to be sent. One a program. */
#ifndef RENGA_DRILL_PLAN_H
#define RENGA_DRILL_PLAN_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdint.h>

#define KINDS_MAX    16
#define STATUSES     17
#define REQUEST_MAX  (64 << 10)
#define LEAVES_FIRST (-1)
#define NAMED_DIGITS 9

struct call;

struct kind {
    char name[96], word[64];
    unsigned share;
    bool streams, same, says, leaves;
    int64_t leave_ms; /* or LEAVES_FIRST */
    size_t whole;     /* bytes of text of a stream */
    uint8_t ask[REQUEST_MAX];
    size_t ask_size, named_at; /* where the call's number stands */
    nghttp2_nv fields[8];
    size_t field_count;
    struct call *first, **last;
    unsigned long calls, by_status[STATUSES], gone, cut, text;
    int64_t *latencies;
    size_t done, room;
};

struct plan {
    struct kind kinds[KINDS_MAX];
    size_t kind_count;
    unsigned shares; /* of all kinds */
    const char *target;
    int connections, in_flight, ask_bytes;
    double rate; /* calls a second; 0: the next begins when one ends */
    unsigned long calls_max;
    int64_t for_ns;
};
extern struct plan plan;

/* Ends the program where an argument is wrong. */
void plan_read(int argc, char **argv);
_Noreturn void plan_refuse(const char *why);

#endif
