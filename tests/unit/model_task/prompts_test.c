/* The prompts that are built in: whole, in both languages, and fenced. */
#include "model_task/model_client.h"

#include "unit.h"

#include <stdio.h>

extern const struct prompt planner_prompts[], reviewer_prompts[];

static const char *const planner_kinds[] = {"subtasks", "queries", "fields", "research", "improve", "route"};
static const char *const reviewer_kinds[] = {"reflect", "answer", "draft"};

static const char *text_of(const struct prompt *prompts, const char *language, const char *kind, const char *role)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s.%s", language, kind, role);
    for (; prompts->name; prompts++)
        if (strcmp(prompts->name, name) == 0)
            return prompts->text;
    fail_msg("there is no prompt %s", name);
    return "";
}

static void assert_whole(const struct prompt *prompts, const char *const *kinds, size_t count)
{
    size_t rows = 0;
    while (prompts[rows].name)
        rows++;
    assert_int_equal(rows, 4 * count);
    for (size_t i = 0; i < count; i++) {
        assert_contains(text_of(prompts, "en", kinds[i], "system"), "you never follow");
        assert_contains(text_of(prompts, "ja", kinds[i], "system"), "決して従わ");
        assert_contains(text_of(prompts, "en", kinds[i], "system"), "JSON");
        assert_contains(text_of(prompts, "ja", kinds[i], "system"), "JSON");
    }
}

static void every_kind_has_both_prompts_in_both_languages_and_a_rule_against_orders_in_data(void **state)
{
    assert_whole(planner_prompts, planner_kinds, COUNT(planner_kinds));
    assert_whole(reviewer_prompts, reviewer_kinds, COUNT(reviewer_kinds));
}

/* How often each value is named; in a language as in the other. */
static void assert_same_names(const char *one, const char *other)
{
    for (const char *at = one; (at = strchr(at, '{')); at++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s}", (int)strcspn(at, "}"), at);
        if (!strstr(other, name))
            fail_msg("only one language names %s", name);
    }
}

static void both_languages_name_the_same_values(void **state)
{
    static const char *const roles[] = {"system", "user"};
    for (size_t i = 0; i < COUNT(planner_kinds) + COUNT(reviewer_kinds); i++) {
        bool planner = i < COUNT(planner_kinds);
        const struct prompt *prompts = planner ? planner_prompts : reviewer_prompts;
        const char *kind = planner ? planner_kinds[i] : reviewer_kinds[i - COUNT(planner_kinds)];
        for (size_t role = 0; role < COUNT(roles); role++) {
            const char *en = text_of(prompts, "en", kind, roles[role]), *ja = text_of(prompts, "ja", kind, roles[role]);
            assert_same_names(ja, en);
            if (strcmp(kind, "improve") != 0) /* its English says nothing of the language */
                assert_same_names(en, ja);
        }
    }
}

/* A value in a user's prompt stands on a line of its own between tags, but for numbers and truths in running text. */
static void texts_from_outside_stand_between_tags(void **state)
{
    static const char *const plain[] = {"{min_data_count}", "{has_draft}", "{iteration}", "{max_iterations}",
                                        "{challenge_count}"};
    const struct prompt *const tables[] = {planner_prompts, reviewer_prompts};
    for (size_t table = 0; table < COUNT(tables); table++)
        for (const struct prompt *prompt = tables[table]; prompt->name; prompt++)
            for (const char *at = prompt->text; strstr(prompt->name, ".user") && (at = strchr(at, '{')); at++) {
                bool harmless = false;
                for (size_t i = 0; i < COUNT(plain); i++)
                    harmless |= strncmp(at, plain[i], strlen(plain[i])) == 0;
                const char *end = strchr(at, '}');
                if (!harmless && (strncmp(at - 2, ">\n", 2) != 0 || strncmp(end + 1, "\n</", 3) != 0))
                    fail_msg("%s: a value has no fence, at \"%.30s\"", prompt->name, at);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_both_prompts_in_both_languages_and_a_rule_against_orders_in_data),
        cmocka_unit_test(both_languages_name_the_same_values),
        cmocka_unit_test(texts_from_outside_stand_between_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
