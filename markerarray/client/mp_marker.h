/* mp_marker.h: the Program Marker Array. A program shows what it is doing in a window of lights:
 * start `pmarray` in another terminal, before or after the program, or use `poe -pmarray yes`.
 *
 * Each task has a row of up to 100 lights and a line of text. A call is a store to memory: it never
 * blocks, makes no system call (except the first call of a process), never fails, and may come from
 * any thread, at any rate. Outside a job of poe it does nothing.
 *
 * Programs in other languages can use the command mpmark(1). */
#ifndef MP_MARKER_H
#define MP_MARKER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the colour of light number `light` (0 .. mpc_nlights()-1, from the left) and shows
 * `string` to the right of the lights. Colours: 0..99 are a spectrum of black (0), brown (12),
 * green (25), blue (37), purple (50), red (62), orange (74), yellow (87) and white (99);
 * 100..102 are greys, the last the darkest. If the light or colour is out of range, no light
 * changes; use a negative light to set only the text. The first 80 characters of the text are
 * kept (at most 240 bytes); it should be UTF-8. A null pointer leaves the text unchanged. */
void mpc_marker(int light, int color, const char* string);

/* Returns the number of lights per row: MP_PMLIGHTS, or poe's -pmlights; 100 if neither was
 * given. With 0, markers show nothing. */
int mpc_nlights(void);

/* Reports that `done` of `total` units are done; shown as a bar with the rate and the time left.
 * A total of 0 or less removes the bar. */
void mpc_progress(long long done, long long total);

/* The same with all arguments by reference. */
void mp_marker(const int* light, const int* color, const char* string);
void mp_nlights(int* lights);
void mp_progress(const int* done, const int* total);

#ifdef __cplusplus
}
#endif
#endif
