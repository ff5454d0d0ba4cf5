/* VT_trc.h: what a program can say to the trace of its run (`poe -tracelevel`), see
 * VT_trc_start_c(3).
 *
 * A call costs some ten nanoseconds, never waits, and may come from any thread. In a run that is
 * not traced it does nothing. All answer 0, or -1 when nothing is recorded. */
#ifndef VT_TRC_H
#define VT_TRC_H

#ifdef __cplusplus
extern "C" {
#endif

/* Goes on recording, at the level `flag` (1, 2, 3 or 9), or, with 0, at the job's. -1: the job is
 * not traced, or there is no such level. */
int VT_trc_start_c(int flag);
/* Stops recording, until VT_trc_start_c. */
int VT_trc_stop_c(void);

/* The task is in the region of that name from now on, until it leaves the region. In sums and on the
 * time line a region is a state: the time in which the task computes in it and in no region inside
 * of it. Regions may be nested. Recorded at level 9. */
int vt_region_begin(const char* name);
int vt_region_end(const char* name);

/* The counter of that name has this value now. Recorded at level 9. */
int vt_counter(const char* name, double value);

#ifdef __cplusplus
}
#endif
#endif
