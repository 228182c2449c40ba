/* Which sentences answer a question, in which order, and how many of them are given. */
#include "words/selection.h"

#include <stdio.h>

#include "unit.h"

#define MEMORY_MAX ((size_t)4 << 20)

struct found {
    struct picked picked[PICKED_MAX];
    size_t count;
    struct selection selection;
};

static struct arena arena;

static int arena_make(void **state)
{
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    return 0;
}

static int arena_drop(void **state)
{
    arena_fini(&arena);
    return 0;
}

static struct passage passage_of(const char *heading, const char *text, double score, uint64_t document)
{
    return (struct passage){.text = text,
                            .length = strlen(text),
                            .heading = heading,
                            .heading_length = strlen(heading),
                            .score = score,
                            .document = document};
}

static void ask(const struct passage *passages, size_t count, const char *question, struct found *found)
{
    struct evidence *evidence = evidence_create(&arena, passages, count);
    assert_non_null(evidence);
    assert_true(selection_rank(evidence, question, strlen(question), &found->selection));
    enum asked_type type = found->selection.asked.type;
    const struct selection_terms terms = {
        .sentences_max = 3, .bytes_max = 2000, .lists = type == ASKED_LIST || type == ASKED_HOW};
    found->count = selection_cut(evidence, question, strlen(question), &found->selection, &terms, found->picked);
}

static void expect(const struct passage *passages, const struct found *found, size_t index, const char *text)
{
    assert_true(index < found->count);
    const struct picked *picked = &found->picked[index];
    const char *begin = passages[picked->passage].text + picked->span.begin;
    size_t length = picked->span.end - picked->span.begin;
    if (length != strlen(text) || memcmp(begin, text, length) != 0)
        fail_msg("'%.*s' is given instead of '%s'", (int)length, begin, text);
}

static void the_sentence_with_something_of_the_asked_type_is_given_alone(void **state)
{
    const struct passage passages[] = {
        passage_of("Operating > Backups",
                   "The backups of the server are important. Backups are kept for 35 days. The "
                   "server writes backups to a second disk.",
                   0.6, 1),
        passage_of("運用 > ログ", "ログは重要です。ログの保存期間は30日です。ログは別のディスクにも書かれます。", 0.6,
                   2),
    };
    struct found found;
    ask(passages, 1, "How long are backups kept?", &found);
    assert_int_equal(found.count, 1);
    expect(passages, &found, 0, "Backups are kept for 35 days.");
    ask(passages, 2, "ログの保存期間はどれくらいですか", &found);
    assert_int_equal(found.count, 1);
    expect(passages, &found, 0, "ログの保存期間は30日です。");
}

static void the_heading_is_given_where_the_sentence_does_not_name_its_subject(void **state)
{
    const struct passage passages[] = {
        passage_of("Operating > Backups", "They are kept for 35 days. The disk is blue.", 0.6, 1),
        passage_of("オランダ", "憲法上の首都はアムステルダムである。", 0.6, 2),
        passage_of("Operating > Are backups kept?", "They are kept for 35 days.", 0.6, 3),
    };
    struct found found;
    ask(passages, 1, "How long are backups kept?", &found);
    expect(passages, &found, 0, "They are kept for 35 days.");
    const struct span *heading = &found.picked[0].heading;
    assert_memory_equal(passages[0].heading + heading->begin, "Backups", heading->end - heading->begin);
    assert_int_equal(heading->end - heading->begin, 7);
    ask(passages + 1, 1, "オランダの首都はどこですか", &found);
    assert_int_equal(found.picked[0].heading.end, strlen("オランダ"));
    ask(passages + 2, 1, "How long are backups kept?", &found);
    assert_int_equal(found.picked[0].heading.end, 0);
}

static void a_list_is_given_whole_where_several_things_or_steps_are_asked_for(void **state)
{
    const struct passage passages[] = {
        passage_of("Roles", "The roles are:\n\n- The applicant writes.\n- The approver decides.\n- The auditor reads.",
                   0.6, 1),
        passage_of("Reset",
                   "How to reset the pump:\n\n1. Close the valve.\n2. Press the red button of the pump.\n3. Wait.", 0.6,
                   2),
    };
    struct found found;
    ask(passages, 1, "What are the roles?", &found);
    assert_int_equal(found.count, 4);
    expect(passages, &found, 0, "The roles are:");
    expect(passages, &found, 3, "The auditor reads.");
    assert_true(found.picked[3].item && !found.picked[0].item);
    ask(passages + 1, 1, "How do I reset the pump with the red button?", &found);
    assert_int_equal(found.count, 4);
    ask(passages, 1, "Who reads?", &found);
    expect(passages, &found, 0, "The auditor reads.");
    assert_int_equal(found.count, 1);
}

static void a_question_for_a_method_is_answered_by_steps(void **state)
{
    const struct passage passages[] = {
        passage_of("Backup and restore > Verification",
                   "With `--sandbox` the restored data of a backup can be looked at. It also runs by itself.", 0.6, 1),
        passage_of("Backup and restore > Restoring",
                   "1. Enter maintenance mode. Nobody can work meanwhile.\n2. Choose a backup.\n3. Run the command "
                   "`restore`.",
                   0.6, 1),
        passage_of("複合機 > トナーの交換", "空のトナーは回収箱に入れてください。トナーの交換は年に 3 回です。", 0.6,
                   2),
        passage_of("複合機 > トナーの交換", "（1）扉を開ける。\n（2）空のトナーを抜く。\n（3）扉を閉める。", 0.6, 2),
    };
    struct found found;
    ask(passages, 2, "How do I restore a backup?", &found);
    assert_int_equal(found.count, 4);
    expect(passages, &found, 0, "1. Enter maintenance mode.");
    expect(passages, &found, 1, "Nobody can work meanwhile.");
    expect(passages, &found, 3, "3. Run the command `restore`.");
    assert_true(found.picked[0].item && !found.picked[1].item && found.picked[3].item);
    const struct span *heading = &found.picked[0].heading;
    assert_memory_equal(passages[1].heading + heading->begin, "Restoring", heading->end - heading->begin);
    assert_int_equal(heading->end - heading->begin, 9);
    ask(passages + 2, 2, "トナーを交換する手順は", &found);
    assert_int_equal(found.count, 3);
    expect(passages + 2, &found, 0, "（1）扉を開ける。");
    expect(passages + 2, &found, 2, "（3）扉を閉める。");
    ask(passages, 2, "Where can restored data of a backup be looked at?", &found);
    expect(passages, &found, 0, "With `--sandbox` the restored data of a backup can be looked at.");
}

static void the_first_item_of_a_text_without_a_heading_has_its_further_sentences(void **state)
{
    const struct passage passages[] = {passage_of(
        "", "1. Choose a backup. Nobody can work meanwhile. It takes an hour.\n2. Run `restore` with it.", 0.6, 1)};
    struct found found;
    ask(passages, 1, "How do I restore a backup?", &found);
    assert_int_equal(found.count, 4);
    expect(passages, &found, 1, "Nobody can work meanwhile.");
    expect(passages, &found, 3, "2. Run `restore` with it.");
}

static void bullets_are_steps_if_they_instruct(void **state)
{
    const struct passage passages[] = {
        passage_of("Exporting", "Tickets are exported by a supervisor. An export of tickets is large.", 0.6, 1),
        passage_of("Exporting tickets", "- Stop the importer.\n- Run `loom export --all`.\n- Start the importer again.",
                   0.6, 1),
    };
    struct found found;
    ask(passages, 2, "How do I export the tickets?", &found);
    assert_int_equal(found.count, 3);
    expect(passages, &found, 0, "Stop the importer.");
    expect(passages, &found, 2, "Start the importer again.");
}

static void an_instruction_in_prose_is_given_in_its_order(void **state)
{
    const struct passage passages[] = {
        passage_of("Mail > Connecting a mailbox",
                   "First create a password. Then run `loom mailbox add` and paste the password. Finally send a mail.",
                   0.6, 1),
    };
    struct found found;
    ask(passages, 1, "How do I connect a mailbox?", &found);
    assert_int_equal(found.count, 3);
    expect(passages, &found, 0, "First create a password.");
    expect(passages, &found, 1, "Then run `loom mailbox add` and paste the password.");
}

/* Of a list with more items than an answer may have, those up to the best one are given. */
static void of_a_long_list_the_best_item_is_given(void **state)
{
    char text[4096] = "How to reset the pump:\n\n";
    for (int i = 1; i <= 20; i++) {
        size_t used = strlen(text);
        const char *step = i == 17 ? "Press the red button of the pump." : "Look at the next lamp.";
        snprintf(text + used, sizeof text - used, "%d. %s\n", i, step);
    }
    const struct passage passage = passage_of("Reset", text, 0.6, 2);
    struct found found;
    bool given = false;
    ask(&passage, 1, "How do I reset the pump with the red button?", &found);
    for (size_t i = 0; i < found.count; i++)
        given |= memcmp(text + found.picked[i].span.begin, "17. Press the red button", 24) == 0;
    assert_true(given && found.count > 2);
    expect(&passage, &found, 0, "How to reset the pump:");
    ask(&passage, 1, "How do I look at the next lamp?", &found);
    for (size_t i = 1; i < found.count; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(found.picked[i].span.begin != found.picked[k].span.begin);
}

static void a_sentence_that_two_documents_have_is_given_once(void **state)
{
    const struct passage passages[] = {
        passage_of("Ports", "The server listens on port 8080.", 0.6, 1),
        passage_of("Doors", "On port 8080 the server listens.", 0.6, 2),
    };
    struct found found;
    ask(passages, COUNT(passages), "Which port does the server listen on?", &found);
    assert_int_equal(found.count, 1);
}

static void an_answer_below_its_question_is_read_from_the_beginning(void **state)
{
    const struct passage asked[] = {passage_of("Can a pump be red?", "Open the valve. A pump is red.", 0.6, 1)};
    const struct passage told[] = {passage_of("Pumps", "Open the valve of a pump. A pump is red.", 0.6, 1)};
    struct found found;
    ask(asked, 1, "Can the pump be red or be open?", &found);
    assert_int_equal(found.count, 2);
    expect(asked, &found, 0, "Open the valve.");
    ask(told, 1, "Can the pump be red or be open?", &found);
    expect(told, &found, 0, "A pump is red.");
}

static void another_document_is_given_only_if_it_is_nearly_as_good(void **state)
{
    const struct passage equal[] = {
        passage_of("Pump", "The pump was built in Graz by Ada.", 0.6, 1),
        passage_of("Valve", "The pump was sold in Linz by Eva.", 0.6, 2),
    };
    const struct passage worse[] = {
        passage_of("Pump", "The pump was built in Graz by Ada.", 0.6, 1),
        passage_of("Valve", "The pump was sold in Linz by Eva.", 0.4, 2),
    };
    struct found found;
    ask(equal, COUNT(equal), "Where was the pump?", &found);
    assert_int_equal(found.count, 2);
    ask(worse, COUNT(worse), "Where was the pump?", &found);
    assert_int_equal(found.count, 1);
}

static void a_sentence_that_continues_the_subject_with_the_identifier_is_best(void **state)
{
    const struct passage passages[] = {
        passage_of("Tags",
                   "Searches by tags are possible in the repository. To search by tags, axi-cache is a good tool.", 0.6,
                   1),
        passage_of("タグ", "ソースの索引ファイルは毎日作られます。この索引ファイルは Sources.gz と呼ばれます。", 0.6,
                   2),
    };
    struct found found;
    ask(passages, 1, "Which tool makes searches by tags possible in the repository?", &found);
    expect(passages, &found, 0, "To search by tags, axi-cache is a good tool.");
    ask(passages + 1, 1, "索引ファイルはどのファイルですか", &found);
    expect(passages + 1, &found, 0, "この索引ファイルは Sources.gz と呼ばれます。");
}

static void a_pronoun_continues_the_subject_of_the_sentence_before(void **state)
{
    const struct passage passages[] = {
        passage_of("Amt", "Staatsoberhaupt von Lurien ist der Präsident. Er muss Lurier sein.", 0.6, 1),
        passage_of("职务", "卢里国的元首是总统。他是由议会选出的人。", 0.6, 2),
    };
    static const char *const questions[] = {"Welche Bedingung muss der Präsident von Lurien erfüllen?",
                                            "卢里国的总统由谁选出？"};
    for (size_t i = 0; i < COUNT(passages); i++) {
        struct found found;
        bool continues = false;
        ask(passages + i, 1, questions[i], &found);
        for (size_t k = 0; k < found.selection.count; k++)
            continues |= found.selection.list[k].signs[SIGN_CONTINUES] > 0;
        assert_true(continues);
    }
}

/* A column is named by its header alone: without it, all rows with a number fit the same. */
static void a_row_has_the_words_of_its_header(void **state)
{
    const struct passage passages[] = {
        passage_of("Plans",
                   "| Plan | Price | Support |\n|:-----|------:|---|\n| Team | $19 | e-mail |\n| Firm | $65 | phone |",
                   0.5, 1),
        passage_of("Plans", "Files of the plan Firm are kept for 180 days.", 0.5, 1)};
    struct found found;
    ask(passages, COUNT(passages), "What is the price of the plan Firm?", &found);
    expect(passages, &found, 0, "| Plan | Price | Support |");
    expect(passages, &found, 1, "| Firm | $65 | phone |");
    assert_true(found.picked[0].row && found.picked[1].row);
    assert_true(found.selection.list[0].signs[SIGN_FIT_NUMBER] > FIT_UNKNOWN);
    assert_true(found.selection.list[0].signs[SIGN_UNSTOPPED] < 1);
    assert_true(found.selection.covers[COVER_CONTEXT] > 0.99);
    for (size_t i = 0; i < found.selection.count; i++) /* neither the header nor the rule is an answer by itself */
        assert_true(
            passages[found.selection.list[i].chosen.passage].text[found.selection.list[i].chosen.span.begin + 2] !=
                'P' &&
            found.selection.list[i].chosen.span.begin != 27);
}

static void the_code_that_a_sentence_announces_is_given_with_it(void **state)
{
    const struct passage passages[] = {
        passage_of("Router > Update the firmware",
                   "Send the image to the router and restart it:\n\n```\nscp fw.bin router:\nssh router reboot\n```",
                   0.5, 1),
        passage_of("Router > Update the firmware", "Do not switch off the power while the light is violet.", 0.5, 1)};
    struct found found;
    ask(passages, COUNT(passages), "How do I update the firmware of the router?", &found);
    expect(passages, &found, 0, "Send the image to the router and restart it:");
    expect(passages, &found, 1, "scp fw.bin router:");
    expect(passages, &found, 2, "ssh router reboot");
    assert_true(found.picked[1].row && found.picked[2].row && !found.picked[0].row);
}

static void the_question_as_a_whole_is_covered_or_not(void **state)
{
    const struct passage passages[] = {
        passage_of("Ada Lovelace", "Ada Lovelace published the first program in 1843. She lived in London.", 0.6, 1)};
    struct found all, some;
    ask(passages, 1, "When did Ada Lovelace publish the first program?", &all);
    ask(passages, 1, "When did Grace Hopper publish the first compiler of Harvard?", &some);
    static const enum selection_cover covers[] = {COVER_SENTENCE, COVER_CONTEXT, COVER_PASSAGE, COVER_ALL, COVER_NAMES};
    for (size_t i = 0; i < COUNT(covers); i++) {
        assert_true(all.selection.covers[covers[i]] > 0.99);
        assert_true(some.selection.covers[covers[i]] < 0.6);
    }
    assert_true(some.selection.covers[COVER_RARE] > 0.99 && all.selection.covers[COVER_RARE] < 0.01);
}

static void a_question_without_a_word_of_the_evidence_selects_nothing(void **state)
{
    const struct passage passages[] = {passage_of("", "The pump runs.", 0.6, 1)};
    struct found found;
    ask(passages, 1, "Who painted Guernica?", &found);
    assert_int_equal(found.count, 0);
    ask(passages, 1, "", &found);
    assert_int_equal(found.count, 0);
    ask(NULL, 0, "Who painted Guernica?", &found);
    assert_int_equal(found.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sentence_with_something_of_the_asked_type_is_given_alone),
        cmocka_unit_test(the_heading_is_given_where_the_sentence_does_not_name_its_subject),
        cmocka_unit_test(a_list_is_given_whole_where_several_things_or_steps_are_asked_for),
        cmocka_unit_test(a_question_for_a_method_is_answered_by_steps),
        cmocka_unit_test(the_first_item_of_a_text_without_a_heading_has_its_further_sentences),
        cmocka_unit_test(bullets_are_steps_if_they_instruct),
        cmocka_unit_test(an_instruction_in_prose_is_given_in_its_order),
        cmocka_unit_test(of_a_long_list_the_best_item_is_given),
        cmocka_unit_test(a_sentence_that_two_documents_have_is_given_once),
        cmocka_unit_test(an_answer_below_its_question_is_read_from_the_beginning),
        cmocka_unit_test(another_document_is_given_only_if_it_is_nearly_as_good),
        cmocka_unit_test(a_sentence_that_continues_the_subject_with_the_identifier_is_best),
        cmocka_unit_test(a_pronoun_continues_the_subject_of_the_sentence_before),
        cmocka_unit_test(a_row_has_the_words_of_its_header),
        cmocka_unit_test(the_code_that_a_sentence_announces_is_given_with_it),
        cmocka_unit_test(the_question_as_a_whole_is_covered_or_not),
        cmocka_unit_test(a_question_without_a_word_of_the_evidence_selects_nothing),
    };
    return cmocka_run_group_tests(tests, arena_make, arena_drop);
}
