internal import Foundation

/// What the key frames at the starts of segments cost: reel's output against one unbroken encode of the same reversed
/// frames, at the same quality.
struct BitrateSection {
    let runner: SuiteRunner
    let sources: [(name: String, file: String)]

    /// Frames of a pass; nil is what the planner chooses.
    private var lengths: [Int?] { runner.isQuick ? [48, 480, nil] : [24, 48, 96, 240, 480, 720, nil] }
    /// The length among these that the planner aims at: sixteen seconds.
    private static let goalLength = 480

    private struct Point {
        var bytes: Double
        /// Similarity in dB.
        var quality: Double
    }

    func run() async throws -> Section {
        var section = Section("What passes cost in bits")
        section.say(
            "Bytes of reel's video over those of one unbroken encode by plain ffmpeg of the same reversed frames, where both "
                + "have the same SSIM against them: interpolated between encodes of CRF \(BitrateSection.qualities.map(String.init).joined(separator: ", ")). "
                + "The floor is one encode by plain ffmpeg that is told to begin anew with a key frame as often as passes do."
        )
        var goal = Goal(
            name: "bitrate over one unbroken encode at equal SSIM, passes of \(BitrateSection.goalLength) frames, %",
            aim: .atMost(1), found: [])
        var curves: [Chart.Line] = []
        var walls: [Chart.Line] = []
        var rows: [[String]] = []
        for (name, source) in sources {
            let reference = runner.work("reversed.mkv")
            _ = try await runner.text(
                [
                    "ffmpeg", "-v", "error", "-nostdin", "-y", "-i", source, "-an", "-vf", "reverse", "-c:v", "ffv1",
                    reference,
                ])
            defer { runner.remove(reference) }
            let unbroken = try await self.unbroken(reference)
            func overhead(_ point: Point) -> Double {
                100 * (point.bytes / BitrateSection.bytes(at: point.quality, unbroken) - 1)
            }
            let keyed = try await encoded(
                reference, quality: BitrateSection.qualities[1], keyEvery: BitrateSection.goalLength)
            goal.addFloor("\(figure(overhead(keyed))) \(name)")
            var (overheads, times): ([(Double, Double)], [(Double, Double)]) = ([], [])
            var row = [name]
            for length in lengths {
                let (point, wall) = try await reversed(source, reference, passFrames: length)
                row.append("\(figure(overhead(point))) (\(duration(wall)))")
                if let length {
                    overheads.append((Double(length), overhead(point)))
                    times.append((Double(length), wall))
                    if length == BitrateSection.goalLength { goal.found.append((name, overhead(point))) }
                }
            }
            rows.append(row)
            curves.append(Chart.Line(name: name, points: overheads))
            walls.append(Chart.Line(name: name, points: times))
        }
        section.table(
            ["overhead in %, and wall"] + lengths.map { $0.map { "\($0) frames" } ?? "as planned" }, rows
        )
        section.show("overhead.svg", Chart.lines(curves, x: "frames of a pass", y: "bits over one encode, %"))
        section.show("pass-wall.svg", Chart.lines(walls, x: "frames of a pass", y: "wall of the job, s"))
        section.goals = [goal]
        return section
    }

    private static let qualities = [18, 20, 22]

    private func unbroken(_ reference: String) async throws -> [Point] {
        var points: [Point] = []
        for quality in BitrateSection.qualities { points.append(try await encoded(reference, quality: quality)) }
        return points
    }

    /// One encode by plain ffmpeg, with a key frame at least every this many frames if that is asked for.
    private func encoded(_ reference: String, quality: Int, keyEvery length: Int? = nil) async throws -> Point {
        let output = runner.output + ".mp4"
        let keys = length.map { ["-force_key_frames", "expr:eq(mod(n,\($0)),0)"] } ?? []
        _ = try await runner.measure(
            "one encode, CRF \(quality)",
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", reference, "-c:v", "libx264", "-preset", Peer.preset]
                + ["-crf", "\(quality)"] + keys + [output])
        return try await point(output, reference)
    }

    private func reversed(_ source: String, _ reference: String, passFrames: Int?) async throws -> (Point, wall: Double)
    {
        let output = runner.output + ".mp4"
        runner.remove(output)
        let limit = passFrames.map { ["--pass-frames", "\($0)"] } ?? []
        let command = [runner.coordinator, "run", source, "-o", output, "--audio", "none"] + Peer.reelCoding + limit
        let wall = try await runner.measure("passes of \(passFrames.map(String.init) ?? "any") frames", command).wall
        return (try await point(output, reference), wall)
    }

    private func point(_ file: String, _ reference: String) async throws -> Point {
        let sizes = try await runner.text(
            ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=size", "-of", "csv=p=0", file])
        // Frames are compared by their numbers: containers round times differently.
        let graph = "[0:v]settb=1/1000,setpts=N[a];[1:v]settb=1/1000,setpts=N[b];[a][b]ssim"
        let said = try await runner.text(
            ["sh", "-c", "ffmpeg -nostdin -i '\(file)' -i '\(reference)' -lavfi '\(graph)' -f null - 2>&1"])
        // … SSIM Y:… All:0.98 (17.5)
        guard let all = said.range(of: "All:", options: .backwards),
            let quality = said[all.upperBound...].split(separator: "(").dropFirst().first?.split(separator: ")").first
                .flatMap({ Double($0) })
        else { throw Trouble("ffmpeg told no SSIM: \(said.suffix(500))") }
        let bytes = sizes.split(whereSeparator: { !$0.isNumber }).compactMap { Double($0) }.reduce(0, +)
        return Point(bytes: bytes, quality: quality)
    }

    /// What the unbroken encode takes at a quality: its logarithm is nearly straight between two.
    private static func bytes(at quality: Double, _ points: [Point]) -> Double {
        let sorted = points.sorted { $0.quality < $1.quality }
        let pairs = Array(zip(sorted, sorted.dropFirst()))
        guard let (low, high) = pairs.first(where: { quality <= $0.1.quality }) ?? pairs.last else { return .nan }
        let share = (quality - low.quality) / (high.quality - low.quality)
        return exp(log(low.bytes) + (log(high.bytes) - log(low.bytes)) * share)
    }
}
