#!/bin/bash
# Tries what `cargo xtask dist` has made, in a clean Debian: try.sh [deb|archive|static|wheel]...
# Each is installed from /dist, trains, predicts, serves, and is removed. `cargo xtask dist try` calls this.
set -euo pipefail

work=/tmp/try
port=8099

say() { echo "try: $*"; }

# train, predict and serve with the program $1; $2 is the system to train.
use() {
    local program=$1 system=$2
    rm -rf $work && mkdir -p $work && cd $work
    "$program" --version
    "$program" generate --quiet --documents 600 --labels 100 --output catalogue
    "$program" train catalogue/documents.jsonl --where split=train --text-field title,text \
        --system "$system" ${3:-} --quiet --output model >/dev/null
    echo "Glass furnaces of Bohemia" | "$program" predict model - --quiet -k 3 | grep -q label
    serve "$program" serve model
    say "$program trains $system, predicts and serves"
}

# Starts a server by the given command, asks it, and ends it.
serve() {
    PLETHORA_PORT=$port "$@" 2>serve.log &
    local server=$!
    for _ in $(seq 100); do
        if answer=$(ask 2>/dev/null) && [ -n "$answer" ]; then break; fi
        sleep 0.2
    done
    kill -TERM $server
    wait $server
    grep -q '"predictions"' <<<"$answer" || { cat serve.log; say "no answer: $answer"; exit 1; }
}

ask() {
    local body='{"documents": ["Tides and harbours"], "top_k": 2}'
    exec 3<>/dev/tcp/127.0.0.1/$port
    printf 'POST /v1/models/model/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' \
        ${#body} "$body" >&3
    cat <&3
    exec 3>&-
}

# A network of a few seconds.
small="--set vectors.width=16 --set words.max_length=40 --set encoder.hidden=16 --set head.layers=[16] --set train.epochs=1"

try_deb() {
    dpkg --install /dist/plethora_*_amd64.deb >/dev/null
    getent passwd plethora >/dev/null
    use plethora wide-tree
    use plethora attentionxml "$small"
    [ -s /usr/share/man/man1/plethora-train.1.gz ] && [ -s /usr/share/bash-completion/completions/plethora ]
    [ -s /usr/share/doc/plethora/licences/THIRD-PARTY.txt ]
    # The unit's own command, as its user.
    cp -r $work/model /var/lib/plethora/model && chown -R plethora /var/lib/plethora
    set -a && . /etc/default/plethora && set +a
    HOME=/var/lib/plethora serve setpriv --reuid=plethora --regid=plethora --clear-groups plethora serve "$MODELS"
    dpkg --remove plethora >/dev/null
    [ ! -e /usr/bin/plethora ] && [ ! -e /usr/lib/plethora ] && [ ! -e /usr/lib/systemd/system/plethora.service ]
    [ -d /var/lib/plethora/model ]
    dpkg --purge plethora >/dev/null
    [ ! -e /etc/default/plethora ]
    say "the package is gone, the model is still there"
}

try_archive() {
    mkdir -p /opt/here && tar -xzf /dist/plethora-*-x86_64-linux.tar.gz -C /opt/here
    mv /opt/here/plethora-* "/opt/there with a space"
    ln -s "/opt/there with a space/plethora" /usr/local/bin/plethora-linked
    use plethora-linked attentionxml "$small"
    rm -r "/opt/there with a space" /usr/local/bin/plethora-linked
}

try_static() {
    install -m 755 /dist/plethora-linear-*-x86_64-linux /usr/local/bin/plethora-linear
    use plethora-linear wide-tree
    # Alone in an empty root.
    mkdir -p /empty/tmp && cp /usr/local/bin/plethora-linear /empty/ && cp -r $work/catalogue /empty/
    chroot /empty /plethora-linear train /catalogue/documents.jsonl --system parabel --quiet -o /model >/dev/null
    say "the static program needs nothing but itself"
    rm -r /empty /usr/local/bin/plethora-linear
}

try_wheel() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip python3-numpy python3-scipy >/dev/null
    python3 -m pip install --quiet --no-index --no-deps --break-system-packages --root-user-action ignore /dist/linear/plethora-*.whl
    cd /
    python3 -c '
import plethora
texts = ["tides and harbours", "wind over dunes"] * 9
model = plethora.WideTree(text__min_df=1).fit(texts, [["sea"], ["air"]] * 9)
assert model.predict("tides")[0][0] == "sea"
model.save("/tmp/wheel-model")
print("try:", model, plethora.systems())
'
    python3 -m pip uninstall --quiet --yes --break-system-packages --root-user-action ignore plethora
}

for part in "${@:-deb archive static wheel}"; do
    for name in $part; do "try_$name"; done
done
say "all of it works"
