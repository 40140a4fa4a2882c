/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Load a module of librj: a part of the library in a file of its own, because the libraries
 * that it needs take longer to load than most programs run. A module is loaded when it is
 * first needed, and stays.
 *
 * Its file, librj-NAME-VERSION.so, is looked for in one place: the folder that the system's
 * loader took librj itself from. No setting and no variable of ours names another folder. So
 * only a user who can replace librj can choose or replace a module.
 */
#ifndef RJ_MODULE_MODULE_H
#define RJ_MODULE_MODULE_H

#include <stdbool.h>

#include "util/error.h"

enum rj_module {
	RJ_MODULE_CURL,	   /* stores that use libcurl: store/backend.h */
	RJ_MODULE_OPENSSL, /* encryption and TLS: module/openssl.h */
};

/*
 * Get the functions of module WHICH in *FUNCTIONS: the struct rj_module_functions in its file.
 * Loads it if it is not loaded yet; from any thread. RJ_E_REFUSED (it says nothing of a log,
 * and nothing is given up for it): the module is not installed, cannot be loaded, or its file
 * or folder may be written by others than librj's owner. The message says what to install,
 * and another call tries again.
 */
int rj_module_load(enum rj_module which, const void **functions, struct rj_error *err);
/* Is module WHICH loaded? */
bool rj_module_loaded(enum rj_module which);

#endif
