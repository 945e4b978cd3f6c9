internal import CFFmpeg
internal import ReelCore

/// Which pixel format a picture is encoded in.
struct PixelFormatChoice {
    let format: AVPixelFormat
    /// Told to the person where something of the source is lost.
    let warning: String?

    /// Formats of 8-bit RGB and palettes that FFV1 does not take, and the one that holds them exactly.
    private static let exactCarriers: [AVPixelFormat: AVPixelFormat] = [
        AV_PIX_FMT_RGB24: AV_PIX_FMT_BGR0, AV_PIX_FMT_BGR24: AV_PIX_FMT_BGR0, AV_PIX_FMT_GBRP: AV_PIX_FMT_BGR0,
        AV_PIX_FMT_0RGB: AV_PIX_FMT_BGR0, AV_PIX_FMT_RGB0: AV_PIX_FMT_BGR0, AV_PIX_FMT_0BGR: AV_PIX_FMT_BGR0,
        AV_PIX_FMT_RGB555LE: AV_PIX_FMT_BGR0, AV_PIX_FMT_RGB555BE: AV_PIX_FMT_BGR0,
        AV_PIX_FMT_RGB565LE: AV_PIX_FMT_BGR0, AV_PIX_FMT_RGB565BE: AV_PIX_FMT_BGR0,
        AV_PIX_FMT_PAL8: AV_PIX_FMT_BGRA, AV_PIX_FMT_ARGB: AV_PIX_FMT_BGRA, AV_PIX_FMT_RGBA: AV_PIX_FMT_BGRA,
        AV_PIX_FMT_ABGR: AV_PIX_FMT_BGRA, AV_PIX_FMT_GBRAP: AV_PIX_FMT_BGRA,
        AV_PIX_FMT_NV12: AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV21: AV_PIX_FMT_YUV420P,
        AV_PIX_FMT_YUYV422: AV_PIX_FMT_YUV422P, AV_PIX_FMT_UYVY422: AV_PIX_FMT_YUV422P,
        AV_PIX_FMT_MONOWHITE: AV_PIX_FMT_GRAY8, AV_PIX_FMT_MONOBLACK: AV_PIX_FMT_GRAY8,
    ]

    /// The old names of full-range formats, and today's: the same bytes, the range is a tag.
    private static let fullRange: [AVPixelFormat: AVPixelFormat] = [
        AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P,
        AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P,
    ]

    /// The format without the range in its name.
    static func withoutRange(_ format: AVPixelFormat) -> AVPixelFormat { fullRange[format] ?? format }

    /// The source's own format where the encoder takes it, else one that holds it exactly, else (only where `lossless`
    /// is not asked for) the nearest, with a warning.
    init(source: AVPixelFormat, encoder: String, lossless: Bool) throws(ReelFailure) {
        let offered = Self.formats(of: encoder)
        let name = known(av_get_pix_fmt_name(source)) ?? "unknown"
        let candidates = [source, Self.withoutRange(source), Self.exactCarriers[source]].compactMap { $0 }
        if let same = candidates.first(where: { offered.contains($0) || offered.isEmpty }) {
            (format, warning) = (same, nil)
            return
        }
        if lossless {
            throw ReelFailure(.input, "\(encoder) cannot hold the pixel format \(name) without loss")
        }
        var loss: Int32 = 0
        let hasAlpha =
            av_pix_fmt_desc_get(source).map { $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0 } ?? false
        let best = avcodec_find_best_pix_fmt_of_list(
            offered + [AV_PIX_FMT_NONE], Self.withoutRange(source), hasAlpha ? 1 : 0, &loss)
        guard best != AV_PIX_FMT_NONE else {
            throw ReelFailure(.usage, "\(encoder) takes no pixel format near \(name)")
        }
        format = best
        let chosen = known(av_get_pix_fmt_name(best)) ?? "unknown"
        warning = loss == 0 ? nil : "\(encoder) cannot hold \(name): pictures become \(chosen)"
    }

    private static func formats(of encoder: String) -> [AVPixelFormat] {
        guard let list = avcodec_find_encoder_by_name(encoder)?.pointee.pix_fmts else { return [] }
        var formats: [AVPixelFormat] = []
        while list[formats.count] != AV_PIX_FMT_NONE { formats.append(list[formats.count]) }
        return formats
    }
}
