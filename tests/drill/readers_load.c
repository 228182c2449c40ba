/* Readers of server-sent events, many in one thread, and how late their events are.
 *
 *      readers-load PORT READERS STALLED SECONDS <paths >figures
 *
 * Paths come by standard input, a line each, and are given to the readers in turn. The last STALLED readers stop
 * reading once their stream has begun. When all streams have begun it prints "open N"; from then on a line for each
 * second:
 *
 *      {"second": 3, "events": 812, "cut": 0, "waited_ms": 4, "late": [[0, 700], [1, 100], [12, 12]]}
 *
 * `late` counts events by whole milliseconds between an event's own time_ms and its arrival; the first is when the step
 * ended, before its commit. `waited_ms` is how long this process wanted a core that others had. Ends after SECONDS. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LATE_MAX       10000 /* ms; later events count as this */
#define EVENTS_MAX     256
#define RECEIVE_MAX    (64u << 10)
#define PATH_BYTES_MAX 512
#define NS_PER_S       1000000000LL

static const char mark[] = "\"timeMs\":\"";

struct reader {
    int fd;
    bool open, stalled;
    unsigned matched; /* bytes of `mark`; beyond it the number is read */
    int64_t number;
};

static struct {
    struct reader *readers;
    size_t count, stalled, open, cut;
    int epoll;
    int64_t begun_ms; /* events before it are old: they were read again from the log */
    uint64_t events, late[LATE_MAX + 1];
    char buffer[RECEIVE_MAX];
} load;

static int64_t load_now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static _Noreturn void load_fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void reader_event(int64_t time_ms, int64_t now_ms)
{
    if (!load.begun_ms || time_ms < load.begun_ms)
        return;
    int64_t late = now_ms > time_ms ? now_ms - time_ms : 0;
    load.events++;
    load.late[late < LATE_MAX ? late : LATE_MAX]++;
}

static void reader_take(struct reader *reader, const char *bytes, size_t size, int64_t now_ms)
{
    const unsigned whole = sizeof mark - 1;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];
        if (reader->matched == whole && c >= '0' && c <= '9') {
            reader->number = reader->number * 10 + (c - '0');
        } else if (reader->matched == whole) {
            reader_event(reader->number, now_ms);
            reader->matched = 0;
        } else if (c == mark[reader->matched]) {
            reader->matched++;
            reader->number = 0;
        } else {
            reader->matched = c == mark[0];
        }
    }
}

static void reader_readable(struct reader *reader)
{
    for (ssize_t got; (got = recv(reader->fd, load.buffer, sizeof load.buffer, MSG_DONTWAIT)) != 0;) {
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got < 0)
            break;
        if (!reader->open) {
            if (strncmp(load.buffer, "HTTP/1.1 200", 12) != 0) {
                fprintf(stderr, "refused: %.*s\n", (int)got, load.buffer);
                exit(1);
            }
            reader->open = true;
            load.open++;
            if (reader->stalled) {
                epoll_ctl(load.epoll, EPOLL_CTL_DEL, reader->fd, NULL);
                return;
            }
        }
        reader_take(reader, load.buffer, (size_t)got, load_now_ns(CLOCK_REALTIME) / 1000000);
        if ((size_t)got < sizeof load.buffer)
            return;
    }
    load.cut++;
    epoll_ctl(load.epoll, EPOLL_CTL_DEL, reader->fd, NULL);
}

static void load_wait(int timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(load.epoll, events, EVENTS_MAX, timeout_ms);
    for (int i = 0; i < count; i++)
        reader_readable(events[i].data.ptr);
}

/* ---- begin ------------------------------------------------------------------------------------------------------- */

static void reader_connect(struct reader *reader, int port, const char *path)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char request[PATH_BYTES_MAX + 128];
    int small = 4096,
        size = snprintf(request, sizeof request,
                        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n\r\n", path, port);
    reader->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (reader->stalled)
        setsockopt(reader->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (reader->fd < 0 || connect(reader->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send(reader->fd, request, (size_t)size, MSG_NOSIGNAL) != size)
        load_fail("connect");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = reader};
    if (epoll_ctl(load.epoll, EPOLL_CTL_ADD, reader->fd, &event) != 0)
        load_fail("epoll_ctl");
}

static void load_open(int port)
{
    static char lines[20000][PATH_BYTES_MAX];
    size_t count = 0;
    while (count < sizeof lines / sizeof lines[0] && fgets(lines[count], PATH_BYTES_MAX, stdin)) {
        lines[count][strcspn(lines[count], "\n")] = '\0';
        count++;
    }
    if (!count)
        exit(2);
    for (size_t i = 0; i < load.count; i++) {
        load.readers[i].stalled = i >= load.count - load.stalled;
        reader_connect(&load.readers[i], port, lines[i % count]);
        while (i + 1 > load.open + 100) /* so that the backlog of the listener is never full */
            load_wait(100);
    }
    while (load.open < load.count)
        load_wait(100);
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static int64_t load_starved_ms(void)
{
    long long ran_ns, waited_ns = 0;
    FILE *file = fopen("/proc/self/schedstat", "re");
    if (file && fscanf(file, "%lld %lld", &ran_ns, &waited_ns) != 2)
        waited_ns = 0;
    if (file)
        fclose(file);
    return waited_ns / 1000000;
}

static void load_print(int second, int64_t waited_ms)
{
    const char *comma = "";
    printf("{\"second\": %d, \"events\": %" PRIu64 ", \"cut\": %zu, \"waited_ms\": %" PRId64 ", \"late\": [", second,
           load.events, load.cut, waited_ms);
    for (int i = 0; i <= LATE_MAX; i++)
        if (load.late[i]) {
            printf("%s[%d, %" PRIu64 "]", comma, i, load.late[i]);
            comma = ", ";
        }
    puts("]}");
    fflush(stdout);
    load.events = 0;
    memset(load.late, 0, sizeof load.late);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    load.count = strtoul(argv[2], NULL, 10);
    load.stalled = strtoul(argv[3], NULL, 10);
    load.readers = calloc(load.count, sizeof *load.readers);
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){20000, 20000});
    if (!load.readers || load.epoll < 0)
        load_fail("begin");
    load_open(atoi(argv[1]));
    printf("open %zu\n", load.open);
    fflush(stdout);
    load.begun_ms = load_now_ns(CLOCK_REALTIME) / 1000000;
    int64_t begun_ns = load_now_ns(CLOCK_MONOTONIC), starved_ms = load_starved_ms();
    for (int second = 0; second < atoi(argv[4]); second++) {
        int64_t until_ns = begun_ns + (second + 1) * NS_PER_S, left_ns;
        while ((left_ns = until_ns - load_now_ns(CLOCK_MONOTONIC)) > 0)
            load_wait((int)(left_ns / 1000000) + 1);
        int64_t now_ms = load_starved_ms();
        load_print(second, now_ms - starved_ms);
        starved_ms = now_ms;
    }
    return 0;
}
