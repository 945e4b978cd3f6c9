import Foundation

/// Changes that files undergo in use.
extension DifferSource {
    /// Changes of the times of packets.
    private static let times = [
        "setts=pts=if(mod(N\\,3)\\,NOPTS\\,PTS)", "setts=pts=if(eq(N\\,0)\\,PTS\\,NOPTS)",  // sparse, missing
        "setts=pts=PTS-DURATION*mod(N\\,2)", "setts=pts=DTS",  // equal, in another order
        "setts=pts=PTS+if(gt(N\\,20)\\,9/TB\\,0):dts=DTS+if(gt(N\\,20)\\,9/TB\\,0)",  // a hole
    ]

    /// Copies it into a container, as editors and downloads leave files: from another start on, without packets at both
    /// ends or in between, with fewer times, hidden frames in packets of their own. Nil if ffmpeg fails.
    mutating func remux(_ path: String) -> String? {
        guard let target = one(of: kind.containers) else { return nil }
        var arguments = chance(40) ? ["-ss", "\(Double(number(1...20)) / 10)"] : []
        arguments += ["-i", path, "-map", "0:v", "-c", "copy"]
        if !DifferContainer.named(target).sound.isEmpty { arguments += ["-map", "0:a?"] }
        if chance(20) { arguments += ["-avoid_negative_ts", "disabled"] }
        if chance(10) { arguments += ["-copyinkf"] }
        if chance(10) { arguments += ["-frames:v", String(number(1...40))] }
        var filters: [String] = []
        if chance(50), let filter = one(of: kind.filters) { filters.append(filter) }
        if chance(20) { filters.append("noise=drop=lt(n\\,\(number(0...15)))+gt(n\\,\(number(20...70)))") }
        if chance(10) { filters.append("noise=drop=eq(n\\,\(number(1...30)))") }
        if chance(25), let times = one(of: Self.times) { filters.append(times) }
        if !filters.isEmpty { arguments += ["-bsf:v", filters.joined(separator: ",")] }
        return change(arguments, into: target, name: "remuxed")
    }

    /// Cuts bytes off at the end and, if the container can be read from anywhere, at the start.
    mutating func cut(_ path: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let end = bytes.count * number(600...999) / 1000
        let start =
            DifferContainer.named(container).canBeJoined && chance(60) ? bytes.count * number(0...300) / 1000 : 0
        try bytes[start..<max(end, start)].write(to: URL(fileURLWithPath: path))
        isUntouched = false
        description += " | bytes \(start)..<\(end)"
    }

    /// Appends the file to itself, or another piece of the same kind, whose frames may have another size: byte after byte
    /// or packet after packet. Nil if ffmpeg fails.
    mutating func join(_ path: String) throws -> String? {
        let (first, firstSound) = (description, sound)
        var other = path
        if chance(60) {
            other = "\(folder)/other.\(container)"
            guard encode(to: other) else { return nil }
            description = "\(first) | and \(description)"
        } else {
            description += " | twice"
        }
        sound = firstSound == nil ? nil : sound
        if DifferContainer.named(container).canBeJoined, chance(60) {
            let bytes = try [path, other].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            try (bytes[0] + bytes[1]).write(to: URL(fileURLWithPath: path))
            isUntouched = false
            description += ", byte after byte"
            return path
        }
        let list = "\(folder)/list"
        try "file '\(path)'\nfile '\(other)'\n".write(toFile: list, atomically: true, encoding: .utf8)
        return change(["-f", "concat", "-safe", "0", "-i", list, "-c", "copy"], into: container, name: "joined")
    }

    private mutating func change(_ arguments: [String], into target: String, name: String) -> String? {
        let path = "\(folder)/\(name).\(target)"
        guard ffmpeg(arguments + ["-fflags", "+bitexact", "-strict", "-2"], to: path) else { return nil }
        isUntouched = false
        container = target
        let shown = arguments.map { $0.hasPrefix(folder) ? String($0.dropFirst(folder.count + 1)) : $0 }
        description += " | " + shown.joined(separator: " ") + " .\(target)"
        return path
    }
}
