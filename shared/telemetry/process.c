#include "telemetry/process.h"

#include "base/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct metric cpu = {
    .name = "process_cpu_seconds_total", .help = "Processor time, user and system.", .kind = METRIC_COUNTER};
static const struct metric resident = {
    .name = "process_resident_memory_bytes", .help = "Memory in RAM.", .kind = METRIC_GAUGE};
static const struct metric virtual_memory = {
    .name = "process_virtual_memory_bytes", .help = "Address space.", .kind = METRIC_GAUGE};
static const struct metric open_fds = {
    .name = "process_open_fds", .help = "Open file descriptors.", .kind = METRIC_GAUGE};
static const struct metric max_fds = {
    .name = "process_max_fds", .help = "Most file descriptors allowed.", .kind = METRIC_GAUGE};
static const struct metric threads = {.name = "process_threads", .help = "Threads.", .kind = METRIC_GAUGE};
static const struct metric started = {
    .name = "process_start_time_seconds", .help = "When the process began, since 1970.", .kind = METRIC_GAUGE};
static const struct metric build = {.name = "renga_build_info",
                                    .help = "Always 1; the labels say what runs here.",
                                    .kind = METRIC_GAUGE,
                                    .labels = {"service", "version"}};

static unsigned entries_of(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2; /* . and .. */
}

/* When this was first asked: near enough, and it needs no boot time. */
static double start_time(void)
{
    static double seconds;
    if (seconds == 0)
        seconds = (double)clock_wall_ns() / (double)NS_PER_SEC;
    return seconds;
}

static void process_collect(struct buffer *out, void *data)
{
    const char *service = data;
    struct rusage usage;
    struct rlimit files;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        metrics_show(out, &cpu, NULL,
                     (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    unsigned long pages = 0, resident_pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%lu %lu", &pages, &resident_pages) == 2) {
            double page = (double)sysconf(_SC_PAGESIZE);
            metrics_show(out, &virtual_memory, NULL, (double)pages * page);
            metrics_show(out, &resident, NULL, (double)resident_pages * page);
        }
        fclose(file);
    }
    metrics_show(out, &open_fds, NULL, entries_of("/proc/self/fd") - 1.0); /* without the one that reads them */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        metrics_show(out, &max_fds, NULL, (double)files.rlim_cur);
    metrics_show(out, &threads, NULL, entries_of("/proc/self/task"));
    metrics_show(out, &started, NULL, start_time());
    metrics_show(out, &build, (const char *[]){service, RENGA_VERSION}, 1);
}

void process_metrics_add(struct metrics *metrics, const char *service)
{
    start_time();
    metrics_collect(metrics, process_collect, NULL, (void *)(uintptr_t)service);
}
