//! Draws from a block of tied rows without putting back: what places get when every order is equally likely. By ratios of
//! neighbouring terms, so that no factorial overflows.

/// The probabilities that the first relevant row of a block takes place 1, 2, …, if `relevant` of its `rows` are relevant; as
/// far as any sum would notice.
pub(crate) fn first_hits(rows: usize, relevant: usize) -> impl Iterator<Item = f64> {
    let mut none_before = 1.0;
    (0..=rows.saturating_sub(relevant)).map_while(move |taken| {
        if none_before < 1e-30 {
            return None;
        }
        let left = (rows - taken) as f64;
        let hit = none_before * (relevant as f64 / left);
        none_before *= (rows - relevant - taken) as f64 / left;
        Some(hit)
    })
}

/// The numbers of relevant rows that there can be among `places` of the `rows` of a block, `relevant` of which are relevant,
/// each with its probability (hypergeometric). From the most likely number outwards; those that no sum would notice are left
/// out.
pub(crate) fn hits_among(rows: usize, relevant: usize, places: usize) -> Vec<(usize, f64)> {
    let least = (relevant + places).saturating_sub(rows);
    let most = relevant.min(places);
    let mode = ((relevant + 1) as f64 * (places + 1) as f64 / (rows + 2) as f64) as usize;
    let mode = mode.clamp(least, most);
    // p(hits + 1) / p(hits)
    let ratio = |hits: usize| {
        let more = (relevant - hits) as f64 * (places - hits) as f64;
        more / ((hits + 1) as f64 * (rows + hits + 1 - relevant - places) as f64)
    };
    let mut shares = vec![(mode, 1.0)];
    let mut share = 1.0;
    for hits in mode..most {
        share *= ratio(hits);
        if share < 1e-30 {
            break;
        }
        shares.push((hits + 1, share));
    }
    share = 1.0;
    for hits in (least..mode).rev() {
        share /= ratio(hits);
        if share < 1e-30 {
            break;
        }
        shares.push((hits, share));
    }
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    shares.iter_mut().for_each(|(_, share)| *share /= total);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(n: usize, k: usize) -> f64 {
        (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
    }

    #[test]
    fn draws_are_those_of_the_binomials() {
        for rows in 1..12 {
            for relevant in 1..=rows {
                for (place, p) in (1..).zip(first_hits(rows, relevant)) {
                    let exact = choose(rows - place, relevant - 1) / choose(rows, relevant);
                    assert!((p - exact).abs() < 1e-14, "{rows} {relevant} {place}: {p} {exact}");
                }
                for places in 0..=rows {
                    let all = hits_among(rows, relevant, places);
                    assert!((all.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-14);
                    for (hits, p) in all {
                        let ways = choose(relevant, hits) * choose(rows - relevant, places - hits);
                        assert!((p - ways / choose(rows, places)).abs() < 1e-14, "{rows} {relevant} {places} {hits}");
                    }
                }
            }
        }
    }

    #[test]
    fn long_blocks_neither_overflow_nor_vanish() {
        let hits = hits_among(100_000, 30_000, 50_000);
        let mean: f64 = hits.iter().map(|(hits, p)| *hits as f64 * p).sum();
        assert!((mean - 15_000.0).abs() < 1e-6, "{mean}");
        assert!((first_hits(100_000, 3).sum::<f64>() - 1.0).abs() < 1e-11);
    }
}
