/* Every reader of outside input is linear: a test a reader, over all attacks of its kind. RENGA_TELL=1 prints all
 * figures; RENGA_READER and RENGA_ATTACK are parts of names, to look at some alone. */
#include "calls.h"
#include "readers.h"

#include "base/log.h"

#include <stdio.h>

#include "unit.h"

#define READERS_MAX 256

static const struct reader *const tables[] = {
    readers_words,     readers_documents, readers_extractive, readers_json,      readers_http,    readers_rpc,
    readers_gateway,   readers_agents,    readers_thinking,   readers_methods,   readers_graphs,  readers_tools,
    readers_settings,  readers_rows,      readers_acts,       readers_search,    readers_reports, readers_files,
    readers_datagrams, readers_cite,      readers_form,       readers_playbooks, readers_edge};

static void the_reader_is_linear(void **state)
{
    assert_true(reader_holds(*state));
}

int main(void)
{
    struct CMUnitTest tests[READERS_MAX];
    size_t count = 0;
    const char *only = getenv("RENGA_READER");
    reading_keeps_memory();
    log_configure("linear", LOG_ERROR, LOG_FORMAT_TEXT);
    for (size_t table = 0; table < COUNT(tables); table++)
        for (const struct reader *reader = tables[table]; reader->name && count < READERS_MAX; reader++)
            if (!only || strstr(reader->name, only))
                tests[count++] = (struct CMUnitTest){.name = reader->name,
                                                     .test_func = the_reader_is_linear,
                                                     .initial_state = (void *)(uintptr_t)reader};
    int failed = _cmocka_run_group_tests("linear", tests, count, NULL, NULL);
    calls_end();
    return failed;
}
