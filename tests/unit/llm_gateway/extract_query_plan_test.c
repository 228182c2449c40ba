/* What the provider without a model searches for, at first and after what was found. */
#include "extract_fixture.h"
#include "extractive/extract.h"

#include <stdio.h>

static void query_plan_becomes(const char *question, const char *findings, const char *wanted)
{
    struct arena arena;
    static struct query_plan plan;
    char content[4096], got[4096] = "";
    size_t length = 0;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    snprintf(content, sizeof content, "<findings>\n%s\n</findings>\n<question>\n%s\n</question>", findings, question);
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT, *turns[] = {&turn};
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    turn.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    turn.content = content;
    request.messages = turns;
    request.n_messages = 1;
    extract_query_plan(extract_read(&arena, &request), 3, &plan);
    for (size_t i = 0; i < plan.query_count; i++)
        length += (size_t)snprintf(got + length, sizeof got - length, "%s%.*s", i ? "|" : "",
                                   (int)plan.queries[i].length, plan.queries[i].bytes);
    for (size_t i = 0; i < plan.gap_count; i++)
        length +=
            (size_t)snprintf(got + length, sizeof got - length, "#%.*s", (int)plan.gaps[i].length, plan.gaps[i].bytes);
    assert_string_equal(got, wanted);
    arena_fini(&arena);
}

static void the_parts_of_a_question_are_searched_for_first(void **state)
{
    query_plan_becomes("How long are backups kept, and how is a password reset?", "[]",
                       "How long are backups kept?|How is a password reset?");
    query_plan_becomes("バックアップは何日残りますか。監査ログはどこにありますか。", "[]",
                       "バックアップは何日残りますか。|監査ログはどこにありますか。");
}

static void later_cycles_search_for_what_is_open_with_other_words_and_once(void **state)
{
    query_plan_becomes("How long are backups kept?", "[{\"query\": \"How long are backups kept?\"}]",
                       "backups kept#Not known yet: How long are backups kept?");
    query_plan_becomes("How long are backups kept?",
                       "[{\"query\": \"How long are backups kept?\"}, {\"query\": \"backups kept\"}]",
                       "#Not known yet: How long are backups kept?");
    query_plan_becomes("How long are backups kept?",
                       "[{\"query\": \"How long are backups kept?\", \"summary_md\": \"Backups are kept long.\"}]", "");
    query_plan_becomes("監査ログはどこ？", "[{\"query\": \"監査ログはどこ？\"}]",
                       "監査ログ#わかっていないこと: 監査ログはどこ？");
}

static void names_that_were_found_are_searched_for_in_the_second_cycle(void **state)
{
    query_plan_becomes(
        "Who found the moons of Mars?",
        "[{\"query\": \"Who found the moons of Mars?\", \"summary_md\": \"Both moons of Mars were found by Asaph "
        "Hall. In 1877 Asaph "
        "Hall found them.\"}]",
        "Asaph Hall found moons Mars");
}

static void findings_that_are_no_json_are_as_if_there_were_none(void **state)
{
    query_plan_becomes("Why?", "nonsense", "Why?");
    query_plan_becomes("Why?", "[1, {\"query\": 7}]", "Why?#Not known yet: Why?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_a_question_are_searched_for_first),
        cmocka_unit_test(later_cycles_search_for_what_is_open_with_other_words_and_once),
        cmocka_unit_test(names_that_were_found_are_searched_for_in_the_second_cycle),
        cmocka_unit_test(findings_that_are_no_json_are_as_if_there_were_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
