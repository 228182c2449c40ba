/* services/tool_runner/search: answers and errors of search engines, addresses, queries. */
#include "readers.h"

#include "http/canonical.h"
#include "search/fuse.h"
#include "search/passages.h"
#include "search/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *search_no_header(const void *from, const char *name)
{
    return NULL;
}

/* A source of the kind with the keys that it must have; made once. */
static const struct search_source *search_source_of(const char *kind)
{
    static const char document[] =
        "{\"sources\": {\"a\": {\"kind\": \"tavily\"}, \"b\": {\"kind\": \"searxng\", \"url\": \"http://a.example\"}, "
        "\"c\": {\"kind\": \"brave\"}, \"d\": {\"kind\": \"azure_ai_search\", \"url\": \"https://a.example\", "
        "\"index\": \"i\"}, \"e\": {\"kind\": \"opensearch\", \"url\": \"https://a.example\", \"index\": \"i\", "
        "\"mode\": \"hybrid\", \"vector_field\": \"v\", \"title_field\": \"meta.deep.title\"}}}";
    static struct search_setups setups;
    char path[] = "/tmp/renga-linear-XXXXXX";
    struct status st = {0};
    if (!setups.count) {
        int fd = mkstemp(path);
        bool good = fd >= 0 && write(fd, document, sizeof document - 1) == (ssize_t)sizeof document - 1 &&
                    search_setups_read(path, &setups, &st);
        close(fd);
        unlink(path);
        if (!good) {
            fprintf(stderr, "%s\n", st.text);
            abort();
        }
    }
    for (size_t i = 0; i < setups.count; i++)
        if (strcmp(setups.list[i]->source.provider->kind, kind) == 0)
            return &setups.list[i]->source;
    abort();
}

static void read_search_answer(struct input *in)
{
    const struct search_source *source = search_source_of(in->with);
    struct search_answer answer;
    struct search_failure failure = {0};
    search_answer_init(&answer);
    const struct search_reply reply = {200, in->text, in->length, search_no_header, NULL, &answer.arena};
    in->accepted = source->provider->read_answer(source, &reply, &answer, &failure) && answer.count;
    search_answer_fini(&answer);
}

static void read_search_error(struct input *in)
{
    const struct search_source *source = search_source_of(in->with);
    struct search_failure failure = {0};
    const struct search_reply reply = {500, in->text, in->length, search_no_header, NULL, &in->arena};
    source->provider->read_error(source, &reply, &failure);
}

static void write_canonical(struct input *in)
{
    struct buffer out;
    buffer_init(&out, CANONICAL_MAX);
    char *uri = malloc(in->length + sizeof "https://a.example/");
    sprintf(uri, "https://a.example/%s", in->text);
    canonical_write(uri, &out);
    canonical_write(in->text, &out);
    free(uri);
    buffer_fini(&out);
}

static void search_cut_query(struct input *in)
{
    search_query_cut(in->text, in->length, 0);
    search_query_cut(in->text, in->length, 50);
    search_percent_encode(&in->out, in->text, in->length);
}

static void join_passages(struct input *in)
{
    struct search_passages passages = {.length = 0};
    search_passages_add(&passages, in->text);
    passages = (struct search_passages){.length = 0};
    search_passages_add_html(&passages, in->text);
}

#define FIRST(url, text)  "{\"" url "\":\"https://a.example/\",\"title\":\"t\",\"" text "\":\"a text\"}"
#define RESULT(url, text) "{\"" url "\":\"https://a.example/\1\",\"title\":\"t\",\"" text "\":\"a text\"}"

static const struct generator results_of_urls[] = {
    {"results", 0, .begin = "{\"results\":[7", .unit = "," RESULT("url", "content"), .end = "]}"},
    {"a long text", 0, .begin = "{\"results\":[{\"url\":\"https://a.example/\",\"content\":\"", .unit = "a\\n ",
     .end = "\"}]}"},
    {"silent engines", 0, .begin = "{\"results\":[" FIRST("url", "content") "],\"unresponsive_engines\":[[]",
     .unit = ",[\"e\1\",\"timeout\"]", .end = "]}"},
    {.name = NULL},
};
static const struct generator results_of_brave[] = {
    {"results", 0, .begin = "{\"type\":\"search\",\"web\":{\"results\":[" FIRST("url", "description"),
     .unit = "," RESULT("url", "description"), .end = "]}}"},
    {"a text of entities", 0,
     .begin = "{\"web\":{\"results\":[{\"url\":\"https://a.example/\",\"title\":\"t\",\"description\":\"",
     .unit = "&amp;<b>", .end = "\"}]}}"},
    {"references without an end", 0, "{\"web\":{\"results\":[{\"url\":\"https://a.example/\",\"title\":\"", "& ", NULL,
     NULL, "\"}]}}"},
    {"tags without an end", 0, "{\"web\":{\"results\":[{\"url\":\"https://a.example/\",\"title\":\"", "<!--<script>&",
     NULL, NULL, "\"}]}}"},
    {"extra snippets", 0, "{\"web\":{\"results\":[{\"url\":\"https://a.example/\",\"extra_snippets\":[",
     "\"<i>e\1</i>\",", "7", NULL, "]}]}}"},
    {"listed errors", 0, "{\"errors\":[", "{\"code\":\"c\1\"},", "{}", NULL, "]}"},
    {.name = NULL},
};
static const struct generator results_of_azure[] = {
    {"results", 0, .begin = "{\"value\":[" FIRST("url", "content"), .unit = "," RESULT("url", "content"), .end = "]}"},
    {"captions", 0, "{\"value\":[{\"url\":\"https://a.example/\",\"@search.captions\":[", "{\"text\":\"p\1\"},", "7",
     NULL, "]}]}"},
    {.name = NULL},
};
#define HIT(id, source) "{\"_index\":\"i\",\"_id\":\"" id "\",\"_score\":1,\"_source\":" source "}"
static const struct generator results_of_opensearch[] = {
    {"results", 0, .begin = "{\"responses\":[{\"hits\":{\"hits\":[" HIT("x", FIRST("url", "content")),
     .unit = "," HIT("\1", RESULT("url", "content")), .end = "]}},{\"hits\":{\"hits\":[]}}]}"},
    {"fields", 0, "{\"hits\":{\"hits\":[{\"_index\":\"kb\",\"_id\":\"1\",\"_source\":{", "\"f\1\":{\"meta\":[]},",
     "\"meta\":{}", NULL, "}}]}}"},
    {"fields on the way", 0, "{\"hits\":{\"hits\":[{\"_index\":\"kb\",\"_id\":\"1\",\"_source\":{\"meta\":{",
     "\"deep\1\":{},", "\"deep\":{}", NULL, "}}}]}}"},
    {"marks", 0, "{\"hits\":{\"hits\":[{\"_index\":\"kb\",\"_id\":\"1\",\"highlight\":{\"body\":[\"", "\\u0002\\u0003",
     NULL, NULL, "\"]}}]}}"},
    {"searches", 0, "{\"responses\":[", "{\"hits\":{\"hits\":[{\"_index\":\"kb\",\"_id\":\"\1\"}]}},", "{}", NULL,
     "]}"},
    {"failed searches", 0, "{\"responses\":[", "{\"error\":{\"type\":\"t\",\"reason\":\"basic a\"}},", "{}", NULL,
     "]}"},
    {"error", 0, "{\"error\":{\"type\":\"t\",\"reason\":\"", "basic ", NULL, NULL, "\"}}"},
    {"root causes", 0, "{\"error\":{\"root_cause\":[", "{\"reason\":\"r\1\"},", "{}", NULL, "]}}"},
    {.name = NULL},
};

#define ANSWERS HOSTILE_JSON | HOSTILE_BYTES

const struct reader readers_search[] = {
    {"answers of Tavily", read_search_answer, ANSWERS, results_of_urls, "tavily", .accepts = true},
    {"answers of SearXNG", read_search_answer, ANSWERS, results_of_urls, "searxng", .accepts = true},
    {"answers of Brave", read_search_answer, ANSWERS, results_of_brave, "brave", .accepts = true},
    {"answers of Azure AI Search", read_search_answer, ANSWERS, results_of_azure, "azure_ai_search", .accepts = true},
    {"answers of OpenSearch", read_search_answer, ANSWERS, results_of_opensearch, "opensearch", .accepts = true},
    {"errors of Tavily", read_search_error, ANSWERS, .with = "tavily"},
    {"errors of SearXNG", read_search_error, ANSWERS, .with = "searxng"},
    {"errors of Brave", read_search_error, ANSWERS, results_of_brave, "brave", .accepts = false},
    {"errors of Azure AI Search", read_search_error, ANSWERS, .with = "azure_ai_search"},
    {"errors of OpenSearch", read_search_error, ANSWERS, results_of_opensearch, "opensearch", .accepts = false},
    {"canonical addresses", write_canonical, .sets = HOSTILE_FIELD | HOSTILE_BYTES},
    {"passages of a result", join_passages, .sets = HOSTILE_TEXT | HOSTILE_MARKUP | HOSTILE_BYTES},
    {"queries", search_cut_query, .sets = HOSTILE_TEXT | HOSTILE_FIELD | HOSTILE_BYTES},
    {.name = NULL},
};
