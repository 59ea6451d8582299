//! Kinds of files that users try and that are no corpora, each with the way to one.

/// Where the name of the first part stands in a zip file.
const ZIP_NAME: usize = 30;

/// What a file is by its first bytes, and what to do about it; `None` for what may be text.
pub(super) fn foreign_kind(magic: &[u8]) -> Option<&'static str> {
    Some(match magic {
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => {
            "a bzip2 file; expected text, plain or as gz, xz, zst"
        }
        [b'P', b'K', 3, 4, ..] => zip_kind(magic.get(ZIP_NAME..).unwrap_or_default()),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => {
            "an old Excel workbook (.xls); save its sheet as CSV UTF-8 and read that"
        }
        [0xba, 0x16, 0x4f, 0x2f, ..] => "a fastText .bin model; expected a corpus",
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => {
            "a NumPy file; expected text, plain or as gz, xz, zst"
        }
        [b'P', b'A', b'R', b'1', ..] | [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
            "a Parquet or Arrow file in a place where such files are not read; name it as the corpus, \
             and not through a pipe"
        }
        [b'F', b'E', b'A', b'1', ..] => {
            "a Feather file of version 1; write it again with a newer pyarrow"
        }
        [b'%', b'P', b'D', b'F', ..] => "a PDF; expected text (pdftotext makes it)",
        _ => return None,
    })
}

/// A zip file by the name of its first part.
fn zip_kind(name: &[u8]) -> &'static str {
    if name.starts_with(b"[Content_Types].xml")
        || name.starts_with(b"xl/")
        || name.starts_with(b"_rels/")
        || name.starts_with(b"docProps/")
    {
        "an Excel workbook; save its sheet as `CSV UTF-8` (File, Save As), or in Python: \
         pandas.read_excel(\"FILE.xlsx\").to_csv(\"FILE.csv\", index=False)"
    } else if name.starts_with(b"mimetype") {
        "an OpenDocument file; save its sheet as CSV and read that"
    } else if name.windows(4).any(|part| part == b".npy") {
        "an npz file; expected text, plain or as gz, xz, zst"
    } else {
        "a zip file; unpack it, and name the files or their folder"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_named_with_the_way_out() {
        let zip = |name: &[u8]| [b"PK\x03\x04".as_slice(), &[0; 26], name].concat();
        for (bytes, expected) in [
            (
                zip(b"[Content_Types].xml"),
                "an Excel workbook; save its sheet as `CSV UTF-8`",
            ),
            (
                zip(b"mimetypeapplication/vnd.oasis"),
                "an OpenDocument file; save its sheet",
            ),
            (zip(b"data.npy"), "an npz file"),
            (zip(b"part-1.csv"), "a zip file; unpack it"),
            (b"PK\x03\x04".to_vec(), "a zip file"),
            (b"BZh91AY".to_vec(), "a bzip2 file"),
            (b"\xd0\xcf\x11\xe0\xa1".to_vec(), "an old Excel workbook"),
            (b"%PDF-1.7".to_vec(), "a PDF"),
        ] {
            let kind = foreign_kind(&bytes).unwrap();
            assert!(kind.starts_with(expected), "{kind}");
        }
        assert_eq!(foreign_kind(b"Pk, text"), None);
    }
}
