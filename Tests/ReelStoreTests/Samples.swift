import Foundation
import ReelCore
import ReelStore

/// Values with something in every field, for tests of what is stored.
enum Samples {
    static let encoding = VideoEncoding(
        encoder: "libx264",
        format: OutputFormat(
            timeBase: TimeBase(1, 12_800), width: 2, height: 2, pixelFormat: "yuv420p", frameRate: Rational(25)),
        options: [MediaOption(name: "crf", value: "18.0")], bitrate: nil, threads: 1, keyFrameInterval: 250,
        identity: encoder)

    static let target = VideoTarget.encode(encoding)

    static let sound = AudioTarget(
        track: 0, direction: .backwards, encoder: "aac", sampleRate: 48_000, channelLayout: "stereo", bitrate: 192_000,
        lossless: false)

    static let plan = plan(index)

    /// Twelve frames in a pass of three chunks, and a track of sound.
    static func plan(
        _ index: SourceIndex, cuts: [Int] = [0, 12], chunks: Int = 3, mode: TimestampMode = .mirror,
        _ change: (inout Plan) -> Void = { _ in }
    ) -> Plan {
        let (first, end) = (cuts.first ?? 0, cuts.last ?? 0)
        var plan = Plan(
            sources: [PlannedSource(indexHash: String(repeating: "ef", count: 32))],
            encoders: [encoder.build, "aac Lavc59.37.100"],
            container: .mkv,
            clips: [
                Clip(
                    frames: first..<end, timestamps: mode,
                    map: TimeMap(
                        .backwards, source: index.video.stream.timeBase, output: target.format.timeBase,
                        start: index.video.frames[first].interval.start, end: index.video.frames[end - 1].interval.end))
            ],
            video: target, audio: [sound],
            passes: [.audio(place: 0)]
                + zip(cuts, cuts.dropFirst()).reversed().map { start, end in
                    .video(
                        pass: VideoPass(
                            randomAccessPoint: 0, frames: start..<end, chunkCount: chunks * (end - start) / 12,
                            threads: 2
                        ))
                },
            need: 1 << 30, verify: .packets, onDamage: .repeat, diagnostics: [])
        change(&plan)
        return plan
    }

    static let index = index(durations: Array(repeating: 512, count: 12))

    static func index(durations: [Int64], start: Int64 = 1024) -> SourceIndex {
        var time = start
        var (packets, frames): ([PacketEntry], [FrameEntry]) = ([], [])
        for (place, duration) in durations.enumerated() {
            packets.append(
                PacketEntry(
                    pts: Timestamp(time), dts: Timestamp(time), size: 1000, position: Int64(place) * 1000,
                    flags: place == 0 ? .key : []))
            frames.append(
                FrameEntry(
                    interval: Interval(start: Timestamp(time), duration: Ticks(duration)), packet: Int32(place)))
            time += duration
        }
        return SourceIndex(
            format: "mov,mp4", fileSize: 12_000, startTime: Rational(0),
            video: VideoTrack(
                stream: VideoStream(
                    index: 0, codec: "h264", width: 2, height: 2, pixelFormat: "yuv420p",
                    timeBase: TimeBase(1, 12_800), frameRate: Rational(25), sampleAspectRatio: nil, displayMatrix: nil,
                    colour: ColourTags(matrix: "bt709"), fieldOrder: .progressive, reorderDepth: 0, frameBytes: 6,
                    details: TrackDetails()),
                packets: packets, frames: frames, randomAccessPoints: [RandomAccessPoint(packet: 0, frame: 0)]),
            audio: [
                AudioTrack(
                    index: 1, codec: "aac", sampleRate: 48_000, channels: 2, channelLayout: "stereo",
                    sampleFormat: "fltp", timeBase: TimeBase(1, 48_000),
                    span: Interval(start: Timestamp(0), duration: Ticks(23_040)), bytes: 4000, details: TrackDetails())
            ],
            metadata: [],
            passthrough: .possible(
                coded: CodedVideo(
                    fourCC: 0, extradata: [], profile: 0, level: 0, bitsPerCodedSample: 24, containers: [.mkv])),
            diagnostics: [])
    }
}

/// Runs a test's body with a fresh folder, and removes it afterwards.
func withFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

/// Runs a test's body with a small file system of its own, if this process may mount one.
func withFileSystem<R>(_ options: String, _ body: (String) throws -> R) throws -> R {
    try withFolder { folder in
        try run("mount", "-t", "tmpfs", "-o", options, "reel-tests", folder)
        defer { try? run("umount", folder) }
        return try body(folder)
    }
}

/// Whether this process may mount file systems: root outside a container may.
let canMount = (try? withFileSystem("size=4k") { _ in }) != nil

private func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw CocoaError(.featureUnsupported) }
}

/// Writes to a file, or to an object of a store in a bucket.
func write(_ text: String, _ path: String) throws {
    if StoreInBucket.put(Data(text.utf8), path) { return }
    try text.write(toFile: path, atomically: false, encoding: .utf8)
}

/// Removes a file, or an object of a store in a bucket.
func removeFile(_ path: String) throws {
    if !StoreInBucket.put(nil, path) { try FileManager.default.removeItem(atPath: path) }
}

func text(_ path: String) throws -> String {
    if let bytes = StoreInBucket.bytes(path) { return String(decoding: bytes, as: UTF8.self) }
    return try String(contentsOfFile: path, encoding: .utf8)
}

/// Names in a folder, hidden ones too, sorted.
func names(_ folder: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

let spec = JobSpec(
    container: .mp4, videoCodec: "libx264", crf: 18.5, preset: "medium", from: .seconds(Rational(1, 25)),
    to: .seconds(Rational(60)),
    threads: 1)

let fingerprint = Fingerprint(
    size: 123_456_789, mtimeNanoseconds: 1_700_000_000_123_456_789, edges: String(repeating: "ab", count: 32))

let encoder = EncoderIdentity(build: "libx264 Lavc59.37.100", extradataHash: String(repeating: "cd", count: 32))

func record(_ id: JobID) -> JobRecord {
    JobRecord(
        id: id, spec: spec, sources: [JobSource(path: "/media/ä b.mp4", fingerprint: fingerprint)],
        created: 1_700_000_000)
}

extension JobFolder {
    /// Writes a record as any program with write access to the store can.
    func write(_ record: JobRecord) throws { try AtomicFile.write(json: record, to: jobFile) }
}
