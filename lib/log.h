/* Messages for people, on stderr. */
#ifndef LIB_LOG_H
#define LIB_LOG_H

/* "PROGRAM: text\n" in one write; PROGRAM is program_invocation_short_name. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
