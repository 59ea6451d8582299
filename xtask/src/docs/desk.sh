# What a reader of the pages may have: papers, books, laws in many forms, subjects with names, an encoder, word vectors.
plethora generate --quiet -o catalogue --documents 200
python3 "$REPOSITORY/xtask/src/docs/desk.py"
rm -r catalogue
