internal import CFFmpeg

/// A codec in a container, by their libav* names.
package struct ProvenKind: Hashable, Sendable {
    package let format: String
    package let codec: String

    package init(format: String, codec: String) {
        self.format = format
        self.codec = codec
    }
}

/// Codecs in containers whose tables and headers tell which frames there are, in which order and when. Their sources
/// are planned without being decoded. `ProvenKindsTests` proves each kind by decoding such a source completely. Passes
/// compare their frames with the index, so a source that differs is noticed, and then decoded.
///
/// Kinds that are missing here may work as well, but no test proves it.
package enum ProvenKinds {
    private static let codecs: [String: Set<String>] = [
        "mov,mp4,m4a,3gp,3g2,mj2": ordered.union(alone).union(["mpeg4", "vp9", "qtrle"]),
        "matroska,webm": ordered.union(alone).union(["vp8", "vp9"]),
        "mpegts": ["h264", "hevc", "mpeg2video"],
        "mpeg": ["mpeg2video"],
        "mxf": ["mpeg2video", "dnxhd"],
        "avi": alone.union(["mpeg4"]),
        "flv": ["h264"],
        "h264": ["h264"],
        "hevc": ["hevc"],
        // For other codecs, nothing would show that frames at the end of such a file are cut off.
        "nut": ["rawvideo"], "ivf": ["vp8", "vp9", "av1"], "yuv4mpegpipe": ["rawvideo"],
    ]

    /// Codecs whose pictures are shown in another order than decoded, or not at all, as headers state.
    private static let ordered: Set<String> = ["h264", "hevc", "av1"]

    /// Codecs in which each packet is a picture that refers to no other, or only to the one before.
    private static let alone: Set<String> = [
        "mjpeg", "prores", "dnxhd", "ffv1", "rawvideo", "v210", "huffyuv", "ffvhuff", "utvideo", "png", "dvvideo",
    ]

    static func contain(codec: AVCodecID, format: String) -> Bool {
        codecs[format]?.contains(String(cString: avcodec_get_name(codec))) ?? false
    }

    package static var all: [ProvenKind] {
        codecs.flatMap { format, codecs in codecs.map { ProvenKind(format: format, codec: $0) } }
            .sorted { ($0.format, $0.codec) < ($1.format, $1.codec) }
    }
}
