//! What an installation has beside the programs, made of the same description as the command line.

use crate::Cli;
use crate::analyze::print;
use crate::error::Error;
use clap::CommandFactory;
use std::path::Path;

/// Prints the completion script of a shell.
pub fn complete(shell: clap_complete::Shell) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loopwright", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Writes `loopwright.1` and a page for each subcommand: `loopwright-cc.1` is also that of the program of this name.
pub fn write(folder: &Path) -> Result<(), Error> {
    let mut command = Cli::command();
    command.build();
    for described in std::iter::once(&command).chain(command.get_subcommands()) {
        let page = clap_mangen::Man::new(described.clone());
        let mut text = Vec::new();
        // A vector takes whatever is written to it.
        let _ = page.render(&mut text);
        let text = as_it_stands(&String::from_utf8_lossy(&text));
        let path = folder.join(page.get_filename());
        std::fs::write(&path, text).map_err(|e| Error::at(&path, "cannot be written", &e))?;
    }
    Ok(())
}

/// Examples and tables are laid out by hand: their lines are not to be filled.
fn as_it_stands(page: &str) -> String {
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else { return page.into() };
    let (extra, after) = extra.split_once("\n.SH").map_or((extra, String::new()), |(e, a)| (e, format!("\n.SH{a}")));
    format!("{before}.SH NOTES\n.nf\n{extra}\n.fi{after}")
}
