//! An exact sum within a window of 192 bits, in two's complement: the form of nearly every sum.

use std::num::NonZeroU16;

use super::digits::Digits;

const LIMBS: usize = 6;
/// Sums stay within ±2^190, so that adding two of them cannot overflow.
const SUM_BITS: u32 = 190;
const FRACTION: u64 = (1 << 52) - 1;
const MANTISSA_BITS: u32 = 53;
/// The window that is tried first. It begins at 2^-146 and ends at 2^44: values from 2^-94 and products from 2^-41 with their
/// low parts, and sums up to 10^13.
const FIRST_LOW: usize = 29;
/// No window lies higher, so that the exponent of infinities and NaN is above all of them.
const MOST_LOW: usize = (0x7fe - (SUM_BITS - MANTISSA_BITS) as usize - 1) / 32;

/// A sum within a window that begins at a multiple of 32 bits.
#[derive(Debug, Clone)]
pub(super) struct Narrow {
    words: [u64; 3],
    /// The index of the lowest limb, and 1: the zero that is left tells the compiler where to mark the wide form.
    after_low: NonZeroU16,
}

impl Default for Narrow {
    fn default() -> Self {
        Self::zero(FIRST_LOW)
    }
}

impl Narrow {
    fn zero(low: usize) -> Self {
        Self { words: [0; 3], after_low: NonZeroU16::MIN.saturating_add(low as u16) }
    }

    /// The number in the first window that holds it.
    pub(super) fn holding(digits: Digits<'_>) -> Option<Self> {
        windows(digits.low()).into_iter().find_map(|low| Self::at(low, digits))
    }

    /// The number in the window that begins at limb `low`, if it holds it.
    fn at(low: usize, digits: Digits<'_>) -> Option<Self> {
        let mut limbs = [0u32; LIMBS];
        if let Some(first) = digits.low() {
            let place = limbs.get_mut(first.checked_sub(low)?..)?;
            place.get_mut(..digits.limbs().len())?.copy_from_slice(digits.limbs());
        }
        let [a, b, c, d, e, f] = limbs.map(u64::from);
        let magnitude = [a | b << 32, c | d << 32, e | f << 32];
        let words = if digits.negative() { negated(magnitude) } else { magnitude };
        (f >> 30 == 0).then(|| Self { words, ..Self::zero(low) })
    }

    /// Adds a value and says so; does nothing if the window does not hold it or the sum, or the value is subnormal.
    #[inline]
    pub(super) fn add(&mut self, value: f64) -> bool {
        let bits = value.to_bits();
        let exponent = (bits >> 52) as u32 & 0x7ff;
        // The lowest bit of the mantissa weighs 2^(exponent − 1 − 1074). Below every window is the exponent 0.
        let shift = (exponent + 31).wrapping_sub(32 * u32::from(self.after_low.get()));
        if shift > SUM_BITS - MANTISSA_BITS {
            return value == 0.0;
        }
        let sign = (bits as i64) >> 63;
        let mantissa = (((bits & FRACTION) | (FRACTION + 1)) as i64 ^ sign) - sign;
        let spread = i128::from(mantissa) << (shift & 63);
        let (low, high) = (spread as u64, (spread >> 64) as u64);
        // Masks, since which word it is depends on the data and a branch would be guessed wrong.
        let [first, second, third] = [0, 1, 2].map(|word| u64::from(shift >> 6 == word).wrapping_neg());
        self.add_words([low & first, high & first | low & second, sign as u64 & first | high & second | low & third])
    }

    #[inline]
    fn add_words(&mut self, addend: [u64; 3]) -> bool {
        let [a, b, c] = self.words;
        let [x, y, z] = addend;
        let (low, carry) = a.overflowing_add(x);
        let (middle, carry) = b.carrying_add(y, carry);
        let (high, _) = c.carrying_add(z, carry);
        let fits = high.wrapping_add(1 << 62) < 1 << 63;
        if fits {
            self.words = [low, middle, high];
        }
        fits
    }

    /// The sum of both, in a window that holds both and it.
    pub(super) fn joined(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        if self.after_low == other.after_low && sum.add_words(other.words) {
            return Some(sum);
        }
        self.digits(|one| {
            other.digits(|two| {
                let lowest = one.low().into_iter().chain(two.low()).min();
                windows(lowest).into_iter().find_map(|low| {
                    let mut sum = Self::at(low, one)?;
                    sum.add_words(Self::at(low, two)?.words).then_some(sum)
                })
            })
        })
    }

    /// Hands on sign and magnitude.
    pub(super) fn digits<R>(&self, then: impl FnOnce(Digits<'_>) -> R) -> R {
        let [.., top] = self.words;
        let negative = top >> 63 == 1;
        let [a, b, c] = if negative { negated(self.words) } else { self.words };
        let limbs = [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32, c as u32, (c >> 32) as u32];
        then(Digits::new(negative, usize::from(self.after_low.get()) - 1, &limbs))
    }
}

fn negated(words: [u64; 3]) -> [u64; 3] {
    let [a, b, c] = words.map(|word| !word);
    let (low, carry) = a.carrying_add(1, false);
    let (middle, carry) = b.carrying_add(0, carry);
    [low, middle, c.wrapping_add(u64::from(carry))]
}

/// The windows to try for a number with this lowest limb: the usual one, or 64 bits, 32 bits or nothing below the number.
fn windows(lowest: Option<usize>) -> [usize; 4] {
    let lowest = lowest.unwrap_or(FIRST_LOW);
    [FIRST_LOW, lowest.saturating_sub(2), lowest.saturating_sub(1), lowest].map(|low| low.min(MOST_LOW))
}
