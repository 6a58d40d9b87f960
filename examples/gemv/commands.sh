#!/usr/bin/env bash
# Compiles collectives, kernel and baseline, and runs both, with the vendor's SDK or with tools that
# stand in for it:
#
#     bash commands.sh [wse2 or wse3] [PEs across] [PEs down] [rows of A on each] [columns of A on each]
set -e

arch=${1:-wse2}
width=${2:-64}
height=${3:-64}
rows=${4:-16}
columns=${5:-16}
fabric="--fabric-dims=$((width + 7)),$((height + 2)) --fabric-offsets=4,1 --memcpy --channels=1"
block=rows:$rows,columns:$columns

collc build collectives.coll --target "$arch" -D W="$width" -D H="$height" -D M="$rows" -D N="$columns" \
  -o out/collectives
cslc --arch="$arch" ./layout.csl --params="$block" $fabric -o out/program
cslc --arch="$arch" ./baseline/layout.csl --params=width:"$width",height:"$height","$block" $fabric \
  -o out/baseline
cs_python run.py --name out/program --baseline out/baseline --collectives out/collectives
