//! The `kernmark` program.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod estimate;
mod exit;
mod input;
mod location;
mod nearest;
mod output;
mod plans;
mod progress;
mod receivers;
mod surroundings;
mod title;
mod workshop;

use std::process::ExitCode;

use clap::Parser;
use kernmark_engine::crew::{self, WORKER_FLAG};
use kernmark_sys::signal;
use kernmark_tools::ALL;

use args::Arguments;
use commands::personality;
use exit::{Exit, Failure};
use output::Output;
use surroundings::Surroundings;

fn main() -> ExitCode {
    // Children whose ends are ignored cannot be waited for.
    signal::restore_default(signal::CHLD);
    let around = Surroundings::of_process();
    let mut out = Output::new();
    let exit = act(&around, &mut out)
        .and_then(|exit| out.finish().map(|()| exit))
        .unwrap_or_else(|failure| {
            failure.tell();
            failure.exit
        });
    ExitCode::from(exit.code())
}

/// Does what this program was called for.
fn act(around: &Surroundings, out: &mut Output) -> Result<Exit, Failure> {
    if let [_, flag, ticket] = around.arguments.as_slice()
        && flag == WORKER_FLAG
    {
        return worker(&ticket.to_string_lossy());
    }
    log_to_stderr(around)?;
    if let Some(called) = around.called().and_then(personality::find) {
        return called.run(around.arguments[1..].to_vec(), None, around, out);
    }
    match Arguments::try_parse_from(&around.arguments) {
        Ok(arguments) => commands::run(arguments, around, out),
        Err(told) => {
            // Help goes to standard output, mistakes to stderr.
            told.print().map_err(Failure::output)?;
            Ok(if told.use_stderr() {
                Exit::WrongUse
            } else {
                Exit::Done
            })
        }
    }
}

/// This program again, as a worker of itself.
fn worker(ticket: &str) -> Result<Exit, Failure> {
    let code = crew::executed(ALL, ticket).map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(Exit::Original(u8::try_from(code).unwrap_or(1)))
}

/// Diagnostics, where `KERNMARK_LOG` asks for them: `debug`, `kernmark_store=trace`.
fn log_to_stderr(around: &Surroundings) -> Result<(), Failure> {
    let Some(wanted) = around.variable("KERNMARK_LOG") else {
        return Ok(());
    };
    let filter = tracing_subscriber::EnvFilter::try_new(wanted.to_string_lossy())
        .map_err(|error| Failure::wrong_use(format_args!("KERNMARK_LOG: {error}")))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    Ok(())
}
