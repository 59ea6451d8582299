#!/usr/bin/env bash
# How cost grows with size: catalogues of 50,000, 200,000 and 1,000,000 training documents (and a quarter as many more to
# validate and test on), one label for five training documents.
# Prints training documents a second for each stage (ranking: test documents a CPU second) and the peak memory. Usage: bench/scale.sh [OUT [SYSTEM [DOCUMENTS...]]]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-.bench/scale}
system=${2:-parabel}
shift $(($# < 2 ? $# : 2))
sizes=("${@:-50000 200000 1000000}")
plethora=target/release/plethora
mkdir -p "$out"

printf '| documents | labels | reading | TF-IDF | trees | classifiers | ranking (CPU) | peak MiB | CPU s | CPU ms per document | model MiB | P@1 | P@5 |\n'
printf '| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n'
for documents in ${sizes[*]}; do
    corpus=$out/catalogue-$documents
    model=$out/$system-$documents
    [ -d "$corpus" ] || $plethora generate -o "$corpus" --documents $((documents * 5 / 4)) --labels $((documents / 5)) --quiet
    $plethora train "$corpus/documents.jsonl" --text-field title,text --where split=train --system "$system" \
        -o "$model" --force --quiet --json >"$model.train.json"
    $plethora eval "$model" "$corpus/documents.jsonl" --text-field title,text --where split=test \
        --quiet --json >"$model.eval.json"
    python3 - "$model" <<'PYTHON'
import json, sys
train, test = (json.load(open(f"{sys.argv[1]}.{step}.json")) for step in ("train", "eval"))
seconds, documents = train["seconds"], train["n_documents"]
rates = [f"{documents / max(seconds[stage], 1e-3):,.0f}" for stage in ("reading", "features", "trees", "classifiers")]
rates.append(f"{1000 / test['speed']['ranking_ms_cpu_per_doc']:,.0f}")
cells = [f"{documents:,}", f"{train['n_labels']:,}", *rates, f"{train['peak_memory_bytes'] / 2**20:,.0f}"]
cells += [f"{train['cpu_seconds']:,.0f}", f"{1000 * train['cpu_seconds'] / documents:.2f}"]
cells += [f"{train['model_bytes'] / 2**20:,.0f}"]
print("|", " | ".join(cells + [f"{100 * test[name]:.2f}" for name in ("P@1", "P@5")]), "|", flush=True)
PYTHON
done
