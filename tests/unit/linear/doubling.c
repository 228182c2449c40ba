/* The estimate of a time is the least of several, so that other work on the machine can only be left out of it. Sizes
 * grow until the time can be told from noise. On a busy machine a short reading finds a moment when the core's other
 * half is idle, and a long one does not: where the growth seems too high, equally long samples are compared, too. */
#include "doubling.h"

#include "base/clock.h"
#include "heap.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIZES        4
#define FIRST_BYTES  ((size_t)16 << 10)  /* of the largest of four inputs, at first */
#define LARGE_BYTES  ((size_t)128 << 10) /* the same where the attack is `large` */
#define ENOUGH_NS    500000              /* that the largest must take */
#define SLOW_NS      100000000           /* beyond which it is measured ROUNDS_SLOW times */
#define ROUNDS_MIN   2
#define ROUNDS_SLOW  3 /* so that each pause measures the largest once more */
#define ROUNDS_MAX   16
#define ENLARGED_MAX 3 /* times that the inputs are doubled before a reader has failed */
#define PAUSES_MAX   4 /* of 1, 2, 4, 8 s: a neighbour that fills the caches may have gone by then */
#define BATCH_ROUNDS 7

struct series {
    const struct reader *reader;
    const struct generator *generator;
    bool measured; /* else it is read once */
    size_t first_bytes;
    struct buffer texts[SIZES];
    size_t sizes[SIZES]; /* for which they were made */
    int64_t best_ns[SIZES];
    size_t peaks[SIZES]; /* bytes of heap, of the first reading */
};

static const struct series *running; /* for the handler of a stack that overflows */

/* ---- one reading ------------------------------------------------------------------------------------------------- */

static int64_t process_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

/* A text that is there already keeps its figures. */
static void doubling_make_input(struct series *series, size_t index, size_t size)
{
    if (series->sizes[index] == size)
        return;
    series->sizes[index] = size;
    buffer_clear(&series->texts[index]);
    generator_fill(series->generator, size, &series->texts[index]);
    series->best_ns[index] = INT64_MAX;
    series->peaks[index] = 0;
}

static void doubling_measure(struct series *series, size_t index)
{
    heap_mark();
    int64_t began_ns = process_ns();
    reader_read(series->reader, &series->texts[index]);
    int64_t ns = process_ns() - began_ns;
    if (ns < series->best_ns[index])
        series->best_ns[index] = ns;
    if (!series->peaks[index])
        series->peaks[index] = heap_peak();
}

/* ---- a series ---------------------------------------------------------------------------------------------------- */

static size_t doubling_limit(const struct reader *reader)
{
    return reader->most ? reader->most : MOST_BYTES;
}

/* The largest input: the first one that takes enough time, or the largest allowed. */
static size_t find_size(struct series *series)
{
    size_t most = doubling_limit(series->reader), size = series->first_bytes < most ? series->first_bytes : most;
    for (;; size *= 4) {
        doubling_make_input(series, SIZES - 1, size);
        doubling_measure(series, SIZES - 1);
        if (series->best_ns[SIZES - 1] >= ENOUGH_NS || 4 * size > most)
            return size;
    }
}

/* How many times as much it takes for twice as many bytes, on average from one input to the largest: numbers make the
 * units of a generator longer, so the sizes are not exactly doubled. */
static double growth_from(const struct series *series, size_t first, double small, double large)
{
    double doublings = log2((double)series->texts[SIZES - 1].length / (double)series->texts[first].length);
    return exp2(log2(large / small) / doublings);
}

/* With or without the smallest: a processor may know its few branches by heart. */
static double doubling_growth(const struct series *series)
{
    const int64_t *ns = series->best_ns;
    return fmin(growth_from(series, 0, (double)ns[0], (double)ns[SIZES - 1]),
                growth_from(series, 1, (double)ns[1], (double)ns[SIZES - 1]));
}

static double memory_growth(const struct series *series)
{
    const size_t *peaks = series->peaks;
    return fmin(growth_from(series, 0, (double)(peaks[0] + 1), (double)peaks[SIZES - 1]),
                growth_from(series, 1, (double)(peaks[1] + 1), (double)peaks[SIZES - 1]));
}

static void doubling_tell(const struct series *series)
{
    fprintf(stderr, "%s: %s: a doubling costs %.2f times the time, %.2f times the memory:", series->reader->name,
            series->generator->name, doubling_growth(series), memory_growth(series));
    for (size_t i = 0; i < SIZES; i++)
        fprintf(stderr, " %zu bytes %.3f ms %zu KiB%s", series->texts[i].length, (double)series->best_ns[i] / 1e6,
                series->peaks[i] >> 10, i + 1 < SIZES ? "," : "\n");
}

/* Less than two nanoseconds a byte: then caches, which others share, say more than the reader. */
static bool is_as_fast_as_memory(const struct series *series)
{
    return series->best_ns[SIZES - 1] < 2 * (int64_t)series->texts[SIZES - 1].length;
}

/* Long enough to be no noise: then the reader has failed at once. */
static bool is_slow(const struct series *series)
{
    return series->best_ns[SIZES - 1] > SLOW_NS;
}

static bool memory_holds(const struct series *series)
{
    size_t peak = series->peaks[SIZES - 1], length = series->texts[SIZES - 1].length;
    return peak <= MEMORY_FREE ||
           (memory_growth(series) <= MEMORY_LIMIT && peak - MEMORY_FREE <= MEMORY_PER_BYTE * length);
}

/* The largest input was read once to find its size. Noise can only make it seem slow, so it is read again only where
 * the growth is too high. Noise in the smaller ones would hide a growth, so each of them is read ROUNDS_MIN times at
 * least. */
static bool holds_at(struct series *series, size_t size)
{
    for (size_t i = 0; i < SIZES; i++)
        doubling_make_input(series, i, size >> (SIZES - 1 - i));
    for (unsigned round = 0; round < ROUNDS_MIN || (round < (is_slow(series) ? ROUNDS_SLOW : ROUNDS_MAX) &&
                                                    doubling_growth(series) > DOUBLING_LIMIT);
         round++)
        for (size_t i = 0; i < SIZES; i++)
            if (series->best_ns[i] == INT64_MAX || (round && (i + 1 < SIZES || round >= ROUNDS_MIN)))
                doubling_measure(series, i);
    return doubling_growth(series) <= DOUBLING_LIMIT || is_as_fast_as_memory(series);
}

static int64_t batch_ns(struct series *series, size_t index)
{
    int64_t began_ns = process_ns();
    for (size_t i = 0; i < (size_t)1 << (SIZES - 1 - index); i++)
        reader_read(series->reader, &series->texts[index]);
    return (process_ns() - began_ns) >> (SIZES - 1 - index);
}

/* The median over rounds, in each of which all sizes take as long where the reader is linear. */
static double batches_growth(struct series *series)
{
    double growths[BATCH_ROUNDS];
    for (size_t round = 0; round < BATCH_ROUNDS; round++) {
        size_t at = round;
        double first = (double)batch_ns(series, 0), second = (double)batch_ns(series, 1);
        double last = (double)batch_ns(series, SIZES - 1);
        double growth = fmin(growth_from(series, 0, first, last), growth_from(series, 1, second, last));
        for (; at > 0 && growths[at - 1] > growth; at--)
            growths[at] = growths[at - 1];
        growths[at] = growth;
    }
    return growths[BATCH_ROUNDS / 2];
}

/* A quadratic cost shows more with larger inputs, noise shows less. */
static bool doubling_judge(struct series *series)
{
    size_t size = find_size(series);
    bool holds = holds_at(series, size), fits = memory_holds(series);
    for (unsigned more = 0;
         !holds && fits && !is_slow(series) && more < ENLARGED_MAX && 2 * size <= doubling_limit(series->reader);
         more++)
        holds = holds_at(series, size *= 2);
    for (unsigned pauses = 0; !holds && fits && pauses < PAUSES_MAX; pauses++) { /* the best times are kept */
        sleep(1U << pauses);
        holds = holds_at(series, size) || batches_growth(series) <= DOUBLING_LIMIT;
    }
    if (!holds || !fits || getenv("RENGA_TELL"))
        doubling_tell(series);
    return holds && fits;
}

/* ---- on a small stack -------------------------------------------------------------------------------------------- */

static void stack_overflowed(int number)
{
    char text[256];
    int length = snprintf(text, sizeof text, "%s: %s: ended by signal %d on a stack of %zu KiB\n",
                          running->reader->name, running->generator->name, number, STACK_BYTES >> 10);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(2);
    _exit(1);
}

static void *judge_in_thread(void *data)
{
    struct series *series = data;
    static char beside[16 << 10];
    const stack_t other = {.ss_sp = beside, .ss_size = sizeof beside};
    const struct sigaction action = {.sa_handler = stack_overflowed, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    if (series->measured)
        return doubling_judge(series) ? data : NULL;
    doubling_make_input(series, SIZES - 1, series->first_bytes);
    reader_read(series->reader, &series->texts[SIZES - 1]);
    return data;
}

bool attack_holds(const struct reader *reader, const struct generator *generator, bool large, bool measured)
{
    const char *larger = getenv("RENGA_FIRST_BYTES");
    struct series series = {.reader = reader,
                            .generator = generator,
                            .measured = measured,
                            .first_bytes = large ? LARGE_BYTES : FIRST_BYTES};
    if (larger && strtoul(larger, NULL, 10) > series.first_bytes)
        series.first_bytes = strtoul(larger, NULL, 10);
    pthread_attr_t attributes;
    pthread_t thread;
    void *held = NULL;
    running = &series;
    for (size_t i = 0; i < SIZES; i++)
        buffer_init(&series.texts[i], SIZE_MAX);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&thread, &attributes, judge_in_thread, &series) == 0)
        pthread_join(thread, &held);
    pthread_attr_destroy(&attributes);
    for (size_t i = 0; i < SIZES; i++)
        buffer_fini(&series.texts[i]);
    return held != NULL;
}
