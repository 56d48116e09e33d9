//! The `fuseval` binary: the command line of the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    fuseval::cli::main(std::env::args_os())
}
