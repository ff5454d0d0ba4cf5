/* mp_marker.h: the Program Marker Array. A program shows what it is doing in a window of lights:
 * start `pmarray` in another terminal, before the program or after, or `poe -pmarray yes`.
 *
 * Each task has a row of up to 100 lights and a line of text. A call is a store to memory: it never
 * waits, never makes a system call (but for the first one of a process), never fails, and may come
 * from any thread, at any rate. Outside of a job of poe it does nothing.
 *
 * Programs that know neither C nor Fortran use the command mpmark(1). */
#ifndef MP_MARKER_H
#define MP_MARKER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Colours light number `light` (0 .. mpc_nlights()-1, from the left) and shows `string` behind the
 * lights. Colours: 0..99 a spectrum of black (0), brown (12), green (25), blue (37), purple (50),
 * red (62), orange (74), yellow (87) and white (99); 100..102 greys, the last the darkest. A light
 * or colour out of range changes no light; a negative light is a way to set the text only. Of the
 * text 80 columns are kept; it should be UTF-8. A null pointer leaves the text as it is. */
void mpc_marker(int light, int color, const char* string);

/* How many lights a row has: MP_PMLIGHTS, or poe's -pmlights; 100 if neither was given. With 0
 * markers show nothing. */
int mpc_nlights(void);

/* Says that `done` of `total` things are done: shown as a bar with rate and time left. A total of 0
 * takes the bar away. */
void mpc_progress(long long done, long long total);

/* The same with all arguments by reference. */
void mp_marker(const int* light, const int* color, const char* string);
void mp_nlights(int* lights);
void mp_progress(const int* done, const int* total);

#ifdef __cplusplus
}
#endif
#endif
