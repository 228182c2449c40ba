/* Addresses as text: "10.0.0.7:80", "[2001:db8::1]:80". Numbers only; names are never resolved here. */
#ifndef RENGA_HTTP_ADDRESS_TEXT_H
#define RENGA_HTTP_ADDRESS_TEXT_H

#include "base/status.h"

#include <sys/socket.h>

#define ADDRESS_TEXT_MAX 64 /* bytes, the NUL included */

bool address_parse(const char *text, struct sockaddr_storage *address, socklen_t *size, struct status *st);
void address_print(const struct sockaddr *address, char text[ADDRESS_TEXT_MAX]);
int address_port(const struct sockaddr *address);

#endif
