//! `hashtext`, by which clients make numbers of advisory locks from names.
//!
//! Source: PostgreSQL 15, `hash_bytes` in `common/hashfn.c`, after Bob Jenkins's `lookup3`.

/// The hash of bytes.
pub(super) fn hash(bytes: &[u8]) -> u32 {
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let begin = 0x9e37_79b9_u32.wrapping_add(len).wrapping_add(3_923_095);
    let (mut a, mut b, mut c) = (begin, begin, begin);
    let mut chunks = bytes.chunks_exact(12);
    for chunk in &mut chunks {
        a = a.wrapping_add(word(&chunk[..4]));
        b = b.wrapping_add(word(&chunk[4..8]));
        c = c.wrapping_add(word(&chunk[8..]));
        (a, b, c) = mixed(a, b, c);
    }
    let rest = chunks.remainder();
    let part = |from: usize| word(&rest[from.min(rest.len())..(from + 4).min(rest.len())]);
    a = a.wrapping_add(part(0));
    b = b.wrapping_add(part(4));
    // The lowest byte is that of the length.
    c = c.wrapping_add(part(8) << 8);
    last(a, b, c)
}

/// Up to four bytes as a number, the lowest first.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn mixed(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    (a, b, c)
}

fn last(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}
