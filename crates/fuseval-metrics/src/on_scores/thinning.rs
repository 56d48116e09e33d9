//! Thinning of curves: of many points those are kept between which straight lines pass near all others.
//!
//! ```text
//!   kept ●───────────────● last point      the next point is taken in while the line to it from the one kept last has a
//!          ·   ·   ·  ·      ·  next       slope that passes all points between by at most the error (a cone of slopes);
//!                                          otherwise the last point is kept and a new cone begins there
//! ```
//! One pass and no memory of left-out points; a plain form of what Sklansky and Gonzalez (1980) do.

use fuseval_core::registry::Settings;
use fuseval_core::{Error, OptionEntry, Result};

/// By how much straight lines between kept points may pass those that are left out.
pub(crate) const MAX_ERROR: OptionEntry = OptionEntry { name: "max_error", values: &[], default: "0.001" };
pub(crate) const DEFAULT_MAX_ERROR: f64 = 0.001;

/// The option as given, or its default.
pub(crate) fn max_error(settings: &Settings<'_>) -> Result<f64> {
    let max_error = settings.number(MAX_ERROR.name, DEFAULT_MAX_ERROR)?;
    if !(0.0..1.0).contains(&max_error) {
        return Err(Error::usage("`max_error` from 0 to below 1", max_error.to_string(), "leave it out for 0.001"));
    }
    Ok(max_error)
}

/// A point: x, which never falls, y, and the threshold it belongs to.
pub(crate) type Point = [f64; 3];

/// A curve in the making.
#[derive(Debug)]
pub(crate) struct Thinning {
    max_error: f64,
    kept: Vec<Vec<f64>>,
    from: Option<Point>,
    last: Option<Point>,
    /// The slopes from the point kept last that pass every point since by at most the error.
    slopes: (f64, f64),
}

const ANY_SLOPE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Thinning {
    /// A curve without points.
    pub(crate) fn new(max_error: f64) -> Self {
        Self { max_error, kept: Vec::new(), from: None, last: None, slopes: ANY_SLOPE }
    }

    /// Adds the next point.
    pub(crate) fn add(&mut self, point: Point) {
        let Some(from) = self.from else {
            self.kept.push(point.to_vec());
            self.from = Some(point);
            return;
        };
        if let Some(last) = self.last
            && !self.passes(from, last, point)
        {
            self.kept.push(last.to_vec());
            self.from = Some(last);
            self.slopes = ANY_SLOPE;
        }
        self.last = Some(point);
        let [dx, dy] = difference(self.from.unwrap_or(from), point);
        let least = if dx > 0.0 || dy > self.max_error { (dy - self.max_error) / dx } else { f64::NEG_INFINITY };
        let most = if dx > 0.0 || dy < -self.max_error { (dy + self.max_error) / dx } else { f64::INFINITY };
        self.slopes = (self.slopes.0.max(least), self.slopes.1.min(most));
    }

    /// Whether the line from the point kept last passes near all points up to the last one.
    fn passes(&self, from: Point, last: Point, to: Point) -> bool {
        let [dx, dy] = difference(from, to);
        if dx == 0.0 {
            // A vertical line holds all points between its ends.
            let [_, before] = difference(from, last);
            let [_, after] = difference(last, to);
            return before * after >= 0.0;
        }
        let slope = dy / dx;
        self.slopes.0 <= slope && slope <= self.slopes.1
    }

    /// The kept points, the first and the last one among them.
    pub(crate) fn finish(mut self) -> Vec<Vec<f64>> {
        if let Some(last) = self.last {
            self.kept.push(last.to_vec());
        }
        self.kept
    }
}

fn difference([from_x, from_y, _]: Point, [to_x, to_y, _]: Point) -> [f64; 2] {
    [to_x - from_x, to_y - from_y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;

    fn thinned(points: &[Point], max_error: f64) -> Vec<Vec<f64>> {
        let mut curve = Thinning::new(max_error);
        points.iter().for_each(|point| curve.add(*point));
        curve.finish()
    }

    /// How far a point is from the line between the kept points around it, in y.
    fn distance(kept: &[Vec<f64>], [x, y, threshold]: Point) -> f64 {
        let around = kept.windows(2).find(|pair| pair[0][2] >= threshold && threshold >= pair[1][2]).unwrap();
        let (from, to) = (&around[0], &around[1]);
        if from[0] == to[0] {
            let (low, high) = (from[1].min(to[1]), from[1].max(to[1]));
            return if y < low { low - y } else { (y - high).max(0.0) };
        }
        (from[1] + (to[1] - from[1]) * (x - from[0]) / (to[0] - from[0]) - y).abs()
    }

    /// Points with falling thresholds: a rising or a falling staircase.
    fn staircase(rng: &mut KeyedRng, rows: u64, sign: f64) -> Vec<Point> {
        let (mut x, mut y) = (0.0, 0.0);
        (0..rows)
            .map(|row| {
                match rng.below(3) {
                    0 => x += 1.0 / rows as f64,
                    1 => y += sign / rows as f64,
                    _ => (x, y) = (x + 2.0 / rows as f64, y + sign / rows as f64),
                }
                [x, y, -(row as f64)]
            })
            .collect()
    }

    #[test]
    fn lines_between_kept_points_pass_near_all_others() {
        let mut rng = KeyedRng::new(1, &["thinning"]);
        for rows in [1, 2, 3, 10, 100, 3000] {
            for max_error in [0.0, 1e-3, 0.01, 0.1] {
                for sign in [1.0, -1.0] {
                    let points = staircase(&mut rng, rows, sign);
                    let kept = thinned(&points, max_error);
                    assert_eq!(
                        (&kept[0][..], &kept[kept.len() - 1][..]),
                        (&points[0][..], &points[points.len() - 1][..])
                    );
                    for point in points.iter().filter(|_| rows > 1) {
                        let distance = distance(&kept, *point);
                        assert!(distance <= max_error + 1e-12, "{rows} rows: {distance} above {max_error}");
                    }
                    assert!(rows < 3000 || max_error < 0.01 || kept.len() < 100, "{} of {rows} points", kept.len());
                }
            }
        }
    }

    #[test]
    fn points_on_a_line_are_left_out_even_without_an_error() {
        let line: Vec<Point> = (0..100).map(|i| [f64::from(i), f64::from(2 * i), -f64::from(i)]).collect();
        assert_eq!(thinned(&line, 0.0).len(), 2);
        let corner: Vec<Point> =
            [[0.0, 0.0, 9.0], [0.0, 0.5, 8.0], [0.0, 1.0, 7.0], [0.5, 1.0, 6.0], [1.0, 1.0, 5.0]].to_vec();
        assert_eq!(thinned(&corner, 0.0), [[0.0, 0.0, 9.0], [0.0, 1.0, 7.0], [1.0, 1.0, 5.0]]);
        assert_eq!(thinned(&[], 0.0), Vec::<Vec<f64>>::new());
        assert_eq!(thinned(&corner[..1], 0.0), [[0.0, 0.0, 9.0]]);
    }
}
