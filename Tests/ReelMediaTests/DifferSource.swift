import Foundation
import ReelCore
import ReelRandom

/// A random source: an encoder and a muxer of the installed FFmpeg with options that matter, and changes that files
/// undergo in use. The same seed makes the same source.
struct DifferSource {
    let seed: UInt64
    var random: SplitMix64
    let kind: DifferKind
    let folder: String
    /// The file's container.
    var container = ""
    /// How it was made: arguments of ffmpeg, and changes of the file afterwards.
    var description = ""
    /// The encoder of its sound; nil if it has none.
    var sound: String?
    /// Whether it is as the muxer wrote it, not copied, cut or joined.
    var isUntouched = true

    init(seed: UInt64, in folder: String) {
        self.seed = seed
        self.folder = folder
        random = SplitMix64(seed: seed)
        let group = DifferKind.groups[Int.random(in: DifferKind.groups.indices, using: &random)]
        kind = group[Int.random(in: group.indices, using: &random)]
    }

    mutating func chance(_ percent: Int) -> Bool { number(0...99) < percent }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func one<Choice>(of choices: [Choice]) -> Choice? { choices.randomElement(using: &random) }

    /// Makes the source; nil if FFmpeg cannot make such a file.
    mutating func make() throws -> String? {
        container = one(of: kind.containers) ?? ""
        var path = "\(folder)/source.\(container)"
        guard encode(to: path) else { return nil }
        let piece = (description, sound)
        if chance(15) {
            if let joined = try join(path) { path = joined } else { (description, sound) = piece }
        }
        if chance(35), let remuxed = remux(path) { path = remuxed }
        if chance(15) { try cut(path) }
        return path
    }

    /// Makes a piece; false if ffmpeg fails.
    mutating func encode(to path: String) -> Bool {
        let about = DifferContainer.named(container)
        let frames = number(1...70)
        let rate = kind.rate ?? one(of: ["24000/1001", "25", "30000/1001", "15", "60"]) ?? "25"
        var arguments = [
            "-f", "lavfi", "-i", "testsrc2=r=\(rate):s=\(one(of: kind.sizes) ?? ""),trim=end_frame=\(frames)",
        ]
        // Sound as long as the video, or a little more or less.
        let codec = chance(35) ? one(of: about.sound) : nil
        if let codec {
            arguments += tone(codec, seconds: Double(frames) / (Rational(rate) ?? Rational(25)).approximate)
        }
        sound = codec
        arguments += pictures(rate: rate, keepsTimes: about.keepsTimes && kind.rate == nil)
        arguments += ["-c:v", kind.encoder]
        if chance(70) { arguments += ["-g", chance(10) ? "250" : String(number(1...40))] }
        if kind.reorders, chance(60) { arguments += ["-bf", String(number(0...4))] }
        if chance(60), let format = one(of: kind.pixelFormats) { arguments += ["-pix_fmt", format] }
        if chance(60), let some = one(of: kind.options) { arguments += some }
        if chance(40), let some = one(of: about.options) { arguments += some }
        if chance(10) { arguments += ["-output_ts_offset", String(one(of: [-3, -1, 2, 700, 90_000]) ?? 0)] }
        // Without what differs from run to run.
        arguments += ["-fflags", "+bitexact", "-strict", "-2", "-threads", "1"]
        description = arguments.joined(separator: " ") + " .\(container)"
        return ffmpeg(arguments, to: path)
    }

    /// Which frames there are, and when.
    private mutating func pictures(rate: String, keepsTimes: Bool) -> [String] {
        var filters: [String] = []
        let isVariable = keepsTimes && chance(25)
        if isVariable {
            let hole = 20 + number(0...9)
            let times = [
                "select=not(eq(mod(n\\,7)\\,3)+between(n\\,20\\,\(hole)))",  // holes
                "setpts=N*(N+9)/(10*FR*TB)",  // each lasts longer than the one before
                "setpts=(N+0.3*mod(N\\,3))/(FR*TB)",  // taking turns
            ]
            filters = ["settb=1/1000", one(of: times) ?? "null"]
        } else if chance(10) {
            filters = ["framestep=2,fps=\(rate)"]  // each comes twice
        }
        if chance(8) { filters.append("setpts=PTS+\(number(1...9))/10/TB") }
        if chance(25), kind.pixelFormats.contains("pal8") {
            // Every picture has colours of its own.
            filters.append("split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1")
        }
        return (filters.isEmpty ? [] : ["-vf", filters.joined(separator: ",")])
            + (isVariable ? ["-fps_mode", "passthrough", "-enc_time_base", "1:1000"] : ["-fps_mode", "cfr"])
    }

    private mutating func tone(_ codec: String, seconds: Double) -> [String] {
        let length = max(seconds + (chance(50) ? 0.1 : -0.02), 0.1)
        let rate = one(of: DifferContainer.rates[codec] ?? [48000]) ?? 48000
        let channels = chance(70) ? "sin(600*t*(1+t))|0.5*sin(900*t*(1+t))" : "0.8*sin(600*t*(1+t))"
        let start = chance(30) ? ["-itsoffset", "0.\(number(1...4))"] : []
        return start + ["-f", "lavfi", "-i", "aevalsrc=\(channels):s=\(rate):d=\(length)", "-c:a", codec]
    }

    /// Whether ffmpeg succeeds within a minute: SVT-AV1 sometimes hangs.
    func ffmpeg(_ arguments: [String], to path: String) -> Bool {
        let command =
            ["timeout", "--signal=KILL", "60", "ffmpeg", "-v", "quiet", "-nostdin", "-y"] + arguments + [path]
        let quoted = command.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        return system(quoted.joined(separator: " ") + " </dev/null >/dev/null 2>&1") == 0
    }
}

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
        let bytes = try contents(of: path)
        let end = bytes.count * number(600...999) / 1000
        let start =
            DifferContainer.named(container).canBeJoined && chance(60) ? bytes.count * number(0...300) / 1000 : 0
        try store(bytes[start..<max(end, start)], to: path)
        isUntouched = false
        description += " | bytes \(start)..<\(end)"
    }

    /// Appends the file to itself, or another piece of the same kind, whose frames may have another size: byte after
    /// byte or packet after packet. Nil if ffmpeg fails.
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
            let bytes = try [path, other].map { try contents(of: $0) }
            try store((bytes[0] + bytes[1]), to: path)
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
