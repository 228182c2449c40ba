/* What a busy machine has taken from this process, so that a test judges the code's own time however many tests run
 * beside it: nanoseconds in which its threads wanted a core that others had, together, since they began; it never
 * falls. Zero where the kernel does not say. Any thread, but one at a time.
 *
 *     int64_t began_ns = clock_now_ns(), starved = starved_ns();
 *     …
 *     assert_true(clock_now_ns() - began_ns - (starved_ns() - starved) < 20 * NS_PER_MS);
 *
 * Only for the most that something may take; the least is by the clock. */
#ifndef RENGA_STARVED_H
#define RENGA_STARVED_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

static inline int64_t starved_of(const char *thread)
{
    char path[300];
    long long ran_ns, waited_ns = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", thread);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%lld %lld", &ran_ns, &waited_ns) != 2)
            waited_ns = 0;
        fclose(file);
    }
    return waited_ns;
}

static inline int64_t starved_ns(void)
{
    static int64_t most; /* a thread that ends takes its share along */
    int64_t sum = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            sum += starved_of(entry->d_name);
    if (threads)
        closedir(threads);
    if (sum > most)
        most = sum;
    return most;
}

#endif
