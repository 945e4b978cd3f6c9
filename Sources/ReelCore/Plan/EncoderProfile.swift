/// What an encoder costs: memory, and time compared with decoding. Measured with FFmpeg 5.1.9 on pictures of 320×240 to
/// 3840×2160 in 8 and 10 bits, peak resident memory of the process less what it has without an encoder, and rounded up.
struct EncoderProfile {
    /// Bytes that the encoder takes, its frames included.
    let memory: Int64
    /// Bytes of address space beside them: stacks of its threads, and what it allocates and hardly touches.
    let reserved: Int64
    /// Time to encode a frame, where decoding one of H.264 takes 1. Too small only means fewer passes.
    let weight: Double

    init(_ video: VideoTarget) {
        let preset = video.options.last { $0.name == "preset" }?.value
        let row = EncoderProfile.row(of: video.encoder, preset: preset)
        let pixels = Double(video.width) * Double(video.height)
        // SVT-AV1 holds fewer pictures from its "4K range" on.
        let largePictures = video.encoder == "libsvtav1" && pixels > 4_200_000 ? 0.7 : 1
        let further = Double(video.threads - 1)
        let threads = 1 + row.perThread * further
        let bytesPerPixel = PictureLayout(video.pixelFormat).bytesPerPixel
        let variable = pixels * (row.perPixel + row.pictures * bytesPerPixel) * row.scale * largePictures * threads
        let held = row.heldByThreads(video.threads, bytesPerPixel) * pixels + row.constantPerThread * further
        memory = row.constant + Int64(min(variable + held, 0x1p60))
        reserved =
            Int64(min(Double(memory) * row.untouched * Double(video.threads), 0x1p60))
            + Int64(video.threads) * row.stacks
        weight = row.weight
    }

    /// memory = constant + pixels · (perPixel + pictures · bytes of a pixel) · scale · (1 + perThread · (threads − 1)), and
    /// more where threads look ahead, or each has something of its own.
    private struct Row {
        var constant: Int64 = 4 << 20
        var constantPerThread = 0.0
        var perPixel: Double
        var pictures: Double
        var scale = 1.0
        var perThread = 0.08
        var weight: Double
        /// A second thread of x264 looks ahead, whatever the preset: that holds three times the pictures that each thread
        /// then encodes.
        var looksAhead = false
        /// For each thread, the part of `memory` that is allocated beside it, and bytes of stacks.
        var untouched = 0.0
        var stacks: Int64 = 8 << 20

        /// Bytes a pixel.
        func heldByThreads(_ threads: Int, _ bytesPerPixel: Double) -> Double {
            looksAhead && threads > 1 ? (15.5 + 8.6 * bytesPerPixel) * Double(threads + 1) / 3 : 0
        }
    }

    private static func row(of encoder: String, preset: String?) -> Row {
        switch encoder {
        case "libx264", "libx264rgb":
            let (scale, weight) = x264[preset ?? "medium"] ?? (3.4, 8)
            return Row(perPixel: 40, pictures: 100, scale: scale, perThread: 0, weight: weight, looksAhead: true)
        case "libx265":
            let (scale, weight) = x265[preset ?? "medium"] ?? (2.5, 20)
            return Row(constant: 24 << 20, perPixel: 70, pictures: 90, scale: scale, weight: weight)
        case "libsvtav1":
            let level = preset.flatMap { Int($0) } ?? 10
            let scale = level < 5 ? 1.5 : level < 8 ? 1.2 : 1
            // Each further thread brings dozens of others and a copy of much. Of 854×480 to 2160p the peak was 1.3 to 1.7
            // times that of one with two and 1.6 to 2.3 times with four; 14 threads, up to 154, and up to 299; addresses
            // beside memory and stacks up to 24, 40 and 69 %. Eight took 3.4 to 3.8 times, and 345 threads.
            return Row(
                constant: 24 << 20, constantPerThread: 36 * 0x1p20, perPixel: 100, pictures: 50, scale: scale,
                perThread: 0.35, weight: level < 8 ? 20 : 10, untouched: 0.2, stacks: 80 << 20)
        case "libaom-av1": return Row(constant: 24 << 20, perPixel: 110, pictures: 100, weight: 40)
        case "libvpx-vp9": return Row(perPixel: 55, pictures: 66, weight: 20)
        case "libvpx": return Row(perPixel: 20, pictures: 20, weight: 15)
        // Its packets are as large as the worst picture, 140 bytes a pixel, whatever the format.
        case "ffv1": return Row(perPixel: 155, pictures: 3, perThread: 0, weight: 4)
        case "prores_ks", "prores", "prores_aw": return Row(perPixel: 4, pictures: 3, weight: 10)
        case "mjpeg", "mpeg2video", "mpeg4", "rawvideo": return Row(perPixel: 2, pictures: 8, weight: 1)
        default: return Row(perPixel: 40, pictures: 20, weight: 2)
        }
    }

    private static let x264: [String: (scale: Double, weight: Double)] = [
        "ultrafast": (0.15, 1), "superfast": (0.33, 2), "veryfast": (0.46, 4), "faster": (0.66, 6), "fast": (0.84, 7),
        "medium": (1.02, 8), "slow": (1.25, 13), "slower": (1.55, 20), "veryslow": (2.15, 35), "placebo": (3.4, 60),
    ]

    private static let x265: [String: (scale: Double, weight: Double)] = [
        "ultrafast": (0.6, 7), "superfast": (0.7, 8), "veryfast": (0.9, 13), "faster": (0.9, 13), "fast": (0.9, 15),
        "medium": (1, 20), "slow": (1.15, 40), "slower": (1.85, 60), "veryslow": (1.85, 80), "placebo": (2.5, 120),
    ]
}

/// What a pixel format's name tells of its size, as FFmpeg spells it.
struct PictureLayout {
    /// Bytes that a pixel takes on average over all planes.
    let bytesPerPixel: Double

    init(_ pixelFormat: String) {
        let samples: Double =
            if pixelFormat.hasPrefix("gray") || pixelFormat.hasPrefix("mono") || pixelFormat == "pal8" {
                1
            } else if pixelFormat.contains("420") || pixelFormat.hasPrefix("nv") || pixelFormat.hasPrefix("p01") {
                1.5
            } else if pixelFormat.contains("422") || pixelFormat.contains("440") {
                2
            } else {
                3
            }
        let hasAlpha = ["yuva", "gbrap", "rgba", "bgra", "argb", "abgr", "ya"].contains { pixelFormat.hasPrefix($0) }
        let isWide = ["9", "10", "12", "14", "16", "48", "64"].contains { depth in
            ["", "le", "be"].contains { pixelFormat.hasSuffix(depth + $0) }
        }
        let bytesPerSample: Double = pixelFormat.contains("f32") ? 4 : isWide ? 2 : 1
        bytesPerPixel = (samples + (hasAlpha ? 1 : 0)) * bytesPerSample
    }
}

extension VideoTarget {
    /// Beyond so many threads, an encoder gains little and loses quality, or takes memory out of all proportion.
    public static func mostThreads(of encoder: String) -> Int { encoder == "libsvtav1" ? 4 : 16 }

    /// Time to encode a frame, where decoding one takes 1.
    public var encodingEffort: Double { EncoderProfile(self).weight }
}

extension Plan {
    /// Bytes of address space that a pass takes beside its memory: stacks of threads, and what is allocated and hardly
    /// touched.
    public var reservedAddresses: Int64 {
        var target = video
        target.threads = mostEncoderThreads
        return Int64(video.threads) * 8 << 20 + EncoderProfile(target).reserved
    }
}
