/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/route.h"
const struct route_list routes_catalogue = {NULL, 0}, routes_results = {NULL, 0};
