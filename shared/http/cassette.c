/* A cassette: its file, and which exchange answers a request. */
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "http/cassette_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cassette {
    char *path;
    struct cassette_options options;
    pthread_mutex_t lock; /* guards all members below */
    int fd;               /* recording; -1: no more, or replaying */
    size_t file_size;
    struct recorded *exchanges;
    size_t count, room;
    struct recorded **shelves; /* exchanges that can still be played, in recorded order, hashed by request */
    size_t shelf_count;        /* a power of two */
    struct cassette_stats stats;
};

void recorded_hash(const void *bytes, size_t size, unsigned char hash[CASSETTE_HASH_SIZE])
{
    sha256_of(bytes, size, hash);
}

void recorded_fini(struct recorded *recorded)
{
    free(recorded->method);
    free(recorded->path);
    for (size_t i = 0; i < recorded->header_count; i++) {
        free(recorded->headers[i].name);
        free(recorded->headers[i].value);
    }
    free(recorded->headers);
    free(recorded->pieces);
    buffer_fini(&recorded->request);
    buffer_fini(&recorded->body);
    memset(recorded, 0, sizeof *recorded);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static bool cassette_read_line(struct cassette *cassette, const char *line, size_t length, size_t number,
                               struct status *st)
{
    struct status why = {0};
    if (cassette->count == cassette->room) {
        cassette->room = cassette->room ? 2 * cassette->room : 16;
        cassette->exchanges = xrealloc(cassette->exchanges, cassette->room * sizeof *cassette->exchanges);
    }
    if (!recorded_read(&cassette->exchanges[cassette->count], line, length, &why))
        return fail(st, INVALID_ARGUMENT, "%s:%zu: %s", cassette->path, number, why.text);
    cassette->count++;
    return true;
}

static bool read_lines(struct cassette *cassette, const char *text, size_t length, struct status *st)
{
    size_t number = 1;
    for (const char *line = text, *end; line < text + length; line = end + 1, number++) {
        end = memchr(line, '\n', length - (size_t)(line - text));
        if (!end) {
            log_warn("http.cassette", "%s:%zu: the last exchange was cut off and is not played", cassette->path,
                     number);
            return true;
        }
        if (end > line && !cassette_read_line(cassette, line, (size_t)(end - line), number, st))
            return false;
    }
    return true;
}

static struct recorded **shelf_of(const struct cassette *cassette, const char *path, const unsigned char *hash)
{
    uint64_t shelf;
    memcpy(&shelf, hash, sizeof shelf);
    for (; *path; path++)
        shelf = (shelf ^ (unsigned char)*path) * 1099511628211u;
    return &cassette->shelves[(shelf >> 32) & (cassette->shelf_count - 1)];
}

static bool cassette_load(struct cassette *cassette, struct status *st)
{
    struct buffer text;
    buffer_init(&text, CASSETTE_FILE_MAX);
    bool good = file_read(cassette->path, &text, st) && read_lines(cassette, text.data, text.length, st);
    buffer_fini(&text);
    if (good) {
        cassette->shelf_count = 1;
        while (cassette->shelf_count < cassette->count)
            cassette->shelf_count *= 2;
        cassette->shelves = xcalloc(cassette->shelf_count, sizeof(struct recorded *));
        for (size_t i = cassette->count; i-- > 0;) {
            struct recorded *recorded = &cassette->exchanges[i];
            struct recorded **shelf = shelf_of(cassette, recorded->path, recorded->request_hash);
            recorded->next = *shelf;
            *shelf = recorded;
        }
    }
    return good;
}

/* After half a line, the next record would not be a line of its own. */
static bool open_for_recording(struct cassette *cassette, struct status *st)
{
    cassette->fd = open(cassette->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat about;
    if (cassette->fd < 0 || fstat(cassette->fd, &about) != 0)
        return fail(st, INVALID_ARGUMENT, "cannot record to '%s': %s", cassette->path, strerror(errno));
    cassette->file_size = (size_t)about.st_size;
    char last = '\n';
    if (about.st_size && pread(cassette->fd, &last, 1, about.st_size - 1) == 1 && last != '\n')
        return fail(st, INVALID_ARGUMENT, "'%s' does not end with a whole line; remove it, or its last line",
                    cassette->path);
    return true;
}

struct cassette *cassette_open(const char *path, const struct cassette_options *options, struct status *st)
{
    struct cassette *cassette = xcalloc(1, sizeof *cassette);
    cassette->path = xstrdup(path);
    cassette->options = *options;
    cassette->fd = -1;
    pthread_mutex_init(&cassette->lock, NULL);
    bool good = options->mode == CASSETTE_RECORD ? open_for_recording(cassette, st) : cassette_load(cassette, st);
    if (!good)
        cassette_close(&cassette);
    return cassette;
}

void cassette_close(struct cassette **cassette_pointer)
{
    struct cassette *cassette = *cassette_pointer;
    if (!cassette)
        return;
    *cassette_pointer = NULL;
    if (cassette->fd >= 0 && fsync(cassette->fd) != 0)
        log_warn("http.cassette", "'%s' may not be on the disk whole: %s", cassette->path, strerror(errno));
    if (cassette->fd >= 0)
        close(cassette->fd);
    for (size_t i = 0; i < cassette->count; i++)
        recorded_fini(&cassette->exchanges[i]);
    free(cassette->exchanges);
    free(cassette->shelves);
    pthread_mutex_destroy(&cassette->lock);
    free(cassette->path);
    free(cassette);
}

/* ---- calls from the loops --------------------------------------------------------------------------------------- */

const char *cassette_path(const struct cassette *cassette)
{
    return cassette->path;
}

bool cassette_keeps_delays(const struct cassette *cassette)
{
    return cassette->options.keeps_delays;
}

void cassette_redact(const struct cassette *cassette, const void *body, size_t size, struct buffer *out)
{
    if (cassette->options.redact && size)
        cassette->options.redact(body, size, out, cassette->options.redact_data);
    else
        buffer_append(out, body ? body : "", size);
}

void cassette_drop(struct cassette *cassette, const char *why)
{
    pthread_mutex_lock(&cassette->lock);
    bool first = cassette->stats.dropped++ == 0;
    pthread_mutex_unlock(&cassette->lock);
    if (first)
        log_warn("http.cassette", "'%s': an exchange was not recorded: %s", cassette->path, why);
}

/* One write(2) for a line, so that processes that record to one file do not mix their lines. After a partial write
 * recording stops, because a further line would follow half a line. */
static const char *cassette_write_line(struct cassette *cassette, const struct buffer *line)
{
    if (cassette->fd < 0)
        return "writing to it failed before";
    if (line->length > CASSETTE_FILE_MAX - cassette->file_size)
        return "the file is as large as it may be";
    ssize_t written;
    do
        written = write(cassette->fd, line->data, line->length);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)line->length) {
        cassette->file_size += line->length;
        cassette->stats.recorded++;
        return NULL;
    }
    const char *why = written < 0 ? strerror(errno) : "the disk took only a part of it";
    close(cassette->fd);
    cassette->fd = -1;
    return why;
}

void cassette_append(struct cassette *cassette, const struct recorded *recorded)
{
    struct buffer line;
    buffer_init(&line, CASSETTE_FILE_MAX);
    const char *why = "it is too large";
    if (recorded_write(recorded, &line)) {
        pthread_mutex_lock(&cassette->lock);
        why = cassette_write_line(cassette, &line);
        pthread_mutex_unlock(&cassette->lock);
    }
    buffer_fini(&line);
    if (why)
        cassette_drop(cassette, why);
}

/* The first matching exchange from here on; `*place` is NULL if there is no match. */
static struct recorded **seek(struct recorded **place, const char *method, const char *path, const unsigned char *hash)
{
    for (; *place; place = &(*place)->next)
        if (memcmp((*place)->request_hash, hash, CASSETTE_HASH_SIZE) == 0 && strcmp((*place)->path, path) == 0 &&
            strcmp((*place)->method, method) == 0)
            break;
    return place;
}

/* One answers once, and leaves its shelf; the last of its kind answers from then on. */
static struct recorded *cassette_play(struct recorded **shelf, const char *method, const char *path,
                                      const unsigned char *hash)
{
    struct recorded **place = seek(shelf, method, path, hash), *found = *place;
    if (!found)
        return NULL;
    found->played = true;
    if (*seek(&found->next, method, path, hash))
        *place = found->next;
    return found;
}

const struct recorded *cassette_find(struct cassette *cassette, const char *method, const char *path,
                                     const unsigned char hash[CASSETTE_HASH_SIZE])
{
    pthread_mutex_lock(&cassette->lock);
    const struct recorded *found =
        cassette->shelves ? cassette_play(shelf_of(cassette, path, hash), method, path, hash) : NULL;
    if (found)
        cassette->stats.played++;
    else
        cassette->stats.unrecorded++;
    pthread_mutex_unlock(&cassette->lock);
    return found;
}

void cassette_stats(struct cassette *cassette, struct cassette_stats *stats)
{
    pthread_mutex_lock(&cassette->lock);
    *stats = cassette->stats;
    stats->exchanges = (unsigned)cassette->count;
    for (size_t i = 0; i < cassette->count; i++)
        stats->unused += !cassette->exchanges[i].played;
    pthread_mutex_unlock(&cassette->lock);
}
