#!/usr/bin/env bash
# Compiles and runs this program with the vendor's SDK, or with tools that stand in for it. What follows the name of
# this file goes to run.py: `--cmaddr IP:PORT` for a system.

set -e

cslc --arch=wse2 ./layout.csl --fabric-dims=14,7 --fabric-offsets=4,1 \
  -o out --memcpy --channels=1
cs_python run.py --name out "$@"
