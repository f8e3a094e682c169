/* SPDX-License-Identifier: MIT */
#ifndef CLI_DEMO_FACES_H
#define CLI_DEMO_FACES_H

/* Parts 1 and 2 of the demo: one gradient of each kind, computed by the operators of all faces in
 * their own words. Returns an exit code. */
int cli_demo_faces(void);

#endif
