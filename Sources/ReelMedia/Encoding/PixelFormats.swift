internal import CFFmpeg
internal import ReelCore

extension AVPixelFormat {
    var name: String { known(av_get_pix_fmt_name(self)) ?? "unknown" }

    /// Nil for a format that libavutil cannot describe.
    var descriptor: AVPixFmtDescriptor? { av_pix_fmt_desc_get(self)?.pointee }

    private var flags: UInt64 { descriptor?.flags ?? 0 }

    /// Whether pixels are red, green and blue, or colours of a palette.
    var isRGB: Bool { flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0 }

    /// Whether pixels, or colours of a palette, may be transparent.
    var hasAlpha: Bool { flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0 }

    /// How many pixels of a line, and how many lines, share a sample of chroma, as powers of two.
    var chromaShifts: (across: Int, down: Int) {
        (Int(descriptor?.log2_chroma_w ?? 0), Int(descriptor?.log2_chroma_h ?? 0))
    }

    /// The shifts of one plane: only the second and the third have chroma.
    func shifts(ofPlane plane: Int) -> (across: Int, down: Int) { plane == 1 || plane == 2 ? chromaShifts : (0, 0) }

    /// Whether pictures in this format keep every value when lines become columns: chroma is shared in both directions
    /// alike, and every sample has bytes of its own.
    var turnsExactly: Bool {
        let unfit = UInt64(AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_BAYER)
        return descriptor != nil && chromaShifts.across == chromaShifts.down && flags & unfit == 0
    }

    /// The old names of full-range formats and the present ones: the bytes are the same, the range is a tag.
    fileprivate static let fullRange: [AVPixelFormat: AVPixelFormat] = [
        AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P,
        AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P,
        AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P,
    ]

    /// The same format under the name that leaves the range to a tag.
    var withoutRange: AVPixelFormat { AVPixelFormat.fullRange[self] ?? self }

    /// Formats that encoders seldom take, by one that has at least as many bits, chroma samples and channels, so that
    /// it holds every value exactly.
    private static let carriers: [(carrier: AVPixelFormat, formats: Set<AVPixelFormat>)] = [
        (
            AV_PIX_FMT_BGR0,
            [
                AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_GBRP, AV_PIX_FMT_0RGB, AV_PIX_FMT_RGB0, AV_PIX_FMT_0BGR,
                AV_PIX_FMT_RGB565LE, AV_PIX_FMT_BGR565LE, AV_PIX_FMT_RGB555LE, AV_PIX_FMT_BGR555LE, AV_PIX_FMT_RGB444LE,
                AV_PIX_FMT_BGR444LE, AV_PIX_FMT_RGB8, AV_PIX_FMT_BGR8, AV_PIX_FMT_RGB4_BYTE, AV_PIX_FMT_BGR4_BYTE,
            ]
        ), (AV_PIX_FMT_BGRA, [AV_PIX_FMT_PAL8, AV_PIX_FMT_ARGB, AV_PIX_FMT_RGBA, AV_PIX_FMT_ABGR, AV_PIX_FMT_GBRAP]),
        (AV_PIX_FMT_GBRP16LE, [AV_PIX_FMT_BGR48LE]), (AV_PIX_FMT_GBRAP16LE, [AV_PIX_FMT_BGRA64LE]),
        (AV_PIX_FMT_YUV420P, [AV_PIX_FMT_NV12, AV_PIX_FMT_NV21]),
        (AV_PIX_FMT_YUV444P, [AV_PIX_FMT_NV24, AV_PIX_FMT_NV42]),
        (AV_PIX_FMT_YUV422P, [AV_PIX_FMT_YUYV422, AV_PIX_FMT_UYVY422, AV_PIX_FMT_YVYU422]),
        (AV_PIX_FMT_YUV420P10LE, [AV_PIX_FMT_P010LE]), (AV_PIX_FMT_YUV420P16LE, [AV_PIX_FMT_P016LE]),
        (AV_PIX_FMT_YUV422P10LE, [AV_PIX_FMT_P210LE]), (AV_PIX_FMT_YUV422P16LE, [AV_PIX_FMT_P216LE]),
        (AV_PIX_FMT_YUV444P10LE, [AV_PIX_FMT_P410LE]), (AV_PIX_FMT_YUV444P16LE, [AV_PIX_FMT_P416LE]),
        (AV_PIX_FMT_YUVA444P16LE, [AV_PIX_FMT_AYUV64LE, AV_PIX_FMT_YUVA444P12LE]),
        (AV_PIX_FMT_YUVA422P16LE, [AV_PIX_FMT_YUVA422P12LE]), (AV_PIX_FMT_GRAY16LE, [AV_PIX_FMT_GRAY14LE]),
        (AV_PIX_FMT_GRAY8, [AV_PIX_FMT_MONOWHITE, AV_PIX_FMT_MONOBLACK]),
    ]

    /// The first that is offered: the same format, the same in the other byte order, or one that holds every value of
    /// it.
    fileprivate func exact(among offered: [AVPixelFormat]) -> AVPixelFormat? {
        if offered.isEmpty { return self }
        let little = av_pix_fmt_swap_endianness(self)
        func carrier(_ format: AVPixelFormat) -> AVPixelFormat? {
            AVPixelFormat.carriers.first { $0.formats.contains(format) }?.carrier
        }
        return [self, withoutRange, little, carrier(self), carrier(little)].compactMap(\.self).first(
            where: offered.contains)
    }
}

struct PixelFormatChoice {
    typealias Profile = EncoderTraits.Profile

    let format: AVPixelFormat
    /// What the conversion loses of the source; nil for nothing.
    let change: Diagnostic?

    /// The source's own format if the encoder takes it; otherwise one that holds it exactly; otherwise, unless
    /// `lossless` is set, the nearest. A profile limits the formats.
    init(
        source: AVPixelFormat, encoder: String, container: Container, profile: Profile?, lossless: Bool
    ) throws(ReelFailure) {
        let offered = Self.formats(of: encoder, container, profile)
        let isTransparencyDropped = Self.dropsTransparency(encoder, container)
        let encoder = Self.name(of: encoder, profile)
        if let same = source.exact(among: offered) {
            (format, change) = (same, nil)
            return
        }
        guard !lossless else { throw ReelFailure(.pixelFormatLossy(encoder: encoder, pixelFormat: source.name)) }
        var loss: Int32 = 0
        // Pictures are converted to limited range, or keep theirs. A format with full range in its name would have
        // decoders show black as grey.
        format = avcodec_find_best_pix_fmt_of_list(
            offered.filter { AVPixelFormat.fullRange[$0] == nil } + [AV_PIX_FMT_NONE], source.withoutRange,
            source.hasAlpha ? 1 : 0, &loss)
        guard format != AV_PIX_FMT_NONE else {
            throw ReelFailure(.pixelFormatUnsupported(encoder: encoder, pixelFormat: source.name))
        }
        let lost = Self.losses.filter { loss & $0.flag != 0 }.map(\.loss)
        change =
            lost.isEmpty
            ? nil
            : .pixelFormatChanged(
                encoder: encoder, from: source.name, to: format.name, lost: lost,
                container: lost.contains(.alpha) && isTransparencyDropped ? container : nil)
    }

    /// For pictures that are mapped to the standard range, which a diagnostic of its own says.
    static let ofStandardRange = PixelFormatChoice(format: AV_PIX_FMT_YUV420P, change: nil)

    private init(format: AVPixelFormat, change: Diagnostic?) { (self.format, self.change) = (format, change) }

    /// YCbCr of 8 bits with a quarter of the chroma samples, for pictures that have more.
    init(forPlayersOf source: AVPixelFormat) {
        format = AV_PIX_FMT_YUV420P
        change = .pixelFormatForPlayers(
            from: source.name, to: "yuv420p", whole: source.isRGB ? "yuv444p" : source.withoutRange.name,
            hasAlpha: source.hasAlpha)
    }

    init(asked: String, encoder: String, container: Container, profile: Profile?) throws(ReelFailure) {
        // The range of the values is the source's; a tag says it.
        let offered = Self.formats(of: encoder, container, profile).filter { AVPixelFormat.fullRange[$0] == nil }
        (format, change) = (av_get_pix_fmt(asked), nil)
        guard format != AV_PIX_FMT_NONE, offered.isEmpty || offered.contains(format) else {
            let names = offered.compactMap { known(av_get_pix_fmt_name($0)) }
            throw unsupported(.pixelFormat, asked, by: Self.name(of: encoder, profile), names)
        }
    }

    /// Whether an encoder, given by its name, takes a format or one that holds it exactly, for this container.
    static func isHeld(_ format: AVPixelFormat, by encoder: String, in container: Container) -> Bool {
        format.exact(among: formats(of: encoder, container, nil)) != nil
    }

    /// What a conversion loses, as libavutil reports it.
    private static let losses: [(flag: Int32, loss: PictureLoss)] = [
        (FF_LOSS_RESOLUTION, .chromaResolution), (FF_LOSS_DEPTH, .depth), (FF_LOSS_COLORSPACE, .colourModel),
        (FF_LOSS_ALPHA, .alpha), (FF_LOSS_COLORQUANT, .colours), (FF_LOSS_CHROMA, .chroma),
    ]

    /// The encoder as messages name it: "libx264 (main)".
    private static func name(of encoder: String, _ profile: Profile?) -> String {
        encoder + (profile.map { " (\($0.name))" } ?? "")
    }

    /// Whether the encoder puts transparency beside its packets, and the container does not store it there.
    private static func dropsTransparency(_ encoder: String, _ container: Container) -> Bool {
        EncoderTraits.named(encoder).putsTransparencyBeside && !container.traits.holdsTransparencyBeside
    }

    private static func formats(of encoder: String, _ container: Container, _ profile: Profile?) -> [AVPixelFormat] {
        let list = avcodec_find_encoder_by_name(encoder)?.pointee.pix_fmts
        var formats = elements(of: list) { $0 == AV_PIX_FMT_NONE } ?? []
        if dropsTransparency(encoder, container) { formats.removeAll(where: \.hasAlpha) }
        return formats.filter { profile?.pixelFormats.contains($0.name) != false }
    }
}
