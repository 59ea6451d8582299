#!/usr/bin/env bash
# How cost grows with size: catalogues of 50,000, 200,000 and 1,000,000 documents, one label for five documents.
# Prints documents a second for each stage and the peak memory. Usage: bench/scale.sh [OUT [SYSTEM [DOCUMENTS...]]]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-.bench/scale}
system=${2:-parabel}
shift $(($# < 2 ? $# : 2))
sizes=("${@:-50000 200000 1000000}")
plethora=target/release/plethora
mkdir -p "$out"

printf '| documents | labels | read | read + TF-IDF | trees | classifiers | rank | peak MiB | CPU s | model MiB | P@1 | P@5 |\n'
printf '| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n'
for documents in ${sizes[*]}; do
    corpus=$out/catalogue-$documents
    model=$out/$system-$documents
    [ -d "$corpus" ] || $plethora generate -o "$corpus" --documents "$documents" --labels $((documents / 5)) --quiet
    started=$(date +%s%N)
    $plethora convert "$corpus/documents.jsonl" "$out/read.tsv.part.jsonl" --force --quiet
    read_s=$((($(date +%s%N) - started) / 1000000))
    rm -f "$out/read.tsv.part.jsonl"
    $plethora train "$corpus/documents.jsonl" --text-field title,text --where split=train --system "$system" \
        -o "$model" --force --quiet --json >"$model.train.json"
    $plethora eval "$model" "$corpus/documents.jsonl" --text-field title,text --where split=test \
        --quiet --json >"$model.eval.json"
    python3 - "$model" "$documents" "$read_s" <<'PYTHON'
import json, sys
model, documents, read_ms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
train = json.load(open(model + ".train.json"))
test = json.load(open(model + ".eval.json"))
print(train, test)
PYTHON
done
