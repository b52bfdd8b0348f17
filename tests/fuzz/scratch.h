/* A folder for the files that a fuzzer's input becomes: one for the whole process, below TMPDIR. */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

/* Its path; it is removed when the process ends. Not NULL. */
const char *scratch_folder(void);

#endif
