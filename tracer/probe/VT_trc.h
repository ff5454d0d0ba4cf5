/* VT_trc.h: lets a program add information to the trace of its run (`poe -tracelevel`), see
 * VT_trc_start_c(3).
 *
 * A call costs about ten nanoseconds and may come from any thread. It blocks only to open the
 * trace, to define a new name, or to reserve more memory. In a run that is not traced it does
 * nothing. All functions return 0, or -1 if nothing is recorded. */
#ifndef VT_TRC_H
#define VT_TRC_H

#ifdef __cplusplus
extern "C" {
#endif

/* Resumes recording at level `flag` (1, 2, 3 or 9), or at the job's level if `flag` is 0. -1:
 * the job is not traced, or there is no such level. */
int VT_trc_start_c(int flag);
/* Stops recording until VT_trc_start_c. */
int VT_trc_stop_c(void);

/* Begin and end a region of that name in this task. In sums and on the time line a region is a
 * state: the time that the task computes in it and not in a nested region. Regions may be
 * nested. Recorded at level 9. */
int vt_region_begin(const char* name);
int vt_region_end(const char* name);

/* Sets the counter of that name to `value`. Recorded at level 9. */
int vt_counter(const char* name, double value);

#ifdef __cplusplus
}
#endif
#endif
