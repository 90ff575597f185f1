//! The first bytes of ext4 and XFS: what mkfs decided and the kernel does not tell.
//!
//! Offsets and bits are those of the on-disk formats (ext4: Documentation/filesystems/ext4 in the
//! kernel; XFS: "XFS Algorithms & Data Structures"). The words for features are those that
//! `dumpe2fs` and `xfs_info` print.

use std::collections::BTreeMap;

/// Bytes from the start of a device that hold either superblock.
pub(super) const START_BYTES: usize = 4096;

/// What a superblock tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Superblock {
    pub(super) uuid: String,
    pub(super) label: Option<String>,
    pub(super) features: Vec<String>,
    pub(super) made: BTreeMap<String, String>,
    pub(super) age: BTreeMap<String, String>,
}

/// A bit of a feature word and its name. Bits that change while mounted are left out.
type Bits = &'static [(u32, &'static str)];

const EXT4_COMPATIBLE: Bits = &[
    (0x1, "dir_prealloc"),
    (0x4, "has_journal"),
    (0x8, "ext_attr"),
    (0x10, "resize_inode"),
    (0x20, "dir_index"),
    (0x200, "sparse_super2"),
    (0x400, "fast_commit"),
    (0x800, "stable_inodes"),
    (0x1000, "orphan_file"),
];

const EXT4_INCOMPATIBLE: Bits = &[
    (0x2, "filetype"),
    (0x8, "journal_dev"),
    (0x10, "meta_bg"),
    (0x40, "extent"),
    (0x80, "64bit"),
    (0x100, "mmp"),
    (0x200, "flex_bg"),
    (0x400, "ea_inode"),
    (0x1000, "dirdata"),
    (0x2000, "metadata_csum_seed"),
    (0x4000, "large_dir"),
    (0x8000, "inline_data"),
    (0x1_0000, "encrypt"),
    (0x2_0000, "casefold"),
];

const EXT4_READ_ONLY_COMPATIBLE: Bits = &[
    (0x1, "sparse_super"),
    (0x2, "large_file"),
    (0x8, "huge_file"),
    (0x10, "uninit_bg"),
    (0x20, "dir_nlink"),
    (0x40, "extra_isize"),
    (0x100, "quota"),
    (0x200, "bigalloc"),
    (0x400, "metadata_csum"),
    (0x1000, "read-only"),
    (0x2000, "project"),
    (0x8000, "verity"),
];

const XFS_READ_ONLY_COMPATIBLE: Bits = &[
    (0x1, "finobt"),
    (0x2, "rmapbt"),
    (0x4, "reflink"),
    (0x8, "inobtcount"),
];

const XFS_INCOMPATIBLE: Bits = &[
    (0x1, "ftype"),
    (0x2, "sparse"),
    (0x4, "metauuid"),
    (0x8, "bigtime"),
    (0x20, "nrext64"),
    (0x40, "exchange"),
    (0x80, "parent"),
    (0x100, "metadir"),
];

/// Where ext4 keeps its superblock.
const EXT4_OFFSET: usize = 1024;
const EXT4_MAGIC: u16 = 0xef53;

/// Reads ext2, ext3 and ext4; `None` if it is none of them.
pub(super) fn ext4(start: &[u8]) -> Option<Superblock> {
    let block = start.get(EXT4_OFFSET..)?;
    let byte = |at: usize| block.get(at).copied();
    let half = |at: usize| Some(u16::from_le_bytes(block.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(block.get(at..at + 4)?.try_into().ok()?));
    let double = |at: usize| Some(u64::from_le_bytes(block.get(at..at + 8)?.try_into().ok()?));
    if half(0x38)? != EXT4_MAGIC {
        return None;
    }
    let mut features = Vec::new();
    for (at, bits) in [
        (0x5c, EXT4_COMPATIBLE),
        (0x60, EXT4_INCOMPATIBLE),
        (0x64, EXT4_READ_ONLY_COMPATIBLE),
    ] {
        features.extend(named(word(at)?, bits));
    }
    let block_bytes = 1024_u64
        .checked_shl(word(0x18)?)
        .filter(|&bytes| bytes > 0)?;
    let made = [
        ("block_bytes", block_bytes.to_string()),
        ("inode_bytes", half(0x58)?.to_string()),
        ("blocks_per_group", word(0x20)?.to_string()),
        ("inodes_per_group", word(0x28)?.to_string()),
        (
            "groups_per_flex_group",
            (1_u64.checked_shl(byte(0x174)?.into())?).to_string(),
        ),
        ("raid_stride", half(0x164)?.to_string()),
        ("raid_stripe_width", word(0x170)?.to_string()),
    ];
    let age = [
        ("made_at", word(0x108)?.to_string()),
        ("mounts", half(0x34)?.to_string()),
        ("last_checked_at", word(0x40)?.to_string()),
        ("lifetime_write_kbytes", double(0x178)?.to_string()),
    ];
    Some(Superblock {
        uuid: uuid(block.get(0x68..0x78)?),
        label: text(block.get(0x78..0x88)?),
        features,
        made: owned(made),
        age: owned(age),
    })
}

/// Reads XFS; `None` if it is something else.
pub(super) fn xfs(start: &[u8]) -> Option<Superblock> {
    let half = |at: usize| Some(u16::from_be_bytes(start.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_be_bytes(start.get(at..at + 4)?.try_into().ok()?));
    if start.get(..4)? != b"XFSB" {
        return None;
    }
    let version = half(100)? & 0xf;
    let mut features = Vec::new();
    // The feature words came with version 5, and checksums with it.
    if version == 5 {
        features.push("crc".to_owned());
        features.extend(named(word(212)?, XFS_READ_ONLY_COMPATIBLE));
        features.extend(named(word(216)?, XFS_INCOMPATIBLE));
    }
    let block_bytes = u64::from(word(4)?);
    let made = [
        ("version", version.to_string()),
        ("block_bytes", block_bytes.to_string()),
        ("sector_bytes", half(102)?.to_string()),
        ("inode_bytes", half(104)?.to_string()),
        ("groups", word(88)?.to_string()),
        ("blocks_per_group", word(84)?.to_string()),
        ("log_blocks", word(96)?.to_string()),
        ("stripe_unit_blocks", word(184)?.to_string()),
        ("stripe_width_blocks", word(188)?.to_string()),
    ];
    Some(Superblock {
        uuid: uuid(start.get(32..48)?),
        label: text(start.get(108..120)?),
        features,
        made: owned(made),
        age: BTreeMap::new(),
    })
}

fn named(word: u32, bits: Bits) -> impl Iterator<Item = String> {
    let set = bits.iter().filter(move |(bit, _)| word & bit != 0);
    set.map(|(_, name)| (*name).to_owned())
}

fn owned<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    (!text.is_empty()).then_some(text)
}

/// `8-4-4-4-12` hexadecimal digits.
fn uuid(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let groups = [0..4, 4..6, 6..8, 8..10, 10..16];
    let groups = groups.map(|range| digits.get(range).unwrap_or_default().concat());
    groups.join("-")
}
