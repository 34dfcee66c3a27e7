//! A hash that is the same in every process and version, so that what it decides stays decided.

/// 64 bits of some texts in order.
pub(super) fn stable(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    for part in parts {
        part.bytes().for_each(&mut eat);
        // No text holds this byte.
        eat(0xff);
    }
    mix(hash)
}

/// Spreads a number over all 64 bits.
pub(super) const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The point of `0..total` a uniform number falls on; 0 where there is no point.
pub(super) fn point(uniform: u64, total: u64) -> u64 {
    // The high half of the product is uniform over 0..total.
    u64::try_from((u128::from(uniform) * u128::from(total)) >> 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_same_for_ever() {
        assert_eq!(stable(&["key", "user"]), 0x9a5d_75cc_a23d_5fd2);
        assert_ne!(stable(&["ab", "c"]), stable(&["a", "bc"]));
    }
}
