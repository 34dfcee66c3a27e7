//! Check digits that several numbers share.

/// Verhoeff's multiplication in the dihedral group of ten elements.
const PRODUCT: [[u8; 10]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];
/// His permutation, applied as often as the digit's place says.
const PERMUTATION: [[u8; 10]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
];

/// The values of the decimal digits in a text, in order.
pub(super) fn of(text: &str) -> impl DoubleEndedIterator<Item = u8> + Clone + '_ {
    text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0')
}

/// Whether the digits fulfil the Luhn check; there have to be two at least.
pub(super) fn luhn(digits: impl DoubleEndedIterator<Item = u8>) -> bool {
    let mut count = 0_u32;
    let sum: u32 = digits
        .rev()
        .map(|digit| {
            count += 1;
            let weighed = if count.is_multiple_of(2) { digit * 2 } else { digit };
            u32::from(if weighed > 9 { weighed - 9 } else { weighed })
        })
        .sum();
    count > 1 && sum.is_multiple_of(10)
}

/// Whether the digits fulfil Verhoeff's check.
pub(super) fn verhoeff(digits: impl DoubleEndedIterator<Item = u8>) -> bool {
    let check = digits.rev().zip(PERMUTATION.iter().cycle()).try_fold(0_u8, |check, (digit, row)| {
        let permuted = row.get(usize::from(digit))?;
        PRODUCT.get(usize::from(check))?.get(usize::from(*permuted)).copied()
    });
    check == Some(0)
}

/// The sum of digits times weights.
pub(super) fn weighed(digits: impl Iterator<Item = u8>, weights: impl Iterator<Item = u32>) -> u32 {
    digits.zip(weights).map(|(digit, weight)| u32::from(digit) * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both checks find every single wrong digit; Verhoeff's every swap of neighbours too.
    #[test]
    fn every_wrong_digit_is_found() {
        for (number, check) in
            [("79927398713", luhn as fn(std::vec::IntoIter<u8>) -> bool), ("2363", verhoeff), ("84736430954837284567892", verhoeff)]
        {
            let right: Vec<u8> = of(number).collect();
            assert!(check(right.clone().into_iter()), "{number}");
            for at in 0..right.len() {
                for digit in (0..10).filter(|digit| *digit != right[at]) {
                    let mut wrong = right.clone();
                    wrong[at] = digit;
                    assert!(!check(wrong.into_iter()), "{number} with {digit} at {at}");
                }
            }
        }
    }
}
