# The manual page named $page of what a program says of itself with --experimental-dump-help, in the macros of man(7).
def escaped: gsub("\\\\"; "\\e") | gsub("-"; "\\-") | gsub("(?m)^(?<c>[.'])"; "\\&\(.c)");
def bold: "\\fB" + escaped + "\\fR";
def italic: "\\fI" + escaped + "\\fR";
def name: ((.superCommands // []) + [.commandName]) | join("-");
def shown: (.subcommands // []) | map(select(.commandName != "help"));
def option: (if .kind == "short" then "-" else "--" end) + .name;

# Paragraphs, and sections of literal lines.
def parts: (.discussion // "") | split("\n\n") | map(select(. != "")
    | if test("^[A-Z ]+:\n") then split("\n") | { title: .[0][:-1], lines: .[1:] } else { text: . } end);
def title: if . == "EXIT CODES" then "EXIT STATUS" else . end;
def section: ".SH " + (.title | title), ".nf", (.lines[] | ltrimstr("  ") | escaped), ".fi";

def heading: if .kind == "positional" then (.valueName | italic) + (if .isRepeating then " ..." else "" end)
    else (.names | sort_by(.kind != "short") | map(option | bold) | join(", "))
        + (if .kind == "option" then " " + (.valueName | italic) else "" end) end;
def text: ([.abstract, .discussion | select(. != null and . != "")] | join("\n"))
    + (if .defaultValue then " (default: \(.defaultValue))" else "" end) | escaped;
def arguments: [.arguments[]? | select(.shouldDisplay)];
def synopsis: ([(.superCommands // [])[], .commandName] | join(" ") | bold),
    (if any(arguments[]; .kind != "positional") then "[" + ("options" | italic) + "]" else empty end),
    (arguments[] | select(.kind == "positional") | heading),
    (if shown | length > 0 then ("subcommand" | italic) + " ..." else empty end);

(.command | if name == $page then . else shown[] | select(name == $page) end) as $command | $command |
".TH \(name | ascii_upcase | escaped) 1 \"\" \"reel \($version)\" \"reel\"",
".SH NAME", (name | escaped) + " \\- " + (.abstract | rtrimstr(".") | escaped),
".SH SYNOPSIS", synopsis,
(parts | map(select(.text)) | if length > 0 then ".SH DESCRIPTION", (map(.text | escaped) | join("\n.PP\n")) else empty end),
(if shown | length > 0 then ".SH COMMANDS", (shown[] | ".TP", ".BR " + (name | escaped) + " (1)", (.abstract | escaped)) else empty end),
(if arguments | length > 0 then ".SH OPTIONS", (arguments[] | ".TP", heading, text) else empty end),
(parts[] | select(.title) | section),
".SH SEE ALSO", ".BR reel\\-coordinator (1), reel\\-worker (1), reel\\-engine (1)"
