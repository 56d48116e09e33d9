//! Numbers as people read them: six digits that say something, thousands apart, intervals whose ends differ.

/// From here on, and below [`SMALL`], a number has an exponent.
const LARGE: i32 = 15;
const SMALL: i32 = -4;

/// A number with six significant digits; whole from a million on.
pub(crate) fn number(value: f64) -> String {
    at_scale(value, exponent(value), 6)
}

/// The ends of an interval: with four digits of the larger one, and with as many more as make them differ by two digits.
pub(crate) fn interval(low: f64, high: f64) -> String {
    let scale = exponent(low.abs().max(high.abs()));
    let apart = scale - exponent(high - low);
    let digits = if high > low && (high - low).is_finite() { (apart + 2).clamp(4, 15) } else { 4 };
    format!("[{}, {}]", at_scale(low, scale, digits), at_scale(high, scale, digits))
}

/// A number with the decimals that give one of the size `10^scale` so many digits, so that numbers of a column align.
pub(crate) fn at_scale(value: f64, scale: i32, digits: i32) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if !(SMALL..LARGE).contains(&scale) && value != 0.0 {
        let decimals = usize::try_from(digits - 1).unwrap_or_default();
        return format!("{value:.decimals$e}");
    }
    let decimals = usize::try_from(digits - 1 - scale.max(SMALL)).unwrap_or_default();
    // Without the sign of a zero, and of what is rounded to zero.
    let text = format!("{value:.decimals$}");
    let text = if text.bytes().all(|sign| b"-0.".contains(&sign)) { text.replace('-', "") } else { text };
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |text| ("-", text));
    let (whole, decimals) =
        text.split_once('.').map_or((text, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    format!("{sign}{}{decimals}", thousands(whole))
}

/// The power of ten of the first digit, after rounding to six; -1 for zero, as of a share.
pub(crate) fn exponent(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return -1;
    }
    format!("{value:.5e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(-1)
}

/// An integer with its thousands apart.
pub(crate) fn grouped(count: u64) -> String {
    thousands(&count.to_string())
}

/// A number of things, in singular or plural.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

fn thousands(digits: &str) -> String {
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_that_say_something() {
        for (value, text) in [
            (0.547974, "0.547974"),
            (0.045800123, "0.0458001"),
            (0.9999999, "1.00000"),
            (1.0062341, "1.00623"),
            (-12345.678, "-12,345.7"),
            (999_999.7, "1,000,000"),
            (102_272_273.951455, "102,272,274"),
            (1.5e20, "1.50000e20"),
            (0.00000123, "1.23000e-6"),
            (-0.0, "0.000000"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn the_ends_of_an_interval_differ() {
        for (low, high, text) in [
            (0.7383123, 0.7793123, "[0.7383, 0.7793]"),
            (0.98641, 1.02611, "[0.986, 1.026]"),
            (0.75000012, 0.75000034, "[0.75000012, 0.75000034]"),
            (1.2e-6, 1.3e-6, "[1.200e-6, 1.300e-6]"),
            (-0.00001, 0.5, "[0.0000, 0.5000]"),
            (101_272_273.0, 103_272_273.0, "[101,272,273, 103,272,273]"),
            (0.5, 0.5, "[0.5000, 0.5000]"),
            (0.0, f64::INFINITY, "[0.0000, inf]"),
        ] {
            assert_eq!(interval(low, high), text);
        }
    }
}
