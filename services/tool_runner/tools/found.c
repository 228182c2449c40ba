#include "tools/found.h"

#include "instance/tool_runner_instance.h"
#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define HITS 5 /* unless the model asks for another number */

/* ---- the output -------------------------------------------------------------------------------------------------- */

void found_write(struct tool_run *run, size_t number, const Renga__V1__SearchHit *hit, bool by_words)
{
    tool_hit(run, hit);
    tool_print(run, "%s[%zu] %s:%d-%d", number > 1 ? "\n\n" : "", number, hit->uri, hit->line_from, hit->line_to);
    if (by_words)
        tool_print(run, " (%.2f)", hit->score);
    for (size_t i = 0; i < hit->n_heading_path; i++)
        tool_print(run, "%s%s", i ? " > " : " | ", hit->heading_path[i]);
    tool_write(run, "\n", 1);
    tool_write(run, hit->snippet, strlen(hit->snippet));
}

static void write_nothing(struct tool_run *run, const struct lookup *lookup)
{
    bool japanese = strcmp(words_language(lookup->query, strlen(lookup->query)), "ja") == 0;
    const char *what = lookup->answers ? japanese ? "よくある質問" : "questions and answers"
                       : japanese      ? "文書"
                                       : "documents";
    tool_found_nothing(run);
    if (japanese)
        tool_print(run, "「%s」を%sから探しましたが、何も見つかりませんでした。", lookup->query, what);
    else
        tool_print(run, "Nothing was found for \"%s\" in the %s.", lookup->query, what);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void found_ended(struct lookup *lookup)
{
    struct found_run *found = lookup->owner;
    struct tool_run *run = found->run;
    struct status status = lookup->status;
    found->lookup = NULL;
    if (status.code == OK) {
        bool by_words = lookup->mode_used == RENGA__V1__SEARCH_MODE__SEARCH_MODE_LEXICAL;
        for (size_t i = 0; i < lookup->hit_count; i++)
            found_write(run, i + 1, lookup->hits[i], by_words);
        if (!lookup->hit_count)
            write_nothing(run, lookup);
    }
    lookup_fini(lookup);
    free(lookup);
    if (status.code == OK)
        tool_finish(run);
    else if (status.code == UNAVAILABLE)
        tool_unavailable(run, "%s", status.text);
    else
        tool_fail_status(run, &status);
}

static void read_arguments(struct found_run *found, const cJSON *arguments)
{
    struct lookup *lookup = found->lookup;
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(arguments, "limit");
    const cJSON *name, *names = cJSON_GetObjectItemCaseSensitive(arguments, "collections");
    lookup->query = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(arguments, "query"));
    lookup->limit = cJSON_IsNumber(limit) ? limit->valueint : HITS;
    lookup->collections = found->collections;
    cJSON_ArrayForEach(name, names) if (lookup->collection_count < FOUND_COLLECTIONS_MAX)
        found->collections[lookup->collection_count++] = name->valuestring;
}

void found_start(struct tool_run *run, bool answers)
{
    struct found_run *found = tool_run_data(run);
    struct status st = {0};
    struct lookup *lookup = found->lookup = malloc(sizeof *lookup);
    if (!lookup) {
        tool_fail(run, RESOURCE_EXHAUSTED, "no memory for a search");
        return;
    }
    struct lookup_place place = {
        .loop = tool_run_loop(run),
        .principal = tool_run_principal(run),
        .trace = tool_run_trace(run),
        .deadline_ns = tool_run_deadline_ns(run),
    };
    found->run = run;
    lookup_init(lookup, tool_run_runner(run)->shared->knowledge);
    lookup->answers = answers;
    lookup->owner = found;
    lookup->ended = found_ended;
    read_arguments(found, tool_run_arguments(run));
    if (lookup_start(lookup, &place, &st))
        return;
    found->lookup = NULL;
    lookup_fini(lookup);
    free(lookup);
    tool_fail_status(run, &st);
}

void found_cancel(struct tool_run *run)
{
    struct found_run *found = tool_run_data(run);
    if (found->lookup)
        lookup_cancel(found->lookup);
}
