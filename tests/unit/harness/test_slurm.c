/* Slurm: what squeue prints, names of jobs, what a job is to do, profiles. */
#include "tests/unit/unit.h"

#include "harness/slurm/commands.h"
#include "harness/slurm/slurm.h"
#include "harness/slurm/submission.h"
#include "lib/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_queue_is_read(void **state)
{
    struct slurm_queue queue;
    struct error e;
    (void)state;
    assert_int_equal(slurm_read_queue("", &queue, &e), 0);
    assert_int_equal(queue.waiting + queue.running, 0);
    assert_int_equal(slurm_read_queue("3|PENDING|Resources\n1|RUNNING|None\n7|COMPLETING|None\n", &queue, &e),
                     0);
    assert_int_equal(queue.waiting, 1);
    assert_int_equal(queue.running, 2);
    assert_int_equal(queue.held, 0);
    assert_string_equal(queue.reason, "Resources");
    assert_int_equal(queue.states[3], SLURM_WAITING);
    assert_int_equal(queue.states[7], SLURM_RUNNING);
    assert_int_equal(queue.states[2], SLURM_GONE);
    assert_int_equal(slurm_read_queue("2|PENDING|launch failed requeued held\n4|REQUEUED|None", &queue, &e),
                     0);
    assert_int_equal(queue.held, 1);
    assert_int_equal(queue.waiting, 2);
    assert_int_equal(slurm_read_queue("2|PENDING|\x1b[2J\n", &queue, &e), 0);
    assert_string_equal(queue.reason, "?[2J");
    assert_int_equal(
        slurm_read_queue("2|PENDING|Resources||(null)\n3|RUNNING|None|n1|of mine\n"
                         "4|FAILED|NonZeroExitCode|n2|harness: it does not see /a|b\n"
                         "5|CANCELLED|None|n\x1b|of mine\nN/A|CANCELLED|BadConstraints||(null)\n",
                         &queue, &e),
        0);
    assert_string_equal(queue.reason, "Resources");
    assert_int_equal(queue.waiting, 1);
    assert_int_equal(queue.running, 1);
    assert_string_equal(queue.ends[3].state, "");
    assert_string_equal(queue.ends[4].state, "FAILED");
    assert_string_equal(queue.ends[4].node, "n2");
    assert_string_equal(queue.ends[4].why, "it does not see /a|b");
    assert_string_equal(queue.ends[5].state, "CANCELLED");
    assert_string_equal(queue.ends[5].node, "n\\x1b");
    assert_string_equal(queue.ends[5].why, "");
    assert_string_equal(queue.ends[0].state, "CANCELLED");
}

static void other_words_are_no_queue(void **state)
{
    static const char *const wrong[] = {"error",
                                        "0|RUNNING|None",
                                        "1001|RUNNING|None",
                                        "-1|RUNNING|None",
                                        "1|RUNNING",
                                        "1|",
                                        "1",
                                        "[1-5%2]|PENDING|None",
                                        "1 |RUNNING|",
                                        "\n",
                                        "99999999999999999999999|RUNNING|None"};
    struct slurm_queue queue;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error e = {{0}};
        assert_int_equal(slurm_read_queue(wrong[i], &queue, &e), -1);
        assert_non_null(strstr(e.text, "squeue: expected TASK|STATE|REASON"));
    }
}

static void names_are_of_this_program(void **state)
{
    (void)state;
    char *one = slurm_new_name("pfc-bidir"), *other = slurm_new_name("pfc-bidir"),
         *odd = slurm_new_name("a,b *");
    assert_true(slurm_is_name(one) && slurm_is_name(other) && slurm_is_name(odd));
    assert_string_not_equal(one, other);
    assert_true(strncmp(odd, "harness-a-b---", 14) == 0);
    assert_false(slurm_is_name("somebody-elses"));
    assert_false(slurm_is_name("harness-a,other"));
    assert_false(slurm_is_name("harness-a b"));
    free(one);
    free(other);
    free(odd);
}

static void write_tasks(const char *sweep, const char *text)
{
    struct error e;
    char *path = files_join(sweep, "slurm/1/tasks.json");
    assert_int_equal(files_write_atomic(path, text, strlen(text), &e), 0);
    free(path);
}

/* As a round of a search. */
static void a_part_of_a_whole_was_there(const char *sweep)
{
    char whole[] = "/tmp/slurm-test.XXXXXX", part[80], result[120];
    assert_non_null(mkdtemp(whole));
    snprintf(part, sizeof part, "%s/round-1", whole);
    snprintf(result, sizeof result, "%s/20260101T000000Z", part);
    assert_int_equal(mkdir(part, 0700), 0);
    assert_false(slurm_was_there(whole));
    assert_int_equal(symlink(sweep, result), 0);
    assert_true(slurm_was_there(whole));
    assert_int_equal(unlink(result) | rmdir(part) | rmdir(whole), 0);
}

static void what_a_job_is_to_do_is_kept(void **state)
{
    struct error e;
    char sweep[] = "/tmp/slurm-test.XXXXXX";
    size_t runs[] = {0, 3, 4, 6, 8};
    struct submission made = {.name = (char *)(uintptr_t) "harness-a-b",
                              .runs = runs,
                              .count = 5,
                              .per_task = 2,
                              .at_a_time = 1},
                      read;
    (void)state;
    assert_non_null(mkdtemp(sweep));
    assert_int_equal(submission_last(sweep), 0);
    assert_false(slurm_was_there(sweep));
    assert_int_equal(submission_keep(&made, sweep, &e), 0);
    assert_int_equal(made.number, 1);
    assert_true(slurm_was_there(sweep));
    a_part_of_a_whole_was_there(sweep);
    assert_int_equal(submission_load(&read, sweep, 1, 9, &e), 0);
    assert_int_equal(submission_tasks(&read), 3);
    assert_int_equal(submission_task_of(&read, 4), 3);
    assert_int_equal(read.runs[4], 8);
    submission_free(&read);
    assert_int_equal(submission_load(&read, sweep, 1, 8, &e), -1); /* run 9 of 8 */
    submission_free(&read);
    static const char *const wrong[] = {
        "{}",
        "{\"job_name\":\"others\",\"runs_per_task\":1,\"runs_at_a_time\":1,\"runs\":[1]}",
        "{\"job_name\":\"harness-a\",\"runs_per_task\":0,\"runs_at_a_time\":1,\"runs\":[1]}",
        "{\"job_name\":\"harness-a\",\"runs_per_task\":1,\"runs_at_a_time\":1,\"runs\":[]}",
        "{\"job_name\":\"harness-a\",\"runs_per_task\":1,\"runs_at_a_time\":1,\"runs\":[\"1\"]}",
        "{\"job_name\":\"harness-a\",\"runs_per_task\":1,\"runs_at_a_time\":5000,\"runs\":[1]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_tasks(sweep, wrong[i]);
        assert_int_equal(submission_load(&read, sweep, 1, 9, &e), -1);
        assert_non_null(strstr(e.text, "slurm/1/tasks.json: "));
        submission_free(&read);
    }
    submission_remove_all(sweep);
    assert_int_equal(submission_last(sweep), 0);
    free(made.folder);
    files_remove_tree(sweep, &e);
}

static void profiles_are_found(void **state)
{
    struct slurm_profile some[] = {{.name = (char *)(uintptr_t) "big", .cpus = 8}}, profile;
    struct user_config config = {.slurm = {some, 1}};
    struct error e;
    (void)state;
    assert_int_equal(slurm_profile_of("slurm", &config, &profile, &e), 0); /* no profile default */
    assert_int_equal(profile.cpus, 1);
    assert_int_equal(profile.time_ns == FIELD_UNSET && profile.memory_bytes == FIELD_UNSET, 1);
    assert_int_equal(slurm_profile_of("slurm:big", &config, &profile, &e), 0);
    assert_int_equal(profile.cpus, 8);
    assert_int_equal(slurm_profile_of("slurm:bug", &config, &profile, &e), -1);
    assert_non_null(strstr(e.text, "has big"));
    assert_int_equal(slurm_profile_of("slurms", &config, &profile, &e), -1);
    assert_int_equal(slurm_profile_of("", &config, &profile, &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_read), cmocka_unit_test(other_words_are_no_queue),
        cmocka_unit_test(names_are_of_this_program), cmocka_unit_test(what_a_job_is_to_do_is_kept),
        cmocka_unit_test(profiles_are_found)};
    return cmocka_run_group_tests_name("slurm", tests, NULL, NULL);
}
