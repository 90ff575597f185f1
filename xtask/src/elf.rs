//! As much of an ELF header as tells a static program from a dynamic one.

use anyhow::{Context, Result, bail, ensure};

/// Program header type of the path of a dynamic loader (ELF-64 object file format, "PT_INTERP").
const PT_INTERP: u32 = 3;

/// Whether the kernel would start a dynamic loader for this 64-bit little-endian program.
///
/// A static position-independent program has a dynamic section too; only the loader's path tells.
pub(crate) fn has_interpreter(file: &[u8]) -> Result<bool> {
    ensure!(file.starts_with(b"\x7fELF"), "not an ELF file");
    if file.get(4..6) != Some(&[2, 1]) {
        bail!("not a 64-bit little-endian ELF file");
    }
    let table = usize::try_from(u64::from_le_bytes(bytes(file, 0x20)?))?;
    let entry_size = usize::from(u16::from_le_bytes(bytes(file, 0x36)?));
    let entries = usize::from(u16::from_le_bytes(bytes(file, 0x38)?));
    for index in 0..entries {
        let offset = table
            .checked_add(index * entry_size)
            .context("the program header table lies outside of the file")?;
        if u32::from_le_bytes(bytes(file, offset)?) == PT_INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

fn bytes<const N: usize>(file: &[u8], offset: usize) -> Result<[u8; N]> {
    file.get(offset..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .with_context(|| format!("the file ends before byte {offset} + {N}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with one program header entry of the given type.
    fn program(kind: u32) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x20] = 64;
        file[0x36] = 56;
        file[0x38] = 1;
        file[64..68].copy_from_slice(&kind.to_le_bytes());
        file
    }

    #[test]
    fn tells_a_loader_from_none() {
        assert!(has_interpreter(&program(PT_INTERP)).unwrap());
        assert!(!has_interpreter(&program(1)).unwrap());
    }

    #[test]
    fn this_test_is_a_dynamic_program() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(has_interpreter(&own).unwrap());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let whole = program(PT_INTERP);
        for length in 0..68 {
            assert!(has_interpreter(&whole[..length]).is_err(), "{length} bytes");
        }
    }
}
