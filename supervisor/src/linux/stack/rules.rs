//! The check of the tables that unwind a stack: they must come to an end.
//!
//! An entry may compute with operations of its own, which may jump. A jump back can be one without end, so that a table with such a jump
//! is not used. No compiler makes one.

use addr2line::gimli::{
    BaseAddresses, CallFrameInstruction, CallFrameInstructionIter, CieOrFde, DebugFrame, EhFrame, Encoding,
    EndianSlice, Error, LittleEndian, Operation, Result, UnwindExpression, UnwindSection,
};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// True if no entry of an `.eh_frame` jumps back.
pub(super) fn eh_frame_ends(bytes: &[u8]) -> bool {
    ends(&EhFrame::new(bytes, LittleEndian)).is_ok()
}

/// True if no entry of a `.debug_frame` jumps back.
pub(super) fn debug_frame_ends(bytes: &[u8]) -> bool {
    ends(&DebugFrame::new(bytes, LittleEndian)).is_ok()
}

/// Reads all entries.
///
/// # Errors
/// If one cannot be read, or jumps back.
fn ends<'a, S: UnwindSection<Bytes<'a>>>(table: &S) -> Result<()>
where
    S::Offset: Copy,
{
    // Where sections are does not matter: no address is used.
    let bases = BaseAddresses::default().set_eh_frame(0).set_text(0).set_got(0).set_eh_frame_hdr(0);
    let mut entries = table.entries(&bases);
    while let Some(entry) = entries.next()? {
        // An entry for all of a unit's functions may be anywhere, so that it is looked at from each function.
        let CieOrFde::Fde(part) = entry else { continue };
        let function = part.parse(S::cie_from_offset)?;
        let common = function.cie();
        check(table, common.encoding(), common.instructions(table, &bases))?;
        check(table, common.encoding(), function.instructions(table, &bases))?;
    }
    Ok(())
}

fn check<'a, S: UnwindSection<Bytes<'a>>>(
    table: &S,
    encoding: Encoding,
    mut instructions: CallFrameInstructionIter<'_, Bytes<'a>>,
) -> Result<()> {
    while let Some(instruction) = instructions.next()? {
        let expression = match instruction {
            CallFrameInstruction::DefCfaExpression { expression }
            | CallFrameInstruction::Expression { expression, .. }
            | CallFrameInstruction::ValExpression { expression, .. } => expression,
            _ => continue,
        };
        if jumps_back(table, encoding, &expression)? {
            return Err(Error::TooManyIterations);
        }
    }
    Ok(())
}

fn jumps_back<'a, S: UnwindSection<Bytes<'a>>>(
    table: &S,
    encoding: Encoding,
    expression: &UnwindExpression<usize>,
) -> Result<bool> {
    let mut operations = expression.get(table)?.operations(encoding);
    while let Some(operation) = operations.next()? {
        if let Operation::Skip { target } | Operation::Bra { target } = operation
            && target < 0
        {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `.eh_frame` of one function whose frame is computed by these operations.
    fn table(operations: &[u8]) -> Vec<u8> {
        let entry = |body: &[u8]| {
            let mut entry = (body.len() as u32).to_le_bytes().to_vec();
            entry.extend(body);
            entry
        };
        // Version 1, no augmentation, factors 1 and -8, return address in register 16; padding.
        let common = entry(&[&[0; 4][..], &[1, 0, 1, 0x78, 16, 0, 0, 0]].concat());
        let pointer = (common.len() as u32 + 4).to_le_bytes();
        let (start, length) = (0x1000u64.to_le_bytes(), 0x100u64.to_le_bytes());
        let rule = [&[0x0f, operations.len() as u8][..], operations].concat();
        let function = entry(&[&pointer[..], &start, &length, &rule].concat());
        [common, function, vec![0; 4]].concat()
    }

    #[test]
    fn a_table_that_jumps_back_is_not_used() {
        // breg7 8; then nothing, a jump forward, or one back to itself.
        assert!(eh_frame_ends(&table(&[0x77, 8])));
        assert!(eh_frame_ends(&table(&[0x77, 8, 0x2f, 1, 0, 0x96])));
        assert!(!eh_frame_ends(&table(&[0x77, 8, 0x2f, 0xfd, 0xff])));
        assert!(!eh_frame_ends(&table(&[0x77, 8, 0x28, 0xfd, 0xff])));
    }
}
