/* Chooses tools and their arguments by the words of the question, never by those of the findings. A tool is not
 * called if its required arguments are unknown. A tool that sends or deletes is therefore not called, unless a
 * search text is all it requires. */
#include "extract.h"

#include "base/text.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CALLS_MAX     3
#define NEAR_BEST     0.5 /* of the best score: tools this good are called too */
#define UNASKED_LEAST 0.5 /* coverage from which a tool that takes no question is called */
#define LOOKUP_BONUS  0.6 /* for a tool that takes a question: it may have results under any name */
#define COUNT_DEFAULT 5   /* results, if a tool requires their number */
#define ARGUMENTS_MAX ((size_t)16384)
#define QUERY_MAX     ((size_t)500) /* bytes */
#define NUMBER_MAX    9e15          /* integers up to here are exact */
#define WIDER         2             /* times as many results when it is tried again */

static const char *const question_names[] = {"query",    "question", "q",     "search",     "search_query",  "keyword",
                                             "keywords", "queries",  "terms", "text_query", "question_text", "phrase"};
static const char *const count_names[] = {"limit", "top_k",       "k",         "max_results", "count",
                                          "n",     "num_results", "page_size", "results_max"};

/* One tool while it is looked at. */
struct offer {
    const Renga__V1__ToolDefinition *tool;
    char *arguments; /* NULL: it cannot be called */
    bool asks;       /* it takes a question, or the page that is asked about */
    double score;
};

struct filling {
    const struct extract *extract;
    struct text query;
    bool again; /* it was tried before, and was not enough */
    bool asks;
};

static bool call_tools_is_named(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool asks_question(const char *name)
{
    return call_tools_is_named(name, question_names, sizeof question_names / sizeof question_names[0]);
}

static bool asks_count(const char *name)
{
    return call_tools_is_named(name, count_names, sizeof count_names / sizeof count_names[0]);
}

static const char *call_tools_type_of(const cJSON *schema)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(schema, "type");
    if (cJSON_IsArray(type))
        type = cJSON_GetArrayItem(type, 0);
    return cJSON_IsString(type) ? type->valuestring : "string";
}

static double number_or(const cJSON *schema, const char *name, double fallback)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(schema, name);
    return cJSON_IsNumber(value) ? value->valuedouble : fallback;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static struct text find_url(struct text text)
{
    const char *begin = memmem(text.bytes, text.length, "http", 4), *end = text.bytes + text.length;
    if (!begin || !(strncmp(begin, "http://", 7) == 0 || strncmp(begin, "https://", 8) == 0))
        return (struct text){NULL, 0};
    const char *at = begin;
    while (at<end && * at> ' ' && (unsigned char)*at < 0x7F && !strchr("\"'<>)]", *at))
        at++;
    while (at > begin && strchr(".,;?!", at[-1]))
        at--;
    return (struct text){begin, (size_t)(at - begin)};
}

/* The value of the list that the question names. */
static const cJSON *named_choice(const cJSON *schema, struct text asked)
{
    const cJSON *choice;
    cJSON_ArrayForEach(choice, cJSON_GetObjectItemCaseSensitive(schema, "enum"))
    {
        if (cJSON_IsString(choice) && choice->valuestring[0] &&
            memmem(asked.bytes, asked.length, choice->valuestring, strlen(choice->valuestring)))
            return choice;
    }
    return NULL;
}

static struct text fitting(struct text text, const cJSON *schema)
{
    double most = number_or(schema, "maxLength", (double)QUERY_MAX);
    size_t room = most < (double)QUERY_MAX ? (size_t)(most > 0 ? most : 0) : QUERY_MAX;
    return (struct text){text.bytes, text_cut(text.bytes, text.length, room)};
}

static bool fill_string(struct filling *filling, struct json_writer *writer, const cJSON *schema)
{
    const char *name = schema->string;
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(schema, "enum");
    const cJSON *choice = named_choice(schema, filling->extract->asked);
    struct text url = find_url(filling->extract->asked);
    if (choices) {
        if (choice)
            json_write_string(writer, name, choice->valuestring);
        return choice != NULL;
    }
    if (asks_question(name)) {
        struct text query = fitting(filling->query, schema);
        filling->asks = true;
        json_write_text(writer, name, query.bytes, query.length);
        return query.length > 0;
    }
    if (!strcasestr(name, "url") || !url.length)
        return false;
    filling->asks = true;
    json_write_text(writer, name, url.bytes, url.length);
    return true;
}

static bool fill_number(const struct filling *filling, struct json_writer *writer, const cJSON *schema)
{
    const cJSON *fallback = cJSON_GetObjectItemCaseSensitive(schema, "default");
    bool counts = asks_count(schema->string);
    double least = number_or(schema, "minimum", -1e9), most = number_or(schema, "maximum", 1e9);
    if (!counts && !cJSON_IsNumber(fallback) && !cJSON_GetObjectItemCaseSensitive(schema, "minimum"))
        return false;
    double value = cJSON_IsNumber(fallback) ? fallback->valuedouble : counts ? COUNT_DEFAULT : least;
    if (counts && filling->again)
        value *= WIDER;
    value = value < least ? least : value > most ? most : value;
    if (value < -NUMBER_MAX || value > NUMBER_MAX)
        return false;
    if (strcmp(call_tools_type_of(schema), "integer") == 0)
        json_write_int(writer, schema->string, (int64_t)value);
    else
        json_write_double(writer, schema->string, value);
    return true;
}

static bool fill_list(struct filling *filling, struct json_writer *writer, const cJSON *schema)
{
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(schema, "items");
    if (!asks_question(schema->string) || strcmp(call_tools_type_of(items), "string") != 0)
        return false;
    struct text query = fitting(filling->query, items);
    filling->asks = true;
    json_write_array(writer, schema->string);
    json_write_text(writer, NULL, query.bytes, query.length);
    json_write_end(writer);
    return query.length > 0;
}

static bool call_tools_fill(struct filling *filling, struct json_writer *writer, const cJSON *schema)
{
    const char *type = call_tools_type_of(schema);
    const cJSON *fallback = cJSON_GetObjectItemCaseSensitive(schema, "default");
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return fill_number(filling, writer, schema);
    if (fallback && !asks_question(schema->string)) {
        json_write_tree(writer, schema->string, fallback);
        return true;
    }
    if (strcmp(type, "string") == 0)
        return fill_string(filling, writer, schema);
    if (strcmp(type, "array") == 0)
        return fill_list(filling, writer, schema);
    if (strcmp(type, "boolean") != 0)
        return false;
    json_write_bool(writer, schema->string, false);
    return true;
}

/* The names that a schema requires, in their order. */
struct required {
    const char **names;
    size_t count;
};

static int call_tools_compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void required_read(struct arena *arena, const cJSON *root, struct required *required)
{
    const cJSON *item, *list = cJSON_GetObjectItemCaseSensitive(root, "required");
    required->names = arena_alloc(arena, (size_t)cJSON_GetArraySize(list) * sizeof(*required->names) + 1);
    required->count = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && required->names)
            required->names[required->count++] = item->valuestring;
    }
    if (required->count)
        qsort(required->names, required->count, sizeof(*required->names), call_tools_compare_names);
}

static bool is_required(const struct required *required, const char *name)
{
    return required->count &&
           bsearch(&name, required->names, required->count, sizeof(*required->names), call_tools_compare_names);
}

/* Fills required arguments, the question if a parameter takes it, and a larger number of results on a repeated try. */
static bool fill_all(struct filling *filling, struct json_writer *writer, const cJSON *root)
{
    const cJSON *schema, *properties = cJSON_GetObjectItemCaseSensitive(root, "properties");
    struct required required;
    if (properties && !cJSON_IsObject(properties))
        return false;
    required_read(filling->extract->arena, root, &required);
    size_t left = (size_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(root, "required"));
    cJSON_ArrayForEach(schema, properties)
    {
        bool must = is_required(&required, schema->string);
        bool may = asks_question(schema->string) || (filling->again && asks_count(schema->string));
        if ((must || may) && !call_tools_fill(filling, writer, schema) && must)
            return false;
        left -= must;
    }
    return left == 0; /* otherwise a required parameter is not described */
}

/* NULL: the arguments are unknown. */
static char *call_tools_arguments_of(const struct extract *extract, struct filling *filling,
                                     const Renga__V1__ToolDefinition *tool)
{
    struct status ignored = {0};
    struct buffer out;
    struct json_writer writer;
    const char *text = tool->parameters_json[0] ? tool->parameters_json : "{}";
    cJSON *root = json_parse(text, strlen(text), NULL, &ignored);
    buffer_init(&out, ARGUMENTS_MAX);
    json_writer_init(&writer, &out);
    json_write_object(&writer, NULL);
    bool good = root && fill_all(filling, &writer, root);
    json_write_end(&writer);
    good = good && json_writer_done(&writer);
    char *arguments = good ? arena_strdup(extract->arena, buffer_text(&out)) : NULL;
    buffer_fini(&out);
    cJSON_Delete(root);
    return arguments;
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

/* The share of the question's words in a tool's name, description and parameters. */
static double likeness(const struct extract *extract, const Renga__V1__ToolDefinition *tool)
{
    const struct passage passage = {.text = tool->description,
                                    .length = strlen(tool->description),
                                    .heading = tool->name,
                                    .heading_length = strlen(tool->name)};
    struct evidence *evidence = evidence_create(extract->arena, &passage, 1);
    struct coverage coverage = {0};
    if (evidence)
        evidence_cover(evidence, evidence, extract->asked.bytes, extract->asked.length, &coverage);
    return coverage.share;
}

static void call_tools_look_at(const struct extract *extract, const Renga__V1__ToolDefinition *tool, struct text query,
                               struct offer *offer)
{
    struct filling filling = {.extract = extract, .query = query, .again = extract->advice.length > 0};
    *offer = (struct offer){
        .tool = tool, .arguments = call_tools_arguments_of(extract, &filling, tool), .asks = filling.asks};
    offer->score = likeness(extract, tool) + (offer->asks ? LOOKUP_BONUS : 0);
}

/* On another try: the strong words, and those of the advice. */
static struct text query_of(const struct extract *extract)
{
    const struct text none = {NULL, 0};
    if (!extract->advice.length)
        return extract->asked;
    struct text own = extract_keywords(extract->arena, extract->asked, none);
    struct text more = extract_keywords(extract->arena, extract->advice, extract->asked);
    char *both = arena_printf(extract->arena, "%.*s %.*s", (int)own.length, own.bytes, (int)more.length, more.bytes);
    return both ? text_trimmed(text_of(both)) : extract->asked;
}

static bool is_demanded(const Renga__V1__ChatRequest *request)
{
    Renga__V1__ToolChoiceMode mode = request->tool_choice ? request->tool_choice->mode : 0;
    return mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED ||
           mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
}

static bool may_call(const Renga__V1__ChatRequest *request, const struct offer *offer)
{
    const Renga__V1__ToolChoice *choice = request->tool_choice;
    bool named = choice && choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
    if (!offer->arguments || (named && strcmp(choice->name, offer->tool->name) != 0))
        return false;
    return offer->asks || offer->score >= UNASKED_LEAST || is_demanded(request);
}

/* The calls for one part of the question. False: see `failure`. */
static bool call_tools_for(const struct extract *extract, struct text query, size_t most, struct answer *answer,
                           struct failure *failure)
{
    const Renga__V1__ChatRequest *request = extract->request;
    struct offer *offers = arena_zalloc(extract->arena, request->n_tools * sizeof *offers);
    double best = 0;
    if (!offers)
        return fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
    for (size_t i = 0; i < request->n_tools; i++)
        call_tools_look_at(extract, request->tools[i], query, &offers[i]);
    for (size_t called = 0; called < most; called++) {
        struct offer *next = NULL;
        for (size_t i = 0; i < request->n_tools; i++)
            if (may_call(request, &offers[i]) && (!next || offers[i].score > next->score))
                next = &offers[i];
        if (!next || next->score < best * NEAR_BEST)
            break;
        best = called ? best : next->score;
        char id[24];
        snprintf(id, sizeof id, "call_%d", answer->call_count + 1);
        const struct answer_call_piece piece = {
            .index = (int64_t)answer->call_count, .id = id, .name = next->tool->name, .arguments = next->arguments};
        if (!answer_call_tool(answer, &piece, failure))
            return false;
        next->arguments = NULL;
    }
    return true;
}

bool extract_call_tools(const struct extract *extract, struct answer *answer, struct failure *failure)
{
    const Renga__V1__ChatRequest *request = extract->request;
    bool one = request->maybe_parallel_tool_calls_case && !request->parallel_tool_calls;
    struct text parts[EXTRACT_PARTS_MAX] = {query_of(extract)};
    size_t count = 1;
    if (!one && !extract->advice.length)
        count = extract_split(extract->arena, extract->asked, extract->japanese, EXTRACT_PARTS_MAX, parts);
    for (size_t i = 0; i < count; i++)
        if (!call_tools_for(extract, parts[i], one ? 1 : CALLS_MAX, answer, failure))
            return false;
    return answer->call_count > 0;
}
