/* Agents of folders: loaded beside faulty ones, held over reloads, found by name and version. */
#include "unit.h"

#include "agent_fixture.h"
#include "base/clock.h"
#include "starved.h"

#define GOOD(name, node)                                                                                               \
    "{\"agent\": \"" name "\", \"start\": \"" node "\", \"nodes\": {\"" node "\": {\"kind\": \"noop\"}}}"

struct tally {
    unsigned agents, problems;
    char names[512], last[1024];
};

static void count_agent(const struct agent *agent, void *data)
{
    struct tally *tally = data;
    tally->agents++;
    strcat(strcat(tally->names, agent->name), " ");
}

static void count_problem(const struct agent_problem *problem, void *data)
{
    struct tally *tally = data;
    tally->problems++;
    snprintf(tally->last, sizeof tally->last, "%s/%s:%d:%d: %s", problem->agent, problem->file, problem->line,
             problem->column, problem->message);
}

static struct tally tally_of(struct house *house)
{
    struct tally tally = {0};
    agents_each(house->agents, count_agent, count_problem, &tally);
    return tally;
}

static void a_good_agent_loads_beside_a_faulty_one(void **state)
{
    struct house house = house_open();
    struct status st;
    house_write(&house, "good/graph.json", GOOD("good", "n"));
    house_write(&house, "bad/graph.json",
                "{\"agent\": \"bad\",\n\"start\": \"n\",\n\"nodes\": {\"n\": {\"kind\": \"nop\"}}}");
    house_write(&house, "none/notes.txt", "no agent");
    house_write(&house, ".hidden/graph.json", "{");
    house_link(&house, "gone", "nowhere");
    house_load(&house);
    struct tally tally = tally_of(&house);
    assert_string_equal(tally.names, "good ");
    assert_int_equal(tally.problems, 3);
    assert_contains(house.log, "gone: is a link whose target is not there");
    assert_contains(house.log, "none/graph.json: is not there, so this folder is no agent");
    assert_string_equal(tally.last, "bad/graph.json:3:17: there is no kind 'nop'; did you mean 'noop'?");
    assert_contains(house.log, "bad/graph.json:3:17: there is no kind");

    struct agent *agent = house_find(&house, "good", &st);
    assert_non_null(agent);
    agent_release(house.agents, agent);
    assert_null(house_find(&house, "bad", &st));
    assert_int_equal(st.code, NOT_FOUND);
    assert_contains(st.text, "the agent 'bad' was not loaded: graph.json:3:17: there is no kind 'nop'");
    assert_null(house_find(&house, "goood", &st));
    assert_contains(st.text, "there is no agent 'goood'; did you mean 'good'?");
    assert_null(house_find(&house, "stranger", &st));
    assert_contains(st.text, "there is no agent 'stranger'; there is 'good'");
    house_close(&house);
}

static void a_version_that_is_held_outlives_a_reload(void **state)
{
    struct house house = house_open();
    struct status st;
    char version[65];
    house_write(&house, "x/graph.json", GOOD("x", "first"));
    house_load(&house);
    struct agent *old = house_find(&house, "x", &st);
    strcpy(version, old->version);
    house_write(&house, "x/graph.json", GOOD("x", "second"));
    house_load(&house);
    struct agent *fresh = house_find(&house, "x", &st);
    assert_string_not_equal(fresh->version, version);
    assert_string_equal(old->graph->nodes[0].name, "first");
    assert_string_equal(fresh->graph->nodes[0].name, "second");

    struct agent *pinned = agents_find(house.agents, "x", version, &st);
    assert_ptr_equal(pinned, old);
    agent_release(house.agents, pinned);
    agent_release(house.agents, old);
    assert_null(agents_find(house.agents, "x", version, &st));
    assert_contains(st.text, "has no version");
    agent_release(house.agents, fresh);
    house_close(&house);
}

static void what_has_not_changed_stays_the_same_agent(void **state)
{
    struct house house = house_open();
    struct status st;
    house_write(&house, "x/graph.json", GOOD("x", "n"));
    house_load(&house);
    struct agent *before = house_find(&house, "x", &st);
    house_write(&house, "x/graph.json", "// noted\n" GOOD("x", "n"));
    house_load(&house);
    struct agent *after = house_find(&house, "x", &st);
    assert_ptr_equal(before, after);
    agent_hold(after);
    for (unsigned i = 0; i < 3; i++)
        agent_release(house.agents, after);
    house_close(&house);
}

static void a_document_that_breaks_leaves_the_agent_as_it_was(void **state)
{
    struct house house = house_open();
    struct status st;
    house_write(&house, "x/graph.json", GOOD("x", "n"));
    house_load(&house);
    house_write(&house, "x/graph.json", "{\"agent\": \"x\",\n oh}");
    house_load(&house);
    struct tally tally = tally_of(&house);
    assert_string_equal(tally.names, "x ");
    assert_contains(tally.last, "x/graph.json:2:2: ");
    struct agent *agent = house_find(&house, "x", &st);
    assert_string_equal(agent->graph->nodes[0].name, "n");
    agent_release(house.agents, agent);

    house_write(&house, "x/graph.json", NULL);
    house_load(&house);
    tally = tally_of(&house);
    assert_int_equal(tally.agents, 0);
    assert_contains(tally.last, "x/graph.json:0:0: is not there");
    house_close(&house);
}

static void ten_megabytes_are_refused_at_once(void **state)
{
    struct house house = house_open();
    struct buffer text;
    buffer_init(&text, SIZE_MAX);
    buffer_print(&text, "{\"agent\": \"big\", \"description\": \"");
    while (text.length < 10000000)
        buffer_print(&text, "0123456789");
    buffer_print(&text, "\"}");
    house_write(&house, "big/graph.json", buffer_text(&text));
    buffer_fini(&text);
    int64_t from = clock_now_ns(), starved = starved_ns();
    house_load(&house);
    assert_true(clock_now_ns() - from - (starved_ns() - starved) < 500 * NS_PER_MS);
    assert_string_equal(tally_of(&house).last,
                        "big/graph.json:0:0: has more than 1048576 bytes; make it smaller, or several of it");
    house_close(&house);
}

#define PROMPTED "{\"agent\": \"x\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}}"

static void prompts_are_found_by_language_and_fall_back_to_english(void **state)
{
    struct house house = house_open();
    struct status st;
    house_write(&house, "x/graph.json", PROMPTED);
    house_write(&house, "x/prompts/en/answer.md", "Answer.");
    house_write(&house, "x/prompts/ja/answer.txt", "答えて。");
    house_write(&house, "x/prompts/en/plan.v2.txt", "Plan.");
    house_load(&house);
    struct agent *agent = house_find(&house, "x", &st);
    assert_non_null(agent);
    assert_string_equal(agent_prompt(agent, "answer", "ja"), "答えて。");
    assert_string_equal(agent_prompt(agent, "answer", "en"), "Answer.");
    assert_string_equal(agent_prompt(agent, "answer", NULL), "Answer.");
    assert_string_equal(agent_prompt(agent, "plan.v2", "ja"), "Plan.");
    assert_null(agent_prompt(agent, "other", "en"));
    assert_contains(agent->bundle_json,
                    "\"prompts\":{\"en/answer\":\"Answer.\",\"en/plan.v2\":\"Plan.\",\"ja/answer\":");
    char version[65];
    strcpy(version, agent->version);
    agent_release(house.agents, agent);
    house_write(&house, "x/prompts/en/answer.md", "Answer!");
    house_load(&house);
    agent = house_find(&house, "x", &st);
    assert_string_not_equal(agent->version, version);
    agent_release(house.agents, agent);
    house_close(&house);
}

static void refuse_prompt(const char *path, const char *text, const char *what)
{
    struct house house = house_open();
    house_write(&house, "x/graph.json", PROMPTED);
    house_write(&house, "x/prompts/en/answer.md", "Answer.");
    house_write(&house, path, text);
    house_load(&house);
    struct tally tally = tally_of(&house);
    assert_int_equal(tally.agents, 0);
    assert_contains(tally.last, path);
    assert_contains(tally.last, what);
    house_close(&house);
}

static void a_prompt_that_is_none_is_refused_with_its_file(void **state)
{
    refuse_prompt("x/prompts/en/answer.txt", "Answer.", "is there twice, as .md and as .txt");
    refuse_prompt("x/prompts/en/answer.doc", "Answer.", "is no prompt; end its name in .md or .txt");
    refuse_prompt("x/prompts/en/a b.md", "Answer.", "'a b' is no name for a prompt");
    refuse_prompt("x/prompts/en/bad.md", "ab\xff", "byte 3 is no UTF-8");
    refuse_prompt("x/prompts/English/bad.md", "x", "'English' is no language");
    refuse_prompt("x/prompts/answer.md", "x", "is no folder of a language");
}

static void of_two_folders_the_later_one_wins(void **state)
{
    struct house first = house_open(), second = house_open();
    struct status st = {0};
    const char *folders[] = {first.root, second.root, "/no/such/folder"};
    house_write(&first, "x/graph.json", GOOD("x", "first"));
    house_write(&first, "y/graph.json", GOOD("y", "first"));
    house_write(&second, "x/graph.json", GOOD("x", "second"));
    struct house both = {.agents = agents_create(NULL, folders, 3, NULL, &st)};
    struct tally tally = tally_of(&both);
    assert_string_equal(tally.names, "x y ");
    assert_int_equal(tally.problems, 1);
    assert_contains(tally.last, "/no/such/folder:0:0: No such file or directory");
    struct agent *agent = house_find(&both, "x", &st);
    assert_string_equal(agent->graph->nodes[0].name, "second");
    agent_release(both.agents, agent);
    agents_destroy(&both.agents);
    house_close(&first);
    house_close(&second);
}

static void an_agent_comes_back_from_its_bundle(void **state)
{
    struct house house = house_open();
    struct status st = {0};
    char version[65];
    house_write(&house, "x/graph.json", GOOD("x", "n"));
    house_load(&house);
    struct agent *agent = house_find(&house, "x", &st);
    char *bundle = strdup(agent->bundle_json);
    strcpy(version, agent->version);
    struct agent *same = agents_of_bundle(house.agents, bundle, strlen(bundle), &st);
    assert_ptr_equal(same, agent);
    agent_release(house.agents, same);
    agent_release(house.agents, agent);

    house_write(&house, "x/graph.json", GOOD("x", "m"));
    house_load(&house);
    assert_null(agents_find(house.agents, "x", version, &st));
    agent = agents_of_bundle(house.agents, bundle, strlen(bundle), &st);
    assert_string_equal(agent->version, version);
    assert_string_equal(agent->graph->nodes[0].name, "n");
    same = agents_find(house.agents, "x", version, &st);
    assert_ptr_equal(same, agent);
    agent_release(house.agents, same);
    agent_release(house.agents, agent);
    assert_null(agents_of_bundle(house.agents, "{\"graph\": 1}", 12, &st));
    assert_int_equal(st.code, DATA_LOSS);
    assert_contains(st.text, "a bundle has \"graph\" and \"prompts\"");
    free(bundle);
    house_close(&house);
}

static void the_agents_that_are_delivered_load(void **state)
{
    struct status st = {0};
    const char *folders[] = {AGENTS};
    struct house house = {.agents = agents_create(NULL, folders, 1, NULL, &st)};
    struct tally tally = tally_of(&house);
    if (tally.problems)
        fail_msg("%s", tally.last);
    assert_contains(tally.names, "echo ");
    agents_destroy(&house.agents);
}

/* A name of a node is none for people. */
static void assert_parts_are_named(const struct agent *agent, const cJSON *graph)
{
    const cJSON *node, *inner;
    cJSON_ArrayForEach(node, cJSON_GetObjectItem(graph, "nodes"))
    {
        const char *kind = cJSON_GetStringValue(cJSON_GetObjectItem(node, "kind"));
        if (kind && strcmp(kind, "degrade") == 0 && !cJSON_HasObjectItem(node, "part") &&
            !cJSON_HasObjectItem(node, "part_name"))
            fail_msg("%s: '%s' has neither part nor part_name", agent->name, node->string);
    }
    cJSON_ArrayForEach(inner, cJSON_GetObjectItem(graph, "graphs")) assert_parts_are_named(agent, inner);
}

static void assert_degradations_are_named(const struct agent *agent, void *data)
{
    size_t *checked = data;
    cJSON *document = cJSON_Parse(agent->graph->document_json);
    assert_non_null(document);
    assert_parts_are_named(agent, document);
    cJSON_Delete(document);
    (*checked)++;
}

static void count_no_problem(const struct agent_problem *problem, void *data) {}

static void the_agents_that_are_delivered_tell_people_which_part_is_degraded(void **state)
{
    struct status st = {0};
    const char *folders[] = {AGENTS};
    size_t checked = 0;
    struct house house = {.agents = agents_create(NULL, folders, 1, NULL, &st)};
    agents_each(house.agents, assert_degradations_are_named, count_no_problem, &checked);
    assert_true(checked > 5);
    agents_destroy(&house.agents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_agent_loads_beside_a_faulty_one),
        cmocka_unit_test(a_version_that_is_held_outlives_a_reload),
        cmocka_unit_test(what_has_not_changed_stays_the_same_agent),
        cmocka_unit_test(a_document_that_breaks_leaves_the_agent_as_it_was),
        cmocka_unit_test(ten_megabytes_are_refused_at_once),
        cmocka_unit_test(prompts_are_found_by_language_and_fall_back_to_english),
        cmocka_unit_test(a_prompt_that_is_none_is_refused_with_its_file),
        cmocka_unit_test(of_two_folders_the_later_one_wins),
        cmocka_unit_test(an_agent_comes_back_from_its_bundle),
        cmocka_unit_test(the_agents_that_are_delivered_load),
        cmocka_unit_test(the_agents_that_are_delivered_tell_people_which_part_is_degraded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
