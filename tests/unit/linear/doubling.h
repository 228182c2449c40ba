/* Measures how the time and the memory of a reader grow with its input: 1x, 2x, 4x, 8x. Time is the processor's, of all
 * threads; memory is the heap's peak.
 *
 * A reader of outside text must be linear. A row is a reader and the sets of generators that it is given; adding a
 * reader is one row of a table (readers_*.c), adding an attack is one row of hostile.c. Each reader runs on a stack of
 * STACK_BYTES, so that recursion without a limit ends the test. A build with a sanitizer measures neither: there each
 * reader gets each attack once, at SMALL_BYTES. */
#ifndef RENGA_UNIT_DOUBLING_H
#define RENGA_UNIT_DOUBLING_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define STACK_BYTES    ((size_t)512 << 10)
#define DOUBLING_LIMIT 2.2 /* times that a doubling of the input may cost in time, on average over three */
/* The same for memory: a buffer that grows by doubling has up to twice the needed size, so that a linear reader has up
 * to 2.6 over two doublings. A quadratic one has 4. */
#define MEMORY_LIMIT    2.8
#define MEMORY_FREE     ((size_t)4 << 20) /* bytes that no reader is asked about */
#define MEMORY_PER_BYTE 1024              /* bytes for each byte of the input, beyond MEMORY_FREE */
#define SMALL_BYTES     ((size_t)2 << 10)

/* The kinds of text of a generator: bits of a set. */
enum {
    HOSTILE_TEXT = 1,        /* prose, lists and marks */
    HOSTILE_MARKUP = 2,      /* tags, entities and comments */
    HOSTILE_JSON = 4,        /* JSON, and nearly valid JSON */
    HOSTILE_TABLE = 8,       /* rows and quoted cells */
    HOSTILE_STREAM = 16,     /* events, lines and chunks */
    HOSTILE_HEAD = 32,       /* heads of HTTP */
    HOSTILE_EXPRESSION = 64, /* operators and brackets */
    HOSTILE_BYTES = 128,     /* bytes that are no UTF-8 */
    HOSTILE_FIELD = 256,     /* one value: a name, an address, a list in one line */
};

/* begin, then unit n times, then middle, then close n times, then end. A byte 1 in `unit` and `close` stands for the
 * number of the repetition, so that keys and words can differ. NULL stands for "". */
struct generator {
    const char *name;
    unsigned sets;
    const char *begin, *unit, *middle, *close, *end;
};

struct reader;

/* One reading: the text, and the usual data of readers. */
struct input {
    const struct reader *reader;
    const char *text; /* a NUL stands behind it */
    size_t length;
    const void *with;   /* the row's */
    struct arena arena; /* of INPUT_MEMORY_MAX bytes; freed after the reading, as `out` and `tree` are */
    struct buffer out;
    struct status st;
    cJSON *tree;   /* of input_json */
    bool accepted; /* for the reader to say, if its row asks for it */
};
#define INPUT_MEMORY_MAX ((size_t)256 << 20)

/* The text as JSON within the default limits; NULL if it is not JSON. */
cJSON *input_json(struct input *in);

/* `read` gets a generator's text: those of `sets` (HOSTILE_…), or `own` ones. */
struct reader {
    const char *name;
    void (*read)(struct input *in);
    unsigned sets;
    const struct generator *own; /* ends with an empty row; may be NULL */
    const void *with;            /* a parameter of `read`, which several rows share; may be NULL */
    size_t most;                 /* bytes of the largest input; 0: MOST_BYTES */
    bool accepts;                /* one text at least must be accepted: else a refusal would have been measured */
};

#define MOST_BYTES ((size_t)2 << 20)

/* All generators, an empty row at the end. */
extern const struct generator generators[];

/* As much of it as `size` bytes take, at least one unit. */
void generator_fill(const struct generator *generator, size_t size, struct buffer *out);

/* From now on memory that is freed stays with the process: going and coming again it would make a step in the times. */
void reading_keeps_memory(void);

/* One reading of the text, with all that the input has beside it. */
void reader_read(const struct reader *reader, const struct buffer *text);

/* Whether the reader is linear under one attack. `large`: the first inputs are eight times as long. Without `measured`
 * the reader gets it once, and its stack alone is judged. */
bool attack_holds(const struct reader *reader, const struct generator *generator, bool large, bool measured);

/* Whether a doubling costs at most DOUBLING_LIMIT of time and MEMORY_LIMIT of memory under all its generators, and one
 * text was accepted if the row asks for it; prints reader, generator and figures if not. If RENGA_TURN is a number,
 * every TURNS-th of the `generators` is measured, others with the next number; a reader's own ones are measured always,
 * and every TURNS-th of them begins with large inputs. */
#define TURNS 3
bool reader_holds(const struct reader *reader);

#endif
