//! The password of a session, which is computed from its number: nobody has to keep it.
//!
//! *Source:* `ZooKeeperServer.generatePasswd` of ZooKeeper 3.8, and the generator of `java.util.Random`.

/// What a number is mixed with.
const SECRET: u64 = 0xb341_5c00;

const MULTIPLIER: u64 = 0x5_deec_e66d;
const MASK: u64 = (1 << 48) - 1;

/// The password of a session.
pub(super) fn of(session: i64) -> [u8; 16] {
    let mut seed = (session as u64 ^ SECRET ^ MULTIPLIER) & MASK;
    let mut password = [0; 16];
    for four in password.chunks_exact_mut(4) {
        seed = seed.wrapping_mul(MULTIPLIER).wrapping_add(11) & MASK;
        four.copy_from_slice(&((seed >> 16) as u32).to_le_bytes());
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_the_password_that_the_real_one_gives_it() {
        // Of a session of ZooKeeper 3.8.0.
        let real = 0x9809_cd41_45d7_a0af_3672_803a_966d_b702_u128;
        assert_eq!(of(0x0100_0025_fa86_0000), real.to_be_bytes());
        let real = 0xab2a_c741_e522_80f4_2bb5_e765_6af6_cbcf_u128;
        assert_eq!(of(0x0100_0025_fa86_0001), real.to_be_bytes());
    }
}
