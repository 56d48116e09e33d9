//! How much memory a run may take.

use fuseval_core::Error;
use fuseval_engine::Plan;

use crate::explanation::size as bytes_text;

/// The share of the machine's memory that a run may take where nobody says.
const SHARE: f64 = 0.5;
/// The share of it that bringing segments together may take; the rest is for buckets and states.
const CLUSTERING: f64 = 0.5;
/// What is assumed where the system does not tell.
const UNKNOWN: u64 = 4 << 30;

/// The bytes that a run may take: as said, or a share of the machine's.
pub(crate) fn limit(said: Option<u64>) -> u64 {
    said.unwrap_or_else(|| (machine().unwrap_or(UNKNOWN) as f64 * SHARE) as u64)
}

/// Refuses a plan whose states and donor values cannot fit.
pub(crate) fn refuse_too_little(plan: &Plan, rows: u64, threads: usize, said: Option<u64>) -> Result<(), Error> {
    let (needed, limit) = (needed(plan, rows, threads), limit(said));
    if needed <= limit {
        return Ok(());
    }
    let found = match said {
        Some(_) => format!("--memory {}", bytes_text(limit)),
        None => format!("{}, half of the machine's", bytes_text(limit)),
    };
    Err(Error::usage(
        format!("memory for the states of the plan, about {}", bytes_text(needed)),
        found,
        "give more (`--memory`), use fewer threads, or lower `exact_budget`",
    ))
}

/// The bytes that states and donor values take on typical data.
pub(crate) fn needed(plan: &Plan, rows: u64, threads: usize) -> u64 {
    let estimate = plan.estimate(rows);
    estimate.typical.saturating_mul(threads as u64).saturating_add(estimate.donors)
}

/// The bytes that bringing segments together may take.
pub(crate) fn for_clustering(said: Option<u64>) -> u64 {
    (limit(said) as f64 * CLUSTERING) as u64
}

/// The memory of the machine, or of the container, where the system tells it.
fn machine() -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = all.lines().find(|line| line.starts_with("MemTotal:"))?;
    let total = line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10;
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limit = limits.iter().find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok());
    Some(limit.map_or(total, |limit| limit.min(total)))
}

/// Reads a size: a number of bytes, or with a unit (`512MiB`, `4GB`, `2G`; K, M, G and T alone are powers of 1024).
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err("expected a size such as 4GiB, 512MiB or 2000000000".to_string()),
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * factor as f64) as u64),
        _ => Err("expected a size such as 4GiB, 512MiB or 2000000000".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_and_without_units() {
        let cases = [("1", 1), ("2k", 2048), ("1.5 MiB", 3 << 19), ("4GB", 4_000_000_000), ("1T", 1 << 40)];
        for (text, bytes) in cases {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "GiB", "1 XB", "1e3"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
