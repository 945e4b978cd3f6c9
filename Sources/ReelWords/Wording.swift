internal import Glibc
package import ReelCore

/// Quantities as people read and type them.
package enum Wording {
    /// Bytes in whole MiB, rounded up, so that a user who asks for the named amount gets enough: "431 MiB".
    package static func mebibytes(_ bytes: Int64) -> String {
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: 1 << 20)
        return "\(rest > 0 ? whole + 1 : whole) MiB"
    }

    /// "1 frame", "3 frames".
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// What something is, with its own name if it has one: "the clip goal".
    static func named(_ what: String, _ name: String) -> String { name.isEmpty ? what : "\(what) \(name)" }

    /// "forward, reverse and freeze".
    static func list(_ words: [String], last: String = "and") -> String {
        guard let end = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(last) \(end)"
    }

    /// A time to the nearest millisecond: "12.345 s".
    package static func seconds(_ time: Rational) -> String { seconds(time, parts: 1000) }

    /// A time to the nearest microsecond, for times that differ by less than a millisecond: "12.345678 s".
    static func exact(_ time: Rational) -> String { seconds(time, parts: 1_000_000) }

    /// Seconds with as many decimals as `parts`, a power of ten, has zeros.
    private static func seconds(_ time: Rational, parts: Int64) -> String {
        let ticks = TimeBase(1, parts).ticks(in: time, rounding: .nearest)
        let (whole, rest) = ticks.magnitude.quotientAndRemainder(dividingBy: parts.magnitude)
        return "\(ticks < 0 ? "-" : "")\(whole).\("\(parts.magnitude + rest)".dropFirst()) s"
    }

    /// That a range has no frames. Users of timecodes often mean the source's own ones.
    static func beyond(_ from: Position?, _ to: Position?, _ end: Rational) -> String {
        let byTimecode = [from, to].contains { if case .timecode = $0 { true } else { false } }
        return "no frame begins in the range\(from.map { " from \($0.words)" } ?? "")"
            + "\(to.map { " to \($0.words)" } ?? ""): the video ends at \(seconds(end))"
            + (byTimecode ? "; timecodes count from the file's first frame, which is 00:00:00:00" : "")
    }

    /// "neither libx264 nor a .ts file can", or of copied packets "a .avi file cannot".
    static func neither(_ encoder: String, _ container: Container) -> String {
        encoder == VideoTarget.copy ? "\(container.file) cannot" : "neither \(encoder) nor \(container.file) can"
    }

    /// "title, artist": the first ten of these names, and how many more there are. A name may come from a hostile file.
    static func some(_ names: [String]) -> String {
        let shown = names.prefix(10).map { $0.count > 60 ? $0.prefix(60) + "…" : $0 }.joined(separator: ", ")
        return names.count > 10 ? "\(shown) and \(names.count - 10) more" : shown
    }

    /// ", the first at 1.240 s, the last at 1.480 s"; empty if no time is known.
    static func places(_ count: Int, _ first: Rational?, _ last: Rational?) -> String {
        guard let first, let last else { return "" }
        return count > 1 && first != last
            ? ", the first at \(seconds(first)), the last at \(seconds(last))" : " at \(seconds(first))"
    }
}

enum SystemWords {
    static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

    /// "pid 4711 on HOST", as far as known.
    static func process(_ pid: Int?, _ host: String?) -> String {
        guard let pid, let host else { return "another process" }
        return "pid \(pid) on \(host)"
    }
}
