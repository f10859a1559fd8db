//! Variables that decide what a program runs, or where it is found.

use crate::names::Names;

const NAMES: Names = Names(
    "\
    BROWSER CC GOBIN GOROOT GOTOOLCHAIN MANROFFOPT CDPATH CMAKE CXX DIFF EDITOR ENV EXECIGNORE FCEDIT
    FPATH FUNCNEST GLOBIGNORE HISTFILE HOME HOSTALIASES IFS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
    _JAVA_OPTIONS LESS LINKER MAILCAPS MANOPT OPENSSL_CONF PAGER PROMPT_COMMAND PS0 PS1 PS2 PS4 OPTERR
    PYTHONSTARTUP SHELL SHELLOPTS SUDO_ASKPASS SSH_ASKPASS TAR_OPTIONS TERMINFO TERMCAP TMUX VISUAL
    ZDOTDIR AWKLIBPATH AR AS LD MAKE GREP_OPTIONS POSIXLY_CORRECT PARALLEL XDG_CONFIG_HOME XDG_DATA_HOME
    XDG_DATA_DIRS XDG_CONFIG_DIRS WGETRC CURL_HOME NETRC LOCPATH NLSPATH DOCKER_HOST KUBECONFIG TMPDIR
    TAPE UNZIP UNZIPOPT ZIP ZIPOPT GZIP ANT_OPTS GRADLE_OPTS SBT_OPTS BAT_PAGER SYSTEMD_PAGER AWS_PAGER
    GH_PAGER DELTA_PAGER",
);

/// Variables whose value bash computes, or reads as arithmetic: an index in it runs commands.
const COMPUTED: Names = Names(
    "\
    RANDOM SRANDOM SECONDS LINENO OPTIND OPTARG HISTCMD HISTSIZE HISTFILESIZE EPOCHSECONDS EPOCHREALTIME
    PPID UID EUID GROUPS DIRSTACK FUNCNAME PIPESTATUS MAPFILE REPLY COPROC COMP_CWORD COMP_POINT COMP_TYPE
    COMP_KEY COMP_LINE COMP_WORDS COMPREPLY MAILCHECK SHLVL IGNOREEOF ERRNO",
);

const PREFIXES: Names = Names(
    "\
    BASH BUNDLE_ CARGO COMPOSER_ DENO_ DYLD_ GCC_ GCONV_ GEM_ GIT GLIBC_ LD_ LESS LUA_ MAKEFLAGS MALLOC_
    MAVEN_ MFLAGS NODE_ NPM_ PERL PHP PIP_ PNPM_ POETRY_ PYTHON READLINE_ RIPGREP_ RSYNC_ RUBY RUST UV_
    VIM YARN_ ZSH npm_ pip_ pnpm_ yarn_",
);

const SUFFIXES: Names = Names(
    "\
    PATH _CMD _COMMAND EDITOR FLAGS _OPTIONS _OPTS PAGER _PRELOAD _RSH _SHELL _WRAPPER OPEN CLOSE _PROXY
    _proxy _CONFIG _RC",
);

/// Of those that begin like one above, the ones that change only what is printed.
const HARMLESS: Names = Names(
    "\
    NODE_ENV RUST_LOG RUST_BACKTRACE PYTHONUNBUFFERED PYTHONUTF8 PYTHONHASHSEED PYTHONDONTWRITEBYTECODE
    PYTHONIOENCODING CARGO_TERM_COLOR MANWIDTH LESSCHARSET GIT_AUTHOR_DATE GIT_COMMITTER_DATE",
);

/// Whether setting a variable can change which program runs, or make one run another. What is no name is worse.
pub(crate) fn changes_what_runs(name: &str) -> bool {
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    !is_name
        || !HARMLESS.contains(name)
            && (NAMES.contains(name)
                || COMPUTED.contains(name)
                || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
                || SUFFIXES.iter().any(|suffix| name.ends_with(suffix)))
}

/// Whether a text can run commands where it is read as arithmetic, or as the name of a variable.
pub(crate) fn has_computed_index(text: &str) -> bool {
    let index = text.find('[').map(|at| &text[at..]);
    index.is_some_and(|rest| rest.contains('`') || rest.contains("$(") || rest.contains("${"))
}
