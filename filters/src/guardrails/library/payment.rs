//! Cards and bank accounts.

use super::Detector;
use crate::guardrails::check::Check;

pub(super) const DETECTORS: &[Detector] = &[
    Detector {
        name: "card_number",
        about: "Numbers of payment cards of known issuers, with or without spaces or hyphens, with a right check digit.",
        pattern: r"(?-u:\b)[2-6](?:[ -]?[0-9]){12,18}(?-u:\b)",
        check: Some(Check::CardNumber),
        max_match: 64,
        finds: &[
            "pay with «4111 1111 1111 1111» please",
            "«4111111111111111»",
            "«5555-5555-5555-4444», valid to 12/30",
            "amex «3782 822463 10005», code 1234",
            "«6011111111111117» «3530111333300000»",
            "«2223003122003222»",
            "order 17: «4111 1111 1111 1111» 123",
            "卡号是«4111111111111111»。",
        ],
        leaves: &["4111 1111 1111 1112", "1234567890123456", "41111111111111111111111", "order 4111-1111", "ref4111111111111111"],
    },
    Detector {
        name: "iban",
        about: "International bank account numbers of known countries, with or without spaces, with right check digits.",
        pattern: r"(?i-u:\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}\b)",
        check: Some(Check::Iban),
        max_match: 80,
        finds: &[
            "to «DE89 3704 0044 0532 0130 00», thanks",
            "«GB82WEST12345698765432»",
            "«FR14 2004 1010 0505 0001 3M02 606» and then more",
            "«NL91ABNA0417164300»",
            "«no93 8601 1117 947»",
            "«CH93 0076 2011 6238 5295 7»",
        ],
        leaves: &["DE89 3704 0044 0532 0130 01", "XX89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654", "as of 2024 this text is long"],
    },
];
