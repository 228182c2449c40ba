/* search_web: pages of the web, by the sources of tool_runner.search. */
#include "instance/tool_runner_instance.h"
#include "search/search.h"
#include "tools/tools.h"
#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define WEB_HITS 5 /* unless the model asks for another number */

static const char *const web_sources[] = {SEARCH_WEB};

struct web_search {
    struct tool_run *run;
    struct search *search; /* NULL: it has ended */
};

/* ---- the text for the model -------------------------------------------------------------------------------------- */

static void web_write(struct tool_run *run, const struct search *search)
{
    for (size_t i = 0; i < search->hit_count; i++) {
        size_t number = i + 1;
        const Renga__V1__SearchHit *hit = search->hits[i];
        tool_hit(run, hit);
        tool_print(run, "%s[%zu] %s\n%s", number > 1 ? "\n\n" : "", number, hit->title[0] ? hit->title : hit->uri,
                   hit->uri);
        if (hit->published_date[0])
            tool_print(run, " (%s)", hit->published_date);
        tool_write(run, "\n", 1);
        tool_write(run, hit->snippet, strlen(hit->snippet));
    }
    if (!search->hit_count) {
        const char *query = search->query;
        tool_found_nothing(run);
        if (strcmp(words_language(query, strlen(query)), "ja") == 0)
            tool_print(run, "「%s」をウェブで検索しましたが、何も見つかりませんでした。", query);
        else
            tool_print(run, "Nothing was found for \"%s\" on the web.", query);
    }
    for (size_t i = 0; i < search->degradation_count; i++)
        tool_print(run, "\n\n(%s)", search->degradations[i].reason);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void web_searched(struct search *search)
{
    struct web_search *web = search->owner;
    struct tool_run *run = web->run;
    struct status status = search->status;
    web->search = NULL;
    if (status.code == OK)
        web_write(run, search);
    search_fini(search);
    free(search);
    if (status.code == OK)
        tool_finish(run);
    else
        tool_fail_status(run, &status);
}

static void web_start(struct tool_run *run)
{
    struct web_search *web = tool_run_data(run);
    const cJSON *arguments = tool_run_arguments(run);
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(arguments, "limit");
    struct status st = {0};
    struct search *search = malloc(sizeof *search);
    if (!search) {
        tool_fail(run, RESOURCE_EXHAUSTED, "no memory for a search");
        return;
    }
    search_init(search, tool_run_runner(run));
    web->run = run;
    web->search = search;
    search->query = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(arguments, "query"));
    search->limit = cJSON_IsNumber(limit) ? limit->valueint : WEB_HITS;
    search->sources = web_sources;
    search->source_count = 1;
    search->place = (struct lookup_place){.loop = tool_run_loop(run),
                                          .principal = tool_run_principal(run),
                                          .trace = tool_run_trace(run),
                                          .deadline_ns = tool_run_deadline_ns(run)};
    search->idempotency_key = tool_run_key(run);
    search->thread_id = tool_run_thread_id(run);
    search->run_id = tool_run_run_id(run);
    search->ended = web_searched;
    search->owner = web;
    if (search_start(search, &st))
        return;
    web->search = NULL;
    search_fini(search);
    free(search);
    tool_fail_status(run, &st);
}

static void web_cancel(struct tool_run *run)
{
    struct web_search *web = tool_run_data(run);
    if (web->search)
        search_cancel(web->search);
}

static bool web_is_offered(const struct tool_shared *shared)
{
    return search_sources_in(shared->sources, SEARCH_WEB) > 0;
}

const struct tool tool_search_web = {
    .name = "search_web",
    .description =
        "Searches the web and returns pages, each with its title, address and a part of its text. Use it for facts "
        "that the documents do not have, or that change: news, prices, versions. Ask with a few words, one topic at a "
        "time. ウェブを検索し、ページの題名・URL・抜粋を返します。文書にない情報や新しい情報に使います。",
    .parameters = "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"query\"], \"properties\": {"
                  "\"query\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 2000, \"description\": "
                  "\"What is looked for, in a few words.\"}, "
                  "\"limit\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 20, \"description\": "
                  "\"How many pages at most; 5 when left out.\"}}}",
    .idempotent = true,
    .timeout_ms = 30000,
    .size = sizeof(struct web_search),
    .is_offered = web_is_offered,
    .start = web_start,
    .cancel = web_cancel,
};
