extension EncoderTraits {
    /// The encoders that reel knows. To add one, add a row. If several make the same codec, the codec's name chooses
    /// the first. `EncoderCost` describes how costs were measured.
    package static let all: [EncoderTraits] = [
        x264(),
        EncoderTraits(
            name: "libx265", codec: "hevc", aliases: ["h265", "x265"], keepsCodec: true, crf: 20,
            coarsening: Coarsening(
                most: 34, halving: 6,
                option: MediaOption(name: "x265-params", value: "info=0:opt-qp-pps=0:opt-ref-list-length-pps=0")),
            preset: MediaOption(name: "preset", value: "medium"), presets: presetsOfX26, mostCRF: 51,
            profiles: Profile.named("main", formats: "yuv420p") + Profile.named("main10", formats: "yuv420p10le")
                + Profile.named("main422-10", formats: "yuv422p10le") + Profile.named("main444-8", formats: "yuv444p")
                + Profile.named("main444-10", formats: "yuv444p10le"),
            options: { threads in
                let pools = threads > 1 ? "\(threads)" : "none"
                return [MediaOption(name: "x265-params", value: "log-level=error:open-gop=0:pools=\(pools)")]
            },
            rateControl: .bounded, tells: [.colour, .light], lightSyntax: .x265, levelOption: .x265,
            // libavcodec's wrapper does not report it: two packets, with x265's pyramid of B-frames.
            leastReorderDepth: 2,
            cost: { preset in
                let (scale, weight) = x265Costs[preset ?? "medium"] ?? (2.5, 20)
                return EncoderCost(constant: 24 << 20, perPixel: 70, pictures: 90, scale: scale, weight: weight)
            }),
        EncoderTraits(
            name: "libsvtav1", codec: "av1", keepsCodec: true, crf: 24, coarsening: Coarsening(most: 50, halving: 9),
            preset: MediaOption(name: "preset", value: "8"),
            options: { [MediaOption(name: "svtav1-params", value: "lp=\($0)")] },
            mostThreads: 4, tells: [.colour, .light], lightSyntax: .svtAV1, greatestRate: Rational(240),
            highestBitrate: 100_000_000, hangsUnlessFed: true,
            cost: { preset in
                let level = preset.flatMap { Int($0) } ?? 10
                let scale = level < 5 ? 1.5 : level < 8 ? 1.2 : 1
                // Each further thread of the level of parallelism starts dozens of threads and copies much data. From
                // 854×480 to 2160p, peak memory was 1.3 to 1.7 times that of one with two, and 1.6 to 2.3 times with
                // four; thread counts were 14 with one, up to 154 with two, and up to 299 with four; address space
                // beyond memory and stacks was up to 24, 40 and 69 %. With eight, memory was 3.4 to 3.8 times as much,
                // with 345 threads. In whole passes of 320×240 to 1920×1080 it takes more than alone: 21 MiB, and 22
                // bytes a pixel.
                return EncoderCost(
                    constant: 24 << 20, constantPerThread: 36 * 0x1p20, perPixel: 124, pictures: 50, scale: scale,
                    perThread: 0.35, holdsFewerFrom: 4_200_000, weight: level < 8 ? 20 : 10, untouched: 0.2,
                    stacks: 80 << 20)
            }),
        EncoderTraits(
            name: "libvpx-vp9", codec: "vp9", keepsCodec: true, crf: 24, coarsening: Coarsening(most: 50, halving: 9),
            preset: MediaOption(name: "cpu-used", value: "2"),
            options: { _ in [MediaOption(name: "deadline", value: "good"), MediaOption(name: "row-mt", value: "0")] },
            putsTransparencyBeside: true, cost: { _ in EncoderCost(perPixel: 55, pictures: 66, weight: 20) }),
        EncoderTraits(
            name: "libvpx", codec: "vp8", crf: 10, preset: MediaOption(name: "cpu-used", value: "2"),
            options: { _ in [MediaOption(name: "deadline", value: "good")] }, rateControl: .ceiling,
            putsTransparencyBeside: true, isLimitedRange: true,
            cost: { _ in EncoderCost(perPixel: 20, pictures: 20, weight: 15) }),
        EncoderTraits(
            name: "ffv1", codec: "ffv1", keepsCodec: true, keyFrameInterval: 1, isLossless: true,
            tells: [.fields, .fieldsOfEachFrame],
            // It allocates packets for the worst picture: 140 bytes a pixel, whatever the format.
            cost: { _ in EncoderCost(perPixel: 155, pictures: 3, perThread: 0, weight: 4) }),
        EncoderTraits(name: "rawvideo", codec: "rawvideo", isLossless: true, cost: { _ in small }),
        EncoderTraits(
            name: "prores_ks", codec: "prores", keepsCodec: true,
            profiles: Profile.named("proxy", "lt", "standard", "hq", formats: "yuv422p10le")
                + Profile.named("4444", "4444xq", formats: "yuv444p10le", "yuva444p10le"),
            options: { _ in [MediaOption(name: "vendor", value: "apl0")] }, keepsRate: false,
            tells: [.fields, .colour],
            isLimitedRange: true, cost: { _ in ofProRes }),
        EncoderTraits(name: "mjpeg", codec: "mjpeg", rateControl: .fixedQuantiser, cost: { _ in small }),
        EncoderTraits(
            name: "mpeg2video", codec: "mpeg2video", keepsCodec: true,
            // No key frames at scene changes: libavcodec does not close the groups of pictures there.
            options: { _ in [MediaOption(name: "sc_threshold", value: "1000000000")] },
            rateControl: .fixedQuantiserOfMPEG2,
            // Decoders' transforms differ, so errors add up until the next key frame (ISO 13818-2 annex A). 15 frames
            // are the half second that broadcasters use.
            keyFrameInterval: 15, tells: [.fields], isLimitedRange: true, wantsConstantRate: true,
            cost: { _ in small }),
        x264RGB(),
        EncoderTraits(
            name: "libaom-av1", codec: "av1", isListed: false, isTried: false,
            cost: { _ in EncoderCost(constant: 24 << 20, perPixel: 110, pictures: 100, weight: 40) }),
        EncoderTraits(
            name: "prores", codec: "prores", isListed: false, isTried: false, keepsRate: false, isLimitedRange: true,
            cost: { _ in ofProRes }),
        EncoderTraits(
            name: "prores_aw", codec: "prores", isListed: false, isTried: false, keepsRate: false, isLimitedRange: true,
            cost: { _ in ofProRes }),
        EncoderTraits(name: "mpeg4", codec: "mpeg4", isLimitedRange: true, cost: { _ in small }),
    ]

    /// The same library as libx264, with RGB pictures encoded as RGB.
    private static func x264RGB() -> EncoderTraits {
        var traits = x264()
        (traits.name, traits.aliases, traits.isListed, traits.keepsCodec) = ("libx264rgb", [], false, false)
        (traits.crf, traits.preset, traits.profiles, traits.options) = (nil, nil, [], { _ in [] })
        return traits
    }

    private static func x264() -> EncoderTraits {
        EncoderTraits(
            name: "libx264", codec: "h264", aliases: ["x264"], keepsCodec: true, crf: 18,
            coarsening: Coarsening(
                most: 32, halving: 6, option: MediaOption(name: "x264-params", value: "stitchable=1")),
            preset: MediaOption(name: "preset", value: "medium"), presets: presetsOfX26, mostCRF: 51,
            profiles: Profile.named("baseline", "main", "high", formats: "yuv420p")
                + Profile.named("high10", formats: "yuv420p10le")
                + Profile.named("high422", formats: "yuv422p", "yuv422p10le")
                + Profile.named("high444", formats: "yuv444p", "yuv444p10le"),
            options: { _ in [MediaOption(name: "a53cc", value: "0")] },
            rateControl: .bounded,
            // With more, what one thread knows of a bounded rate depends on how far the others are.
            mostThreadsBounded: 1, isSameForAnyThreads: true, tells: [.fields, .colour], lightSyntax: .x264,
            levelOption: .x264,
            // The fastest presets have no macroblock trees.
            coarseFirstFrame: { !["ultrafast", "superfast"].contains($0) },
            // In x264's AVX-512 code, memory that it never wrote influences its decisions. Its AVX2 code does not have
            // this bug and is no slower.
            optionsBesideAVX512: [MediaOption(name: "x264opts", value: "asm=avx2")],
            cost: { preset in
                let (scale, weight) = x264Costs[preset ?? "medium"] ?? (3.4, 8)
                return EncoderCost(
                    perPixel: 40, pictures: 100, scale: scale, perThread: 0, weight: weight, looksAhead: true)
            })
    }

    private static let ofProRes = EncoderCost(perPixel: 4, pictures: 3, weight: 10)
    private static let small = EncoderCost(perPixel: 2, pictures: 8, weight: 1)

    /// Those of x264, which x265 has, too.
    private static let presetsOfX26 = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
    ]

    private static let x264Costs: [String: (scale: Double, weight: Double)] = [
        "ultrafast": (0.15, 1), "superfast": (0.33, 2), "veryfast": (0.46, 4), "faster": (0.66, 6), "fast": (0.84, 7),
        "medium": (1.02, 8), "slow": (1.25, 13), "slower": (1.55, 20), "veryslow": (2.15, 35), "placebo": (3.4, 60),
    ]

    private static let x265Costs: [String: (scale: Double, weight: Double)] = [
        "ultrafast": (0.6, 7), "superfast": (0.7, 8), "veryfast": (0.9, 13), "faster": (0.9, 13), "fast": (0.9, 15),
        "medium": (1, 20), "slow": (1.15, 40), "slower": (1.85, 60), "veryslow": (1.85, 80), "placebo": (2.5, 120),
    ]
}
