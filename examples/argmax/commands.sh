#!/usr/bin/env bash
# Compiles collectives and kernel, and runs them, with the vendor's SDK or with tools that stand in
# for it:
#
#     bash commands.sh [wse2 or wse3] [columns and rows] [values on each PE]
set -e

arch=${1:-wse2}
pes=${2:-32}
block=${3:-10000}

collc build collectives.coll --target "$arch" -D P="$pes" -o out/collectives
cslc --arch="$arch" ./layout.csl --params=block:"$block" \
  --fabric-dims=$((pes + 7)),$((pes + 2)) --fabric-offsets=4,1 -o out/program --memcpy --channels=1
cs_python run.py --name out/program --collectives out/collectives
