#!/bin/sh
# The bundled capture has at least one source, and a folder that is no capture gives a reason.
set -eu
[ -n "$("$1" tests/captures/demo)" ]
! "$1" docs 2>/dev/null
