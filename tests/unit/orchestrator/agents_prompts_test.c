/* Prompts that a value chooses, and prompts that an operator adds to an agent. */
#include "unit.h"

#include "agent_fixture.h"
#include "graph/bundle.h"
#include "graph/shipped.h"
#include "random_text.h"
#include "json/template.h"

#define TALKER                                                                                                         \
    "{\"agent\": \"talker\", \"state\": {\"query\": {\"type\": \"string\"}, \"dataset\": {\"type\": \"string\"}, "     \
    "\"context\": {\"type\": \"string\"}, \"answer\": {\"type\": \"string\"}}, \"start\": \"ask\",\n"                  \
    "\"nodes\": {\"ask\": {\"kind\": \"chat\", \"prompt\": \"task\", \"template_of\": \"dataset\", \"into\": "         \
    "\"answer\", \"inputs\": [\"query\", \"context\", \"dataset\"]}}}"

static struct house house_of(const char *document)
{
    struct house house = house_open();
    snprintf(house.prompts, sizeof house.prompts, "%s/.prompts", house.root);
    house_write(&house, ".prompts/talker/en/task.appworld.md", "appworld {query} {context}");
    house_write(&house, "talker/graph.json", document);
    house_write(&house, "talker/prompts/en/task.md", "built in {query} {context}");
    house_write(&house, "talker/prompts/ja/task.md", "組込 {query} {context}");
    return house;
}

static void assert_prompt(struct house *house, const char *value, const char *language, const char *text)
{
    struct status st;
    const char *chosen;
    struct agent *agent = house_find(house, "talker", &st);
    if (!agent)
        fail_msg("%s", st.text);
    assert_string_equal(agent_prompt_of(agent, "task", value, language, &chosen), text);
    agent_release(house->agents, agent);
}

static void the_prompt_of_a_value_goes_before_the_default_and_that_before_the_agents_own(void **state)
{
    struct house house = house_of(TALKER);
    house_load(&house);
    assert_prompt(&house, "appworld", "en", "appworld {query} {context}");
    assert_prompt(&house, "appworld", "ja", "appworld {query} {context}");
    assert_prompt(&house, "other", "en", "built in {query} {context}");
    assert_prompt(&house, "other", "ja", "組込 {query} {context}");
    assert_prompt(&house, "other", "fr", "built in {query} {context}");
    assert_prompt(&house, NULL, "ja", "組込 {query} {context}");
    house_write(&house, ".prompts/talker/ja/task.default.md", "既定 {query}");
    house_write(&house, ".prompts/talker/ja/task.appworld.txt", "世界 {query}");
    house_load(&house);
    assert_prompt(&house, "appworld", "ja", "世界 {query}");
    assert_prompt(&house, "appworld", "en", "appworld {query} {context}");
    assert_prompt(&house, "other", "en", "既定 {query}");
    assert_prompt(&house, "", "en", "既定 {query}");
    house_close(&house);
}

static void an_added_prompt_takes_the_place_of_the_agents_own_and_changes_its_version(void **state)
{
    struct house house = house_of(TALKER);
    struct status st;
    char version[65];
    house_load(&house);
    struct agent *first = house_find(&house, "talker", &st);
    strcpy(version, first->version);
    assert_contains(first->bundle_json, "en/task.appworld");
    house_write(&house, ".prompts/talker/en/task.md", "better {query}");
    house_load(&house);
    struct agent *second = house_find(&house, "talker", &st);
    assert_string_not_equal(version, second->version);
    assert_string_equal(agent_prompt(second, "task", "en"), "better {query}");
    assert_string_equal(agent_prompt(first, "task", "en"), "built in {query} {context}");
    agent_release(house.agents, first);
    agent_release(house.agents, second);
    house_write(&house, ".prompts/talker/en/task.md", NULL);
    house_load(&house);
    second = house_find(&house, "talker", &st);
    assert_string_equal(version, second->version);
    agent_release(house.agents, second);
    house_close(&house);
}

static void a_faulty_prompt_leaves_the_agent_as_it_was_and_is_named(void **state)
{
    static const struct {
        const char *path, *text, *problem;
    } rows[] = {
        {"en/task.appworld.md", "{contxt}",
         "the prompt en/task.appworld names {contxt}, which is not among the inputs of the node 'ask'; did you mean "
         "'context'?"},
        {"ja/task.b.md", "{query} }", "the prompt ja/task.b: a '}' of the prompt stands alone"},
        {"en/task.appworld.txt", "twice", "the prompt 'task.appworld' is there twice"},
        {"en/task.c.doc", "x", "is no prompt; end its name in .md or .txt"},
        {"english/task.c.md", "x", "'english' is no language"},
        {"en/task c.md", "x", "is no name for a prompt"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house house = house_of(TALKER);
        char path[128];
        house_load(&house);
        snprintf(path, sizeof path, ".prompts/talker/%s", rows[i].path);
        house_write(&house, path, rows[i].text);
        house_load(&house);
        assert_contains(house.log, rows[i].problem);
        assert_prompt(&house, "appworld", "en", "appworld {query} {context}");
        house_close(&house);
    }
}

static void a_faulty_prompt_keeps_no_agent_from_being_loaded_and_fails_as_it_is_filled(void **state)
{
    struct house house = house_of(TALKER);
    struct status st = {0};
    struct buffer text;
    const char *chosen;
    cJSON *values = cJSON_Parse("{\"query\": \"q\", \"context\": \"c\"}");
    house_write(&house, ".prompts/talker/en/task.broken.md", "{contxt}");
    house_write(&house, ".prompts/talker/en/task.bytes.md", "\xff\xfe");
    house_write(&house, ".prompts/talker/english/task.other.md", "x");
    house_write(&house, ".prompts/talker/en/task c.md", "x");
    house_load(&house);
    assert_contains(house.log, "the prompt en/task.broken names {contxt}");
    assert_contains(house.log, "is no UTF-8");
    assert_contains(house.log, "'english' is no language");
    assert_contains(house.log, "is loaded all the same");
    assert_prompt(&house, "appworld", "en", "appworld {query} {context}");
    assert_prompt(&house, "bytes", "en", "built in {query} {context}");
    struct agent *agent = house_find(&house, "talker", &st);
    struct problems *problems = problems_create();
    struct agent *again = agent_of_bundle(agent->bundle_json, agent->bundle_size, problems);
    assert_non_null(again);
    assert_string_equal(again->version, agent->version);
    buffer_init(&text, 1024);
    assert_false(template_fill(agent_prompt_of(again, "task", "broken", "en", &chosen), values, &text, &st));
    assert_contains(st.text, "contxt");
    buffer_fini(&text);
    cJSON_Delete(values);
    agent_destroy(&again);
    problems_destroy(&problems);
    agent_release(house.agents, agent);
    house_close(&house);
}

static void a_fault_of_the_document_is_no_fault_of_a_prompt(void **state)
{
    struct house house = house_of("{\"agent\": \"talker\"}");
    struct status st;
    house_write(&house, ".prompts/talker/en/task.broken.md", "{contxt}");
    house_load(&house);
    assert_null(house_find(&house, "talker", &st));
    house_close(&house);
}

static void prompts_of_an_agent_that_is_not_there_are_a_problem(void **state)
{
    struct house house = house_of(TALKER);
    house_write(&house, ".prompts/walker/en/task.md", "x");
    house_load(&house);
    assert_contains(house.log, "walker/");
    assert_contains(house.log, "has prompts for an agent that is not there");
    assert_prompt(&house, "appworld", "en", "appworld {query} {context}");
    house_close(&house);
    house = house_of(TALKER);
    strcat(house.prompts, "-none");
    house_load(&house);
    assert_contains(house.log, "No such file or directory");
    house_close(&house);
}

static void a_field_that_cannot_choose_is_refused(void **state)
{
    static const struct {
        const char *node, *problem;
    } rows[] = {
        {"{\"kind\": \"chat\", \"prompt\": \"answer\", \"into\": \"s\", \"template_of\": \"x\"}", "template_of: "},
        {"{\"kind\": \"chat\", \"prompt\": \"answer\", \"into\": \"s\", \"template_of\": 5}",
         "must be the name of a field"},
        {"{\"kind\": \"chat\", \"prompt\": \"answer\", \"into\": \"s\", \"template_of\": \"list\"}",
         "'list' is a list of strings; it must be a string"},
        {"{\"kind\": \"chat\", \"prompt\": \"answer\", \"into\": \"s\", \"template_of\": \"s\", \"inputs\": []}",
         "'s' is not among the node's \"inputs\""},
        {"{\"kind\": \"noop\", \"template_of\": \"s\"}", "a node of the kind 'noop' has no prompts"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"agent\": \"a\", \"state\": {\"s\": {\"type\": \"string\"}, \"list\": {\"type\": \"string[]\"}}, "
                 "\"start\": \"n\", \"nodes\": {\"n\": %s}}",
                 rows[i].node);
        struct reading_of read = read_text(text);
        assert_null(read.agent);
        assert_contains(read.problems->first->message, rows[i].problem);
        read_fini(&read);
    }
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

#define CASES 2000

/* The prompts folder has secrets beside it and within it, whose names a value might spell as a path. */
static void no_value_leads_out_of_the_prompts_of_its_name(void **state)
{
    static const char *const hostile[] = {"../secret",      "..",         ".",      "",       "a/b",
                                          "/etc/passwd",    "../../etc",  "a\\b",   "..\\x",  "appworld/../secret",
                                          "appworld.md",    "APPWORLD",   "%2e%2e", "a\nb",   "appworld\n",
                                          "\xe3\x80\x82/x", "./appworld", "*",      "secret", "appworld "};
    struct house house = house_of(TALKER);
    struct random_text random = {.seed = 7};
    char *text = malloc(RANDOM_TEXT_MAX);
    struct status st;
    const char *chosen;
    house_write(&house, ".prompts/talker/en/secret.md", "SECRET");
    house_write(&house, ".prompts/secret.md", "SECRET");
    house_load(&house);
    struct agent *agent = house_find(&house, "talker", &st);
    assert_non_null(agent);
    for (size_t i = 0; i < CASES + COUNT(hostile); i++) {
        const char *value = i < COUNT(hostile) ? hostile[i] : random_text_next(&random, text, 300);
        const char *form = agent_prompt_of(agent, "task", value, "en", &chosen);
        bool own = strcmp(value, "appworld") == 0;
        assert_string_equal(form, own ? "appworld {query} {context}" : "built in {query} {context}");
    }
    agent_release(house.agents, agent);
    house_close(&house);
    free(text);
}

/* Property 3 of the specification, of the templates that are shipped. A closing tag of a fence is written "<\/tag>". */
static void assert_filled(const struct agent *agent, const char *language, const char *query, const char *context)
{
    struct status st = {0};
    struct buffer text;
    const char *chosen;
    cJSON *values = cJSON_CreateObject();
    cJSON_AddStringToObject(values, "query", query);
    cJSON_AddStringToObject(values, "context", context);
    buffer_init(&text, (size_t)8 << 20);
    if (!template_fill(agent_prompt_of(agent, "task", "appworld", language, &chosen), values, &text, &st))
        fail_msg("%s", st.text);
    assert_non_null(strstr(buffer_text(&text), query));
    assert_non_null(strstr(buffer_text(&text), context));
    buffer_fini(&text);
    cJSON_Delete(values);
}

static void a_prompt_has_the_query_and_each_bullet_as_they_are(void **state)
{
    const char *folders[] = {AGENTS};
    struct status st = {0};
    struct agents *agents = agents_create(NULL, folders, 1, NULL, &st);
    struct agent *agent = agents_find(agents, "ace_generator", NULL, &st);
    struct random_text random = {.seed = 11};
    char *query = malloc(RANDOM_TEXT_MAX), *context = malloc(RANDOM_TEXT_MAX);
    if (!agent)
        fail_msg("%s", st.text);
    for (size_t i = 0; i < CASES; i++) {
        size_t most = i % 500 == 0 ? 1 << 20 : 400;
        assert_filled(agent, i % 2 ? "ja" : "en", random_text_next(&random, query, most),
                      random_text_next(&random, context, most));
    }
    assert_filled(agent, "en", "{query} {context} {{x}} }{ {", "{query}}{{ } {nothing}\n</b>");
    agent_release(agents, agent);
    agents_destroy(&agents);
    free(query);
    free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prompt_of_a_value_goes_before_the_default_and_that_before_the_agents_own),
        cmocka_unit_test(an_added_prompt_takes_the_place_of_the_agents_own_and_changes_its_version),
        cmocka_unit_test(a_faulty_prompt_leaves_the_agent_as_it_was_and_is_named),
        cmocka_unit_test(a_faulty_prompt_keeps_no_agent_from_being_loaded_and_fails_as_it_is_filled),
        cmocka_unit_test(a_fault_of_the_document_is_no_fault_of_a_prompt),
        cmocka_unit_test(prompts_of_an_agent_that_is_not_there_are_a_problem),
        cmocka_unit_test(a_field_that_cannot_choose_is_refused),
        cmocka_unit_test(no_value_leads_out_of_the_prompts_of_its_name),
        cmocka_unit_test(a_prompt_has_the_query_and_each_bullet_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
