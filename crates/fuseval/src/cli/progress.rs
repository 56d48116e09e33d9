//! The progress bar: rows, rows per second, experiments, time left.

use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Progress;

/// A bar on standard error; where that is no terminal, or nobody wants one, nothing.
pub(super) struct Bar {
    quiet: bool,
    bar: OnceLock<ProgressBar>,
}

impl Bar {
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet, bar: OnceLock::new() }
    }
}

impl Progress for Bar {
    fn started(&self, rows: Option<u64>, experiments: usize, backend: &str) {
        if self.quiet {
            return;
        }
        let bar = ProgressBar::with_draw_target(rows, ProgressDrawTarget::stderr());
        let template = match rows {
            Some(_) => "{msg}  {bar:20} {human_pos}/{human_len} rows  {per_sec}  {left}",
            None => "{msg}  {spinner} {human_pos} rows  {per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(
                style
                    .progress_chars("━╸─")
                    .with_key("per_sec", |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                        let _ = write!(out, "{} rows/s", indicatif::HumanCount(state.per_sec() as u64));
                    })
                    .with_key("left", |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                        let _ = match state.pos() {
                            0 => write!(out, "--s left"),
                            _ => write!(out, "{}s left", state.eta().as_secs()),
                        };
                    }),
            );
        }
        let others = experiments.saturating_sub(1);
        let plural = if others == 1 { "" } else { "s" };
        let what = if others == 0 { "baseline".to_string() } else { format!("baseline + {others} experiment{plural}") };
        bar.println(match backend {
            "columns" => "scores from columns".to_string(),
            backend => format!("model on {backend}"),
        });
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        let _ = self.bar.set(bar);
    }

    fn rows(&self, rows: u64) {
        if let Some(bar) = self.bar.get() {
            bar.inc(rows);
        }
    }

    fn restarted(&self) {
        if let Some(bar) = self.bar.get() {
            bar.set_position(0);
        }
    }

    fn note(&self, text: &str) {
        match self.bar.get() {
            _ if self.quiet => {}
            Some(bar) if !bar.is_hidden() => bar.println(text),
            _ => super::say(text),
        }
    }

    fn ended(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
