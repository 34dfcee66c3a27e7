//! Numbers that states give to people.

use super::digits;

/// Prefixes of national insurance numbers that are not given out.
const UK_UNUSED: [&str; 7] = ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"];
/// The letter of a Spanish number, by its remainder.
const ES_LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
/// What digits and letters count at odd places of an Italian tax code, A being worth as much as 0.
const IT_ODD: [u32; 26] = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/// Area 000, 666 and 900 and above, group 00 and serial 0000 are never given out.
pub(super) fn us_ssn(matched: &str) -> bool {
    let number = number(matched);
    let (area, group, serial) = (number / 1_000_000, number / 10_000 % 100, number % 10_000);
    !matches!(area, 0 | 666 | 900..) && group != 0 && serial != 0
}

pub(super) fn uk_nino(matched: &str) -> bool {
    matched.get(..2).is_some_and(|prefix| !UK_UNUSED.contains(&prefix.to_ascii_uppercase().as_str()))
}

/// Of the first ten digits one stands there twice or three times and no other twice; the last is that of ISO/IEC 7064, MOD 11,10.
pub(super) fn de_steuer_id(matched: &str) -> bool {
    let digits: Vec<u8> = digits::of(matched).collect();
    let Some((check, first)) = digits.split_last() else { return false };
    let counts = (0..10).map(|digit| first.iter().filter(|other| **other == digit).count());
    let repeated: Vec<usize> = counts.filter(|count| *count > 1).collect();
    let product = first.iter().fold(10, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    first.len() == 10 && matches!(repeated.as_slice(), [2 | 3]) && (11 - product) % 10 == u32::from(*check)
}

/// The key is 97 minus the remainder of the thirteen digits; Corsica's departments 2A and 2B count as 19 and 18.
pub(super) fn fr_nir(matched: &str) -> bool {
    let compact: String = matched.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
    let Some((body, key)) = compact.split_at_checked(13) else { return false };
    let body = body.replace("2A", "19").replace("2B", "18");
    matches!((body.parse::<u64>(), key.parse::<u64>()), (Ok(body), Ok(key)) if 97 - body % 97 == key)
}

/// The letter is that of the remainder by 23; X, Y and Z of foreigners' numbers count as 0, 1 and 2.
pub(super) fn es_dni(matched: &str) -> bool {
    let upper = matched.to_ascii_uppercase();
    let first = upper.bytes().next().and_then(|byte| byte.checked_sub(b'X')).map_or(0, u64::from);
    let index = usize::try_from((first * 10_000_000 + number(matched)) % 23).ok();
    index.and_then(|index| ES_LETTERS.get(index)).copied() == upper.bytes().last()
}

/// The last letter is the sum of what the fifteen characters before it count, modulo 26.
pub(super) fn it_codice_fiscale(matched: &str) -> bool {
    let upper = matched.to_ascii_uppercase();
    let Some((check, first)) = upper.as_bytes().split_last() else { return false };
    let sum = first.iter().enumerate().try_fold(0, |sum, (index, byte)| {
        let value = byte.checked_sub(if byte.is_ascii_digit() { b'0' } else { b'A' })?;
        let counts = if index.is_multiple_of(2) { *IT_ODD.get(usize::from(value))? } else { u32::from(value) };
        Some(sum + counts)
    });
    sum.and_then(|sum| char::from_digit(sum % 26 + 10, 36)).is_some_and(|letter| letter.eq_ignore_ascii_case(&char::from(*check)))
}

/// The digits times 9 to 2, less the last, make a multiple of eleven.
pub(super) fn nl_bsn(matched: &str) -> bool {
    let digits = || digits::of(matched);
    let Some(last) = digits().next_back() else { return false };
    let sum = digits::weighed(digits().take(8), (2..=9).rev());
    digits().any(|digit| digit != 0) && sum % 11 == u32::from(last) && sum > 0
}

/// Two check digits, each a weighed sum modulo eleven; numbers of one digit only are not given out.
pub(super) fn br_cpf(matched: &str) -> bool {
    let digits: Vec<u8> = digits::of(matched).collect();
    let check = |count: usize, weight: u32| digits::weighed(digits.iter().copied().take(count), (2..=weight).rev()) * 10 % 11 % 10;
    let right = |index: usize, digit: u32| digits.get(index).is_some_and(|own| u32::from(*own) == digit);
    digits.iter().any(|digit| digits.first() != Some(digit)) && right(9, check(9, 10)) && right(10, check(10, 11))
}

fn number(matched: &str) -> u64 {
    digits::of(matched).take(18).fold(0, |number, digit| number * 10 + u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether changing any one digit is found, for checks that promise it.
    fn finds_every_wrong_digit(check: fn(&str) -> bool, number: &str) {
        assert!(check(number), "{number}");
        for (at, right) in number.char_indices().filter(|(_, character)| character.is_ascii_digit()) {
            for digit in ('0'..='9').filter(|digit| *digit != right) {
                let wrong = format!("{}{digit}{}", &number[..at], &number[at + 1..]);
                assert!(!check(&wrong), "{wrong} for {number}");
            }
        }
    }

    #[test]
    fn a_wrong_digit_is_found() {
        finds_every_wrong_digit(de_steuer_id, "86095742719");
        finds_every_wrong_digit(es_dni, "12345678Z");
        finds_every_wrong_digit(es_dni, "X1234567L");
        finds_every_wrong_digit(it_codice_fiscale, "RSSMRA85T10A562S");
        finds_every_wrong_digit(nl_bsn, "111222333");
        finds_every_wrong_digit(br_cpf, "529.982.247-25");
        finds_every_wrong_digit(fr_nir, "255081416802538");
    }
}
