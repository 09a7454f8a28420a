// Where the library is installed, for the programs that use it: PREFIX/include/alate/… is beside
// PREFIX/share/alate/models, so that they find builtin:NAME without a setting. The literal is taken where it is
// written, in the program's own code, and thus names the prefix that the program was compiled with, whatever prefix the
// library was built for.
#pragma once

// The CMake package defines it, since compilers can be told to write other paths (-fmacro-prefix-map, ccache's
// base_dir). Defined as "", there is no such place.
#ifndef ALATE_INSTALLED_HEADER
#define ALATE_INSTALLED_HEADER __FILE__
#endif
