/* Searches a playbook and prints what it takes: playbook-search PLAYBOOK QUERIES [DIMENSIONS]. PLAYBOOK has the text
 * format of the reference, QUERIES a query a line. With DIMENSIONS, bullets and queries have random vectors. One
 * thread; the input is trusted. */
#include "base/random.h"
#include "playbook/playbook_index.h"
#include "playbook/playbook_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define QUERIES_MAX 100000

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc((64 << 20) + 1);
    if (!file || !text)
        exit(2);
    size_t length = fread(text, 1, 64 << 20, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static struct vector *random_vector(int dimensions)
{
    static struct vector vector;
    static float values[VECTOR_DIMENSIONS_MAX];
    for (int i = 0; i < dimensions; i++)
        values[i] = (float)random_below(20001) - 10000;
    vector_init(&vector, values, (size_t)dimensions);
    return &vector;
}

/* Of this thread: on a machine that others use as well, the clock would measure them. */
static int64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
    const int64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void print_times(const char *name, int64_t *times, size_t count)
{
    qsort(times, count, sizeof *times, by_time);
    printf("%s p50 %.3f ms p99 %.3f ms max %.3f ms\n", name, ms(times[count / 2]), ms(times[count * 99 / 100]),
           ms(times[count - 1]));
}

int main(int argc, char **argv)
{
    static int64_t times[QUERIES_MAX];
    struct playbook_hit hits[10];
    struct playbook_text read;
    struct arena arena;
    struct status st = {0};
    int dimensions = argc > 3 ? atoi(argv[3]) : 0;
    if (argc < 3)
        return 2;
    arena_init(&arena, NULL, 0, (size_t)256 << 20);
    char *text = file_read(argv[1]), *queries = file_read(argv[2]);
    if (!playbook_text_read(&arena, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_TEXT, text, &read, &st)) {
        fprintf(stderr, "%s\n", st.text);
        return 1;
    }
    Renga__V1__Bullet **bullets = calloc(read.count, sizeof(Renga__V1__Bullet *));
    for (size_t i = 0; i < read.count; i++)
        bullets[i] = &playbook_bullet_create(read.bullets[i], (int64_t)i)->bullet;
    struct playbook_index *index = playbook_index_create();
    int64_t begin = cpu_now_ns();
    playbook_index_update(index, bullets, read.count);
    printf("bullets %zu, %zu bytes of text, build %.1f ms\n", read.count, strlen(text), ms(cpu_now_ns() - begin));
    for (size_t i = 0; dimensions && i < read.count; i++)
        playbook_index_set_vector(index, bullets[i], random_vector(dimensions));
    printf("index %.1f MiB\n", (double)playbook_index_bytes(index) / (1 << 20));
    size_t count = 0, found = 0;
    char *rest = NULL;
    for (char *line = strtok_r(queries, "\n", &rest); line && count < QUERIES_MAX; line = strtok_r(NULL, "\n", &rest)) {
        const struct playbook_query query = {
            .text = line, .vector = dimensions ? random_vector(dimensions) : NULL, .by_words = true};
        int64_t start = cpu_now_ns();
        found += playbook_index_search(index, &query, hits, 10);
        times[count++] = cpu_now_ns() - start;
    }
    printf("queries %zu, hits a query %.1f\n", count, (double)found / (double)count);
    print_times("search", times, count);
    for (size_t i = 0; i < 1000; i++) { /* a bullet that changes: another content, then the search must know it */
        struct playbook_bullet *changed = playbook_bullet_create(bullets[(i * 7919) % read.count], 0);
        changed->bullet.content = bullets[(i * 104729) % read.count]->content;
        struct playbook_bullet *before = playbook_bullet_of(bullets[(i * 7919) % read.count]);
        bullets[(i * 7919) % read.count] = &changed->bullet;
        int64_t start = cpu_now_ns();
        playbook_index_update(index, bullets, read.count);
        times[i] = cpu_now_ns() - start;
        (void)before;
    }
    print_times("change", times, 1000);
    for (size_t i = 0; i < 1000; i++) {
        int64_t start = cpu_now_ns();
        playbook_index_similar(index, bullets[(i * 6151) % read.count]->content, 0.9, hits, 10);
        times[i] = cpu_now_ns() - start;
    }
    print_times("similar", times, 1000);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("process %.1f MiB at most\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
