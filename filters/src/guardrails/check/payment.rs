//! Numbers of payment cards and of bank accounts.

use super::digits;

/// How issuers number their cards: the range of the first four digits, and how many digits there are.
const ISSUERS: [(u32, u32, &[usize]); 19] = [
    (4000, 4999, &[13, 16, 19]),
    (5100, 5599, &[16]),
    (2221, 2720, &[16]),
    (3400, 3499, &[15]),
    (3700, 3799, &[15]),
    (6011, 6011, &[16, 17, 18, 19]),
    (6440, 6599, &[16, 17, 18, 19]),
    (3000, 3059, &[14, 16, 17, 18, 19]),
    (3095, 3095, &[14, 16, 17, 18, 19]),
    (3600, 3699, &[14, 16, 17, 18, 19]),
    (3800, 3999, &[14, 16, 17, 18, 19]),
    (3528, 3589, &[16, 17, 18, 19]),
    (6200, 6299, &[16, 17, 18, 19]),
    (2200, 2204, &[16, 17, 18, 19]),
    (5000, 5099, &[13, 14, 15, 16, 17, 18, 19]),
    (5600, 5899, &[13, 14, 15, 16, 17, 18, 19]),
    (6304, 6304, &[13, 14, 15, 16, 17, 18, 19]),
    (6759, 6763, &[13, 14, 15, 16, 17, 18, 19]),
    (6060, 6079, &[16]),
];

/// Countries of the IBAN registry, each with the number of characters of its account numbers.
const COUNTRIES: &str = "\
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 \
    EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 \
    IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 \
    NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 \
    SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20";

/// How many bytes of `matched`, from its start, are a card's number.
pub(super) fn card_number(matched: &str) -> Option<usize> {
    let first: u32 = digits::of(matched).take(4).fold(0, |number, digit| number * 10 + u32::from(digit));
    let lengths = |count: usize| ISSUERS.iter().any(|(from, to, lengths)| (*from..=*to).contains(&first) && lengths.contains(&count));
    ends(matched)
        .filter(|(count, end)| lengths(*count) && matched.get(..*end).is_some_and(|part| digits::luhn(digits::of(part))))
        .last()
        .map(|(_, end)| end)
}

/// How many bytes of `matched`, from its start, are an IBAN.
pub(super) fn iban(matched: &str) -> Option<usize> {
    let country = matched.get(..2)?.to_ascii_uppercase();
    let length: usize = COUNTRIES.split(' ').find_map(|entry| entry.strip_prefix(&country))?.parse().ok()?;
    let (_, end) = ends(matched).find(|(count, _)| *count == length)?;
    let compact: Vec<u8> = matched.get(..end)?.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let (head, rest) = compact.split_at_checked(4)?;
    let remainder = rest.iter().chain(head).try_fold(0_u32, |remainder, byte| {
        let value = char::from(*byte).to_digit(36)?;
        Some((remainder * if value > 9 { 100 } else { 10 } + value) % 97)
    });
    (remainder == Some(1)).then_some(end)
}

/// Where the parts between separators end: how many letters and digits there are up to there, and the offset.
fn ends(matched: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = matched.as_bytes();
    let in_part = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    (0..bytes.len())
        .filter(move |at| in_part(*at))
        .enumerate()
        .filter(move |(_, at)| !in_part(at + 1))
        .map(|(before, at)| (before + 1, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_ends_where_its_issuer_says() {
        assert_eq!(card_number("4111 1111 1111 1111 123"), Some(19), "the number on the back is no part of it");
        assert_eq!(card_number("4111111111111111123"), None, "nineteen digits in a row are one number");
        assert_eq!(card_number("4111111111111112"), None);
        assert_eq!(card_number("9111111111111111"), None);
    }

    #[test]
    fn an_account_ends_where_its_country_says() {
        assert_eq!(iban("GB82 WEST 1234 5698 7654 32 and 5"), Some(27));
        assert_eq!(iban("GB82WEST12345698765433"), None);
        assert_eq!(iban("ZZ82WEST12345698765432"), None);
    }

    #[test]
    fn countries_are_listed_once_and_in_order() {
        let entries: Vec<(&str, usize)> = COUNTRIES.split(' ').map(|entry| (&entry[..2], entry[2..].parse().unwrap())).collect();
        assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "{entries:?}");
        assert!(entries.iter().all(|(_, length)| (15..=34).contains(length)), "{entries:?}");
    }
}
