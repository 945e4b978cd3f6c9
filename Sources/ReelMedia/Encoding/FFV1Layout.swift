internal import CFFmpeg
internal import ReelCore

/// The version of FFV1 for pictures of a size and format, and the number of slices. libavcodec 5.1 decodes slices of
/// few pixels, and some that divide chroma samples, wrongly and without an error.
struct FFV1Layout {
    /// The number of columns of slices, and of rows; nil for version 1, which has no slices and always decodes
    /// correctly.
    let columns: Int?

    init(width: Int, height: Int, format: AVPixelFormat) {
        guard let description = av_pix_fmt_desc_get(format)?.pointee else {
            columns = nil
            return
        }
        let shifts = (Int(description.log2_chroma_w), Int(description.log2_chroma_h))
        let bits = Int64(description.comp.0.depth) + 1
        let planes = Int64(description.nb_components)
        columns = (2...8).first { count in
            let largest = Int64((width + count - 1) / count) * Int64((height + count - 1) / count)
            // libavcodec's own limit (ffv1enc.c).
            return largest * bits * planes <= 8 << 24
                && Self.divides(width, by: count, shift: shifts.0) && Self.divides(height, by: count, shift: shifts.1)
        }
    }

    /// Whether the chroma samples of the last slice extend to the picture's edge.
    private static func divides(_ length: Int, by count: Int, shift: Int) -> Bool {
        let start = length * (count - 1) / count
        let end = (start >> shift) + Self.samples(length - start, shift)
        return length >= 16 * count && end >= Self.samples(length, shift)
    }

    private static func samples(_ length: Int, _ shift: Int) -> Int { (length + (1 << shift) - 1) >> shift }

    /// The options for the encoder.
    var options: [MediaOption] {
        guard let columns else { return [MediaOption(name: "level", value: "1")] }
        return [
            MediaOption(name: "level", value: "3"), MediaOption(name: "slices", value: "\(columns * columns)"),
            MediaOption(name: "slicecrc", value: "1"),
        ]
    }
}
