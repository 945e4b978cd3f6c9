#ifndef CBOARDSCRIPTS_H
#define CBOARDSCRIPTS_H

// The board's functions in Lua: the files of Sources/ReelQueue/Scripts with an empty line between, and a zero at the end.
const char *board_scripts(void);

#endif
