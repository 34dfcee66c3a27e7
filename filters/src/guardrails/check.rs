//! Checks of a match beyond its form: check digits, and numbers that were never given out.

mod digits;
mod national;
mod payment;

use serde::{Deserialize, Serialize};

/// What a match has to fulfil besides the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The digits fulfil the Luhn check (ISO/IEC 7812-1, annex B).
    Luhn,
    /// A payment card: of a known issuer, of a length that issuer uses, with a right Luhn digit.
    CardNumber,
    /// An international bank account number: of a known country, of its length, with right check digits (ISO 13616).
    Iban,
    /// A telephone number: 8 to 15 digits (ITU-T E.164).
    Phone,
    /// Four numbers up to 255.
    Ipv4,
    /// A social security number of the United States that may have been given out.
    UsSsn,
    /// A national insurance number of the United Kingdom with a prefix that is given out.
    UkNino,
    /// A German tax identification number with a right check digit.
    DeSteuerId,
    /// A French social security number with the right key.
    FrNir,
    /// A Spanish DNI or NIE with the right letter.
    EsDni,
    /// An Italian tax code with the right check letter.
    ItCodiceFiscale,
    /// A Dutch citizen service number that fulfils the eleven test.
    NlBsn,
    /// An Indian Aadhaar number with a right Verhoeff digit.
    InAadhaar,
    /// A Brazilian CPF with right check digits.
    BrCpf,
    /// Text with a digit in it, as keys have and words have not.
    HasDigit,
}

impl Check {
    /// How many bytes of `matched`, from its start, fulfil the check; `None` where none do.
    ///
    /// Card and account numbers end where their issuer says, so that a number that stands after them does no harm.
    pub(super) fn accepted(self, matched: &str) -> Option<usize> {
        let whole = match self {
            Self::CardNumber => return payment::card_number(matched),
            Self::Iban => return payment::iban(matched),
            Self::Luhn => digits::luhn(digits::of(matched)),
            Self::Phone => (8..=15).contains(&digits::of(matched).count()),
            Self::Ipv4 => is_ipv4(matched),
            Self::HasDigit => matched.bytes().any(|byte| byte.is_ascii_digit()),
            Self::UsSsn => national::us_ssn(matched),
            Self::UkNino => national::uk_nino(matched),
            Self::DeSteuerId => national::de_steuer_id(matched),
            Self::FrNir => national::fr_nir(matched),
            Self::EsDni => national::es_dni(matched),
            Self::ItCodiceFiscale => national::it_codice_fiscale(matched),
            Self::NlBsn => national::nl_bsn(matched),
            Self::InAadhaar => digits::verhoeff(digits::of(matched)),
            Self::BrCpf => national::br_cpf(matched),
        };
        whole.then_some(matched.len())
    }
}

fn is_ipv4(matched: &str) -> bool {
    let mut parts = 0;
    matched.split('.').all(|part| {
        parts += 1;
        part.parse::<u8>().is_ok()
    }) && parts == 4
}
