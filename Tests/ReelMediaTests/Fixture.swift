import Foundation
import ReelCore
import Synchronization
import Testing

/// Small videos made by ffmpeg, in which every frame differs from every other.
enum Fixture {
    /// A moving test pattern with a frame counter, `frames` long, encoded by `video` (ffmpeg arguments), beside a tone
    /// that rises from the left to the right channel if `audio` (ffmpeg arguments) is given.
    static func make(
        _ name: String, in folder: ScratchFolder, frames: Int = 60, rate: String = "24000/1001",
        size: String = "192x108", filter: String = "null", video: [String], audio: [String]? = nil
    ) throws -> String {
        let path = folder.path + "/" + name
        let seconds = Double(frames) / (Rational(rate) ?? Rational(25)).approximate
        var arguments = [
            "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
            "testsrc2=r=\(rate):s=\(size),trim=end_frame=\(frames)",
        ]
        if audio != nil {
            arguments += ["-f", "lavfi", "-i", "aevalsrc=sin(600*t*(1+t))|0.5*sin(900*t*(1+t)):s=44100:d=\(seconds)"]
        }
        arguments += ["-map", "0:v"] + (audio == nil ? [] : ["-map", "1:a"])
        arguments += ["-vf", filter, "-fps_mode", "passthrough", "-enc_time_base", "-1"] + video + (audio ?? [])
        try write(path, by: arguments)
        return path
    }

    /// 40 frames whose distances in time vary.
    static func variable(
        _ name: String, in folder: ScratchFolder, video: [String] = x264 + ["-bf", "2"]
    ) throws -> String {
        try make(
            name, in: folder, frames: 40, rate: "25",
            filter: "setpts='(N*400+mod(N*N*7,31)*10)/1000/TB',settb=1/1000", video: video)
    }

    /// 80 frames in groups with B-frames, as the name tells: MPEG-2 ("m."), or H.264 whose groups are open ("open") or
    /// closed.
    static func grouped(_ name: String, in folder: ScratchFolder) throws -> String {
        let open = name.hasPrefix("open") ? ["-x264-params", "open-gop=1"] : []
        let video =
            name.hasPrefix("m.")
            ? ["-c:v", "mpeg2video", "-bf", "2", "-g", "9"]
            : x264 + ["-bf", "3", "-g", "15", "-sc_threshold", "0"] + open
        return try make(name, in: folder, frames: 80, rate: "30000/1001", video: video)
    }

    /// The bytes of files of up to 4 MiB that were made, by ffmpeg's arguments and their names.
    private static let made = Mutex<[[String]: Data]>([:])

    /// Has ffmpeg write a file. If it has written the same before, its bytes are taken: the cases of a test often share
    /// a source.
    static func write(_ path: String, by arguments: [String]) throws {
        let file = URL(fileURLWithPath: path)
        let key = arguments + [file.lastPathComponent]
        if let bytes = made.withLock({ $0[key] }) { return try bytes.write(to: file) }
        try run("ffmpeg", arguments + [path])
        guard let bytes = try? Data(contentsOf: file), bytes.count <= 4 << 20 else { return }
        made.withLock { $0[key] = bytes }
    }

    static let x264 = ["-c:v", "libx264", "-preset", "veryfast"]
}

/// What ffmpeg decodes of a file.
struct Decoded {
    /// A hash of every frame of the main video, in presentation order.
    let hashes: [String]
    /// When each frame is shown, in seconds.
    let times: [Rational]

    /// - Parameter isUpright: whether ffmpeg turns the frames as players do.
    init(_ path: String, pixelFormat: String? = nil, filter: String = "null", isUpright: Bool = false) throws {
        let format = pixelFormat.map { ["-pix_fmt", $0] } ?? []
        let text = try ffmpeg(
            ["-nostdin"] + (isUpright ? [] : ["-noautorotate"])
                + ["-i", path, "-map", "0:v:0", "-vf", filter]
                + ["-fps_mode", "passthrough", "-enc_time_base", "-1", "-c:v", "rawvideo"] + format + [
                    "-f", "framehash", "-hash", "murmur3", "-",
                ])
        self.init(framehash: text)
    }

    /// The same by one thread, of a file that may be damaged and whose frames may be of several sizes. `decoder` is
    /// another than FFmpeg's choice. ffmpeg closes holes, unless it is to leave the source's `clock` as it is; then it
    /// also shows what lies before the clock's start. `filler` is the complement of the byte that memory begins with.
    init(
        whole path: String, decoder: String? = nil, pixelFormat: String? = nil, filter: String = "null",
        clock: Bool = false, filler: UInt8 = 255
    ) throws {
        let (before, after) = (decoder.map { "-c:v \($0)" } ?? "", pixelFormat.map { "-pix_fmt \($0)" } ?? "")
        let text = try run(
            "sh", "-c",
            """
            MALLOC_PERTURB_=\(filler) ffmpeg -v quiet -nostdin -noautorotate \(clock ? "-copyts" : "") -threads 1 \
                \(before) -i '\(path)' -map 0:v:0 -vf '\(filter)' -fps_mode passthrough -enc_time_base -1 \
                -autoscale 0 -c:v rawvideo \(after) -f framehash -hash murmur3 - || true
            """)
        self.init(framehash: text)
    }

    private init(framehash text: String) {
        let lines = text.split(separator: "\n")
        let base = lines.first { $0.hasPrefix("#tb 0:") }.flatMap { Rational(String($0.dropFirst(7))) } ?? Rational(1)
        let rows = lines.filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        hashes = rows.map { $0[5] }
        times = rows.map { Rational(Int64($0[2]) ?? 0) * base }
    }

    /// From each frame to the next, in seconds.
    var gaps: [Rational] { zip(times, times.dropFirst()).map { $1 - $0 } }
}

/// A hash of every packet of the main video, as a container holds them.
func packetHashes(of path: String) throws -> [String] {
    try ffmpeg("-i", path, "-map", "0:v:0", "-c", "copy", "-f", "framehash", "-hash", "murmur3", "-")
        .split(separator: "\n").filter { !$0.hasPrefix("#") }
        .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
}

/// The samples of an audio track as ffmpeg decodes them, channel after channel in each sample frame.
func samples(of path: String, track: Int = 0, channels: Int = 2) throws -> [[Float]] {
    let folder = ScratchFolder()
    let raw = folder.path + "/samples"
    try ffmpeg(["-max_error_rate", "1", "-i", path, "-map", "0:a:\(track)", "-c:a", "pcm_f32le", "-f", "f32le", raw])
    let data = try contents(of: raw)
    let values = data.withUnsafeBytes { bytes in
        (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
    }
    return stride(from: 0, to: values.count, by: channels).map { Array(values[$0..<$0 + channels]) }
}
